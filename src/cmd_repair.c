/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts damaged blocks back, or what stood there before. */
#include <config.h>

#include "command.h"
#include "job.h"

int cmd_repair(struct job *job, char **args, size_t n)
{
	return job_paths(job, scr_repair, args, n);
}
