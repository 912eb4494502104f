/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the kernels of this machine and shows which are chosen, and why. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "command.h"
#include "job.h"
#include "quote.h"
#include "usage.h"

#define DEFAULT_BLOCK (64u << 10)

struct bench {
	struct job *job;
	size_t block_size;
	bool failed; /* a kernel did not pass its self-test */
};

static void progress(void *arg, const char *what, unsigned int done, unsigned int total)
{
	struct bench *b = arg;
	char line[80];

	if (!b->job->console.live)
		return;
	snprintf(line, sizeof(line), "measuring %s, %u %%", what, done * 100 / total);
	console_draw(&b->job->console, line);
}

static void warn(void *arg, const char *text)
{
	struct bench *b = arg;

	console_err(&b->job->console);
	quote_text(stderr, text, strlen(text));
	putc('\n', stderr);
	console_done(&b->job->console);
}

static void show(void *arg, const struct scr_bench_row *r)
{
	struct bench *b = arg;
	bool first = !strcmp(r->name, "memcpy");

	b->failed |= r->supported && !r->passed;
	console_out(&b->job->console);
	if (b->job->opt.json) {
		bench_json_row(r);
	} else {
		if (first)
			bench_text_head(b->block_size);
		bench_text_row(r);
	}
	console_flush(&b->job->console);
}

static int classic(struct bench *b, const struct scr_bench_options *opt)
{
	struct scr_classic *c = calloc(1, sizeof(*c));
	int r = c ? scr_bench_classic(opt, c) : -ENOMEM;

	if (r == 0) {
		console_out(&b->job->console);
		if (b->job->opt.json)
			bench_json_classic(c);
		else
			bench_text_classic(c);
		console_flush(&b->job->console);
	}
	free(c);
	return r;
}

/* --block-size is parsed as the setting of that name, in bytes. The same sizes are allowed. */
static int block_size(const struct job *job, size_t *size)
{
	const struct strings *s = &job->opt.settings;
	unsigned long v = DEFAULT_BLOCK;

	if (s->n)
		v = strtoul(strchr(s->v[s->n - 1], '=') + 1, NULL, 10);
	if (v < 512 || v > 1u << 20 || v & (v - 1))
		return usage_error(job->cmd, "--block-size is a power of two from 512 to 1M");
	*size = v;
	return 0;
}

int cmd_bench(struct job *job, char **args, size_t n)
{
	struct bench b = { .job = job };
	struct scr_bench_options opt = {
		.kernels = job->opt.lib.kernels,
		.progress = progress,
		.warn = warn,
		.arg = &b,
	};
	int r = block_size(job, &b.block_size);

	(void)args;
	(void)n;
	if (r)
		return r;
	opt.block_size = b.block_size;
	r = job->opt.classic ? classic(&b, &opt) : scr_bench(&opt, show, &b);
	if (r == -EINVAL)
		return usage_error(job->cmd, "--kernel does not fit this machine");
	if (r < 0)
		return usage_trouble(r == -ENOMEM ? "out of memory" : "cannot choose kernels");
	return b.failed ? SCR_EXIT_TROUBLE : 0;
}
