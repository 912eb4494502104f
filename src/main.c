/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* scrub: finds the verb and lets it work. */
#include <config.h>

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bitscrub.h>

#include "command.h"
#include "console.h"
#include "job.h"
#include "usage.h"

/* Whoever started us may have closed 0, 1 or 2; a file of the target or of the state must never get
 * one of these numbers and what is printed there. Opened the wrong way round, so that using them
 * fails as it would on a closed one. */
static void fill_standard_fds(void)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDWR };

	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", modes[fd]);
}

static int print_and_close(void (*print)(void))
{
	struct console c;
	int r;

	console_init(&c);
	print();
	r = console_close(&c);
	console_destroy(&c);
	return r;
}

int main(int argc, char **argv)
{
	const struct command *cmd;

	fill_standard_fds();
	/* Only for the width of characters: numbers, dates and messages are the same everywhere. */
	setlocale(LC_CTYPE, "");
	if (argc < 2)
		return usage_error(NULL, "a verb and a target are needed");
	if (!strcmp(argv[1], "--help"))
		return print_and_close(help_all);
	if (!strcmp(argv[1], "--version"))
		return print_and_close(help_version);
	cmd = command_find(argv[1]);
	if (!cmd)
		return usage_no_verb(argv[1]);
	return job_main(cmd, argc - 1, argv + 1);
}
