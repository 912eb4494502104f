/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the checksums in a format of other programs. */
#include <config.h>

#include <errno.h>
#include <stdio.h>

#include "command.h"
#include "job.h"
#include "usage.h"

static int write_stdout(void *arg, const void *data, size_t len)
{
	(void)arg;
	if (fwrite(data, 1, len, stdout) == len)
		return 0;
	return errno ? -errno : -EIO;
}

static int write_export(struct job *job, const char *target, struct scr_summary *out)
{
	return scr_export(job->ctx, target, job->opt.format, write_stdout, NULL, out);
}

int cmd_export(struct job *job, char **args, size_t n)
{
	if (!job->opt.format)
		return usage_error(job->cmd, "--format=F is needed: sfv, json or ddrescue");
	return job_each(job, write_export, args, n);
}
