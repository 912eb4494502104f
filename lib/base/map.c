/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash map from a pair of 64-bit numbers to one: open addressing, linear probing. */
#include <config.h>
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

/* The finaliser of MurmurHash3: every input bit reaches every output bit. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

static struct scr_map_entry *find(const struct scr_map *m, uint64_t a, uint64_t b)
{
	size_t i = (size_t)mix(a + mix(b)) & (m->cap - 1);

	while (m->slots[i].used && (m->slots[i].key[0] != a || m->slots[i].key[1] != b))
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

uint64_t *scr_map_get(const struct scr_map *m, uint64_t a, uint64_t b)
{
	struct scr_map_entry *e;

	if (m->count == 0)
		return NULL;
	e = find(m, a, b);
	return e->used ? &e->value : NULL;
}

static int grow(struct scr_map *m)
{
	struct scr_map bigger = {.cap = m->cap ? m->cap * 2 : 64, .count = m->count};

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].used)
			*find(&bigger, m->slots[i].key[0], m->slots[i].key[1]) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

int scr_map_put(struct scr_map *m, uint64_t a, uint64_t b, uint64_t value)
{
	struct scr_map_entry *e;

	if (m->count * 4 >= m->cap * 3) {
		int r = grow(m);

		if (r < 0)
			return r;
	}
	e = find(m, a, b);
	if (!e->used)
		m->count++;
	*e = (struct scr_map_entry){.key = {a, b}, .value = value, .used = true};
	return 0;
}

void scr_map_free(struct scr_map *m)
{
	free(m->slots);
	*m = (struct scr_map){0};
}
