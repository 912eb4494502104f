/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tokens of a compiled pattern. */
#ifndef SCR_WALK_GLOB_INTERNAL_H
#define SCR_WALK_GLOB_INTERNAL_H

#include "walk/glob.h"

enum scr_glob_op {
	SCR_GLOB_BYTE,  /* this byte */
	SCR_GLOB_ANY,   /* one byte but '/' */
	SCR_GLOB_CLASS, /* one byte of a set, never '/' */
	SCR_GLOB_STAR,  /* any number of bytes but '/' */
	SCR_GLOB_DIRS,  /* any number of whole components, each with its '/' behind it */
	SCR_GLOB_REST,  /* one byte or more, '/' too: all that lies below */
};

struct scr_glob_token {
	uint8_t op, byte;
	uint16_t set;           /* index into sets */
};

struct scr_glob_set {
	uint8_t bits[32];
};

struct scr_glob {
	struct scr_glob_token *tokens;
	struct scr_glob_set *sets;
	size_t count, set_count;
	bool dirs_only;
	bool anchored;          /* else it matches the last component alone */
};

/*
 * Parses a class whose '[' is at @p into @set. Returns the position behind its ']', or NULL with a
 * static sentence in *why.
 */
const char *scr_glob_class(const char *p, struct scr_glob_set *set, const char **why);

static inline bool scr_glob_set_has(const struct scr_glob_set *s, unsigned char c)
{
	return s->bits[c / 8] >> (c % 8) & 1;
}

#endif
