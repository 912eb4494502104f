/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bitscrub.conf(5): targets and their options, for --all, and where the state of a target is.
 *
 *	[defaults]            what holds for all targets
 *	KEY = VALUE           KEY is a long option; a flag has yes or no, or nothing
 *	[/srv/photos]         a target, absolute
 *	KEY = VALUE
 *
 * The whole file is checked before anything of it is used.
 */
#ifndef CONF_H
#define CONF_H

#include <stddef.h>
#include <stdio.h>

#include "options.h"

struct command;

struct conf_entry {
	const struct option_row *row;
	char *value; /* owned; "no" for a flag that is not wanted */
	unsigned int line;
};

struct conf_section {
	char *target;      /* owned; NULL: [defaults] */
	unsigned int line; /* of its head */
	struct conf_entry *entries;
	size_t n;
};

/* Zero-initialised is empty: nothing was read. */
struct conf {
	const char *file;
	struct conf_section *sections; /* the first one is [defaults], maybe empty */
	size_t n;
};

/* Reads @file (NULL: the installed one; then a file that isn't there is no error unless @needed).
 * It must belong to root or the effective user, and nobody else may be able to write to it.
 * Returns 0, or exit status bits after saying what is wrong, with file and line. */
int conf_load(struct conf *c, const char *file, bool needed, const struct command *cmd);
void conf_free(struct conf *c);

/* Parses @stream, which messages call @c->file. For conf_load() and tests. */
int conf_parse(struct conf *c, FILE *stream, const struct command *cmd);

/* The section of @target, also under another name of the same file; NULL if there is none. */
const struct conf_section *conf_find(const struct conf *c, const char *target);
/* The value of the option with this name, or NULL. */
const char *conf_value(const struct conf_section *s, const char *name);
/* Sets in @opt what @s says and @cmd takes. 0 or -ENOMEM. @opt keeps pointers into the section. */
int conf_apply(const struct conf_section *s, const struct command *cmd, struct options *opt);

#endif
