/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nearest word to a mistyped one. */
#ifndef NEAREST_H
#define NEAREST_H

#include <stddef.h>

struct nearest {
	const char *typed;
	size_t len;
	size_t distance;  /* of @word */
	const char *word; /* the best so far, or NULL if none is near enough */
};

struct nearest nearest_start(const char *typed, size_t len);
void nearest_try(struct nearest *n, const char *word);

/* Insertions, deletions, replacements and swaps of neighbours that make @a of @b. */
size_t nearest_distance(const char *a, size_t alen, const char *b, size_t blen);

#endif
