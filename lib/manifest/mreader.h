/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader inside of its own folder. */
#ifndef SCR_MANIFEST_MREADER_H
#define SCR_MANIFEST_MREADER_H

#include "manifest/codec.h"
#include "manifest/store.h"
#include "manifest/stream.h"
#include "manifest/tally.h"

/* One record in memory, until the next access to the stream. */
struct scr_frame {
	uint8_t type;
	uint32_t len;                  /* of the payload */
	const uint8_t *record, *payload;
	uint64_t end;                  /* position behind it */
};

struct scr_mreader {
	struct scr_stream stream;
	struct scr_header header;
	struct scr_trailer trailer;
	struct scr_codec codec;
	const struct scr_kernel *crc32; /* for records */
	uint64_t first, pos;           /* positions of the first record, and of the next one */
	struct scr_buf path, owner;    /* of the last record that has them */
	bool in_files;                 /* UNSEEN records are all behind */
	bool in_file;
	struct scr_stamp stamp;        /* of the current file */
	uint64_t next_index;           /* its next extent has this index or a higher one */
	bool whole;                    /* everything from the first record on was read in order */
	uint32_t header_crc, body_crc;
	struct scr_tally tally;
	struct scr_extent scratch;
};

/* As scr_mreader_open(), with the read function that a test wants. */
int scr_mreader_open_with(int fd, scr_pread_fn *pread_fn, const struct scr_kernels *k,
			  struct scr_mreader **out, const char **why);

#endif
