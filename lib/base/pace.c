/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A token bucket: so many bytes a second, over all threads that take from it. */
#include <config.h>
#include "base/pace.h"

#include "base/compiler.h"

/* Somebody who wants to stop doesn't wait longer. */
#define NAP_NS (SCR_NS_PER_S / 10)

void scr_pace_init(struct scr_pace *p, const struct scr_clock *clock, uint64_t rate)
{
	*p = (struct scr_pace){.clock = clock, .rate = rate};
	pthread_mutex_init(&p->lock, NULL);
	p->filled_ns = scr_clock_monotonic(clock);
}

void scr_pace_destroy(struct scr_pace *p)
{
	pthread_mutex_destroy(&p->lock);
}

int64_t scr_pace_take(struct scr_pace *p, uint64_t bytes)
{
	double brim = (double)p->rate * SCR_PACE_BRIM_NS / SCR_NS_PER_S, owed;
	int64_t now;

	if (p->rate == 0)
		return 0;
	pthread_mutex_lock(&p->lock);
	now = scr_clock_monotonic(p->clock);
	p->level += (double)(now - p->filled_ns) * (double)p->rate / SCR_NS_PER_S;
	p->level = SCR_MIN(p->level, brim);
	p->filled_ns = now;
	p->level -= (double)bytes;
	owed = -p->level;
	pthread_mutex_unlock(&p->lock);
	return owed > 0 ? (int64_t)(owed * SCR_NS_PER_S / (double)p->rate) : 0;
}

void scr_pace_wait(struct scr_pace *p, uint64_t bytes, const atomic_int *stop)
{
	int64_t left = scr_pace_take(p, bytes), until;

	if (left <= 0)
		return;
	until = scr_clock_monotonic(p->clock) + left;
	while (left > 0 && !*stop) {
		scr_clock_sleep(p->clock, SCR_MIN(left, NAP_NS));
		left = until - scr_clock_monotonic(p->clock);
	}
}
