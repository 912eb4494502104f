/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes the present content of damaged files as right. */
#include <config.h>

#include "command.h"
#include "job.h"

int cmd_accept(struct job *job, char **args, size_t n)
{
	return job_paths(job, scr_accept, args, n);
}
