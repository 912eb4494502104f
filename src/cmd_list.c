/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists recorded files. */
#include <config.h>

#include "command.h"
#include "job.h"

int cmd_list(struct job *job, char **args, size_t n)
{
	return job_paths(job, scr_list, args, n);
}
