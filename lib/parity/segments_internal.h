/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two halves of the parity store share. */
#ifndef SCR_PARITY_SEGMENTS_INTERNAL_H
#define SCR_PARITY_SEGMENTS_INTERNAL_H

#include <pthread.h>

#include "parity/segments.h"

/* Descriptors kept open for reading, and readers with their buffers. */
#define SCR_SEGMENTS_OPEN 32
#define SCR_SEGMENTS_READERS 16

/* A segment open for reading; segment 0: none. */
struct scr_segment_fd {
	uint32_t segment;
	int fd;
	unsigned int users;  /* reading from it now */
	uint64_t used;       /* when it was used last, counted in reads */
};

struct scr_segments {
	const struct scr_state *state;
	struct scr_state dir;     /* parity/; dirfd -1: there is none */
	bool reading;
	pthread_mutex_t lock;     /* of all that follows */

	/* Appending. */
	bool writable;
	uint32_t first_own, next; /* numbers from first_own on were made by this process */
	uint32_t segment;         /* being appended to; fd -1: none */
	int fd;
	uint64_t length, begun;   /* of it; what the medium was told to write */
	bool dir_unsynced;
	int failed;               /* -errno: what was appended before may be lost */

	/* Reading. */
	const struct scr_reader_ops *ops;
	enum scr_reader_mode mode;
	struct scr_segment_fd open[SCR_SEGMENTS_OPEN];
	uint64_t reads;
	struct scr_reader *readers[SCR_SEGMENTS_READERS];
	unsigned int reader_count;
};

/* Room for a segment's name. */
#define SCR_SEGMENT_NAME 12
#define SCR_SEGMENT_MAX 99999999u
void scr_segment_name(char *out, uint32_t segment);
/* Closes all descriptors that are open for reading. */
void scr_segments_forget(struct scr_segments *g);

#endif
