/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How far a pass is, as one line. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>
#include <stdio.h>

#include <bitscrub.h>

/* The rate of this very command: what an earlier one had done already when the phase was first seen
 * doesn't count. Zero-initialised is the start. */
struct progress_rate {
	int64_t started_ns;    /* of the phase that is measured */
	int64_t first_ns;      /* when it was first seen */
	uint64_t first_bytes;  /* done by then */
	int64_t last_ns;       /* when it was last asked for */
};

/* How much of the time from @last_ns, when somebody looked who looks every second, to @now_ns the
 * process was stopped for. */
int64_t progress_stood(int64_t last_ns, int64_t now_ns);

/* Bytes a second since the phase began, 0 if not known yet. To be asked for every second or so: if nobody
 * did for much longer, the process was stopped, and that time is no part of it. */
double progress_rate(struct progress_rate *r, const struct scr_progress *p, int64_t now_ns);

/* "[####......] 41 % 2.3 GiB of 5.6 GiB, 210 MiB/s, 0:16 left, 2 damaged, photos/a.jpg", cut to
 * @width columns, with a bar if there is room. To be freed; NULL if there is no memory. */
char *progress_line(const struct scr_progress *p, double rate, unsigned int width);

/* The same as plain talk, without bar and not cut. */
void progress_tell(FILE *f, const struct scr_progress *p, double rate);

#endif
