/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stdout, stderr and the status line, shared by the threads that print.
 *
 * stdout is data, stderr is talk. Whoever prints takes the console first, which clears the status
 * line, and then writes with stdio; so lines never mix. A failure to write to stdout is kept and
 * told at the end: a report that nobody got is trouble.
 */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <pthread.h>
#include <stdbool.h>

struct console {
	pthread_mutex_t lock;
	bool live;     /* stderr is a terminal on which a status line can be drawn */
	bool color;    /* stdout takes colours */
	bool drawn;    /* the status line is on the screen */
	int write_err; /* errno of the first failed write to stdout */
};

void console_init(struct console *c);
void console_destroy(struct console *c);

/* Takes the console to write to stdout. */
void console_out(struct console *c);
/* Takes the console to write to stderr; what went to stdout before comes first. Begins the line
 * with the name of the program. */
void console_err(struct console *c);
/* Gives it back. */
void console_done(struct console *c);
/* The same, after what was written to stdout has been brought out. */
void console_flush(struct console *c);

/* Draws @line, cut to the width of the terminal already, over the last status line. */
void console_draw(struct console *c, const char *line);
unsigned int console_width(void);

/* Brings out the last of stdout. Returns 0, or SCR_EXIT_TROUBLE after saying what happened. */
int console_close(struct console *c);

#endif
