/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JOURNAL and UPDATE records as bytes. */
#ifndef SCR_MANIFEST_UPDATE_H
#define SCR_MANIFEST_UPDATE_H

#include "manifest/codec.h"
#include "manifest/store.h"

struct scr_journal_head {
	uint32_t version, compat, incompat;
	uint64_t generation;
	int64_t started_ns;
	struct scr_geometry geometry;
};

int scr_encode_journal(struct scr_buf *b, const struct scr_journal_head *h);
/* -EBADMSG; -EPROTONOSUPPORT: a newer version or unknown incompat features. */
int scr_decode_journal(const uint8_t *p, size_t len, struct scr_journal_head *out);

/* A part of an UPDATE: the file (SCR_TYPE_FILE) or an extent. */
struct scr_part {
	enum scr_type type;
	const uint8_t *payload;
	uint32_t len;
	uint64_t index, end; /* extents [index, end) */
};

/* Walks over an UPDATE, whose parts were all judged when it returns 0 in the end. */
struct scr_update_walk {
	const struct scr_codec *codec;
	struct scr_cursor c;
	uint32_t left;               /* extents to come */
	uint64_t next_index;
	struct scr_file_record file;
	bool done;
	struct scr_extent scratch;   /* scr_extent_free() */
};

/* Begins with the payload @p; *part is the file. Returns 0, -EBADMSG. */
int scr_update_begin(struct scr_update_walk *w, const struct scr_codec *codec, const uint8_t *p,
		     size_t len, struct scr_part *part);
/* The next extent in *part (decoded in w->scratch). Returns 1, 0 at the end, -EBADMSG, -ENOMEM. */
int scr_update_next(struct scr_update_walk *w, struct scr_part *part);

#endif
