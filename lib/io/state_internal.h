/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the state directory's code share. */
#ifndef SCR_IO_STATE_INTERNAL_H
#define SCR_IO_STATE_INTERNAL_H

#include <sys/stat.h>

#include "base/compiler.h"
#include "io/state.h"

/* Sets the sentence of @why (may be NULL) and returns @err, so that it can end a return. */
int scr_why_set(struct scr_why *why, int err, const char *fmt, ...) SCR_PRINTF(3, 4);
/* The same for a failed call: "cannot DOING PATH: strerror". @err: -errno. */
int scr_why_errno(struct scr_why *why, int err, const char *doing, const char *path);

/* A path and a name in it, for messages and for opening; allocated, NULL if out of memory. */
char *scr_path_join(const char *dir, const char *name);

/* Whether somebody else than root and the effective user may write to @st, by owner and mode.
 * With a POSIX ACL the group bits are its mask, so an entry that gives write access shows too. */
bool scr_stat_writable_by_others(const struct stat *st);

/* Whom an ACL lets write. */
struct scr_acl_writer {
	bool group;     /* else a user */
	uint32_t id;
};

/*
 * Whether the POSIX ACL value @acl (of xattr system.posix_acl_access) lets a named user other than
 * root and @euid, or a named group, write; *who receives the first one. A value that is not
 * understood counts as if it did, with *who zero.
 */
bool scr_acl_lets_write(const uint8_t *acl, size_t len, uid_t euid, struct scr_acl_writer *who);

/* Refuses (-EPERM, @why) what is not owned by the effective user (or root, if @reading) or can be
 * written by others. @fd: a descriptor for the ACL, or -1. */
int scr_state_check_access(const char *path, const struct stat *st, int fd, bool reading,
			   struct scr_why *why);
/* The same, and refuses what is no regular file or has links outside of the state directory. */
int scr_state_check_file(int dirfd, const char *dirpath, const char *name, const struct stat *st,
			 int fd, bool reading, struct scr_why *why);
/* Checks every entry of @dirfd that the format defines. *bare: it holds no more than temporary
 * names. */
int scr_state_check_content(int dirfd, const char *path, bool reading, bool *bare,
			    struct scr_why *why);

/* Where state is to be, given that it is below the state root if @root. */
static inline const char *scr_place_path(const struct scr_state_place *p, bool root)
{
	return p->given ? p->given : root ? p->in_root : p->in_target;
}

/* The descriptor of the directory that holds @path, and the last name of @path. @flags: O_NOFOLLOW
 * for the target, whose path has no symlinks: what is one now was put there meanwhile. */
int scr_open_parent(const char *path, int flags, const char **name, struct scr_why *why);
/* As scr_state_open(); if @bare_too, a bare directory at the place to create in is taken. */
int scr_state_find(const struct scr_state_place *p, bool reading, bool bare_too,
		   struct scr_state *out, struct scr_why *why);

/* Calls @fn for each entry but "." and ".." until it returns something else than 0; that, or
 * -errno, or 0. @dirfd keeps its own position. */
int scr_dir_each(int dirfd, int (*fn)(void *arg, const char *name), void *arg);

/* A line of /proc/locks that stands for a flock. */
struct scr_lock_line {
	bool exclusive, waiting;
	long pid;
	unsigned int major, minor;
	unsigned long long ino;
};

/* Whether @line is a flock, taken apart into @out. */
bool scr_lock_parse(const char *line, struct scr_lock_line *out);

#endif
