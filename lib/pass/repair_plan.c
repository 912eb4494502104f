/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What of a mended extent can be written, in whole units, and what is recorded of it then. */
#include <config.h>
#include "pass/repair_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

/* ---- units ------------------------------------------------------------------------------- */

static bool unit_differs(const struct scr_mend *m, uint32_t start, uint32_t len)
{
	return start + len > m->present || scr_gaps_overlap(&m->gaps, start, len) ||
	       memcmp(m->read + start, m->data + start, len) != 0;
}

static void leave(struct scr_mend *m, uint32_t i, uint8_t why)
{
	if (m->state[i] != SCR_BLOCK_REPAIRED)
		return;
	m->state[i] = SCR_BLOCK_LOST;
	m->why[i] = why;
	m->how[i] = SCR_REPAIR_NOT;
}

/* Whether every block of the unit is right; else none of them is repaired. True: something had to
 * be taken back. */
static bool settle_unit(struct scr_mend *m, uint32_t start, uint32_t len, uint8_t why, bool *whole)
{
	uint32_t first = start / m->cut.block, last = (start + len - 1) / m->cut.block;
	bool any = false;

	*whole = true;
	for (uint32_t i = first; i <= last; i++)
		*whole &= m->state[i] != SCR_BLOCK_LOST;
	if (*whole && why == SCR_LEFT_UNIT)
		return false;
	for (uint32_t i = first; i <= last; i++) {
		any |= m->state[i] == SCR_BLOCK_REPAIRED;
		leave(m, i, why);
	}
	return any;
}

/* One look at all units that would be written. True: something was taken back, so look again. */
static bool settle_units(struct scr_repair_file *rf, struct scr_mend *m, bool *growth)
{
	bool again = false, whole;

	*growth = !rf->no_growth;
	for (uint32_t at = 0; at < m->cut.length; at += rf->unit) {
		uint32_t len = SCR_MIN(rf->unit, m->cut.length - at);
		bool beyond = at + len > m->present;

		if (!unit_differs(m, at, len))
			continue;
		again |= settle_unit(m, at, len, beyond && !*growth ? SCR_LEFT_END : SCR_LEFT_UNIT,
				     &whole);
		*growth &= whole || !beyond;
	}
	return again;
}

static int add_run(struct scr_mend *m, uint32_t start, uint32_t len)
{
	struct scr_mend_run *last = m->run_count ? &m->runs[m->run_count - 1] : NULL;

	if (last && last->start + last->length == start) {
		last->length += len;
		return 0;
	}
	if (m->run_count == m->run_cap) {
		uint32_t cap = m->run_cap ? m->run_cap * 2 : 16;
		struct scr_mend_run *runs = realloc(m->runs, cap * sizeof(*runs));

		if (!runs)
			return -ENOMEM;
		m->runs = runs;
		m->run_cap = cap;
	}
	m->runs[m->run_count++] = (struct scr_mend_run){start, len};
	return 0;
}

/* A unit of which every byte is known to be right, and some are not there yet. */
static bool is_due(const struct scr_mend *m, uint32_t start, uint32_t len)
{
	for (uint32_t i = start / m->cut.block; i <= (start + len - 1) / m->cut.block; i++)
		if (m->state[i] == SCR_BLOCK_LOST)
			return false;
	return unit_differs(m, start, len);
}

/*
 * Where the file goes on behind the recorded end, the unit there can be written in part only, and
 * not if some of it can't be read.
 */
static void settle_long(const struct scr_repair_file *rf, struct scr_mend *m)
{
	uint32_t start = m->cut.length / rf->unit * rf->unit;
	uint64_t end = m->cut.offset + m->cut.length;

	if (start == m->cut.length || end != rf->f.stamp.size ||
	    (uint64_t)rf->now.st_size <= end ||
	    !scr_gaps_overlap(&m->gaps, start, m->cut.length - start))
		return;
	for (uint32_t i = start / m->cut.block; i < m->cut.blocks; i++)
		leave(m, i, SCR_LEFT_LONG);
}

int scr_mend_plan(struct scr_repair_file *rf, struct scr_mend *m)
{
	bool growth;
	int r = 0;

	settle_long(rf, m);
	while (settle_units(rf, m, &growth))
		;
	m->run_count = 0;
	for (uint32_t at = 0; r == 0 && at < m->cut.length; at += rf->unit) {
		uint32_t len = SCR_MIN(rf->unit, m->cut.length - at);

		if (is_due(m, at, len))
			r = add_run(m, at, len);
	}
	rf->no_growth |= !growth;
	scr_mend_count(m);
	return r;
}

/* ---- what is recorded then --------------------------------------------------------------- */

struct list {
	struct scr_damage_record *v;
	uint32_t count, cap;
};

static int push(struct list *l, struct scr_damage_record d)
{
	if (l->count == l->cap) {
		uint32_t cap = l->cap ? l->cap * 2 : 8;
		struct scr_damage_record *v = realloc(l->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		l->cap = cap;
	}
	l->v[l->count++] = d;
	return 0;
}

/* The gaps in block @i, one record each. */
static int push_gaps(struct list *l, const struct scr_mend *m, struct scr_damage_record d)
{
	uint32_t start = d.block * m->cut.block, end = start + scr_block_length(&m->cut, d.block);
	int r = 0;

	d.kind = SCR_REC_UNREADABLE;
	for (uint32_t j = 0; r == 0 && j < m->gaps.count; j++) {
		uint32_t from = SCR_MAX(m->gaps.list[j].start, start);
		uint32_t to = SCR_MIN(m->gaps.list[j].start + m->gaps.list[j].length, end);

		if (from >= to)
			continue;
		d.start = from - start;
		d.length = to - from;
		r = push(l, d);
	}
	return r;
}

static int push_block(struct scr_repair *r, struct list *l, struct scr_damage_record d)
{
	const struct scr_mend *m = &r->mend;
	uint32_t start = d.block * m->cut.block, len = scr_block_length(&m->cut, d.block);

	if (scr_gaps_overlap(&m->gaps, start, len))
		return push_gaps(l, m, d);
	d.seen_length = m->present > start ? SCR_MIN(m->present - start, len) : 0;
	d.seen = scr_check_bytes(r->k.kernels, m->read + start, d.seen_length);
	d.start = 0;
	d.length = len;
	return push(l, d);
}

static struct scr_damage_record first_of(const struct scr_extent *e, uint32_t block, uint8_t kind,
					 int64_t since)
{
	struct scr_damage_record d = {.block = block, .kind = kind, .first_ns = since};

	for (uint32_t j = 0; j < e->damage_count; j++)
		if (e->damage[j].block == block) {
			d.first_ns = e->damage[j].first_ns;
			d.flags = e->damage[j].flags;
			if (e->damage[j].kind != SCR_REC_UNREADABLE)
				d.kind = e->damage[j].kind;
			break;
		}
	if (d.kind != SCR_REC_ALTERED)
		d.kind = SCR_REC_ROT;
	return d;
}

int scr_mend_result(struct scr_repair *r, const struct scr_extent *e, uint8_t kind, int64_t since,
		    struct scr_extent *out)
{
	const struct scr_mend *m = &r->mend;
	int64_t now = scr_repair_now(r);
	struct list l = {0};
	int err = scr_extent_copy(out, e);

	for (uint32_t i = 0; err == 0 && i < m->cut.blocks; i++) {
		struct scr_damage_record d;

		if (m->state[i] != SCR_BLOCK_LOST)
			continue;
		d = first_of(e, i, kind, since ? since : now);
		d.last_ns = now;
		err = push_block(r, &l, d);
	}
	if (err < 0) {
		free(l.v);
		return err;
	}
	free(out->damage);
	out->damage = l.v;
	out->damage_count = l.count;
	out->checked_ns = now;
	return 0;
}
