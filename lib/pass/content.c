/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one extent holds now: read once, checksummed block by block while it is in the cache. */
#include <config.h>
#include "pass/content_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "fold/fold.h"

/* More bad ranges in one read than this are joined. */
#define BAD_MAX 64

struct scr_check scr_check_bytes(const struct scr_kernels *k, const uint8_t *p, size_t len)
{
	uint64_t sum = 0;
	uint32_t crc = 0;

	k->fused->fn.fused(k, &sum, &crc, NULL, p, len);
	return (struct scr_check){.crc = crc, .inet = scr_inet_fold(sum)};
}

/* The CRC of n zeros by doubling: crc(2n) combines crc(n) with itself. */
struct scr_check scr_check_zeros(uint64_t len)
{
	static const unsigned char zero;
	uint32_t power = (uint32_t)crc32(0, &zero, 1), crc = 0;
	uint64_t n = 1;

	for (uint64_t left = len; left; left >>= 1, n <<= 1) {
		if (left & 1)
			crc = (uint32_t)crc32_combine(crc, power, (z_off_t)n);
		power = (uint32_t)crc32_combine(power, power, (z_off_t)n);
	}
	return (struct scr_check){.crc = crc, .inet = scr_inet_fold(0)};
}

void scr_gate_enter(sem_t *gate)
{
	while (gate && sem_wait(gate) < 0 && errno == EINTR)
		;
}

void scr_gate_leave(sem_t *gate)
{
	if (gate)
		sem_post(gate);
}

static int prepare_fold(const struct scr_content_reader *cr, struct scr_content *c,
			const struct scr_cut *cut)
{
	uint8_t *fold;

	c->folded = cr->fold;
	if (!cr->fold)
		return 0;
	if (c->fold_cap < cut->column) {
		fold = realloc(c->fold, cut->column);
		if (!fold)
			return -ENOMEM;
		c->fold = fold;
		c->fold_cap = cut->column;
	}
	memset(c->fold, 0, cut->column);
	return 0;
}

static int prepare(struct scr_content *c, const struct scr_cut *cut)
{
	size_t bytes = (cut->blocks + 7) / 8;

	if (c->checks_cap < cut->blocks) {
		struct scr_check *checks = realloc(c->checks, cut->blocks * sizeof(*checks));

		if (!checks)
			return -ENOMEM;
		c->checks = checks;
		c->checks_cap = cut->blocks;
	}
	if (c->holes_cap < bytes) {
		uint8_t *holes = realloc(c->holes, bytes);

		if (!holes)
			return -ENOMEM;
		c->holes = holes;
		c->holes_cap = bytes;
	}
	memset(c->holes, 0, bytes);
	c->cut = *cut;
	c->present = 0;
	c->any_hole = false;
	c->all_hole = true;
	c->bad_count = 0;
	return 0;
}

void scr_content_free(struct scr_content *c)
{
	free(c->checks);
	free(c->holes);
	free(c->bad);
	free(c->fold);
	*c = (struct scr_content){0};
}

uint32_t scr_content_length(const struct scr_content *c, uint32_t i)
{
	uint64_t start = (uint64_t)i * c->cut.block;

	if (c->present <= start)
		return 0;
	return (uint32_t)SCR_MIN(c->present - start, scr_block_length(&c->cut, i));
}

bool scr_content_is_bad(const struct scr_content *c, uint32_t i)
{
	for (uint32_t j = 0; j < c->bad_count; j++)
		if (c->bad[j].block == i)
			return true;
	return false;
}

static int push_bad(struct scr_content *c, struct scr_bad_bytes b)
{
	if (c->bad_count == c->bad_cap) {
		uint32_t cap = c->bad_cap ? c->bad_cap * 2 : 16;
		struct scr_bad_bytes *bad = realloc(c->bad, cap * sizeof(*bad));

		if (!bad)
			return -ENOMEM;
		c->bad = bad;
		c->bad_cap = cap;
	}
	c->bad[c->bad_count++] = b;
	return 0;
}

/* Cuts the file range @r at block borders. */
static int add_bad_range(struct scr_content *c, const struct scr_bad_range *r)
{
	uint64_t pos = r->offset - c->cut.offset, end = pos + r->length;

	while (pos < end) {
		uint32_t i = (uint32_t)(pos / c->cut.block);
		uint32_t start = (uint32_t)(pos % c->cut.block);
		uint32_t len = (uint32_t)SCR_MIN(end - pos, c->cut.block - start);
		int err = push_bad(c, (struct scr_bad_bytes){i, start, len, r->err});

		if (err < 0)
			return err;
		pos += len;
	}
	return 0;
}

/* Checksums of one block, and its bytes folded where they belong: one pass over the data. */
static struct scr_check check_block(const struct scr_content_reader *cr, struct scr_content *c,
				    uint32_t i, const uint8_t *p, size_t len)
{
	const struct scr_kernel *fused = cr->kernels->fused;
	struct scr_fold f = {cr->kernels->xor_, c->fold, c->cut.column};
	uint32_t offset = i * c->cut.block, crc = 0;
	uint64_t sum = 0;

	while (len > 0) {
		uint32_t room;
		uint8_t *dst = scr_fold_target(&f, offset, &room);
		size_t n = SCR_MIN(len, (size_t)room);

		/* Columns are even, so that the sum can go on. */
		fused->fn.fused(cr->kernels, &sum, &crc, dst, p, n);
		offset += (uint32_t)n;
		p += n;
		len -= n;
	}
	return (struct scr_check){.crc = crc, .inet = scr_inet_fold(sum)};
}

void scr_content_check(const struct scr_content_reader *cr, struct scr_content *c, uint32_t i,
		       const uint8_t *p, size_t len)
{
	while (len > 0) {
		size_t n = SCR_MIN(len, (size_t)c->cut.block);

		if (scr_content_is_bad(c, i))
			c->checks[i] = (struct scr_check){0};
		else if (cr->fold)
			c->checks[i] = check_block(cr, c, i, p, n);
		else
			c->checks[i] = scr_check_bytes(cr->kernels, p, n);
		i++;
		p += n;
		len -= n;
	}
}

/* Reads [pos, pos + len) of the extent, which begins with a block. Returns bytes or -errno. */
static ssize_t read_piece(const struct scr_content_reader *cr, struct scr_content *c, uint32_t pos,
			  size_t len)
{
	struct scr_bad_range bad[BAD_MAX];
	unsigned int nbad = 0;
	const uint8_t *data;
	uint64_t at = c->cut.offset + pos;
	ssize_t n = cr->reread ? scr_reader_reread(cr->reader, at, len, &data, bad, BAD_MAX, &nbad)
			       : scr_reader_read(cr->reader, at, len, &data, bad, BAD_MAX, &nbad);

	if (n < 0)
		return n;
	for (unsigned int i = 0; i < nbad; i++) {
		int r = add_bad_range(c, &bad[i]);

		if (r < 0)
			return r;
	}
	scr_gate_enter(cr->gate);
	scr_content_check(cr, c, pos / c->cut.block, data, (size_t)n);
	scr_gate_leave(cr->gate);
	return n;
}

/* Fills in the blocks of [pos, pos + len), all of them in a hole. */
static void check_hole(struct scr_content *c, uint32_t pos, uint64_t len)
{
	uint32_t i = pos / c->cut.block, end = (uint32_t)((pos + len - 1) / c->cut.block) + 1;
	struct scr_check whole = scr_check_zeros(c->cut.block);

	c->any_hole = true;
	for (; i < end; i++) {
		uint32_t n = scr_block_length(&c->cut, i);

		c->checks[i] = n == c->cut.block ? whole : scr_check_zeros(n);
		c->holes[i / 8] |= (uint8_t)(1u << i % 8);
	}
}

/* Whole blocks of hole at @pos, in bytes; the last block of the extent counts as whole. */
static uint64_t hole_at(const struct scr_content_reader *cr, const struct scr_cut *cut,
			uint32_t pos)
{
	uint64_t left = cut->length - pos;
	uint64_t h = cr->sparse ? scr_reader_hole(cr->reader, cut->offset + pos, left) : 0;

	return h == left ? h : h / cut->block * cut->block;
}

static int read_pieces(const struct scr_content_reader *cr, const struct scr_cut *cut,
		       struct scr_content *c)
{
	size_t step = SCR_READER_BUFFER / cut->block * cut->block;
	uint32_t pos = 0;

	while (pos < cut->length) {
		uint64_t hole = hole_at(cr, cut, pos);
		size_t len = SCR_MIN(step, (size_t)(cut->length - pos));
		ssize_t n = (ssize_t)hole;

		if (*cr->stop)
			return -EINTR;
		if (hole) {
			check_hole(c, pos, hole);
		} else {
			c->all_hole = false;
			n = read_piece(cr, c, pos, len);
			if (n < 0)
				return (int)n;
		}
		pos += (uint32_t)n;
		if (cr->progress)
			cr->progress(cr->arg, (uint64_t)n, hole == 0);
		if (!hole && (size_t)n < len)
			break;
	}
	c->present = pos;
	return 0;
}

static int read_timed(const struct scr_content_reader *cr, const struct scr_cut *cut,
		      struct scr_content *c)
{
	const int64_t began_ns = scr_clock_thread_cpu();
	struct scr_reader_counts before, after;
	int r;

	scr_reader_get_counts(cr->reader, &before);
	r = read_pieces(cr, cut, c);
	scr_reader_get_counts(cr->reader, &after);
	if (r == 0)
		scr_content_read_cost(cr, c, after.cache - before.cache, began_ns);
	return r;
}

int scr_content_read(const struct scr_content_reader *cr, const struct scr_cut *cut,
		     struct scr_content *c)
{
	int r = prepare(c, cut);

	if (r == 0)
		r = prepare_fold(cr, c, cut);
	if (r == 0 && scr_content_map(cr, c))
		return 0;
	if (r == 0)
		r = cut->length < SCR_MAP_MIN ? read_pieces(cr, cut, c) : read_timed(cr, cut, c);
	c->folded &= c->bad_count == 0 && c->present == cut->length;
	return r;
}

static void drop_bad_of(struct scr_content *c, uint32_t block)
{
	uint32_t n = 0;

	for (uint32_t j = 0; j < c->bad_count; j++)
		if (c->bad[j].block != block)
			c->bad[n++] = c->bad[j];
	c->bad_count = n;
}

int scr_content_read_block(const struct scr_content_reader *cr, uint32_t i, struct scr_content *c)
{
	uint32_t len = scr_content_length(c, i);
	ssize_t n;

	c->folded = false;
	drop_bad_of(c, i);
	n = read_piece(cr, c, i * c->cut.block, len);
	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -ESTALE;
}
