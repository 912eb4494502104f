/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parity store: files parity/NNNNNNNN in the state directory.
 *
 * A segment is written once, front to back, at most 1 GiB, and never modified once the journal or
 * the manifest refers to it. Order of writes: segment data synced, then journal, then manifest,
 * then unlink of what nothing refers to any more.
 */
#ifndef SCR_PARITY_SEGMENTS_H
#define SCR_PARITY_SEGMENTS_H

#include "io/reader.h"
#include "io/state.h"
#include "manifest/record.h"

#define SCR_SEGMENT_LIMIT (UINT64_C(1) << 30)

struct scr_segments;

/* Opens the store of @s for reading; there may be none. @reading: as for scr_state_open_file().
 * Refuses (-EPERM, @why) a parity directory or segments that are not safe. */
int scr_segments_open(const struct scr_state *s, bool reading, struct scr_segments **out,
		      struct scr_why *why);
/* Reads through @ops from now on, for tests; before the first read. */
void scr_segments_set_reader(struct scr_segments *g, const struct scr_reader_ops *ops);
/* Makes the store writable: creates parity/ if need be; appends go to a new segment with a number
 * above all that exist and above @above. Under the exclusive lock. */
int scr_segments_write(struct scr_segments *g, uint32_t above, struct scr_why *why);
/* Appends @len bytes; *segment and *offset say where they are. Thread-safe. 0 or -errno; after an
 * error the segment is given up and the next append begins a new one. */
int scr_segments_append(struct scr_segments *g, const void *p, uint32_t len, uint32_t *segment,
			uint64_t *offset);
/* Syncs what was appended so far, and the directory: before the journal refers to it. Thread-safe. */
int scr_segments_sync(struct scr_segments *g);
/*
 * Reads @len bytes at @offset of @segment into @p, stepping down to sectors at medium errors:
 * unreadable bytes are 0 and lie in @gaps (at most @max, at least 1; the last covers the rest),
 * *ngaps of them.
 * A missing or short segment is one gap (with errno ENOENT), not an error. Thread-safe. 0 or -errno.
 */
struct scr_parity_gap {
	uint32_t start, length;
	int err;
};
int scr_segments_read(struct scr_segments *g, uint32_t segment, uint64_t offset, void *p,
		      uint32_t len, struct scr_parity_gap *gaps, unsigned int max,
		      unsigned int *ngaps);
/*
 * Reading ahead: the parity of small files was written together, and is wanted together. One
 * thread's; NULL: none yet.
 */
struct scr_segments_window;
/*
 * Where the window @*w has, or gets by one larger read of @ahead bytes (always the same), bytes [offset, offset+len) of @segment: 1
 * and *p, valid until the next call. 0: not this way (too long, or not all of it could be read): use
 * scr_segments_read(). -errno.
 */
int scr_segments_look(struct scr_segments *g, struct scr_segments_window **w, uint32_t ahead,
		      uint32_t segment, uint64_t offset, uint32_t len, const uint8_t **p);
void scr_segments_window_free(struct scr_segments_window *w);
/* Reads from the cache what is in it from now on, as the user asked; before the first read. The rest
 * is read past it all the same: it was dropped when it was written. */
void scr_segments_set_cached(struct scr_segments *g);
/* Removes segments that @trailer does not count as used, and cuts the unused tail of none; what
 * this process appended stays. Under the exclusive lock. */
int scr_segments_collect(struct scr_segments *g, const struct scr_trailer *t);
/* Bytes that all segments take, and free bytes of their file system for the effective user. */
int scr_segments_usage(const struct scr_segments *g, uint64_t *bytes, uint64_t *free_bytes);
/* Size of one segment; 0 if it isn't there. */
uint64_t scr_segments_size(const struct scr_segments *g, uint32_t segment);
void scr_segments_free(struct scr_segments *g);

#endif
