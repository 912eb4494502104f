/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verbs: the table of commands.def as data. */
#include <config.h>
#include "command.h"

#include <stdint.h>
#include <string.h>

#include "nearest.h"
#include "options.h"

#define ANY SIZE_MAX

const struct command commands[] = {
#define COMMAND(verb, operands, min, max, summary, options) \
	{ #verb, operands, min, max, summary, options, cmd_##verb },
#include "commands.def"
#undef COMMAND
	{ 0 },
};

const struct command *command_find(const char *verb)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, verb))
			return c;
	return NULL;
}

const char *command_nearest(const char *word)
{
	struct nearest near = nearest_start(word, strlen(word));

	for (const struct command *c = commands; c->name; c++)
		nearest_try(&near, c->name);
	return near.word;
}
