/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stdout, stderr and the status line, shared by the threads that print. */
#include <config.h>
#include "console.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <bitscrub.h>

#define CLEAR_LINE "\r\033[K"

static bool smart_terminal(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && term[0] && strcmp(term, "dumb") != 0;
}

void console_init(struct console *c)
{
	const char *no_color = getenv("NO_COLOR");

	*c = (struct console){ .live = smart_terminal(STDERR_FILENO) };
	c->color = smart_terminal(STDOUT_FILENO) && !(no_color && no_color[0]);
	pthread_mutex_init(&c->lock, NULL);
}

void console_destroy(struct console *c)
{
	pthread_mutex_destroy(&c->lock);
}

static void clear(struct console *c)
{
	if (c->drawn)
		fputs(CLEAR_LINE, stderr);
	c->drawn = false;
}

static void flush(struct console *c)
{
	if ((fflush(stdout) != 0 || ferror(stdout)) && !c->write_err)
		c->write_err = errno ? errno : EIO;
}

void console_out(struct console *c)
{
	pthread_mutex_lock(&c->lock);
	clear(c);
}

void console_err(struct console *c)
{
	console_out(c);
	flush(c);
	fprintf(stderr, "%s: ", program_invocation_short_name);
}

void console_done(struct console *c)
{
	pthread_mutex_unlock(&c->lock);
}

void console_flush(struct console *c)
{
	flush(c);
	console_done(c);
}

void console_draw(struct console *c, const char *line)
{
	pthread_mutex_lock(&c->lock);
	fprintf(stderr, CLEAR_LINE "%s", line);
	c->drawn = line[0] != '\0';
	pthread_mutex_unlock(&c->lock);
}

unsigned int console_width(void)
{
	struct winsize ws;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0)
		return ws.ws_col;
	return 80;
}

int console_close(struct console *c)
{
	flush(c);
	if (close(STDOUT_FILENO) != 0 && !c->write_err)
		c->write_err = errno;
	if (!c->write_err)
		return 0;
	fprintf(stderr, "%s: cannot write to standard output: %s\n", program_invocation_short_name,
		strerror(c->write_err));
	return SCR_EXIT_TROUBLE;
}
