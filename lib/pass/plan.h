/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plan of a pass: one entry a path, in walk order, in an unnamed temporary file.
 *
 * The plan is private to one pass: it is never read by another process, so its entries are the
 * structs as they stand in memory. Entries are patched in place as moves, links and verdicts are
 * settled.
 */
#ifndef SCR_PASS_PLAN_H
#define SCR_PASS_PLAN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"

enum scr_plan_action {
	SCR_PLAN_CHECK,    /* a record exists: compare, or record what legitimately changed */
	SCR_PLAN_RECORD,   /* new: record */
	SCR_PLAN_ACCEPT,   /* record whatever is there now */
	SCR_PLAN_LINK,     /* another path of the inode of entry `owner` */
	SCR_PLAN_KEEP,     /* not looked at: the record stays as it is */
	SCR_PLAN_GONE,     /* no longer there: the record goes */
	SCR_PLAN_EXCLUDED, /* a filter leaves it out: the record goes */
	SCR_PLAN_MOVED_AWAY, /* the record goes on under another path */
};

enum { /* flags of struct scr_plan_entry */
	SCR_PLAN_DAMAGED = 1,     /* its record has open damage */
	SCR_PLAN_MOVED = 2,       /* CHECK: the record is that of a vanished path, plan entry `from` */
	SCR_PLAN_WAS_LINK = 4,    /* this path had a LINK record */
	SCR_PLAN_UNWRITTEN = 8,   /* publishing had nothing to write for it */
	SCR_PLAN_FROZEN = 16,     /* a frozen= pattern matches */
	SCR_PLAN_MISSING = 32,    /* KEEP: frozen and gone */
	SCR_PLAN_HAD_RECORD = 64, /* there is a record at this very path */
	SCR_PLAN_RETRIED = 128,   /* second try of a file that changed while being read */
	SCR_PLAN_PARTIAL = 256,   /* a stopped pass recorded this path, but not to its end */
	SCR_PLAN_AGED = 512,      /* oldest_ns, newest_ns and holes are those of the record */
	SCR_PLAN_UNIFORM = 1024,  /* every extent is recorded, under size and mtime of now */
	SCR_PLAN_VISITED = 2048,  /* verdict is known (where it will be asked for) */
	SCR_PLAN_UNSEEN = 8192,   /* KEEP: a medium error kept the walk from looking at it */
	SCR_PLAN_TOLD = 4096,     /* no more to be read or said of it, however many bands it is in */
};

#define SCR_PLAN_NONE UINT64_MAX

/* Work is done in bands, the oldest check first. */
#define SCR_PLAN_BANDS 6

struct scr_plan_entry {
	uint64_t source;    /* manifest offset of the FILE record with its extents, or NONE */
	uint64_t owner;     /* LINK: position in the plan; MOVED: of the vanished entry */
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;
	int64_t oldest_ns, newest_ns; /* AGED: checks of the extents */
	uint64_t holes;     /* AGED: bytes of extents that are holes */
	uint32_t mode, uid, gid, nlink;
	uint32_t fs;        /* index into the header's identities */
	uint32_t path_len;
	uint16_t flags;
	uint8_t action, band;
	uint8_t verdict;    /* enum scr_verdict, once known */
};

struct scr_plan;

/* @fd: an empty file, owned by the plan from then on. 0 or -ENOMEM. */
int scr_plan_new(int fd, struct scr_plan **out);
void scr_plan_free(struct scr_plan *p);

/* Appends an entry; *pos receives its position. */
int scr_plan_add(struct scr_plan *p, const struct scr_plan_entry *e, const char *path,
		 uint64_t *pos);
/* Overwrites the entry at @pos (the path stays); thread-safe. */
int scr_plan_patch(struct scr_plan *p, uint64_t pos, const struct scr_plan_entry *e);

/* Reading in order: a cursor, and the entry with its path. Only after the last scr_plan_add(). */
struct scr_plan_cursor {
	struct scr_plan *plan;
	uint64_t next;            /* position of the next entry */
	struct scr_buf window;    /* what was read ahead */
	uint64_t window_at;
};

int scr_plan_seal(struct scr_plan *p); /* writes out what is buffered */
void scr_plan_cursor_init(struct scr_plan_cursor *c, struct scr_plan *p);
/* 1, 0 at the end, -errno. @path is set to the NUL-terminated path. *pos: where the entry is. */
int scr_plan_next(struct scr_plan_cursor *c, struct scr_plan_entry *e, struct scr_buf *path,
		  uint64_t *pos);
/* Back to the first entry; what was patched meanwhile is seen. */
void scr_plan_cursor_rewind(struct scr_plan_cursor *c);
void scr_plan_cursor_free(struct scr_plan_cursor *c);
/* The entry at @pos. 0 or -errno. @path may be NULL. */
int scr_plan_get(struct scr_plan *p, uint64_t pos, struct scr_plan_entry *e, struct scr_buf *path);

#endif
