/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pass: records what is new or changed, checks what is not. */
#include <config.h>

#include "command.h"
#include "job.h"

static int call_run(struct job *job, const char *target, struct scr_summary *out)
{
	return scr_run(job->ctx, target, out);
}

int cmd_run(struct job *job, char **args, size_t n)
{
	return job_each(job, call_run, args, n);
}
