/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two benchmarks share. */
#ifndef SCR_BENCH_INTERNAL_H
#define SCR_BENCH_INTERNAL_H

#include "bitscrub-bench.h"
#include "select/internal.h"

/* A plain load loop with the widest vectors in @cpu: reads @len bytes and does nothing. */
typedef void scr_load_fn(const uint8_t *p, size_t len);
scr_load_fn *scr_bench_load(uint64_t cpu);

/* Memory far beyond the last-level cache: 256 MiB, or less where there is not as much. */
struct scr_big {
	uint8_t *p;
	size_t len;
};

/* Allocates and fills it. Returns 0 or -ENOMEM. */
int scr_big_init(struct scr_big *b);
void scr_big_free(struct scr_big *b);

/* The selection that a pass with these options would make. Returns 0 or -errno. */
int scr_bench_select(const struct scr_bench_options *opt, struct scr_selection **out);

void scr_bench_progress(const struct scr_bench_options *opt, const char *what, unsigned int done,
			unsigned int total);

/* Fills out->pick from the speeds ps[] of the rows in out->xor_. */
void scr_classic_simulate(struct scr_classic *out, const int64_t *ps);

#endif
