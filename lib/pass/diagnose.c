/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What happened to a damaged block, as far as parity and checksums can tell. */
#include <config.h>
#include "pass/diagnose.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "fold/fold.h"
#include "parity/search.h"

/* Mass damage is explained by its mass: later extents go undiagnosed. */
#define DIAGNOSES_MAX 256
#define HOLDERS_MAX 32
#define GAPS_MAX 256
/* "zeroed" and the like need at least so many differing bytes; fewer may be chance. */
#define FILL_MIN 8

/* ---- patterns ---------------------------------------------------------------------------- */

static unsigned int bits_of(uint8_t x)
{
	return (unsigned int)__builtin_popcount(x);
}

static bool is_filled(const uint8_t *p, uint64_t len, uint8_t with)
{
	for (uint64_t i = 0; i < len; i++)
		if (p[i] != with)
			return false;
	return true;
}

static const char *pattern_of(const uint8_t *is, const struct scr_diagnosis *d, uint64_t start)
{
	uint64_t span = d->last - d->first + 1;

	if (d->bits == 1)
		return "bitflip";
	if (d->bytes >= FILL_MIN && is_filled(is + start, span, 0))
		return "zeroed";
	if (d->bytes >= FILL_MIN && is_filled(is + start, span, 0xff))
		return "0xff";
	if (d->bits <= 16 || d->bytes < FILL_MIN)
		return "bits";
	if (span <= 512 && d->first / 512 == d->last / 512)
		return "sector";
	if (span <= 4096 && d->first / 4096 == d->last / 4096)
		return "page";
	return "garbage";
}

void scr_diagnose_bytes(const uint8_t *was, const uint8_t *is, uint32_t len, uint64_t offset,
			struct scr_diagnosis *d)
{
	uint32_t start = 0;

	for (uint32_t i = 0; i < len; i++) {
		if (was[i] == is[i])
			continue;
		if (d->bytes++ == 0) {
			start = i;
			d->first = offset + i;
			d->was = was[i];
			d->is = is[i];
		}
		d->last = offset + i;
		d->bits += bits_of(was[i] ^ is[i]);
	}
	if (d->bytes > 0)
		d->pattern = pattern_of(is, d, start);
}

/* ---- misdirected blocks ------------------------------------------------------------------ */

struct holder {
	struct scr_check seen;
	uint32_t length;
	char *path;
	uint64_t block;
	bool unique;
};

static int look_in_extent(struct holder *h, const struct scr_extent *x,
			  const struct scr_file_record *f, const struct scr_geometry *g)
{
	for (uint32_t i = 0; x->checks && i < x->cut.blocks; i++) {
		if (!scr_check_equal(x->checks[i], h->seen) ||
		    scr_block_length(&x->cut, i) != h->length)
			continue;
		if (h->path) {
			h->unique = false;
			return 1;
		}
		h->path = strndup(f->path, f->path_len);
		h->block = scr_blocks_before(g, f->stamp.size, x->cut.index) + i;
		h->unique = h->path != NULL;
	}
	return 0;
}

/* The one recorded block with the checksums of @h, over the whole manifest. */
static void find_holder(struct scr_pass *p, struct holder *h)
{
	struct scr_mreader *r = NULL;
	struct scr_extent x = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	const char *why;
	int type, done = 0;

	if (scr_mreader_open(p->manifest_fd, scr_kernels_reference(), &r, &why) < 0)
		return;
	while (!done && !scr_pass_stopped(p) && (type = scr_mreader_next(r, &f, &l, NULL)) > 0) {
		if (type != SCR_RECORD_FILE)
			continue;
		while (!done && scr_mreader_extent(r, &x) == 1)
			done = look_in_extent(h, &x, &f, &p->header.settings.geometry);
	}
	scr_extent_free(&x);
	scr_mreader_free(r);
}

/* A uniform block is a fill, never somebody else's. */
static bool is_uniform(const struct scr_damage_record *r)
{
	return scr_check_equal(r->seen, scr_check_zeros(r->seen_length));
}

static void find_misdirected(struct scr_worker *k, const struct scr_extent *e,
			     struct scr_diagnoses *d)
{
	for (uint32_t i = 0; i < e->damage_count; i++) {
		const struct scr_damage_record *r = &e->damage[i];
		struct holder h = {.seen = r->seen, .length = r->seen_length};

		if (r->kind == SCR_REC_UNREADABLE || r->seen_length < 512 || is_uniform(r) ||
		    k->p->holders >= HOLDERS_MAX)
			continue;
		/* A few bytes that differ need no other explanation. */
		if (d->list[r->block].bytes > 0 && d->list[r->block].bytes < 64)
			continue;
		k->p->holders++;
		find_holder(k->p, &h);
		if (h.unique) {
			d->list[r->block].pattern = "misdirected";
			d->list[r->block].holds = h.path;
			d->list[r->block].holds_block = h.block;
		} else {
			free(h.path);
		}
	}
}

/* ---- the search -------------------------------------------------------------------------- */

/* All that the search works on. */
struct bench {
	struct scr_search s;
	uint8_t *read;                /* as read, to compare with */
	struct scr_gap gaps[GAPS_MAX], parity_gaps[GAPS_MAX];
	uint8_t *states;
	struct scr_check *zeros;      /* what a hole is recorded as */
};

static void free_bench(struct bench *b)
{
	free(b->s.data);
	free(b->s.parity);
	free(b->read);
	free(b->states);
	free(b->zeros);
}

/* A hole has no checks of its own: it is zeros, and so is its parity. */
static int expect_zeros(const struct scr_extent *e, struct bench *b)
{
	b->zeros = malloc(e->cut.blocks * sizeof(*b->zeros));
	if (!b->zeros)
		return -1;
	for (uint32_t i = 0; i < e->cut.blocks; i++)
		b->zeros[i] = scr_check_zeros(scr_block_length(&e->cut, i));
	b->s.checks = b->zeros;
	b->s.parity_zero = true;
	return 0;
}

static int make_bench(struct scr_worker *k, const struct scr_extent *e, struct bench *b)
{
	size_t n = (size_t)e->cut.blocks + e->cut.parity_blocks;

	*b = (struct bench){.s = {.kernels = k->kernels, .cut = e->cut, .checks = e->checks,
				  .parity_checks = e->parity_checks, .gaps = b->gaps,
				  .parity_gaps = b->parity_gaps}};
	b->s.parity_zero = e->flags & SCR_EXTENT_PARITY_ZERO;
	b->s.data = calloc(1, e->cut.length);
	b->s.parity = calloc(1, e->cut.column);
	b->read = malloc(e->cut.length);
	b->states = calloc(2, n);
	if (!b->s.data || !b->s.parity || !b->read || !b->states)
		return -1;
	b->s.state = b->states;
	b->s.parity_state = b->states + e->cut.blocks;
	b->s.why = b->states + n;
	b->s.parity_why = b->states + n + e->cut.blocks;
	return e->hole ? expect_zeros(e, b) : 0;
}

static void add_gap(struct scr_gap *gaps, uint32_t *count, uint32_t start, uint32_t length)
{
	if (*count < GAPS_MAX)
		gaps[(*count)++] = (struct scr_gap){start, length};
	else /* the last one covers the rest */
		gaps[GAPS_MAX - 1].length = start + length - gaps[GAPS_MAX - 1].start;
}

static int read_data(struct scr_worker *k, const struct scr_extent *e, struct bench *b)
{
	uint32_t pos = 0;

	while (pos < e->cut.length) {
		size_t len = SCR_MIN((size_t)SCR_READER_BUFFER, (size_t)(e->cut.length - pos));
		struct scr_bad_range bad[GAPS_MAX];
		unsigned int nbad = 0;
		const uint8_t *data;
		ssize_t n = scr_reader_read(k->reader, e->cut.offset + pos, len, &data, bad,
					    GAPS_MAX, &nbad);

		if (n < 0)
			return (int)n;
		memcpy(b->s.data + pos, data, (size_t)n);
		for (unsigned int i = 0; i < nbad; i++)
			add_gap(b->gaps, &b->s.gap_count,
				(uint32_t)(bad[i].offset - e->cut.offset),
				(uint32_t)bad[i].length);
		pos += (uint32_t)n;
		if ((size_t)n < len)
			break;
	}
	/* What is no longer there can't be read either. */
	if (pos < e->cut.length)
		add_gap(b->gaps, &b->s.gap_count, pos, e->cut.length - pos);
	memcpy(b->read, b->s.data, e->cut.length);
	return 0;
}

static int read_parity(struct scr_worker *k, const struct scr_extent *e, struct bench *b)
{
	struct scr_parity_gap gaps[GAPS_MAX];
	unsigned int n = 0;
	int r;

	if (!e->parity_segment)
		return 0;
	r = scr_segments_read(k->p->segments, e->parity_segment, e->parity_offset, b->s.parity,
			      e->cut.column, gaps, GAPS_MAX, &n);
	for (unsigned int i = 0; r == 0 && i < n; i++)
		add_gap(b->parity_gaps, &b->s.parity_gap_count, gaps[i].start, gaps[i].length);
	return r;
}

/* What can't be read does not differ: nobody knows what is there. */
static bool was_read(const struct bench *b, uint32_t i)
{
	uint64_t at = (uint64_t)i * b->s.cut.block, end = at + scr_block_length(&b->s.cut, i);

	for (uint32_t j = 0; j < b->s.gap_count; j++) {
		const struct scr_gap *g = &b->gaps[j];

		if (g->start < end && at < (uint64_t)g->start + g->length)
			return false;
	}
	return true;
}

static void describe_block(const struct bench *b, uint32_t i, struct scr_diagnosis *d)
{
	uint64_t at = (uint64_t)i * b->s.cut.block;

	switch ((enum scr_block_state)b->s.state[i]) {
	case SCR_BLOCK_REPAIRED:
	case SCR_BLOCK_BY_SYNDROME:
		d->repairable = SCR_REPAIRABLE_YES;
		if (was_read(b, i))
			scr_diagnose_bytes(b->s.data + at, b->read + at,
					   scr_block_length(&b->s.cut, i),
					   b->s.cut.offset + at, d);
		break;
	case SCR_BLOCK_LOST:
		d->repairable = SCR_REPAIRABLE_NO;
		d->why = scr_lost_why_text((enum scr_lost_why)b->s.why[i]);
		break;
	case SCR_BLOCK_SOUND:
		break;
	}
}

static int search(struct scr_worker *k, const struct scr_extent *e, struct scr_diagnoses *d)
{
	struct bench b;
	int r = make_bench(k, e, &b);

	if (r == 0)
		r = read_data(k, e, &b);
	if (r == 0)
		r = read_parity(k, e, &b);
	if (r == 0)
		r = scr_search_extent(&b.s);
	for (uint32_t i = 0; r == 0 && i < e->cut.blocks; i++)
		describe_block(&b, i, &d->list[i]);
	free_bench(&b);
	return r;
}

static bool has_parity(const struct scr_extent *e)
{
	return e->hole || e->parity_segment || (e->flags & SCR_EXTENT_PARITY_ZERO);
}

void scr_diagnose(struct scr_worker *k, struct scr_work *w, const struct scr_extent *e,
		  struct scr_diagnoses *d)
{
	*d = (struct scr_diagnoses){0};
	if (w->fd < 0 || (!e->checks && !e->hole))
		return;
	/* One at a time: the search takes some tens of megabytes. */
	pthread_mutex_lock(&k->p->ctx->diagnose_lock);
	if (k->p->diagnoses++ < DIAGNOSES_MAX)
		d->list = calloc(e->cut.blocks, sizeof(*d->list));
	if (d->list) {
		d->count = e->cut.blocks;
		scr_worker_attach(k, w);
		if (k->p->segments && has_parity(e))
			search(k, e, d);
		find_misdirected(k, e, d);
	}
	pthread_mutex_unlock(&k->p->ctx->diagnose_lock);
}

void scr_diagnoses_free(struct scr_diagnoses *d)
{
	for (uint32_t i = 0; i < d->count; i++)
		free(d->list[i].holds);
	free(d->list);
	*d = (struct scr_diagnoses){0};
}
