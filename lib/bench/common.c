/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two benchmarks share: the big buffer, the selection, progress. */
#include <config.h>
#include "bench/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BIG ((size_t)256 << 20)
#define BIG_LEAST ((size_t)32 << 20)

int scr_big_init(struct scr_big *b)
{
	size_t i;

	for (b->len = BIG; b->len >= BIG_LEAST; b->len /= 2) {
		b->p = aligned_alloc(4096, b->len);
		if (!b->p)
			continue;
		/* written, so that each page is memory of its own */
		memset(b->p, 0x5a, b->len);
		for (i = 0; i < b->len; i += 64)
			b->p[i] = (uint8_t)(i >> 6);
		return 0;
	}
	return -ENOMEM;
}

void scr_big_free(struct scr_big *b)
{
	free(b->p);
}

static void warn_line(void *arg, int warning, const char *line)
{
	const struct scr_bench_options *opt = arg;

	if (warning && opt->warn)
		opt->warn(opt->arg, line);
}

/* "cycle" chooses nothing, so there would be nothing to show. */
static int refuse_cycle(const struct scr_bench_options *opt)
{
	const char *const *s;

	for (s = opt->kernels; s && *s; s++) {
		if (!strcmp(*s, "cycle")) {
			if (opt->warn)
				opt->warn(opt->arg, "cycle: all kernels are measured anyway");
			return -EINVAL;
		}
	}
	return 0;
}

int scr_bench_select(const struct scr_bench_options *opt, struct scr_selection **out)
{
	struct scr_bench_options copy = *opt;
	const struct scr_select_options so = {
		.force = opt->kernels, .log = warn_line, .log_arg = &copy};

	int err = refuse_cycle(opt);

	return err ? err : scr_select(&so, out);
}

void scr_bench_progress(const struct scr_bench_options *opt, const char *what, unsigned int done,
			unsigned int total)
{
	if (opt->progress)
		opt->progress(opt->arg, what, done, total);
}
