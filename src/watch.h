/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread that watches a running call: signals, and the status line.
 *
 * All other threads block the signals, so there are no handlers and nothing is interrupted:
 *
 *   SIGINT, SIGTERM, SIGHUP   ask the call to stop; a second SIGINT ends the program at once,
 *                             which loses at most what was done since the last checkpoint
 *   SIGUSR1                   prints a status line on stderr
 *   a fifth of a second       draws the status line, if there is a terminal
 *
 * It looks at the clock every second at least: what is missing there is time in which the process
 * was stopped, and no time in which it read.
 *
 * A signal that was ignored when the program started (nohup, a shell's &) stays ignored.
 */
#ifndef WATCH_H
#define WATCH_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "progress.h"

struct console;
struct scr_ctx;

struct watch {
	struct console *console;
	struct scr_ctx *ctx;
	bool draw;                /* a status line on the terminal */
	sigset_t signals;
	pthread_t thread;
	bool running;
	atomic_bool ending;
	atomic_int stopped;       /* the signal that asked to stop, or 0 */
	struct progress_rate rate;
	_Atomic int64_t stood_ns; /* how long the process was stopped (SIGSTOP) so far */
};

/* Blocks the signals: before any thread is started. */
void watch_block(struct watch *w);
/* Starts the thread. Returns 0 or -errno. */
int watch_start(struct watch *w, struct console *console, struct scr_ctx *ctx, bool draw);
/* Ends it and clears the status line. The signals stay blocked: the program is about to end, and a
 * late one shall not spoil its exit status. */
void watch_end(struct watch *w);

#endif
