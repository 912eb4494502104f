/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inside the selection: the world it looks at, replaceable by tests and by bench. */
#ifndef SCR_SELECT_INTERNAL_H
#define SCR_SELECT_INTERNAL_H

#include "base/clock.h"
#include "cpu/cpu.h"
#include "select/select.h"

#define SCR_SELECT_MAX 32 /* rows of a class, at most */

/* What a selection depends on. */
struct scr_select_env {
	const struct scr_kernel *const *rows;
	size_t nrows;
	uint64_t cpu; /* SCR_CPU_* bits that may be used */
	const struct scr_clock *clock;
};

/* The rows of one class that this CPU can run and that passed their self-test, in table order. */
struct scr_candidates {
	const struct scr_kernel *row[SCR_SELECT_MAX];
	int64_t ps[SCR_SELECT_MAX]; /* what a block took, or 0 if it was not measured */
	size_t n;
	size_t chosen; /* index of the row in use */
};

struct scr_selection {
	uint64_t cpu; /* the features that were used */
	struct scr_candidates cand[SCR_KERNEL_CLASSES];
	struct scr_kernels *turn; /* what consecutive calls get; one entry without "cycle" */
	size_t nturns;
	size_t next; /* atomic */
};

/* scr_select() in a world of the caller's. */
int scr_select_in(const struct scr_select_env *env, const struct scr_select_options *opt,
		  struct scr_selection **out);

/* A line to the log of @opt, if it has one. */
void scr_select_say(const struct scr_select_options *opt, int warning, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
