/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Help, and what is said when a command line can't be understood. */
#ifndef USAGE_H
#define USAGE_H

struct command;

/* Says on stderr what is wrong and where help is; @cmd may be NULL. Returns SCR_EXIT_USAGE. */
__attribute__((format(printf, 2, 3)))
int usage_error(const struct command *cmd, const char *fmt, ...);
/* Says what failed before any work. Returns SCR_EXIT_TROUBLE. */
int usage_trouble(const char *message);

/* The first operand @word is no verb. Returns SCR_EXIT_USAGE. */
int usage_no_verb(const char *word);

/* On stdout. */
void help_all(void);
void help_verb(const struct command *cmd);
void help_version(void);

#endif
