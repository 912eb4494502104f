/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One command at work. */
#include <config.h>
#include "job.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "quote.h"
#include "usage.h"

int job_begin(struct job *job)
{
	const struct options *opt = &job->opt;

	watch_block(&job->watch);
	/* A pass shall not die of a reader that went away; it tells at its end that nobody listened. */
	if (job->cmd->options & (OPT_JOBS | OPT_DRY_RUN))
		signal(SIGPIPE, SIG_IGN);
	job->ctx = scr_new(&opt->lib, report_event, &job->report);
	if (!job->ctx)
		return usage_trouble("out of memory");
	if (watch_start(&job->watch, &job->console, job->ctx, !opt->quiet && !opt->json) < 0)
		return usage_trouble("cannot start a thread");
	return 0;
}

void job_target(struct job *job, const char *target, int r, const struct scr_summary *s)
{
	struct scr_summary sum = *s;

	if (r < 0 && !sum.exit)
		sum.exit = SCR_EXIT_TROUBLE;
	report_end(&job->report, target, &sum);
	job->exit |= sum.exit;
}

static void not_done(struct job *job, char **targets, size_t n)
{
	console_err(&job->console);
	fputs("not looked at any more:", stderr);
	for (size_t i = 0; i < n; i++) {
		putc(' ', stderr);
		quote_name(stderr, targets[i], strlen(targets[i]));
	}
	putc('\n', stderr);
	console_done(&job->console);
}

int job_each(struct job *job, job_call *call, char **targets, size_t n)
{
	int r = job_begin(job);

	if (r)
		return r;
	job->report.many = n > 1;
	for (size_t i = 0; i < n; i++) {
		struct scr_summary sum = { 0 };

		if (atomic_load(&job->watch.stopped)) {
			not_done(job, targets + i, n - i);
			return job->exit | SCR_EXIT_STOPPED;
		}
		r = call(job, targets[i], &sum);
		job_target(job, targets[i], r, &sum);
	}
	return job->exit;
}

int job_paths(struct job *job, job_paths_call *call, char **args, size_t n)
{
	struct scr_summary sum = { 0 };
	int r = job_begin(job);

	if (r)
		return r;
	r = call(job->ctx, args[0], (const char *const *)args + 1, n - 1, &sum);
	job_target(job, args[0], r, &sum);
	return job->exit;
}

static int check_operands(const struct job *job, size_t n)
{
	const struct command *cmd = job->cmd;
	bool alone = job->opt.lib.state_dir || job->opt.lib.manifest;

	if (n < cmd->min)
		return usage_error(cmd, "'%s' needs %s", cmd->name, cmd->operands);
	if (n > cmd->max && !cmd->max)
		return usage_error(cmd, "'%s' takes no operand", cmd->name);
	if (n > cmd->max)
		return usage_error(cmd, "'%s' takes only %s", cmd->name, cmd->operands);
	if (job->opt.lib.state_dir && job->opt.lib.manifest)
		return usage_error(cmd, "--state and -m exclude each other");
	if (alone && n > 1 && !strcmp(cmd->operands, "TARGET..."))
		return usage_error(cmd, "--state and -m take exactly one TARGET");
	return 0;
}

static int work(struct job *job, int argc, char **argv)
{
	int first, r;

	r = options_parse(job->cmd, argc, argv, &job->opt, &first);
	if (r)
		return r;
	if (job->opt.help) {
		help_verb(job->cmd);
		return 0;
	}
	r = check_operands(job, (size_t)(argc - first));
	if (r)
		return r;
	report_init(&job->report, &job->console, job->cmd, &job->opt);
	r = job->cmd->fn(job, argv + first, (size_t)(argc - first));
	watch_end(&job->watch);
	scr_free(job->ctx);
	return r;
}

int job_main(const struct command *cmd, int argc, char **argv)
{
	struct job job = { .cmd = cmd };
	int r;

	console_init(&job.console);
	r = work(&job, argc, argv);
	r |= console_close(&job.console);
	options_free(&job.opt);
	console_destroy(&job.console);
	return r;
}
