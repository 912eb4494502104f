/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making, stopping and watching a context. */
#include <config.h>
#include "pass/ctx.h"

#include <stdlib.h>
#include <string.h>

struct scr_ctx *scr_new(const struct scr_options *opt, scr_event_fn *sink, void *arg)
{
	struct scr_ctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return NULL;
	ctx->opt = *opt;
	ctx->sink = sink;
	ctx->sink_arg = arg;
	ctx->clock = &scr_clock_system;
	ctx->reader_ops = &scr_reader_ops_system;
	ctx->writer_ops = &scr_writer_ops_system;
	pthread_mutex_init(&ctx->lock, NULL);
	pthread_mutex_init(&ctx->path_lock, NULL);
	pthread_mutex_init(&ctx->diagnose_lock, NULL);
	scr_pace_init(&ctx->pace, ctx->clock, opt->rate);
	return ctx;
}

void scr_set_options(struct scr_ctx *ctx, const struct scr_options *opt)
{
	ctx->opt = *opt;
}

void scr_free(struct scr_ctx *ctx)
{
	if (!ctx)
		return;
	pthread_mutex_destroy(&ctx->lock);
	pthread_mutex_destroy(&ctx->path_lock);
	pthread_mutex_destroy(&ctx->diagnose_lock);
	for (char **s = ctx->device; s && *s; s++)
		free(*s);
	free(ctx->device);
	scr_pace_destroy(&ctx->pace);
	free(ctx);
}

void scr_stop(struct scr_ctx *ctx)
{
	ctx->stop = 1;
}

void scr_ctx_phase(struct scr_ctx *ctx, const char *phase, uint64_t files, uint64_t bytes)
{
	ctx->files_done = 0;
	ctx->bytes_done = 0;
	ctx->files_total = files;
	ctx->bytes_total = bytes;
	ctx->phase_ns = scr_clock_monotonic(ctx->clock);
	ctx->phase = phase;
}

void scr_ctx_progress(struct scr_ctx *ctx, uint64_t bytes, bool read)
{
	ctx->bytes_done += bytes;
	if (read)
		scr_pace_wait(&ctx->pace, bytes, &ctx->stop);
}

void scr_ctx_path(struct scr_ctx *ctx, const char *path, size_t len)
{
	size_t n = len < sizeof(ctx->path) ? len : sizeof(ctx->path) - 1;

	/* Progress only: never wait for whoever is drawing it. */
	if (pthread_mutex_trylock(&ctx->path_lock) != 0)
		return;
	memcpy(ctx->path, path, n);
	ctx->path[n] = '\0';
	pthread_mutex_unlock(&ctx->path_lock);
}

void scr_get_progress(struct scr_ctx *ctx, struct scr_progress *out)
{
	out->phase = ctx->phase;
	out->files_done = ctx->files_done;
	out->files_total = ctx->files_total;
	out->bytes_done = ctx->bytes_done;
	out->bytes_total = ctx->bytes_total;
	out->damaged = ctx->damaged;
	out->started_ns = ctx->phase_ns;
	pthread_mutex_lock(&ctx->path_lock);
	memcpy(out->path, ctx->path, sizeof(out->path));
	pthread_mutex_unlock(&ctx->path_lock);
}
