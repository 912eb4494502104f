/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of one kernel of each class. */
#include <config.h>
#include "select/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

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

static const struct scr_kernel *by_name(const struct scr_candidates *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (!strcmp(c->row[i]->name, name))
			return c->row[i];
	}
	return NULL;
}

static int choose(const struct scr_select_options *opt, const struct wish *w,
		  enum scr_kernel_class class, const struct scr_candidates *c,
		  struct scr_kernels *chosen)
{
	const char *name = w->name[class];
	const struct scr_kernel *k;

	if (!c->n)
		return -EBADMSG;
	k = name ? by_name(c, name) : c->row[0];
	if (!k) {
		scr_select_say(opt, 1, "%s: no kernel %s that can run here",
			       scr_kernel_class_name(class), name);
		return -EINVAL;
	}
	*scr_kernels_slot(chosen, class) = k;
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
	for (c = 0; c < SCR_KERNEL_CLASSES; c++) {
		gather(&usable, opt, (enum scr_kernel_class)c, &s->cand[c]);
		err = choose(opt, &w, (enum scr_kernel_class)c, &s->cand[c], &chosen);
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
