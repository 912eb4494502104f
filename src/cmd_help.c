/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Explains the verbs. */
#include <config.h>

#include "command.h"
#include "job.h"
#include "usage.h"

int cmd_help(struct job *job, char **args, size_t n)
{
	const struct command *cmd;

	(void)job;
	if (n == 0) {
		help_all();
		return 0;
	}
	cmd = command_find(args[0]);
	if (!cmd)
		return usage_no_verb(args[0]);
	help_verb(cmd);
	return 0;
}
