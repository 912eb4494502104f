/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the reader share: reader.c decides where bytes come from, reader_step.c reads
 * them and finds what is bad, reader_system.c makes the system calls.
 */
#ifndef SCR_IO_READER_INTERNAL_H
#define SCR_IO_READER_INTERNAL_H

#include "io/reader.h"

/* The smallest piece that a failed read is taken apart into, where the alignment allows it. */
#define SCR_SECTOR 512u
/* Direct reads that need more than this are not tried: no medium has such sectors. */
#define SCR_READER_ALIGN_MAX (64u << 10)

/* Room for reads that are wider than what was asked for, on both sides. */
#define BUFFER_SIZE (SCR_READER_BUFFER + 2 * SCR_READER_ALIGN_MAX)
#define PIECES (BUFFER_SIZE / SCR_READER_PAGE)

struct scr_reader {
	const struct scr_reader_ops *ops;
	uint8_t *buf;
	struct scr_reader_counts counts;
	/* Of the file: */
	int fd, direct_fd;         /* direct_fd is had when it is first needed; may be fd */
	int turned;                /* the descriptor that was made direct last; -1: none */
	bool own;
	enum scr_reader_mode mode;
	struct scr_reader_direct direct;
	uint64_t size;
	bool prepared;             /* size is known */
	bool probed;               /* direct is known */
	bool no_readahead;
	bool dead;                 /* nothing of the last window could be read */
	uint8_t resident[PIECES];  /* of the window */
	void *map;                 /* of map_len bytes of the file; NULL: none */
	size_t map_len;
};

/*
 * One scr_reader_read(): a window of the file in the buffer. Positions in it are called from, to,
 * at; byte 0 is at @base of the file, a multiple of every alignment in use.
 */
struct scr_read_job {
	const struct scr_reader_ops *ops;
	uint8_t *buf;
	uint64_t base;
	uint64_t size;             /* of the file by fstat, UINT64_MAX if it has none */
	size_t want_from, want_to; /* what the caller asked for; reads may be wider */
	struct scr_bad_range *bad;
	unsigned int maxbad, nbad;
	unsigned int failures, allowed; /* reads that failed, and that may */
	bool any_good;             /* something could be read */
	bool again;                /* nothing may come from the cache */
	bool known;                /* what of the window is in the cache is known */
	/* Of the part that is being read: */
	int fd;
	uint32_t align;            /* 1: an ordinary read */
	uint32_t sector;           /* nothing smaller can fail by itself */
};

/* Failing reads that a window is allowed; @dead: nothing of the window before it could be read. */
unsigned int scr_read_allowance(bool dead);

/*
 * Reads [@from, @to) of the window, both aligned to job->align, and puts what fails by a medium
 * error into the bad ranges. Returns where the bytes that exist end (@to, or less at the end of the
 * file), or -errno.
 */
ssize_t scr_read_part(struct scr_read_job *job, size_t from, size_t to);

#endif
