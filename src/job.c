/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One command at work. */
#include <config.h>
#include "job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "quote.h"
#include "usage.h"

/* The event sink. */
static void job_event(void *arg, const struct scr_event *ev)
{
	struct job *job = arg;

	if (!job->mute)
		report_event(&job->report, ev);
	if (!job->mute || job->told.metrics.kinds)
		told_event(&job->told, ev);
}

int job_begin(struct job *job)
{
	const struct options *opt = &job->opt;

	watch_block(&job->watch);
	/* A pass shall not die of a reader that went away; it tells at its end that nobody listened. */
	if (job->cmd->options & (OPT_JOBS | OPT_DRY_RUN))
		signal(SIGPIPE, SIG_IGN);
	job->ctx = scr_new(&opt->lib, job_event, job);
	if (!job->ctx)
		return usage_trouble("out of memory");
	if (watch_start(&job->watch, &job->console, job->ctx, !opt->quiet && !opt->json) < 0)
		return usage_trouble("cannot start a thread");
	return told_begin(&job->told, opt, job->cmd);
}

static void drop_target_options(struct job *job)
{
	if (job->owned)
		options_free(&job->target_opt);
	job->owned = false;
}

/* [defaults], if @section is another one, @section, and the command line over them. */
static int merge(struct job *job, const struct conf_section *section, struct options *out)
{
	const struct conf_section *defaults = &job->conf.sections[0];
	int operand;

	*out = (struct options){ 0 };
	out->lib.existing = true;
	if (conf_apply(defaults, job->cmd, out) < 0 ||
	    (section != defaults && conf_apply(section, job->cmd, out) < 0))
		return usage_trouble("out of memory");
	out->conf_state = out->lib.state_dir != NULL;
	return options_parse_over(job->cmd, job->argc, job->argv, out, &operand);
}

/* A target of the command line has its state where bitscrub.conf says. */
static void find_state(struct job *job, const char *target)
{
	struct options *opt = &job->target_opt;
	const struct conf_section *s = NULL;

	*opt = job->opt;
	if (!opt->lib.state_dir && !opt->lib.manifest && job->conf.n)
		s = conf_find(&job->conf, target);
	if (s)
		opt->lib.state_dir = conf_value(s, "state");
	opt->conf_state = s && opt->lib.state_dir;
}

int job_aim(struct job *job, const char *target, const struct conf_section *section)
{
	int r = 0;

	drop_target_options(job);
	if (section) {
		job->owned = true;
		r = merge(job, section, &job->target_opt);
	} else {
		find_state(job, target);
	}
	job->report.opt = &job->target_opt;
	scr_set_options(job->ctx, &job->target_opt.lib);
	told_target(&job->told, &job->target_opt);
	return r;
}

/* The command of --on-damage has its say in the exit status. */
static void run_command(struct job *job, const char *target, struct scr_summary *sum)
{
	char *failure = told_close(&job->told, target, sum, &job->watch.stopped);
	struct scr_trouble trouble = { .message = failure };
	struct scr_event ev = { .type = SCR_EV_TROUBLE, .target = target, .u.trouble = &trouble };

	if (!failure)
		return;
	job_event(job, &ev);
	free(failure);
	sum->trouble++;
	sum->exit |= SCR_EXIT_TROUBLE;
}

/* The metrics of @target lack something that nobody was told of yet. */
static int not_measured(struct job *job, const char *target, int err)
{
	console_err(&job->console);
	fputs("--metrics: cannot read what is known of ", stderr);
	quote_name(stderr, target, strlen(target));
	fprintf(stderr, ": %s\n", strerror(-err));
	console_done(&job->console);
	return SCR_EXIT_TROUBLE;
}

/* What only the manifest knows. Open damage by its kind is counted where there is any; verify
 * records none, and counts its own. Exit status bits. */
static int measure(struct job *job, const char *target, const struct scr_summary *sum)
{
	struct scr_status *status = calloc(1, sizeof(*status));
	uint64_t kinds[SCR_DAMAGE_KINDS] = { 0 };
	struct scr_options damaged = job->target_opt.lib;
	struct scr_summary unused = { 0 };
	int err;

	job->mute = true;
	err = status ? scr_get_status(job->ctx, target, status, &unused) : -ENOMEM;
	if (!strcmp(job->cmd->name, "verify")) {
		kinds[SCR_DAMAGE_ROT] = sum->verdicts[SCR_ROT];
		kinds[SCR_DAMAGE_ALTERED] = sum->verdicts[SCR_ALTERED];
		kinds[SCR_DAMAGE_UNREADABLE] = sum->verdicts[SCR_UNREADABLE];
		kinds[SCR_DAMAGE_MISSING] = sum->verdicts[SCR_MISSING];
		kinds[SCR_DAMAGE_CHANGED] = sum->verdicts[SCR_CHANGED];
	} else if (err == 0 && status->files_damaged) {
		damaged.damaged_only = true;
		scr_set_options(job->ctx, &damaged);
		job->told.metrics.kinds = kinds;
		/* A count that was cut short would be an all-clear. */
		err = scr_list(job->ctx, target, NULL, 0, &unused);
		job->told.metrics.kinds = NULL;
	}
	job->mute = false;
	if (told_measure(&job->told, target, sum, err == 0 ? status : NULL, kinds) < 0)
		err = -ENOMEM;
	free(status);
	/* Where the command could not do its work either, or was stopped, it has said so. */
	if (err == 0 || sum->exit & (SCR_EXIT_TROUBLE | SCR_EXIT_USAGE | SCR_EXIT_STOPPED))
		return 0;
	return not_measured(job, target, err);
}

void job_target(struct job *job, const char *target, int r, const struct scr_summary *s)
{
	struct scr_summary sum = *s;

	if (r < 0 && !sum.exit)
		sum.exit = SCR_EXIT_TROUBLE;
	run_command(job, target, &sum);
	told_summary(&job->told, target, &sum);
	report_end(&job->report, target, &sum);
	if (job->told.metrics.file)
		job->exit |= measure(job, target, &sum);
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

/* @sections: of the targets, or NULL for those of the command line. */
static int each(struct job *job, job_call *call, char **targets, size_t n,
		const struct conf_section *sections)
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
		r = job_aim(job, targets[i], sections ? &sections[i] : NULL);
		if (r)
			return job->exit | r;
		r = call(job, targets[i], &sum);
		job_target(job, targets[i], r, &sum);
	}
	return job->exit | told_end(&job->told);
}

static int each_of_conf(struct job *job, job_call *call)
{
	size_t n = job->conf.n - 1;
	char **targets = calloc(n + 1, sizeof(*targets));
	int r;

	if (!targets)
		return usage_trouble("out of memory");
	for (size_t i = 0; i < n; i++)
		targets[i] = job->conf.sections[i + 1].target;
	r = each(job, call, targets, n, job->conf.sections + 1);
	free(targets);
	return r;
}

int job_each(struct job *job, job_call *call, char **targets, size_t n)
{
	return job->opt.all ? each_of_conf(job, call) : each(job, call, targets, n, NULL);
}

static int whole_target(struct job *job, const char *target, struct scr_summary *out)
{
	return job->paths_call(job->ctx, target, NULL, 0, out);
}

int job_paths(struct job *job, job_paths_call *call, char **args, size_t n)
{
	struct scr_summary sum = { 0 };
	int r;

	job->paths_call = call;
	if (job->opt.all)
		return each_of_conf(job, whole_target);
	r = job_begin(job);
	if (r == 0)
		r = job_aim(job, args[0], NULL);
	if (r)
		return r;
	r = call(job->ctx, args[0], (const char *const *)args + 1, n - 1, &sum);
	job_target(job, args[0], r, &sum);
	return job->exit | told_end(&job->told);
}

static int check_all(const struct job *job, size_t n)
{
	if (n > 0)
		return usage_error(job->cmd, "--all takes the targets of bitscrub.conf, and no operand");
	if (job->opt.lib.state_dir || job->opt.lib.manifest)
		return usage_error(job->cmd, "--state and -m take exactly one TARGET");
	return 0;
}

static int check_operands(const struct job *job, size_t n)
{
	const struct command *cmd = job->cmd;
	bool alone = job->opt.lib.state_dir || job->opt.lib.manifest;

	if (job->opt.all)
		return check_all(job, n);
	if (n < cmd->min)
		return usage_error(cmd, "'%s' needs %s%s", cmd->name, cmd->operands,
				   cmd->options & OPT_ALL ? ", or --all" : "");
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

/* Whoever names state or manifest needs no bitscrub.conf, and shall not stumble over it. */
static int load_conf(struct job *job)
{
	const struct options *opt = &job->opt;
	bool alone = opt->lib.state_dir || opt->lib.manifest;
	int r;

	if (!(job->cmd->options & OPT_CONFIG) || (alone && !opt->config))
		return 0;
	r = conf_load(&job->conf, opt->config, opt->all, job->cmd);
	if (r || !opt->all)
		return r;
	if (job->conf.n < 2)
		return usage_error(job->cmd, "%s names no target", job->conf.file);
	options_free(&job->opt);
	r = merge(job, &job->conf.sections[0], &job->opt);
	return r;
}

static int work(struct job *job, int argc, char **argv)
{
	int first, r;

	job->argc = argc;
	job->argv = argv;
	r = options_parse(job->cmd, argc, argv, &job->opt, &first);
	if (r)
		return r;
	if (job->opt.help) {
		help_verb(job->cmd);
		return 0;
	}
	r = check_operands(job, (size_t)(argc - first));
	if (r == 0)
		r = load_conf(job);
	if (r)
		return r;
	report_init(&job->report, &job->console, job->cmd, &job->opt);
	job->report.stood_ns = &job->watch.stood_ns;
	r = job->cmd->fn(job, argv + first, (size_t)(argc - first));
	watch_end(&job->watch);
	scr_free(job->ctx);
	told_free(&job->told);
	return r;
}

int job_main(const struct command *cmd, int argc, char **argv)
{
	struct job job = { .cmd = cmd };
	int r;

	console_init(&job.console);
	r = work(&job, argc, argv);
	r |= console_close(&job.console);
	drop_target_options(&job);
	options_free(&job.opt);
	conf_free(&job.conf);
	console_destroy(&job.console);
	return r;
}
