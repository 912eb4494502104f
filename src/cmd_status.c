/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shows what is known about targets, without reading data. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "command.h"
#include "job.h"

static int show_status(struct job *job, const char *target, struct scr_summary *out)
{
	struct scr_status *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	r = scr_get_status(job->ctx, target, s, out);
	if (r == 0)
		report_status(&job->report, target, s);
	free(s);
	return r;
}

struct shown {
	struct job *job;
	const char *target;
};

static void show_pass(void *arg, const struct scr_pass_record *p)
{
	struct shown *s = arg;

	report_pass(&s->job->report, s->target, p);
}

static int show_history(struct job *job, const char *target, struct scr_summary *out)
{
	struct shown s = { job, target };

	return scr_get_history(job->ctx, target, show_pass, &s, out);
}

int cmd_status(struct job *job, char **args, size_t n)
{
	return job_each(job, job->opt.history ? show_history : show_status, args, n);
}
