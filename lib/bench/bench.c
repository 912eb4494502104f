/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every kernel in cache and out of cache, with memcpy and a load loop beside them. */
#include <config.h>
#include "bench/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "select/calibrate.h"
#include "select/measure.h"

#define DEFAULT_BLOCK ((size_t)64 << 10)
#define MAX_BLOCK ((size_t)1 << 24)
#define MAX_SUBJECTS (2 + SCR_SELECT_MAX * SCR_KERNEL_CLASSES)
#define ROUNDS 5
#define MOST_NS (INT64_C(8) * SCR_NS_PER_S) /* no new round out of cache after so long */

enum { MEMCPY, LOAD, KERNELS }; /* subjects: two for memory, then the kernels that passed */

struct bench {
	struct scr_calibration c; /* row[i] is subject KERNELS + i */
	const struct scr_kernel *row[MAX_SUBJECTS];
	size_t n; /* subjects */
	scr_load_fn *load;
	struct scr_big big;
	int64_t cache_ps[MAX_SUBJECTS];  /* of a block */
	int64_t memory_ps[MAX_SUBJECTS]; /* of a block, too */
};

static void work(void *arg, size_t i, unsigned int reps)
{
	struct bench *b = arg;

	if (i >= KERNELS) {
		scr_calibrate_work(&b->c, i - KERNELS, reps);
		return;
	}
	while (reps--) {
		if (i == LOAD)
			b->load(b->c.src, b->c.len);
		else
			memcpy(b->c.dst, b->c.src, b->c.len);
		__asm__ volatile("" : : : "memory"); /* each copy counts */
	}
}

/* Once through the big buffer, block by block, as a pass over a file does: source from memory,
 * destination in cache. */
static int64_t sweep(struct bench *b, size_t i)
{
	size_t blocks = b->big.len / b->c.len, at;
	int64_t t = scr_clock_monotonic(&scr_clock_system);

	for (at = 0; at < blocks; at++) {
		b->c.src = b->big.p + at * b->c.len;
		work(b, i, 1);
	}
	t = scr_clock_monotonic(&scr_clock_system) - t;
	return SCR_MAX(t * 1000 / (int64_t)blocks, 1);
}

/* Subjects take turns here too, and the best round counts. */
static void measure_memory(struct bench *b, const struct scr_bench_options *opt)
{
	int64_t end = scr_clock_monotonic(&scr_clock_system) + MOST_NS;
	unsigned int round;
	size_t i;

	for (i = 0; i < b->n; i++)
		b->memory_ps[i] = INT64_MAX;
	for (round = 0; round < ROUNDS; round++) {
		if (round && scr_clock_monotonic(&scr_clock_system) > end)
			break;
		for (i = 0; i < b->n; i++) {
			int64_t ps = sweep(b, i);

			b->memory_ps[i] = SCR_MIN(b->memory_ps[i], ps);
			scr_bench_progress(opt, "out of cache",
					   round * (unsigned int)b->n + (unsigned int)i + 1,
					   ROUNDS * (unsigned int)b->n);
		}
	}
}

static size_t subject_of(const struct bench *b, const struct scr_kernel *k)
{
	size_t i;

	for (i = KERNELS; i < b->n; i++) {
		if (b->row[i - KERNELS] == k)
			return i;
	}
	return 0;
}

static double ratio(int64_t reference, int64_t ps)
{
	return (double)reference / (double)ps;
}

static void fill_speeds(const struct bench *b, size_t i, struct scr_bench_row *r)
{
	r->supported = r->passed = true;
	r->mb_cache = scr_mb_per_s(b->c.len, b->cache_ps[i]);
	r->mb_memory = scr_mb_per_s(b->c.len, b->memory_ps[i]);
	r->cache_to_memcpy = ratio(b->cache_ps[MEMCPY], b->cache_ps[i]);
	r->cache_to_load = ratio(b->cache_ps[LOAD], b->cache_ps[i]);
	r->memory_to_memcpy = ratio(b->memory_ps[MEMCPY], b->memory_ps[i]);
	r->memory_to_load = ratio(b->memory_ps[LOAD], b->memory_ps[i]);
}

/* By how much the chosen row beats the best of the others in the race that chose it. */
static void fill_margin(const struct scr_candidates *c, struct scr_bench_row *r)
{
	int64_t next = 0;
	size_t i;

	r->chosen = true;
	r->forced = !c->ps[c->chosen];
	if (r->forced)
		return;
	r->mb_calibrated = scr_mb_per_s(SCR_CALIBRATE_BLOCK, c->ps[c->chosen]);
	for (i = 0; i < c->n; i++) {
		if (i != c->chosen && (!next || c->ps[i] < next))
			next = c->ps[i];
	}
	r->margin = next ? 100 * (ratio(next, c->ps[c->chosen]) - 1) : 0;
}

static void report(const struct bench *b, const struct scr_selection *s, scr_bench_row_fn *fn,
		   void *arg)
{
	const struct scr_kernel *const *row;
	size_t n, i;

	for (i = 0; i < KERNELS; i++) {
		struct scr_bench_row r = {.class = "memory", .name = i ? "load" : "memcpy"};

		fill_speeds(b, i, &r);
		fn(arg, &r);
	}
	row = scr_kernel_table(&n);
	for (i = 0; i < n; i++) {
		const struct scr_candidates *c = &s->cand[row[i]->class];
		size_t subject = subject_of(b, row[i]);
		struct scr_bench_row r = {.class = scr_kernel_class_name(row[i]->class),
					  .name = row[i]->name,
					  .supported = !(row[i]->needs & ~s->cpu)};

		if (subject)
			fill_speeds(b, subject, &r);
		if (c->row[c->chosen] == row[i])
			fill_margin(c, &r);
		fn(arg, &r);
	}
}

static void gather(struct bench *b, const struct scr_selection *s)
{
	int c;

	b->n = KERNELS;
	for (c = 0; c < SCR_KERNEL_CLASSES; c++) {
		memcpy(&b->row[b->n - KERNELS], s->cand[c].row,
		       s->cand[c].n * sizeof(s->cand[c].row[0]));
		b->n += s->cand[c].n;
	}
	b->c.row = b->row;
	b->c.chosen = s->turn;
	b->load = scr_bench_load(s->cpu);
}

/* In cache, the block is the first of the big buffer: aligned, like the destination. */
static int measure(struct bench *b, const struct scr_bench_options *opt)
{
	b->c.len = opt->block_size ? opt->block_size : DEFAULT_BLOCK;
	if (b->c.len > MAX_BLOCK || b->c.len % 2)
		return -EINVAL;
	b->c.dst = aligned_alloc(4096, (b->c.len + 4095) / 4096 * 4096);
	if (!b->c.dst || scr_big_init(&b->big))
		return -ENOMEM;
	memset(b->c.dst, 0, b->c.len);
	b->c.src = b->big.p;
	scr_bench_progress(opt, "in cache", 0, 1);
	scr_measure(&scr_clock_system, work, b, b->n, b->cache_ps);
	measure_memory(b, opt);
	return 0;
}

int scr_bench(const struct scr_bench_options *opt, scr_bench_row_fn *fn, void *arg)
{
	struct scr_selection *s;
	struct bench *b;
	int err = scr_bench_select(opt, &s);

	if (err)
		return err;
	b = calloc(1, sizeof(*b));
	if (!b) {
		err = -ENOMEM;
		goto out;
	}
	gather(b, s);
	err = measure(b, opt);
	if (!err)
		report(b, s, fn, arg);
	scr_big_free(&b->big);
	free(b->c.dst);
out:
	free(b);
	scr_selection_free(s);
	return err;
}
