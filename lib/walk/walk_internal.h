/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a walk: a stack of directories, each with its sorted names. */
#ifndef SCR_WALK_WALK_INTERNAL_H
#define SCR_WALK_WALK_INTERNAL_H

#include "base/statename.h"
#include "walk/walk.h"

/* Open descriptors of a walk, whatever the depth. */
#define SCR_WALK_OPEN_MAX 32
/* So many levels are opened again at once when the walk comes back up to closed ones. */
#define SCR_WALK_OPEN_AGAIN 16

/* What readdir said that a name is. Others than these three are not kept. */
enum scr_name_type { SCR_NAME_UNKNOWN = 1, SCR_NAME_FILE, SCR_NAME_DIR };

/* The names of one directory, sorted by their bytes. Zero-filled is empty. */
struct scr_names {
	char *text;         /* for each: one byte type, the name, NUL */
	size_t len, cap;
	uint32_t *order;    /* offsets into text */
	size_t count, order_cap;
};

/* Lists directory @fd. -errno if it could not be listed to its end: @out then has what was there
 * before (-ENOMEM: nothing). @buf of @size bytes is for the system call. */
int scr_names_list(struct scr_names *out, int fd, char *buf, size_t size);
void scr_names_free(struct scr_names *n);

static inline const char *scr_names_get(const struct scr_names *n, size_t i)
{
	return n->text + n->order[i] + 1;
}

static inline enum scr_name_type scr_names_type(const struct scr_names *n, size_t i)
{
	return (enum scr_name_type)n->text[n->order[i]];
}

/* One directory between the root and where the walk is. */
struct scr_level {
	int fd;             /* -1: closed for want of descriptors */
	dev_t dev;
	ino_t ino;
	struct scr_names names;
	size_t next;        /* in names */
	size_t path_len;    /* of its path, which starts that of everything below */
	enum scr_state_level state;
};

struct scr_walk {
	int rootfd;
	struct scr_walk_options opt;
	struct scr_level *levels;
	size_t depth, cap;
	size_t first_open;  /* levels from here to the top have descriptors */
	char *path;
	size_t path_len, path_cap;
	struct scr_walk_entry first, pending; /* come next, in this order; SCR_WALK_END: none */
	char *buf;
};

#define SCR_WALK_BUFFER (64u << 10)

/* Puts the directory @fd (taken over, also on error) on the stack and lists it. *list_error: 0 or
 * -errno of the listing. Returns 0 or -ENOMEM. */
int scr_level_push(struct scr_walk *w, int fd, const struct stat *st, enum scr_state_level state,
		   int *list_error);
void scr_level_pop(struct scr_walk *w);
/* The descriptor of the top level, opened again if need be. -ENOENT: it is not where it was. */
int scr_level_fd(struct scr_walk *w);
/* Whether @st is one of the directories on the stack. */
bool scr_level_loops(const struct scr_walk *w, const struct stat *st);

/* What stands in directory @fd, whose name is one that state directories have. */
enum scr_foreign {
	SCR_FOREIGN_NO,     /* an ordinary directory */
	SCR_FOREIGN_STATE,  /* its manifest begins like one */
	SCR_FOREIGN_CLOSED, /* root's or the effective user's; the manifest may not be opened */
};

enum scr_foreign scr_foreign_look(int fd);
/* Whether @st belongs to root or the effective user. */
bool scr_foreign_trusted(const struct stat *st);

#endif
