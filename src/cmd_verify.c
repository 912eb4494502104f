/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks a target against its manifest and writes nothing. */
#include <config.h>

#include "command.h"
#include "job.h"

int cmd_verify(struct job *job, char **args, size_t n)
{
	return job_paths(job, scr_verify, args, n);
}
