/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counts of a trailer. */
#include <config.h>
#include "manifest/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "manifest/codec.h"

#define DAY_NS (24 * 3600 * SCR_NS_PER_S)

void scr_tally_start(struct scr_tally *t, int64_t now_ns)
{
	*t = (struct scr_tally){.now_ns = now_ns};
}

int scr_tally_start_like(struct scr_tally *t, const struct scr_trailer *trailer)
{
	size_t n = trailer->segment_count;

	scr_tally_start(t, 0);
	t->fixed = true;
	if (n == 0)
		return 0;
	t->sum.segments = calloc(n, sizeof(*t->sum.segments));
	if (!t->sum.segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		t->sum.segments[i].segment = trailer->segments[i].segment;
	t->sum.segment_count = trailer->segment_count;
	return 0;
}

static void mark_damaged(struct scr_tally *t)
{
	if (!t->damaged)
		t->sum.files_damaged++;
	t->damaged = true;
}

void scr_tally_file(struct scr_tally *t, const struct scr_file_record *f)
{
	t->damaged = false;
	t->sum.files++;
	t->sum.bytes += f->stamp.size;
	if (f->damage.kind)
		mark_damaged(t);
}

void scr_tally_unseen(struct scr_tally *t)
{
	t->sum.unseen++;
	t->sum.files_damaged++;
}

void scr_tally_link(struct scr_tally *t)
{
	t->sum.links++;
}

static unsigned int age_bucket(int64_t now, int64_t then)
{
	uint64_t days;
	unsigned int i = 0;

	if (then >= now)
		return 0;
	days = ((uint64_t)now - (uint64_t)then) / DAY_NS;
	while (i < SCR_TRAILER_BUCKETS - 1 && days >> i)
		i++;
	return i;
}

static void count_age(struct scr_tally *t, const struct scr_extent *e)
{
	struct scr_trailer *s = &t->sum;

	if (e->checked_ns == 0) {
		s->bytes_never_checked += e->run_length;
		return;
	}
	s->age_bytes[age_bucket(t->now_ns, e->checked_ns)] += e->run_length;
	if (s->oldest_check_ns == 0 || e->checked_ns < s->oldest_check_ns)
		s->oldest_check_ns = e->checked_ns;
	if (s->newest_check_ns == 0 || e->checked_ns > s->newest_check_ns)
		s->newest_check_ns = e->checked_ns;
}

static void count_holes(struct scr_tally *t, const struct scr_extent *e)
{
	if (e->hole)
		t->sum.hole_bytes += e->run_length;
	for (uint32_t i = 0; e->holes && i < e->cut.blocks; i++)
		if (e->holes[i / 8] >> i % 8 & 1)
			t->sum.hole_bytes += scr_block_length(&e->cut, i);
}

/* Entries are sorted by block. */
static void count_damage(struct scr_tally *t, const struct scr_extent *e)
{
	uint64_t in_block = 0;

	for (uint32_t i = 0; i < e->damage_count; i++) {
		const struct scr_damage_record *d = &e->damage[i];
		bool last = i + 1 == e->damage_count || e->damage[i + 1].block != d->block;

		in_block += d->length;
		if (!last)
			continue;
		t->sum.blocks_damaged++;
		t->sum.bytes_damaged += SCR_MIN(in_block, scr_block_length(&e->cut, d->block));
		in_block = 0;
	}
	if (e->damage_count)
		mark_damaged(t);
}

/* Where @segment is or belongs in the ascending list. */
static uint32_t find_segment(const struct scr_trailer *s, uint32_t segment)
{
	uint32_t lo = 0, hi = s->segment_count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->segments[mid].segment < segment)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int grow_segments(struct scr_tally *t)
{
	uint32_t cap = t->segment_cap ? t->segment_cap * 2 : 16;
	struct scr_parity_use *p;

	if (t->sum.segment_count < t->segment_cap)
		return 0;
	p = realloc(t->sum.segments, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	t->sum.segments = p;
	t->segment_cap = cap;
	return 0;
}

static int count_parity(struct scr_tally *t, const struct scr_extent *e)
{
	struct scr_trailer *s = &t->sum;
	uint32_t i = find_segment(s, e->parity_segment);

	s->parity_bytes += e->parity_length;
	if (i < s->segment_count && s->segments[i].segment == e->parity_segment) {
		s->segments[i].live += e->parity_length;
		return 0;
	}
	if (t->fixed)
		return -EBADMSG;
	if (grow_segments(t) < 0)
		return -ENOMEM;
	memmove(&s->segments[i + 1], &s->segments[i],
		(s->segment_count - i) * sizeof(s->segments[0]));
	s->segments[i] = (struct scr_parity_use){e->parity_segment, e->parity_length};
	s->segment_count++;
	return 0;
}

/* Blocks of @run extents; all but the last extent of a file are cut alike. */
static uint64_t run_blocks(const struct scr_geometry *g, const struct scr_extent *e)
{
	uint64_t size = e->cut.offset + e->run_length;

	if (e->run == 1)
		return e->cut.blocks;
	return scr_blocks_before(g, size, e->cut.index + e->run) -
	       scr_blocks_before(g, size, e->cut.index);
}

int scr_tally_extent(struct scr_tally *t, const struct scr_geometry *g, const struct scr_extent *e)
{
	t->sum.extents += e->run;
	t->sum.blocks += run_blocks(g, e);
	if (e->flags & SCR_EXTENT_UNRECORDED)
		t->sum.extents_unrecorded++;
	count_age(t, e);
	count_holes(t, e);
	count_damage(t, e);
	return e->parity_segment ? count_parity(t, e) : 0;
}

static uint64_t sum_of_ages(const struct scr_trailer *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SCR_TRAILER_BUCKETS; i++)
		sum += t->age_bytes[i];
	return sum;
}

static bool segments_agree(const struct scr_trailer *a, const struct scr_trailer *b)
{
	if (a->segment_count != b->segment_count)
		return false;
	for (uint32_t i = 0; i < a->segment_count; i++)
		if (a->segments[i].segment != b->segments[i].segment ||
		    a->segments[i].live != b->segments[i].live)
			return false;
	return true;
}

bool scr_tally_agrees(const struct scr_tally *t, const struct scr_trailer *b)
{
	const struct scr_trailer *a = &t->sum;

	return a->files == b->files && a->links == b->links && a->extents == b->extents &&
	       a->blocks == b->blocks && a->bytes == b->bytes && a->hole_bytes == b->hole_bytes &&
	       a->unseen == b->unseen && a->files_damaged == b->files_damaged && a->blocks_damaged == b->blocks_damaged &&
	       a->bytes_damaged == b->bytes_damaged &&
	       a->extents_unrecorded == b->extents_unrecorded &&
	       a->parity_bytes == b->parity_bytes && a->oldest_check_ns == b->oldest_check_ns &&
	       a->newest_check_ns == b->newest_check_ns &&
	       a->bytes_never_checked == b->bytes_never_checked &&
	       sum_of_ages(a) == sum_of_ages(b) && segments_agree(a, b);
}

void scr_tally_free(struct scr_tally *t)
{
	scr_trailer_free(&t->sum);
}
