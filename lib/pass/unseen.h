/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths that the walk could not look at, and directories that it could not list, for a medium error.
 *
 *	plan      each error of the walk is noted; what the manifest knows of earlier ones is merged
 *	          in: it stays where the walk did not get to look again, else it is over
 *	          a path with a FILE record of its own is claimed: that record says it
 *	read      shows whether the device is there
 *	settle    if it is, the errors are damage, else a part of its trouble; what was known stays
 *	          damage in any case
 *	publish   what is damage becomes UNSEEN records, or damage of the FILE records
 */
#ifndef SCR_PASS_UNSEEN_H
#define SCR_PASS_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "manifest/store.h"

struct scr_pass;

/* Zero-initialised: none. */
struct scr_unseen {
	struct scr_buf list;     /* in the order of scr_place_cmp() */
	size_t claim_at;         /* entries before were asked about by scr_unseen_claim() */
	struct scr_buf old;      /* of the manifest; those before old_at are merged */
	size_t old_at;
	struct scr_buf hidden;   /* the place last met below which nothing is known; or empty */
	bool told;
	bool believed;           /* settled: the errors of this walk are damage */
};

/* An entry. */
struct scr_unseen_place {
	const char *path;        /* followed by a NUL */
	size_t len;
	int64_t first_ns, last_ns; /* first_ns 0: not known to be damage */
	int err;                 /* in this pass; 0: it was not looked at */
	bool is_dir;
	bool claimed;            /* a FILE record says it */
};

/* Begins anew, with what is recorded in @old (rewound; NULL: nothing). 0 or -errno. */
int scr_unseen_start(struct scr_unseen *u, struct scr_mreader *old);
/* The walk could not look at @path, or below it; @err: the errno. In walk order. 0 or -errno. */
int scr_unseen_note(struct scr_unseen *u, const char *path, size_t len, bool is_dir, int err);
/* The walk is through. With nothing noted, everything recorded is over: without a walk use keep. */
int scr_unseen_walked(struct scr_unseen *u);
/* Everything recorded stays, since nothing was looked at. */
int scr_unseen_keep(struct scr_unseen *u);
/* Whether recorded file @path is a place noted for a medium error: then its record stands for it.
 * Asked in walk order. @since_ns: since when the record has it as unreadable, or 0. */
bool scr_unseen_claim(struct scr_unseen *u, const char *path, size_t len, int64_t since_ns);

/* Tells, once; @damage: the device is there. Then the list is what is to be recorded. */
void scr_unseen_settle(struct scr_pass *p, struct scr_unseen *u, bool damage);
/* The entry at *pos, which goes on to the next; false at the end. */
bool scr_unseen_next(const struct scr_unseen *u, size_t *pos, struct scr_unseen_place *out);
/* Writes what is to be recorded. 0 or -errno. */
int scr_unseen_write(const struct scr_unseen *u, struct scr_mwriter *w);
/* Writes what is recorded in @old (rewound) again. 0 or -errno. */
int scr_unseen_copy(struct scr_mreader *old, struct scr_mwriter *w);
void scr_unseen_free(struct scr_unseen *u);

/* verify: looks again at what is recorded, where @take (with @arg) says so, and tells. Rewinds. */
int scr_unseen_verify(struct scr_pass *p, bool (*take)(void *arg, const char *path, size_t len),
		      void *arg);

#endif
