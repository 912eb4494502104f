/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nearest word to a mistyped one. */
#include <config.h>
#include "nearest.h"

#include <stdbool.h>
#include <string.h>

/* Longer words than any verb or option are near to nothing. */
#define MAX_LEN 24

struct nearest nearest_start(const char *typed, size_t len)
{
	/* A third of the letters may be wrong, and two in any word of three or more. */
	size_t limit = len < 3 ? 1 : len < 9 ? 2 : len / 3;

	return (struct nearest){ typed, len, limit + 1, NULL };
}

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Optimal string alignment: row i of the table needs the two rows above it. */
size_t nearest_distance(const char *a, size_t alen, const char *b, size_t blen)
{
	size_t rows[3][MAX_LEN + 1];
	size_t *above2 = rows[0], *above = rows[1], *row = rows[2];

	if (alen > MAX_LEN || blen > MAX_LEN)
		return alen + blen;
	for (size_t j = 0; j <= blen; j++)
		above[j] = j;
	for (size_t i = 1; i <= alen; i++) {
		size_t *next = above2;

		row[0] = i;
		for (size_t j = 1; j <= blen; j++) {
			bool same = a[i - 1] == b[j - 1];
			bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];

			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same);
			if (swapped && above2[j - 2] + 1 < row[j])
				row[j] = above2[j - 2] + 1;
		}
		above2 = above;
		above = row;
		row = next;
	}
	return above[blen];
}

void nearest_try(struct nearest *n, const char *word)
{
	size_t wlen = strlen(word);
	size_t d = nearest_distance(n->typed, n->len, word, wlen);

	/* The beginning of a word is near to it. */
	if (n->len >= 3 && n->len < wlen && !strncmp(n->typed, word, n->len))
		d = 1;
	if (d < n->distance && d < wlen) {
		n->distance = d;
		n->word = word;
	}
}
