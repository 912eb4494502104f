/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verbs: the table of commands.def as data, and their functions. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stddef.h>
#include <stdint.h>

struct job;

/* Does the verb on its operands; returns exit status bits. */
typedef int command_fn(struct job *job, char **args, size_t n);

struct command {
	const char *name;
	const char *operands;
	size_t min, max;
	const char *summary;
	uint64_t options; /* OPT_* of options.h */
	command_fn *fn;
};

#define COMMAND(verb, ...) command_fn cmd_##verb;
#include "commands.def"
#undef COMMAND

/* Ends with a row whose name is NULL. */
extern const struct command commands[];

/* The row of @verb, or NULL. */
const struct command *command_find(const char *verb);
/* The name of the verb that @word may have been meant for, or NULL. */
const char *command_nearest(const char *word);

#endif
