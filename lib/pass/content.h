/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one extent holds now: read once, checksummed block by block. */
#ifndef SCR_PASS_CONTENT_H
#define SCR_PASS_CONTENT_H

#include <semaphore.h>
#include <stdatomic.h>

#include "io/reader.h"
#include "kernels/kernel.h"
#include "manifest/record.h"

/* Bytes of one block that could not be read. */
struct scr_bad_bytes {
	uint32_t block, start, length;
	int err;
};

/* Owned by a worker and reused from extent to extent. */
struct scr_content {
	struct scr_cut cut;
	uint64_t present;          /* bytes of the extent that exist: less than cut.length at EOF */
	struct scr_check *checks;  /* of the bytes of each block that exist; 0 where unreadable */
	uint32_t checks_cap;
	uint8_t *holes;            /* bit i: block i lies in a hole */
	size_t holes_cap;
	bool any_hole, all_hole;
	struct scr_bad_bytes *bad; /* sorted by block and start */
	uint32_t bad_count, bad_cap;
	uint8_t *fold;             /* the XOR of all columns, cut.column bytes, ... */
	uint32_t fold_cap;
	bool folded;               /* ... if this says so: all was read, once */
};

/* To content in the page cache. */
enum scr_way { SCR_WAY_READ, SCR_WAY_MAPPED, SCR_WAYS };

/*
 * What extents in the page cache have cost, read and mapped: which is quicker depends on the machine
 * and on the file. Where the kernel copies fast, reading into a buffer that stays in L2 beats small
 * page faults; pages of 2 MiB, which reading ahead makes, beat any copy. Shared by the threads of a
 * pass. Zeros at first, but for what its user sets.
 */
struct scr_ways {
	atomic_uint_fast64_t bytes[SCR_WAYS], ns[SCR_WAYS]; /* of processor time */
	atomic_uint tries[SCR_WAYS];
	/* Threads that can be busy in each way: reading is not bound by the gate. 0: one. */
	unsigned int threads[SCR_WAYS];
};

/* Reads with @r, computes with @k. */
struct scr_content_reader {
	struct scr_reader *reader;
	const struct scr_kernels *kernels;
	bool sparse;               /* the file may have holes: look for them */
	bool fold;                 /* fold the columns too */
	bool reread;               /* not from what an earlier read left in memory */
	/* Entered for computing, not for reading: more threads read than there are processors. NULL:
	 * no limit. */
	sem_t *gate;
	struct scr_ways *ways;     /* NULL: what can be mapped is */
	const atomic_int *stop;
	/* Counts bytes for the progress display; may be NULL. */
	void (*progress)(void *arg, uint64_t bytes, bool read);
	void *arg;
};

/*
 * Fills @c with what the extent @cut holds. Medium errors are results (c->bad). Returns 0, -EINTR
 * when *stop is set, -errno for other errors (which then say nothing about the content).
 */
int scr_content_read(const struct scr_content_reader *cr, const struct scr_cut *cut,
		     struct scr_content *c);
/* The same for block @i alone; the other entries of @c are left as they are. */
int scr_content_read_block(const struct scr_content_reader *cr, uint32_t i, struct scr_content *c);
void scr_content_free(struct scr_content *c);

/* Bytes of block @i that exist. */
uint32_t scr_content_length(const struct scr_content *c, uint32_t i);
/* Whether part of block @i could not be read. */
bool scr_content_is_bad(const struct scr_content *c, uint32_t i);

/* Enters and leaves the gate of @cr (or of none). */
void scr_gate_enter(sem_t *gate);
void scr_gate_leave(sem_t *gate);

/* Both checksums of @len bytes. */
struct scr_check scr_check_bytes(const struct scr_kernels *k, const uint8_t *p, size_t len);
/* Both checksums of @len zeros, by arithmetic: O(log len). */
struct scr_check scr_check_zeros(uint64_t len);

static inline bool scr_check_equal(struct scr_check a, struct scr_check b)
{
	return a.crc == b.crc && a.inet == b.inet;
}

#endif
