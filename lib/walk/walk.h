/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walk: every regular file below a root, in walk order (base/path.h), memory bounded by the
 * largest directory and the depth. */
#ifndef SCR_WALK_WALK_H
#define SCR_WALK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum scr_walk_type {
	SCR_WALK_END = 0,
	SCR_WALK_FILE,       /* a regular file */
	SCR_WALK_ERROR,      /* path could not be listed or looked at: err. ENOENT: it was listed and
			      * is gone, or something else stands there: keep what is recorded
			      * until a later pass, it may have been renamed to where the walk had
			      * been already */
	SCR_WALK_UNLISTED,   /* all below path is unknown: what is recorded there is not removed.
			      * Follows its SCR_WALK_ERROR; without one for mount points that are
			      * not crossed (err = EXDEV; a file too can be one). Where a listing
			      * broke off, the names that were listed come all the same */
	SCR_WALK_EXCLUDED,   /* path was left out by a filter (a file, or a directory with all below) */
	SCR_WALK_NOTE,       /* a foreign state directory that can't be opened was passed over */
};

struct scr_walk_entry {
	enum scr_walk_type type;
	const char *path;    /* relative to the root, NUL-terminated; valid until the next call */
	size_t len;
	struct stat st;      /* FILE only */
	bool is_dir;         /* EXCLUDED, ERROR, UNLISTED */
	int err;
};

struct scr_walk_options {
	bool cross_mounts;
	dev_t state_dev;     /* the own state directory, passed over; 0, 0: none */
	ino_t state_ino;
	/* Whether @path (a directory if @is_dir) is left out; may be NULL. */
	bool (*exclude)(void *arg, const char *path, size_t len, bool is_dir);
	void *arg;
};

struct scr_walk;

/* Walks below @rootfd (a directory; not owned). 0 or -errno. */
int scr_walk_new(int rootfd, const struct scr_walk_options *opt, struct scr_walk **out);
/* The next entry; paths come in walk order, the root itself is ".". Returns 0, or -errno only if
 * the walk itself can't go on (memory). */
int scr_walk_next(struct scr_walk *w, struct scr_walk_entry *e);
void scr_walk_free(struct scr_walk *w);

#endif
