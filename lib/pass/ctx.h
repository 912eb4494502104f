/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The context behind struct scr_ctx, and how everything in a pass talks to its user. */
#ifndef SCR_PASS_CTX_H
#define SCR_PASS_CTX_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/pace.h"
#include "bitscrub.h"
#include "io/reader.h"
#include "io/writer.h"
#include "kernels/kernel.h"

struct scr_ctx {
	struct scr_options opt;
	char **device;          /* of the last target, for its summary and status; NULL: none */
	scr_event_fn *sink;
	void *sink_arg;
	/* Replaced by tests. */
	const struct scr_clock *clock;
	const struct scr_reader_ops *reader_ops;
	const struct scr_writer_ops *writer_ops;
	const char *state_root; /* NULL: the built-in one */
	const struct scr_kernels *kernels; /* NULL: those that were chosen */

	atomic_int stop;        /* set by scr_stop(), which signal handlers may call */
	pthread_mutex_t lock;   /* of events and of the counters in struct scr_pass.sum */

	pthread_mutex_t diagnose_lock; /* damage is diagnosed one extent at a time */

	struct scr_pace pace;   /* of the running verb */

	_Atomic(const char *) phase;
	atomic_uint_fast64_t files_done, files_total, bytes_done, bytes_total, damaged;
	_Atomic int64_t phase_ns;
	pthread_mutex_t path_lock;
	char path[256];
};

/* A new phase for scr_get_progress(); totals of 0 are not known. */
void scr_ctx_phase(struct scr_ctx *ctx, const char *phase, uint64_t files, uint64_t bytes);
/* The path being worked on. */
void scr_ctx_path(struct scr_ctx *ctx, const char *path, size_t len);

/* @bytes more are through; if they were @read, waits as long as the user's --rate wants it. */
void scr_ctx_progress(struct scr_ctx *ctx, uint64_t bytes, bool read);

#endif
