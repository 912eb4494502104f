/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The help, rendered from the tables of verbs and options. */
#include <config.h>
#include "usage.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bitscrub.h>

#include "command.h"
#include "options.h"

#define COLUMN 28 /* where the explanation of an option begins */

/* make install looks for this in a "scrub" that is there already (guard.mk). */
static const char package[] = "@(#)" PACKAGE_NAME;

static const char exit_help[] =
	"Exit status, a sum: 0 sound; 1 repaired; 4 open damage; 8 trouble; 16 usage error;\n"
	"32 stopped by a signal.\n";

void help_all(void)
{
	const char *prog = program_invocation_short_name;

	printf("Usage: %s VERB [OPTION]... TARGET...\n"
	       "Notices bits that changed by themselves in files, and says exactly where.\n\n",
	       prog);
	for (const struct command *c = commands; c->name; c++)
		printf("  %-8s %s\n", c->name, c->summary);
	printf("\nFirst use:  %s run DIR    records every file below DIR\n"
	       "Then:       %s run DIR    checks them, and records what is new or edited\n"
	       "From cron:  %s run -q --existing DIR\n\n",
	       prog, prog, prog);
	printf("%s VERB --help explains a verb, man %s everything. %s --version prints the version.\n",
	       prog, prog, prog);
	fputs(exit_help, stdout);
}

static void help_option(const struct option_row *row)
{
	char letter[] = "-x, ", left[64];
	int n;

	letter[1] = (char)row->letter;
	n = snprintf(left, sizeof(left), row->kind == KIND_WAIT ? "  %s--%s[%s%s]" : "  %s--%s%s%s",
		     row->letter ? letter : "    ", row->name, row->arg ? "=" : "",
		     row->arg ? row->arg : "");
	if (n < COLUMN)
		printf("%-*s%s\n", COLUMN, left, row->help);
	else
		printf("%s\n%*s%s\n", left, COLUMN, "", row->help);
}

void help_verb(const struct command *cmd)
{
	printf("Usage: %s %s%s%s%s\n", program_invocation_short_name, cmd->name,
	       cmd->options & ~OPT_HELP ? " [OPTION]..." : "",
	       cmd->operands[0] ? " " : "", cmd->operands);
	printf("%c%s.\n\n", toupper((unsigned char)cmd->summary[0]), cmd->summary + 1);
	for (int i = 0; i < OPTIONS; i++)
		if (cmd->options & UINT64_C(1) << i)
			help_option(&option_rows[i]);
	if (cmd->options & OPT_BLOCK_SIZE)
		fputs("\nSIZE takes K, M, G, T as powers of 1024.", stdout);
	putchar('\n');
	fputs(exit_help, stdout);
}

void help_version(void)
{
	printf("%s (%s) %s\n", program_invocation_short_name, package + 4, scr_version());
}
