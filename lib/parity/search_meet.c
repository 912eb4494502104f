/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Meeting in the middle: all ways to give cells to blocks, in the square root of their number.
 *
 * An assignment is right for the CRCs if the digests of its choices XOR to the target. So the cells
 * are split into two halves; the XORs of all choices of the left half go into a hash table, and for
 * each choice of the right half, what is missing to the target is looked up. At most 2^20 entries
 * are kept. A hit is a candidate: bytes and checksums decide.
 */
#include <config.h>
#include "parity/search_cells.h"

#include <errno.h>
#include <stdlib.h>

#define TABLE_MAX (UINT32_C(1) << 20)
/* Hits that fail verification are as good as impossible; nobody waits for thousands. */
#define TRIES_MAX 1000

struct meet {
	struct scr_hunt *h;
	const struct scr_group *g;
	const struct scr_cells *cells;
	uint32_t order[SCR_CELLS_MAX]; /* cells: the left ones, then the right ones */
	uint32_t left;                 /* how many are left ones */
	uint32_t digit[SCR_CELLS_MAX]; /* the choice of each, in that order */
	uint32_t size, shift;          /* of the left table; 64 - log2 of its heads */
	uint64_t right;                /* combinations of the right half */
	uint64_t *sum;                 /* by number of the left choice: XOR of its digests */
	uint32_t *next, *head;         /* chains of equal hashes; SCR_NONE ends one */
	uint32_t fits, tries;
};

static const struct scr_cell *cell_at(const struct meet *m, uint32_t i)
{
	return &m->cells->cell[m->order[i]];
}

static uint64_t digest_at(const struct meet *m, uint32_t i, uint32_t choice)
{
	return m->cells->option[cell_at(m, i)->first + choice].digest;
}

/* The square root of all combinations, or what memory allows, goes left. */
static void split(struct meet *m)
{
	uint32_t right[SCR_CELLS_MAX], n = 0;
	double all = 1, size = 1;

	for (uint32_t i = 0; i < m->cells->count; i++)
		all *= m->cells->cell[i].options;
	for (uint32_t i = 0; i < m->cells->count; i++) {
		double grown = size * m->cells->cell[i].options;

		/* At least one, and one more while the table stays smaller than the rest. */
		if (grown <= TABLE_MAX && (m->left == 0 || grown * grown <= 2 * all)) {
			m->order[m->left++] = i;
			size = grown;
		} else {
			right[n++] = i;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		m->order[m->left + i] = right[i];
	m->size = (uint32_t)size;
	m->right = (uint64_t)(all / size);
}

/* Takes the effort from what is left for this extent. False: there is not as much. */
static bool afford(const struct meet *m)
{
	uint64_t effort = m->size + m->right;

	if (effort > m->h->effort)
		return false;
	m->h->effort -= effort;
	return true;
}

static uint32_t bucket(const struct meet *m, uint64_t sum)
{
	return (uint32_t)((sum * UINT64_C(0x9e3779b97f4a7c15)) >> m->shift);
}

/* The choices are digits of a number, the first cell's the lowest. */
static void fill_sums(struct meet *m)
{
	uint32_t size = 1;

	m->sum[0] = 0;
	for (uint32_t i = 0; i < m->left; i++) {
		uint32_t options = cell_at(m, i)->options;

		/* Choice 0 last: it overwrites what the others start from. */
		for (uint32_t k = options; k-- > 0;) {
			uint64_t d = digest_at(m, i, k);

			for (uint32_t j = 0; j < size; j++)
				m->sum[k * size + j] = m->sum[j] ^ d;
		}
		size *= options;
	}
}

static int fill_table(struct meet *m)
{
	uint32_t heads = 2;

	for (m->shift = 63; heads < m->size; heads *= 2)
		m->shift--;
	m->sum = malloc(m->size * sizeof(*m->sum));
	m->next = malloc(m->size * sizeof(*m->next));
	m->head = malloc(heads * sizeof(*m->head));
	if (!m->sum || !m->next || !m->head)
		return -ENOMEM;
	fill_sums(m);
	for (uint32_t i = 0; i < heads; i++)
		m->head[i] = SCR_NONE;
	for (uint32_t i = 0; i < m->size; i++) {
		uint32_t *head = &m->head[bucket(m, m->sum[i])];

		m->next[i] = *head;
		*head = i;
	}
	return 0;
}

/* Verifies left choice number @number together with the right digits. */
static int try_hit(struct meet *m, uint32_t number)
{
	struct scr_pieces *trial = &m->h->trial;
	int err = 0;

	m->tries++;
	trial->count = 0;
	for (uint32_t i = 0; i < m->left; i++) {
		m->digit[i] = number % cell_at(m, i)->options;
		number /= cell_at(m, i)->options;
	}
	for (uint32_t i = 0; !err && i < m->cells->count; i++) {
		const struct scr_cell *c = cell_at(m, i);

		err = scr_pieces_add(trial, c->start, c->end,
				     m->cells->option[c->first + m->digit[i]].block);
	}
	if (!err)
		scr_hunt_try(m->h, m->g, &m->fits);
	return err;
}

static int look_up(struct meet *m, uint64_t missing)
{
	int err = 0;

	for (uint32_t i = m->head[bucket(m, missing)]; !err && i != SCR_NONE; i = m->next[i]) {
		if (m->sum[i] == missing)
			err = try_hit(m, i);
	}
	return err;
}

/* The next choice of the right half, as an odometer counts. False: that was the last one. */
static bool advance(struct meet *m, uint64_t *missing)
{
	for (uint32_t i = m->left; i < m->cells->count; i++) {
		*missing ^= digest_at(m, i, m->digit[i]);
		if (++m->digit[i] == cell_at(m, i)->options)
			m->digit[i] = 0;
		*missing ^= digest_at(m, i, m->digit[i]);
		if (m->digit[i] != 0)
			return true;
	}
	return false;
}

static int each_right(struct meet *m)
{
	uint64_t missing = m->cells->target;
	int err;

	for (uint32_t i = m->left; i < m->cells->count; i++)
		missing ^= digest_at(m, i, 0);
	do {
		err = look_up(m, missing);
	} while (!err && m->fits < 2 && m->tries < TRIES_MAX && advance(m, &missing));
	return err;
}

static int outcome(const struct meet *m)
{
	if (m->fits > 1)
		return SCR_MORE_FITS;
	if (m->tries >= TRIES_MAX)
		return SCR_BEYOND;
	return m->fits ? SCR_ONE_FIT : SCR_NO_FIT;
}

int scr_cells_meet(struct scr_hunt *h, const struct scr_group *g, const struct scr_cells *cells)
{
	struct meet m = {.h = h, .g = g, .cells = cells};
	int err;

	split(&m);
	if (!afford(&m))
		return SCR_BEYOND;
	err = fill_table(&m);
	if (!err)
		err = each_right(&m);
	free(m.sum);
	free(m.next);
	free(m.head);
	return err ? err : outcome(&m);
}
