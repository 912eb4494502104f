/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which kernel runs: self-test, measurement, choice. */
#ifndef SCR_SELECT_SELECT_H
#define SCR_SELECT_SELECT_H

#include "kernels/kernel.h"

/* Runs @k against check values and a byte-wise reference on a differential block.
 * Returns 0, or -EBADMSG if it disagrees. */
int scr_kernel_selftest(const struct scr_kernel *k);

/* What the choice says while it is made: one line without newline, @warning for dropped rows. */
typedef void scr_select_log_fn(void *arg, int warning, const char *line);

struct scr_select_options {
	/*
	 * NULL-terminated strings, or NULL for none: "CLASS=NAME" uses that kernel,
	 * "without=FEATURE[,FEATURE...]" leaves CPU features unused (the names of cpu/features.def:
	 * "without=avx512" runs what an AVX2 machine runs), "cycle" uses all in turn. A class that
	 * is forced is not measured.
	 */
	const char *const *force;
	scr_select_log_fn *log; /* may be NULL */
	void *log_arg;
};

struct scr_selection; /* opaque: the candidates that passed, and the choice */

/*
 * Tests and measures the kernels that this CPU can run and chooses one of each class.
 * Returns 0 and a selection to be freed with scr_selection_free(), -EINVAL for a forced name that
 * does not exist or cannot run here (the log has said which), -EBADMSG if no row of a class passes
 * its self-test, -ENOMEM.
 */
int scr_select(const struct scr_select_options *opt, struct scr_selection **out);
void scr_selection_free(struct scr_selection *s);

/*
 * The kernels to use for the next piece of work; thread-safe. Always the same ones, except with
 * "cycle", where consecutive calls rotate through all that passed.
 */
const struct scr_kernels *scr_selection_next(struct scr_selection *s);

#endif
