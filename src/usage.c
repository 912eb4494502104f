/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is said when a command line can't be understood. */
#include <config.h>
#include "usage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bitscrub.h>

#include "command.h"
#include "quote.h"

int usage_error(const struct command *cmd, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	if (n >= 0)
		quote_text(stderr, text, (size_t)n);
	fprintf(stderr, "\nNothing was read or written. Help: %s%s%s --help\n",
		program_invocation_short_name, cmd ? " " : "", cmd ? cmd->name : "");
	if (n >= 0)
		free(text);
	return SCR_EXIT_USAGE;
}

int usage_trouble(const char *message)
{
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, message);
	return SCR_EXIT_TROUBLE;
}

/* Somebody who types "scrub /dev/sdb" may have the eraser of that name in mind, or may come to have
 * it in hand one day on another machine: both are told. */
int usage_no_verb(const char *word)
{
	const char *prog = program_invocation_short_name;
	const char *near = command_nearest(word);
	char *name = quote_name_dup(word, strlen(word));
	const char *shown = name ? name : "?";

	if (word[0] == '-')
		fprintf(stderr, "%s: a verb comes first, options follow it: %s VERB %s\n", prog, prog,
			shown);
	else if (near)
		fprintf(stderr, "%s: unknown verb %s; did you mean '%s'?\n", prog, shown, near);
	else
		fprintf(stderr, "%s: a verb is needed, and %s is none. To check it: %s run %s\n", prog,
			shown, prog, shown);
	fprintf(stderr,
		"Nothing was read or written. Help: %s --help\n"
		"Mind the name: on other systems a different 'scrub' ERASES the files it is given.\n",
		prog);
	free(name);
	return SCR_EXIT_USAGE;
}
