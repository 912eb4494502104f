/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of one kernel of each class. */
#include <config.h>
#include "select/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "select/calibrate.h"
#include "select/measure.h"

/* What the force strings ask for. */
struct wish {
	const char *name[SCR_KERNEL_CLASSES]; /* NULL: the fastest */
	uint64_t without;                     /* CPU features to be left unused */
	bool cycle;
};

void scr_select_say(const struct scr_select_options *opt, int warning, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	if (!opt || !opt->log)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	opt->log(opt->log_arg, warning, line);
}

static int wish_for_kernel(struct wish *w, const char *s, const char *eq)
{
	int c;

	for (c = 0; c < SCR_KERNEL_CLASSES; c++) {
		const char *class = scr_kernel_class_name((enum scr_kernel_class)c);

		if (strlen(class) == (size_t)(eq - s) && !strncmp(class, s, (size_t)(eq - s))) {
			w->name[c] = eq + 1;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_wish(struct wish *w, const char *s)
{
	const char *eq = strchr(s, '=');
	uint64_t bits;

	if (!strcmp(s, "cycle")) {
		w->cycle = true;
		return 0;
	}
	if (!strncmp(s, "without=", 8)) {
		if (scr_cpu_parse(s + 8, &bits))
			return -EINVAL;
		w->without |= bits;
		return 0;
	}
	return eq ? wish_for_kernel(w, s, eq) : -EINVAL;
}

static int parse_wishes(const struct scr_select_options *opt, struct wish *w)
{
	const char *const *s;

	for (s = opt ? opt->force : NULL; s && *s; s++) {
		if (parse_wish(w, *s)) {
			scr_select_say(opt, 1, "no such kernel class or CPU feature: %s", *s);
			return -EINVAL;
		}
	}
	return 0;
}

/* All rows of @class that can run, tested. A row that fails is dropped, and said. */
static void gather(const struct scr_select_env *env, const struct scr_select_options *opt,
		   enum scr_kernel_class class, struct scr_candidates *c)
{
	size_t i;

	for (i = 0; i < env->nrows && c->n < SCR_SELECT_MAX; i++) {
		const struct scr_kernel *k = env->rows[i];

		if (k->class != class || k->needs & ~env->cpu)
			continue;
		if (scr_kernel_selftest(k))
			scr_select_say(opt, 1, "%s: kernel %s failed its self-test, not used",
				       scr_kernel_class_name(class), k->name);
		else
			c->row[c->n++] = k;
	}
}

/* The index of the row called @name, or c->n. */
static size_t by_name(const struct scr_candidates *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n && strcmp(c->row[i]->name, name); i++)
		;
	return i;
}

static int choose_forced(const struct scr_select_options *opt, const char *class, const char *name,
			 struct scr_candidates *c)
{
	c->chosen = by_name(c, name);
	if (c->chosen == c->n) {
		scr_select_say(opt, 1, "%s: no kernel %s that can run here", class, name);
		return -EINVAL;
	}
	scr_select_say(opt, 0, "%s: using function: %s (as asked)", class, name);
	return 0;
}

/* In the form in which Linux reports the same race at boot. */
static int choose_fastest(const struct scr_select_env *env, const struct scr_select_options *opt,
			  const char *class, struct scr_candidates *c,
			  const struct scr_kernels *others)
{
	int err = scr_calibrate(env->clock, c->row, c->n, others, c->ps);
	size_t i;

	if (err)
		return err;
	scr_select_say(opt, 0, "%s: measuring speed on %d bytes", class, SCR_CALIBRATE_BLOCK);
	for (i = 0; i < c->n; i++)
		scr_select_say(opt, 0, "   %-17s: %6" PRIu64 " MB/sec", c->row[i]->name,
			       scr_mb_per_s(SCR_CALIBRATE_BLOCK, c->ps[i]));
	c->chosen = scr_measure_choose(c->ps, c->n);
	scr_select_say(opt, 0, "%s: using function: %s (%" PRIu64 " MB/sec)", class,
		       c->row[c->chosen]->name,
		       scr_mb_per_s(SCR_CALIBRATE_BLOCK, c->ps[c->chosen]));
	return 0;
}

static int choose(const struct scr_select_env *env, const struct scr_select_options *opt,
		  const struct wish *w, enum scr_kernel_class class, struct scr_candidates *c,
		  struct scr_kernels *chosen)
{
	const char *name = scr_kernel_class_name(class);
	int err = 0;

	if (!c->n)
		return -EBADMSG;
	if (w->name[class])
		err = choose_forced(opt, name, w->name[class], c);
	else if (!w->cycle)
		err = choose_fastest(env, opt, name, c, chosen);
	if (err)
		return err;
	*scr_kernels_slot(chosen, class) = c->row[c->chosen];
	return 0;
}

/*
 * "cycle": the fused rows take turns, and each time they have been round the other classes move on
 * by one, so that "separate" meets every row of theirs.
 */
static int lay_out_cycle(struct scr_selection *s)
{
	size_t nfused = s->cand[SCR_FUSED].n, most = 0, i;
	int c;

	for (c = 0; c < SCR_FUSED; c++)
		most = SCR_MAX(most, s->cand[c].n);
	s->turn = calloc(nfused * most, sizeof(*s->turn));
	if (!s->turn)
		return -ENOMEM;
	s->nturns = nfused * most;
	for (i = 0; i < s->nturns; i++) {
		s->turn[i].fused = s->cand[SCR_FUSED].row[i % nfused];
		for (c = 0; c < SCR_FUSED; c++)
			*scr_kernels_slot(&s->turn[i], (enum scr_kernel_class)c) =
				s->cand[c].row[i / nfused % s->cand[c].n];
	}
	return 0;
}

static int lay_out_one(struct scr_selection *s, const struct scr_kernels *chosen)
{
	s->turn = malloc(sizeof(*s->turn));
	if (!s->turn)
		return -ENOMEM;
	*s->turn = *chosen;
	s->nturns = 1;
	return 0;
}

int scr_select_in(const struct scr_select_env *env, const struct scr_select_options *opt,
		  struct scr_selection **out)
{
	struct scr_selection *s = NULL;
	struct scr_select_env usable = *env;
	struct scr_kernels chosen;
	struct wish w = {0};
	int c, err;

	err = parse_wishes(opt, &w);
	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	usable.cpu &= ~w.without;
	s->cpu = usable.cpu;
	for (c = 0; c < SCR_KERNEL_CLASSES; c++) {
		gather(&usable, opt, (enum scr_kernel_class)c, &s->cand[c]);
		err = choose(&usable, opt, &w, (enum scr_kernel_class)c, &s->cand[c], &chosen);
		if (err)
			goto fail;
	}
	err = w.cycle ? lay_out_cycle(s) : lay_out_one(s, &chosen);
	if (err)
		goto fail;
	*out = s;
	return 0;
fail:
	scr_selection_free(s);
	return err;
}

int scr_select(const struct scr_select_options *opt, struct scr_selection **out)
{
	struct scr_select_env env = {.cpu = scr_cpu_features(), .clock = &scr_clock_system};

	env.rows = scr_kernel_table(&env.nrows);
	return scr_select_in(&env, opt, out);
}

const struct scr_kernels *scr_selection_next(struct scr_selection *s)
{
	if (s->nturns == 1)
		return s->turn;
	return &s->turn[__atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED) % s->nturns];
}

void scr_selection_free(struct scr_selection *s)
{
	if (!s)
		return;
	free(s->turn);
	free(s);
}
