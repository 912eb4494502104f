/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The repair search of one extent: the order of its levels. */
#include <config.h>
#include "parity/search_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "fold/fold.h"

/* ---- S ------------------------------------------------------------------------------------- */

static bool has_parity(const struct scr_search *s)
{
	return s->parity_zero || (s->parity_checks && s->parity);
}

static int fold(struct scr_hunt *h)
{
	const struct scr_search *s = h->s;
	struct scr_fold f;

	if (!has_parity(s))
		return 0;
	h->syndrome = malloc(s->cut.column);
	if (!h->syndrome)
		return -ENOMEM;
	scr_fold_start(&f, s->kernels, s->cut.column, h->syndrome);
	scr_fold_add(&f, 0, s->data, s->cut.length);
	if (!s->parity_zero)
		scr_fold_add_column(&f, 0, s->parity, s->cut.column);
	return 0;
}

/* S is not 0, and nobody is bad there. */
static void count_inconsistent(struct scr_hunt *h)
{
	struct scr_search *s = h->s;

	for (const struct scr_zone *z = h->zones; z < h->zones + h->zone_count; z++) {
		uint32_t pos = z->start, skip;

		for (; z->kind == SCR_ZONE_FREE && pos < z->end; pos++) {
			if (!scr_find_nonzero(h->syndrome + pos, z->end - pos, &skip))
				break;
			pos += skip;
			if (s->inconsistent++ == 0)
				s->first_inconsistent = pos;
		}
	}
}

/* ---- one component ------------------------------------------------------------------------- */

/* What forced positions leave of the errors that the CRCs tell. */
static void residues(struct scr_hunt *h, const struct scr_group *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		struct scr_bad *b = &h->bad[g->members[i]];

		scr_hunt_overlay(h, g->members[i], NULL);
		b->residue = b->want.crc ^ h->s->kernels->crc32->fn.crc32(0, h->scratch, b->length);
	}
}

static int forced(struct scr_hunt *h, const struct scr_group *g)
{
	uint32_t fits = 0;

	h->trial.count = 0;
	scr_hunt_try(h, g, &fits);
	return fits ? SCR_ONE_FIT : SCR_NO_FIT;
}

static int levels(struct scr_hunt *h, const struct scr_group *g)
{
	int outcome;

	if (g->zone_count == 0)
		return forced(h, g);
	residues(h, g);
	outcome = scr_hunt_window(h, g);
	return outcome == SCR_NO_FIT ? scr_hunt_cells(h, g) : outcome;
}

/* All or nothing. */
static int solve(struct scr_hunt *h, const struct scr_group *g)
{
	int outcome = levels(h, g);

	if (outcome < 0)
		return outcome;
	for (uint32_t i = 0; i < g->count; i++) {
		struct scr_bad *b = &h->bad[g->members[i]];

		if (outcome == SCR_ONE_FIT)
			scr_hunt_apply(h, g->members[i], &h->found);
		else if (outcome == SCR_MORE_FITS)
			b->why = SCR_LOST_AMBIGUOUS;
		else
			b->why = outcome == SCR_BEYOND ? SCR_LOST_TOO_MANY : SCR_LOST_NO_FIT;
	}
	return 0;
}

/* ---- the extent ---------------------------------------------------------------------------- */

/* Levels 0 to 2 for what is still bad. */
static int by_parity(struct scr_hunt *h, bool first)
{
	int err = scr_hunt_zones(h);

	if (err)
		return err;
	if (first)
		count_inconsistent(h);
	for (uint32_t i = 0; i < h->bads; i++) {
		if (h->bad[i].twice)
			h->bad[i].why = SCR_LOST_TWICE;
	}
	return scr_hunt_groups(h, solve);
}

static void no_parity(struct scr_hunt *h)
{
	for (uint32_t i = 0; i < h->bads; i++)
		h->bad[i].why = SCR_LOST_NO_PARITY;
}

static int rounds(struct scr_hunt *h)
{
	int err = 0;

	if (!h->syndrome) {
		no_parity(h);
		if (h->s->allow_syndrome)
			scr_hunt_by_checksum(h);
		return 0;
	}
	/* Whatever checksums put right alone leaves parity one unknown less. */
	for (bool first = true, again = true; !err && again; first = false) {
		err = by_parity(h, first);
		again = !err && h->s->allow_syndrome && scr_hunt_by_checksum(h) > 0;
	}
	return err;
}

static void tell(struct scr_hunt *h)
{
	struct scr_search *s = h->s;

	for (const struct scr_bad *b = h->bad; b < h->bad + h->bads; b++) {
		uint32_t i = b->start / s->cut.block;

		(b->parity ? s->parity_state : s->state)[i] = b->state;
		(b->parity ? s->parity_why : s->why)[i] = b->why;
		if (b->parity)
			continue;
		s->repaired += b->fixed;
		s->lost += !b->fixed;
	}
}

static void hunt_free(struct scr_hunt *h)
{
	free(h->syndrome);
	free(h->bad);
	free(h->bad_of);
	free(h->zones);
	free(h->cands);
	free(h->scratch);
	free(h->powers);
	free(h->trial.p);
	free(h->found.p);
}

int scr_search_extent(struct scr_search *s)
{
	struct scr_hunt h = {
		.s = s,
		.columns = scr_fold_columns(&s->cut),
		.effort = SCR_EFFORT,
	};
	int err;

	s->repaired = s->lost = 0;
	s->inconsistent = s->first_inconsistent = 0;
	h.scratch = malloc(s->cut.block);
	err = h.scratch ? scr_hunt_verify(&h) : -ENOMEM;
	if (!err)
		err = fold(&h);
	if (!err)
		err = rounds(&h);
	/* Also after an error: what was repaired until then is right. */
	tell(&h);
	hunt_free(&h);
	return err;
}

const char *scr_lost_why_text(enum scr_lost_why why)
{
	switch (why) {
	case SCR_LOST_NO_PARITY:
		return "there is no parity";
	case SCR_LOST_TWICE:
		return "two unreadable bytes at one place of the parity";
	case SCR_LOST_NO_FIT:
		return "damaged at one place of the parity more than once";
	case SCR_LOST_AMBIGUOUS:
		return "more than one repair would fit the checksums";
	case SCR_LOST_TOO_MANY:
		return "too much damage to tell apart safely";
	}
	return "not repairable";
}
