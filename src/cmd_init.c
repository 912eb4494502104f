/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creates the manifest of a target. */
#include <config.h>

#include "command.h"
#include "job.h"

static int call_init(struct job *job, const char *target, struct scr_summary *out)
{
	return scr_init(job->ctx, target, out);
}

int cmd_init(struct job *job, char **args, size_t n)
{
	return job_each(job, call_init, args, n);
}
