/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two experiments that this project starts from, repeated on this machine. */
#include <config.h>
#include "bench/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "select/calibrate.h"
#include "select/measure.h"

#define BLOCK 4096
#define CHECKSUMS 100000
#define ROUNDS 3

/* "crypto: xor - use ktime for template benchmarking" and the figures in its message. */
static const struct scr_classic_xor xor_published[] = {
	{"8regs", 0, 10491, 10169},
	{"32regs", 0, 12345, 12050},
	{"neon", 0, 11402, 11100},
};

/* linux-kernel, October 2013, nanoseconds for 4 KiB. */
static const struct scr_classic_inet inet_published[] = {
	{"serial", 0, 0, 875},
	{"prefetch", 0, 0, 781},
	{"parallel", 0, 0, 510},
	{"parallel_prefetch", 0, 0, 494},
};

static void fill_xor(struct scr_classic_xor *x, const char *name, int64_t ps)
{
	size_t i;

	*x = (struct scr_classic_xor){.name = name, .mb = scr_mb_per_s(BLOCK, ps)};
	for (i = 0; i < SCR_ARRAY_SIZE(xor_published); i++) {
		if (!strcmp(name, xor_published[i].name)) {
			x->published_clock = xor_published[i].published_clock;
			x->published_ticks = xor_published[i].published_ticks;
		}
	}
}

/* The race as it was, then, with our own figures for speed, what coarser clocks make of it. */
static void classic_xor(const struct scr_candidates *cand, uint8_t *block, struct scr_classic *out)
{
	struct scr_calibration c = {
		.row = cand->row, .src = block, .dst = block + BLOCK, .len = BLOCK};
	int64_t ps[SCR_SELECT_MAX];
	size_t i, best = 0;

	out->nxor = (unsigned int)SCR_MIN(cand->n, SCR_CLASSIC_MAX);
	scr_measure_classic(&scr_clock_system, scr_calibrate_work, &c, out->nxor, ps);
	for (i = 0; i < out->nxor; i++) {
		fill_xor(&out->xor_[i], cand->row[i]->name, ps[i]);
		if (ps[i] < ps[best])
			best = i;
	}
	out->xor_chosen = cand->row[best]->name;
	scr_measure(&scr_clock_system, scr_calibrate_work, &c, out->nxor, ps);
	scr_classic_simulate(out, ps);
}

/* Nanoseconds for each of CHECKSUMS calls; @big is NULL for the same block each time, else each
 * call takes another page, in an order that no prefetcher guesses. */
static double checksums(const struct scr_kernel *k, const uint8_t *block, const struct scr_big *big)
{
	size_t pages = big ? big->len / BLOCK : 1, page = 0;
	int64_t t = scr_clock_monotonic(&scr_clock_system);
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < CHECKSUMS; i++) {
		/* a full-period generator modulo a power of two: every page once, then again */
		page = (page * 1664525 + 1013904223) % pages;
		sum = k->fn.inet(sum, big ? big->p + page * BLOCK : block, BLOCK);
	}
	return (double)(scr_clock_monotonic(&scr_clock_system) - t) / CHECKSUMS;
}

static double smaller(double a, double b)
{
	return a == 0 || b < a ? b : a;
}

static void classic_inet(const struct scr_bench_options *opt, const struct scr_candidates *cand,
			 const uint8_t *block, const struct scr_big *big, struct scr_classic *out)
{
	unsigned int round, i;

	out->ninet = (unsigned int)SCR_MIN(cand->n, SCR_CLASSIC_MAX);
	for (i = 0; i < out->ninet; i++) {
		out->inet[i] = (struct scr_classic_inet){.name = cand->row[i]->name};
		if (i < SCR_ARRAY_SIZE(inet_published) &&
		    !strcmp(cand->row[i]->name, inet_published[i].name))
			out->inet[i].ns_published = inet_published[i].ns_published;
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < out->ninet; i++) {
			struct scr_classic_inet *r = &out->inet[i];

			scr_bench_progress(opt, "checksums", round * out->ninet + i,
					   ROUNDS * out->ninet);
			r->ns_hot = smaller(r->ns_hot, checksums(cand->row[i], block, NULL));
			r->ns_cold = smaller(r->ns_cold, checksums(cand->row[i], block, big));
		}
	}
}

int scr_bench_classic(const struct scr_bench_options *opt, struct scr_classic *out)
{
	struct scr_selection *s;
	struct scr_classic result = {0};
	struct scr_big big = {0};
	int err = scr_bench_select(opt, &s);

	if (err)
		return err;
	err = scr_big_init(&big);
	if (err)
		goto out;
	scr_bench_progress(opt, "xor", 0, 1);
	classic_xor(&s->cand[SCR_XOR], big.p, &result);
	classic_inet(opt, &s->cand[SCR_INET], big.p, &big, &result);
	*out = result;
out:
	scr_big_free(&big);
	scr_selection_free(s);
	return err;
}
