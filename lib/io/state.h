/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state directory: found, created, checked and locked so that root may use it in trees that
 * others can write. Every file in it is opened by openat from the
 * directory's descriptor with O_NOFOLLOW; new files are O_EXCL, mode 0600.
 */
#ifndef SCR_IO_STATE_H
#define SCR_IO_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/statename.h"

/* What a failing call says besides its -errno: a sentence for people, naming the path. */
struct scr_why {
	char text[4096 + 512];
};

struct scr_state {
	int dirfd;          /* of the state directory; -1: there is none yet */
	char *path;         /* as it is named in messages; absolute */
	bool created;       /* by this call of scr_state_create() */
	dev_t dev;          /* of the directory, for the walk to skip it */
	ino_t ino;
};

/*
 * Where the state of a target is looked for and would be created. Zero-filled candidates: none.
 * Rules: --state decides alone; else beside or in the target, and below the state root
 * (/var/lib/bitscrub); where the target, or a directory between it and the state, is writable by
 * anybody but root and the effective user, root uses the state root.
 */
struct scr_state_place {
	char *in_target;    /* TARGET/.bitscrub or FILE.bitscrub; NULL for --state */
	char *in_root;      /* STATEROOT/NAME; NULL for --state */
	char *given;        /* --state DIR */
	bool use_root;      /* create in in_root, not in_target */
};

/* @target: absolute path of the target without symlinks. @state_root: NULL for the built-in one.
 * 0 or -errno. */
int scr_state_place(const char *target, bool target_is_dir, const char *given,
		    const char *state_root, struct scr_state_place *out, struct scr_why *why);
/* The same for what has a name instead of a path: below the state root alone. 0 or -ENOMEM. */
int scr_state_place_named(const char *name, const char *given, const char *state_root,
			  struct scr_state_place *out);
void scr_state_place_free(struct scr_state_place *p);

/* /home/me/My Files -> home-me-My\x20Files, as systemd-escape --path does; beyond 200 bytes cut
 * and the CRC-32 of the whole path appended in hex. Allocated; NULL if out of memory. */
char *scr_state_escape(const char *absolute_path);

/*
 * Opens an existing state directory and checks it and what is in it: owned by the effective user,
 * not writable by group or others (mode or ACL), files regular with one link.
 * -ENOENT: none of the candidates exists or holds more than temporary names; -ENOTUNIQ: two found;
 * -EPERM: refused, @why says which and why. @reading: for verbs that only read: root is
 * accepted as owner besides the effective user, everything else is checked alike.
 */
int scr_state_open(const struct scr_state_place *p, bool reading, struct scr_state *out,
		   struct scr_why *why);
/* Creates it (0700 whatever the umask) if it does not exist, then as scr_state_open(). */
int scr_state_create(const struct scr_state_place *p, struct scr_state *out, struct scr_why *why);
void scr_state_close(struct scr_state *s); /* releases the lock too */

/* flock on the directory. @exclusive, else shared. Where it is held for longer than @wait_ns (0: held at
 * all; INT64_MAX: waits for ever): -EWOULDBLOCK, and @why names the
 * holder (pid, command, since when) from /proc/locks. -EPERM/-EROFS where locking isn't possible
 * are returned as they are. @stop: polled while waiting; may be NULL. */
int scr_state_lock(struct scr_state *s, bool exclusive, int64_t wait_ns, const atomic_int *stop,
		   struct scr_why *why);
/* The pid that holds the exclusive lock, or 0. */
pid_t scr_state_holder(const struct scr_state *s);

/* Opens file @name in it for reading: checked as above. -ENOENT, -EPERM (@why) ... */
int scr_state_open_file(const struct scr_state *s, const char *name, int flags, bool reading,
			struct scr_why *why);
/* A new file @name, O_EXCL, 0600, read-write. An old temporary one of that name is unlinked first
 * if it is ours. Returns the descriptor or -errno. */
int scr_state_new_file(const struct scr_state *s, const char *name, struct scr_why *why);
/* An unnamed file in the state directory (O_TMPFILE, or created and unlinked), read-write. */
int scr_state_unnamed_file(const struct scr_state *s);

/*
 * Opens subdirectory @name of the state as if it were a state of its own, for the calls above that
 * take names; what is in it is checked like the state. @create: 0700, if it is not there.
 * -ENOENT, -EPERM (@why) ...; scr_state_close(@out) when done.
 */
int scr_state_open_sub(const struct scr_state *s, const char *name, bool create, bool reading,
		       struct scr_state *out, struct scr_why *why);
/* Calls @fn for each name in it but "." and ".." until one returns something else than 0; that, or
 * -errno, or 0. */
int scr_state_each(const struct scr_state *s, int (*fn)(void *arg, const char *name), void *arg);

/*
 * Publishes temporary file @tmp as manifest: old manifest linked to manifest.1, rename, fsync of
 * the directory. @tmp must be synced and verified before. A publish cut short before (manifest and
 * manifest.1 one inode) is completed first.
 */
int scr_state_publish(const struct scr_state *s, const char *tmp, struct scr_why *why);
/* Completes such a cut publish: for writers, under the lock. */
int scr_state_recover(const struct scr_state *s, struct scr_why *why);
/* Temporary file @tmp, synced before, takes the place of @name; the directory is synced. 0 or
 * -errno. */
int scr_state_replace(const struct scr_state *s, const char *tmp, const char *name);
int scr_state_unlink(const struct scr_state *s, const char *name); /* 0 too if it isn't there */
int scr_state_sync(const struct scr_state *s); /* fsync of the directory */

/* write(2) of all of it; 0 or -errno. */
int scr_write_all(int fd, const void *data, size_t len);
/* pread(2) of exactly @len bytes; -ENODATA at a premature end, else -errno. */
int scr_pread_all(int fd, void *data, size_t len, uint64_t offset);
int scr_pwrite_all(int fd, const void *data, size_t len, uint64_t offset);

#endif
