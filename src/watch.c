/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread that watches a running call: signals, and the status line. */
#include <config.h>
#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bitscrub.h>

#include "console.h"

#define DRAW_NS 200000000 /* between two status lines */
#define SAMPLE_S 1        /* and without a terminal, so that SIGUSR1 can tell a rate */

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

void watch_block(struct watch *w)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
	struct sigaction now;

	*w = (struct watch){ 0 };
	sigemptyset(&w->signals);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (wanted[i] == SIGUSR1 ||
		    (sigaction(wanted[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN))
			sigaddset(&w->signals, wanted[i]);
	pthread_sigmask(SIG_BLOCK, &w->signals, NULL);
}

static void tick(struct watch *w)
{
	struct scr_progress p;
	double rate;
	char *line;

	scr_get_progress(w->ctx, &p);
	rate = progress_rate(&w->rate, &p, now_ns());
	if (!w->draw || !p.phase)
		return;
	line = progress_line(&p, rate, console_width());
	if (line)
		console_draw(w->console, line);
	free(line);
}

static void tell(struct watch *w)
{
	struct scr_progress p;

	scr_get_progress(w->ctx, &p);
	console_err(w->console);
	progress_tell(stderr, &p, progress_rate(&w->rate, &p, now_ns()));
	putc('\n', stderr);
	console_done(w->console);
}

/* Dies of @sig as if it had never been caught. */
static void die(int sig)
{
	sigset_t set;

	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
}

static void stop(struct watch *w, int sig)
{
	if (atomic_load(&w->stopped)) {
		if (sig == SIGINT)
			die(sig);
		return;
	}
	atomic_store(&w->stopped, sig);
	scr_stop(w->ctx);
	if (sig == SIGHUP)
		return;
	console_err(w->console);
	fputs("stopping; what was done is kept", stderr);
	fputs(sig == SIGINT ? " (again: end at once)\n" : "\n", stderr);
	console_done(w->console);
}

static void *watch_main(void *arg)
{
	struct watch *w = arg;
	struct timespec pause = { w->draw ? 0 : SAMPLE_S, w->draw ? DRAW_NS : 0 };
	int64_t last = now_ns(), now;

	while (!atomic_load(&w->ending)) {
		int sig = sigtimedwait(&w->signals, NULL, &pause);

		now = now_ns();
		atomic_fetch_add(&w->stood_ns, progress_stood(last, now));
		last = now;
		if (atomic_load(&w->ending))
			break;
		if (sig == SIGUSR1)
			tell(w);
		else if (sig > 0)
			stop(w, sig);
		else if (errno == EAGAIN)
			tick(w);
	}
	return NULL;
}

int watch_start(struct watch *w, struct console *console, struct scr_ctx *ctx, bool wants_line)
{
	int r;

	w->console = console;
	w->ctx = ctx;
	w->draw = wants_line && console->live;
	r = pthread_create(&w->thread, NULL, watch_main, w);
	w->running = r == 0;
	return -r;
}

void watch_end(struct watch *w)
{
	if (w->running) {
		atomic_store(&w->ending, true);
		pthread_kill(w->thread, SIGUSR1);
		pthread_join(w->thread, NULL);
		console_out(w->console);
		console_done(w->console);
	}
	w->running = false;
}
