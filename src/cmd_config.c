/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shows and changes the settings of a target. */
#include <config.h>

#include <string.h>

#include "command.h"
#include "job.h"
#include "usage.h"

struct shown {
	struct job *job;
	const char *target;
};

static void show(void *arg, const char *key, const char *value)
{
	struct shown *s = arg;

	report_setting(&s->job->report, s->target, key, value);
}

int cmd_config(struct job *job, char **args, size_t n)
{
	struct shown shown = { job, args[0] };
	struct scr_summary sum = { 0 };
	int r;

	/* The library wants its list to end with NULL, and argv does. */
	for (size_t i = 1; i < n; i++)
		if (!strchr(args[i], '='))
			return usage_error(job->cmd, "'%s' is no KEY=VALUE", args[i]);
	r = job_begin(job);
	if (r == 0)
		r = job_aim(job, args[0], NULL);
	if (r)
		return r;
	if (n > 1)
		r = scr_config_set(job->ctx, args[0], (const char *const *)args + 1, &sum);
	else
		r = scr_config_get(job->ctx, args[0], show, &shown, &sum);
	job_target(job, args[0], r, &sum);
	return job->exit;
}
