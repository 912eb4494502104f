/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding and opening the state directory.
 *
 * Each place is opened once: its parent, then the directory itself with O_NOFOLLOW; what is checked
 * is the open descriptor, so nobody can put something else in between.
 */
#include <config.h>
#include "io/state_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What was found at one place. */
struct candidate {
	int ret;            /* 0: dirfd is open and sound; -ENOENT: nothing there; else refused */
	int dirfd;
	bool bare;          /* no more than temporary names in it: counts as nothing */
	bool others;        /* belongs to neither root nor the effective user */
	struct stat st;
	struct scr_why why;
};

static void candidate_close(struct candidate *c)
{
	if (c->dirfd >= 0)
		close(c->dirfd);
	c->dirfd = -1;
}

int scr_open_parent(const char *path, int flags, const char **name, struct scr_why *why)
{
	const char *slash = strrchr(path, '/');
	char *parent;
	int fd;

	parent = strndup(path, SCR_MAX((size_t)(slash - path), 1));
	if (!parent)
		return -ENOMEM;
	*name = slash + 1;
	fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
	if (fd < 0)
		fd = scr_why_errno(why, -errno, "open", parent);
	free(parent);
	return fd;
}

static int open_failed(int err, int parentfd, const char *name, const char *path,
		       struct candidate *c)
{
	if (fstatat(parentfd, name, &c->st, AT_SYMLINK_NOFOLLOW) < 0)
		return scr_why_errno(&c->why, -err, "open", path);
	c->others = c->st.st_uid != 0 && c->st.st_uid != geteuid();
	if (S_ISLNK(c->st.st_mode))
		return scr_why_set(&c->why, -EPERM, "%.4096s is a symbolic link, which a state "
				   "directory never is: remove it, or name the directory itself "
				   "with --state DIR", path);
	if (!S_ISDIR(c->st.st_mode))
		return scr_why_set(&c->why, -EPERM, "%.4096s is no directory: remove it, or keep "
				   "the state elsewhere with --state DIR", path);
	return scr_why_errno(&c->why, -err, "open", path);
}

static int look_inside(const char *path, bool reading, struct candidate *c)
{
	int ret;

	if (fstat(c->dirfd, &c->st) < 0)
		return scr_why_errno(&c->why, -errno, "look at", path);
	c->others = c->st.st_uid != 0 && c->st.st_uid != geteuid();
	ret = scr_state_check_access(path, &c->st, c->dirfd, reading, &c->why);
	if (ret < 0)
		return ret;
	return scr_state_check_content(c->dirfd, path, reading, &c->bare, &c->why);
}

/* Looks at @path (NULL: nothing there). @flags: for its parent. */
static void try_place(const char *path, int flags, bool reading, struct candidate *c)
{
	const char *name;
	int parentfd;

	*c = (struct candidate){.ret = -ENOENT, .dirfd = -1};
	if (!path)
		return;
	parentfd = scr_open_parent(path, flags, &name, &c->why);
	if (parentfd < 0) {
		c->ret = parentfd;
		return;
	}
	c->dirfd = openat(parentfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (c->dirfd >= 0)
		c->ret = look_inside(path, reading, c);
	else if (errno != ENOENT)
		c->ret = open_failed(errno, parentfd, name, path, c);
	if (c->ret < 0)
		candidate_close(c);
	close(parentfd);
}

static bool nothing_there(const struct candidate *c)
{
	return c->ret == -ENOENT || (c->ret == 0 && c->bare);
}

/*
 * Which of both places decides: *chosen. Somebody else's directory in a tree that others can write
 * does not count where root has its own below the state root: they may well run their own passes.
 */
static int choose(const struct scr_state_place *p, bool reading, struct candidate *t,
		  struct candidate *r, struct candidate **chosen, struct scr_why *why)
{
	if (r->ret == -EACCES && geteuid() != 0)
		r->ret = -ENOENT; /* root's own, of no use here */
	if (p->use_root && t->others && !nothing_there(r)) {
		*chosen = r;
		return 0;
	}
	if (!nothing_there(t) && !nothing_there(r))
		return scr_why_set(why, -ENOTUNIQ, "there is state in %.2000s and in %.2000s: "
				   "move one of them away, or name the one to use with --state DIR",
				   p->in_target, p->in_root);
	*chosen = nothing_there(t) ? r : t;
	if (*chosen == t && t->ret == 0 && p->use_root && !reading)
		return scr_why_set(why, -EPERM, "%.2000s lies in a directory that others can "
				   "write, where root keeps no state: move it to %.2000s",
				   p->in_target, p->in_root);
	return 0;
}

/* Hands the descriptor of @c over to @out. */
static int take(struct candidate *c, const char *path, bool created, struct scr_state *out)
{
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	*out = (struct scr_state){
		.dirfd = c->dirfd,
		.path = copy,
		.created = created,
		.dev = c->st.st_dev,
		.ino = c->st.st_ino,
	};
	c->dirfd = -1;
	return 0;
}

int scr_state_find(const struct scr_state_place *p, bool reading, bool bare_too,
		   struct scr_state *out, struct scr_why *why)
{
	struct candidate c[2], *chosen = NULL;
	int ret;

	if (p->given)
		try_place(p->given, 0, reading, &c[0]);
	else
		try_place(p->in_target, O_NOFOLLOW, reading, &c[0]);
	try_place(p->in_root, 0, reading, &c[1]);
	ret = choose(p, reading, &c[0], &c[1], &chosen, why);
	if (ret < 0)
		goto out;
	if (bare_too && nothing_there(chosen))
		chosen = &c[p->use_root];
	ret = chosen->ret;
	if (ret < 0 && ret != -ENOENT && why)
		*why = chosen->why;
	if (ret == 0 && chosen->bare && !bare_too)
		ret = -ENOENT;
	if (ret == -ENOENT)
		scr_why_set(why, ret, "there is no state in %.4096s", scr_place_path(p, p->use_root));
	if (ret == 0)
		ret = take(chosen, scr_place_path(p, chosen == &c[1]), false, out);
out:
	candidate_close(&c[0]);
	candidate_close(&c[1]);
	return ret;
}

int scr_state_open(const struct scr_state_place *p, bool reading, struct scr_state *out,
		   struct scr_why *why)
{
	return scr_state_find(p, reading, false, out, why);
}

void scr_state_close(struct scr_state *s)
{
	if (!s || !s->path)
		return;
	if (s->dirfd >= 0)
		close(s->dirfd);
	free(s->path);
	*s = (struct scr_state){.dirfd = -1};
}
