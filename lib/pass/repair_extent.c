/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One extent under repair: what it holds, what it should hold, and what of that can be written. */
#include <config.h>
#include "pass/repair_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"

#define BAD_MAX 64

/* ---- room -------------------------------------------------------------------------------- */

void scr_mend_free(struct scr_mend *m)
{
	free(m->checks);
	free(m->parity_checks);
	free(m->read);
	free(m->data);
	free(m->parity);
	free(m->gaps.list);
	free(m->left.list);
	free(m->parity_gaps.list);
	free(m->state);
	free(m->why);
	free(m->how);
	free(m->parity_state);
	free(m->parity_why);
	free(m->runs);
	*m = (struct scr_mend){0};
}

static int grow(uint8_t **p, size_t want)
{
	uint8_t *q = realloc(*p, want ? want : 1);

	if (!q)
		return -ENOMEM;
	*p = q;
	return 0;
}

static int grow_blocks(struct scr_mend *m, uint32_t blocks)
{
	struct scr_check *checks = realloc(m->checks, blocks * sizeof(*checks));

	if (!checks)
		return -ENOMEM;
	m->checks = checks;
	if (grow(&m->state, blocks) < 0 || grow(&m->why, blocks) < 0 || grow(&m->how, blocks) < 0)
		return -ENOMEM;
	m->block_cap = blocks;
	return 0;
}

static int grow_parity_blocks(struct scr_mend *m, uint32_t blocks)
{
	if (grow(&m->parity_state, blocks) < 0 || grow(&m->parity_why, blocks) < 0)
		return -ENOMEM;
	m->parity_block_cap = blocks;
	return 0;
}

static int make_room(struct scr_mend *m, const struct scr_cut *cut)
{
	int r = 0;

	if (m->data_cap < cut->length) {
		m->data_cap = 0;
		if (grow(&m->read, cut->length) < 0 || grow(&m->data, cut->length) < 0)
			return -ENOMEM;
		m->data_cap = cut->length;
	}
	if (m->block_cap < cut->blocks)
		r = grow_blocks(m, cut->blocks);
	if (r == 0 && m->parity_block_cap < cut->parity_blocks)
		r = grow_parity_blocks(m, cut->parity_blocks);
	return r;
}

/* Behind the others; it grows the last one if it touches that. */
static int add_gap(struct scr_gaps *g, uint32_t start, uint32_t length)
{
	struct scr_gap *last = g->count ? &g->list[g->count - 1] : NULL;

	if (last && start >= last->start && last->start + last->length >= start) {
		last->length = SCR_MAX(last->start + last->length, start + length) - last->start;
		return 0;
	}
	if (g->count == g->cap) {
		uint32_t cap = g->cap ? g->cap * 2 : 16;
		struct scr_gap *list = realloc(g->list, cap * sizeof(*list));

		if (!list)
			return -ENOMEM;
		g->list = list;
		g->cap = cap;
	}
	g->list[g->count++] = (struct scr_gap){start, length};
	return 0;
}

bool scr_gaps_overlap(const struct scr_gaps *g, uint32_t start, uint32_t length)
{
	for (uint32_t i = 0; i < g->count && g->list[i].start < start + length; i++)
		if (g->list[i].start + g->list[i].length > start)
			return true;
	return false;
}

/* @g without [@start, @start + @length). A gap inside of which that lies is cut in two. */
static int remove_gap(struct scr_gaps *g, uint32_t start, uint32_t length)
{
	struct scr_gaps old = *g;
	uint32_t end = start + length;
	int r = 0;

	*g = (struct scr_gaps){0};
	for (uint32_t i = 0; r == 0 && i < old.count; i++) {
		uint32_t from = old.list[i].start, to = from + old.list[i].length;

		if (from < start)
			r = add_gap(g, from, SCR_MIN(to, start) - from);
		if (r == 0 && to > end)
			r = add_gap(g, SCR_MAX(from, end), to - SCR_MAX(from, end));
	}
	free(old.list);
	return r;
}

/* Gaps are kept sorted; a second reading may put some behind. */
static int by_start(const void *a, const void *b)
{
	const struct scr_gap *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void sort_gaps(struct scr_gaps *g)
{
	uint32_t n = 0;

	if (g->count < 2)
		return;
	qsort(g->list, g->count, sizeof(*g->list), by_start);
	for (uint32_t i = 1; i < g->count; i++) {
		struct scr_gap *last = &g->list[n], *next = &g->list[i];

		if (last->start + last->length >= next->start)
			last->length = SCR_MAX(last->start + last->length,
					       next->start + next->length) - last->start;
		else
			g->list[++n] = *next;
	}
	g->count = n + 1;
}

/* ---- reading ----------------------------------------------------------------------------- */

static bool block_right(const struct scr_mend *m, const struct scr_kernels *k, uint32_t i,
			const uint8_t *p)
{
	return scr_check_equal(scr_check_bytes(k, p, scr_block_length(&m->cut, i)), m->checks[i]);
}

static void expect(struct scr_mend *m, const struct scr_extent *e)
{
	for (uint32_t i = 0; i < m->cut.blocks; i++)
		m->checks[i] = e->hole ? scr_check_zeros(scr_block_length(&m->cut, i))
				       : e->checks[i];
}

/* Reads [@pos, @pos + @len) of the extent into m->read. Returns bytes that exist, or -errno. */
static ssize_t read_piece(struct scr_repair *r, uint32_t pos, uint32_t len, bool again)
{
	struct scr_mend *m = &r->mend;
	struct scr_bad_range bad[BAD_MAX];
	unsigned int nbad = 0;
	const uint8_t *data;
	uint64_t at = m->cut.offset + pos;
	ssize_t n = again ? scr_reader_reread(r->k.reader, at, len, &data, bad, BAD_MAX, &nbad)
			  : scr_reader_read(r->k.reader, at, len, &data, bad, BAD_MAX, &nbad);

	if (n <= 0)
		return n;
	memcpy(m->read + pos, data, (size_t)n);
	for (unsigned int i = 0; i < nbad; i++)
		if (add_gap(&m->gaps, (uint32_t)(bad[i].offset - m->cut.offset),
			    (uint32_t)bad[i].length) < 0)
			return -ENOMEM;
	return n;
}

static int read_all(struct scr_repair *r)
{
	struct scr_mend *m = &r->mend;
	uint32_t pos = 0;
	ssize_t n = 1;

	m->gaps.count = 0;
	memset(m->read, 0, m->cut.length);
	while (pos < m->cut.length && n > 0) {
		if (scr_pass_stopped(r->p))
			return -EINTR;
		n = read_piece(r, pos, SCR_MIN(m->cut.length - pos, SCR_READER_BUFFER), false);
		if (n < 0)
			return (int)n;
		pos += (uint32_t)n;
		r->p->ctx->bytes_done += (uint64_t)n;
	}
	m->present = pos;
	return 0;
}

/* Whether block @i is right as read; @again: it is read once more, from the medium. */
static int judge_block(struct scr_repair *r, uint32_t i, const struct scr_kernels *k)
{
	struct scr_mend *m = &r->mend;
	uint32_t start = i * m->cut.block, len = scr_block_length(&m->cut, i);

	m->why[i] = 0;
	m->how[i] = SCR_REPAIR_NOT;
	m->state[i] = SCR_BLOCK_LOST;
	if (start + len <= m->present && !scr_gaps_overlap(&m->gaps, start, len) &&
	    block_right(m, k, i, m->read + start))
		m->state[i] = SCR_BLOCK_SOUND;
	return m->state[i] == SCR_BLOCK_SOUND;
}

static int again(struct scr_repair *r, struct scr_repair_file *rf, uint32_t i)
{
	struct scr_mend *m = &r->mend;
	uint32_t start = i * m->cut.block, len = scr_block_length(&m->cut, i);
	struct scr_gaps was = m->gaps, now;
	ssize_t n;
	int err = 0;

	if (start >= m->present)
		return 0;
	m->gaps = (struct scr_gaps){0};
	n = read_piece(r, start, SCR_MIN(len, m->present - start), true);
	now = m->gaps;
	m->gaps = was;
	if (n >= 0)
		err = remove_gap(&m->gaps, start, len);
	for (uint32_t j = 0; err == 0 && n >= 0 && j < now.count; j++)
		err = add_gap(&m->gaps, now.list[j].start, now.list[j].length);
	sort_gaps(&m->gaps);
	free(now.list);
	if (n < 0 || err < 0)
		return n < 0 ? (int)n : err;
	if (judge_block(r, i, scr_kernels_reference())) {
		r->p->sum.transient++;
		scr_warn(r->p, (char *)rf->path.data, rf->path.len,
			 "read wrong at first and right at the second try, at byte %llu: check memory, cable and controller",
			 (unsigned long long)(m->cut.offset + start));
	}
	return 0;
}

/* ---- a device that goes away -------------------------------------------------------------- */

#define DEAD_MAX 16

static void remember_good(struct scr_repair *r, const struct scr_repair_file *rf, uint64_t at,
			  uint32_t len)
{
	r->dead = 0;
	r->good_at = at;
	r->good_length = SCR_MIN(len, 4096);
	if (r->good_fd >= 0)
		close(r->good_fd);
	r->good_fd = fcntl(rf->fd, F_DUPFD_CLOEXEC, 0);
}

/* Whether what read well before can't be read any more either. */
static bool device_gone(struct scr_repair *r)
{
	struct scr_bad_range bad[1];
	unsigned int nbad = 0;
	const uint8_t *data;
	ssize_t n;

	if (r->good_fd < 0)
		return ++r->dead >= DEAD_MAX;
	scr_reader_attach(r->k.reader, r->good_fd, SCR_READ_CHECK);
	n = scr_reader_reread(r->k.reader, r->good_at, r->good_length, &data, bad, 1, &nbad);
	return n < 0 || nbad > 0;
}

/* Nothing at all could be read: before that is called damage, the device itself is asked. */
static int judge_device(struct scr_repair *r, struct scr_repair_file *rf)
{
	const struct scr_mend *m = &r->mend;
	int err = 0;

	for (uint32_t i = 0; i < m->cut.blocks; i++) {
		if (m->state[i] != SCR_BLOCK_SOUND)
			continue;
		remember_good(r, rf, m->cut.offset + (uint64_t)i * m->cut.block,
			      scr_block_length(&m->cut, i));
		return 0;
	}
	if (m->gaps.count != 1 || m->gaps.list[0].length < m->present || m->present == 0)
		return 0;
	if (device_gone(r)) {
		scr_trouble(r->p, NULL, 0, EIO,
			    "the device does not answer any more: stopped; none of this counts as damage");
		err = -ECANCELED;
	}
	scr_reader_attach(r->k.reader, rf->fd, SCR_READ_CHECK);
	return err;
}

int scr_mend_load(struct scr_repair *r, struct scr_repair_file *rf, const struct scr_extent *e)
{
	struct scr_mend *m = &r->mend;
	int err = make_room(m, &e->cut);

	m->cut = e->cut;
	m->bad = m->mended = m->run_count = 0;
	m->parity_read = m->parity_bad = m->inconsistent = false;
	if (err < 0)
		return err;
	expect(m, e);
	scr_reader_attach(r->k.reader, rf->fd, SCR_READ_CHECK);
	err = read_all(r);
	for (uint32_t i = 0; err == 0 && i < m->cut.blocks; i++)
		if (!judge_block(r, i, r->k.kernels))
			err = again(r, rf, i);
	if (err < 0)
		return err;
	for (uint32_t i = 0; i < m->cut.blocks; i++)
		m->bad += m->state[i] == SCR_BLOCK_LOST;
	memcpy(m->data, m->read, m->cut.length);
	return judge_device(r, rf);
}

/* ---- fixing ------------------------------------------------------------------------------ */

bool scr_mend_take(struct scr_mend *m, uint32_t i, const uint8_t *p, uint8_t how)
{
	uint32_t start = i * m->cut.block, len = scr_block_length(&m->cut, i);

	if (!block_right(m, scr_kernels_reference(), i, p))
		return false;
	memcpy(m->data + start, p, len);
	m->state[i] = SCR_BLOCK_REPAIRED;
	m->how[i] = how;
	return true;
}

/* The search has to do without unreadable and absent bytes of blocks that are still bad. */
static int collect_left(struct scr_mend *m)
{
	int r = 0;

	m->left.count = 0;
	for (uint32_t i = 0; r == 0 && i < m->gaps.count; i++)
		r = add_gap(&m->left, m->gaps.list[i].start, m->gaps.list[i].length);
	if (r == 0 && m->present < m->cut.length)
		r = add_gap(&m->left, m->present, m->cut.length - m->present);
	for (uint32_t i = 0; r == 0 && i < m->cut.blocks; i++)
		if (m->state[i] == SCR_BLOCK_REPAIRED)
			r = remove_gap(&m->left, i * m->cut.block, scr_block_length(&m->cut, i));
	return r;
}

static int read_parity(struct scr_repair *r, const struct scr_extent *e)
{
	struct scr_mend *m = &r->mend;
	struct scr_parity_gap gaps[BAD_MAX];
	unsigned int n = 0;
	int err;

	if (m->parity_cap < e->cut.column) {
		m->parity_cap = 0;
		if (grow(&m->parity, e->cut.column) < 0)
			return -ENOMEM;
		m->parity_cap = e->cut.column;
	}
	err = scr_segments_read(r->p->segments, e->parity_segment, e->parity_offset, m->parity,
				e->cut.column, gaps, BAD_MAX, &n);
	m->parity_gaps.count = 0;
	for (unsigned int i = 0; err == 0 && i < n; i++)
		err = add_gap(&m->parity_gaps, gaps[i].start, gaps[i].length);
	return err;
}

static bool has_parity(const struct scr_repair *r, const struct scr_extent *e)
{
	return e->parity_segment && e->parity_checks && r->p->segments;
}

static int search(struct scr_repair *r, const struct scr_extent *e)
{
	struct scr_mend *m = &r->mend;
	int err;
	bool stored = has_parity(r, e);
	struct scr_search s = {
		.kernels = r->k.kernels,
		.cut = m->cut,
		.checks = m->checks,
		.parity_checks = stored ? e->parity_checks : NULL,
		.parity_zero = e->hole || (e->flags & SCR_EXTENT_PARITY_ZERO),
		.gaps = m->left.list,
		.gap_count = m->left.count,
		.allow_syndrome = !r->unattended,
		.data = m->data,
		.parity = stored ? m->parity : NULL,
		.state = m->state,
		.why = m->why,
		.parity_state = m->parity_state,
		.parity_why = m->parity_why,
	};

	if (stored) {
		s.parity_gaps = m->parity_gaps.list;
		s.parity_gap_count = m->parity_gaps.count;
		m->parity_read = true;
	}
	err = scr_search_extent(&s);
	m->inconsistent = err == 0 && s.inconsistent > 0;
	return err;
}

/* Nothing is accepted on the word of the search: blocks are checked once more, plainly. */
static void confirm(struct scr_mend *m, const uint8_t *taken)
{
	for (uint32_t i = 0; i < m->cut.blocks; i++) {
		if (m->state[i] == SCR_BLOCK_REPAIRED)
			m->how[i] = SCR_REPAIR_PARITY;
		if (m->state[i] == SCR_BLOCK_BY_SYNDROME)
			m->how[i] = SCR_REPAIR_CHECKSUM;
		if (taken[i])
			m->how[i] = taken[i];
		if (m->how[i] != SCR_REPAIR_NOT)
			m->state[i] = SCR_BLOCK_REPAIRED;
		if (m->state[i] == SCR_BLOCK_LOST)
			continue;
		if (block_right(m, scr_kernels_reference(), i,
				m->data + (size_t)i * m->cut.block))
			continue;
		m->state[i] = SCR_BLOCK_LOST;
		m->why[i] = SCR_LOST_NO_FIT;
		m->how[i] = SCR_REPAIR_NOT;
	}
}

static void judge_parity(struct scr_mend *m)
{
	bool lost = false;

	if (!m->parity_read)
		return;
	for (uint32_t i = 0; i < m->cut.parity_blocks; i++) {
		lost |= m->parity_state[i] == SCR_BLOCK_LOST;
		m->parity_bad |= m->parity_state[i] == SCR_BLOCK_REPAIRED ||
				 m->parity_state[i] == SCR_BLOCK_BY_SYNDROME;
	}
	m->parity_bad &= !lost;
}

void scr_mend_count(struct scr_mend *m)
{
	m->bad = m->mended = 0;
	for (uint32_t i = 0; i < m->cut.blocks; i++) {
		m->bad += m->state[i] == SCR_BLOCK_LOST;
		m->mended += m->state[i] == SCR_BLOCK_REPAIRED;
	}
}

int scr_mend_fix(struct scr_repair *r, struct scr_repair_file *rf, const struct scr_extent *e)
{
	struct scr_mend *m = &r->mend;
	uint8_t *taken;
	int err = m->bad ? scr_mend_sources(r, rf, e) : 0;

	if (err == 0)
		err = collect_left(m);
	if (err == 0 && has_parity(r, e))
		err = read_parity(r, e);
	taken = malloc(m->cut.blocks);
	if (!taken)
		return -ENOMEM;
	memcpy(taken, m->how, m->cut.blocks);
	if (err == 0)
		err = search(r, e);
	if (err == 0) {
		confirm(m, taken);
		judge_parity(m);
		scr_mend_count(m);
	}
	free(taken);
	return err;
}

void scr_mend_give_up(struct scr_mend *m)
{
	for (uint32_t i = 0; i < m->cut.blocks; i++) {
		if (m->state[i] == SCR_BLOCK_REPAIRED)
			m->state[i] = SCR_BLOCK_LOST;
		m->how[i] = SCR_REPAIR_NOT;
	}
	m->run_count = 0;
	scr_mend_count(m);
}
