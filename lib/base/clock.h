/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time through an ops table, so that tests can set the clock. */
#ifndef SCR_BASE_CLOCK_H
#define SCR_BASE_CLOCK_H

#include <stdint.h>

struct scr_clock {
	/* Nanoseconds since the epoch, by the wall clock. */
	int64_t (*wall_ns)(void *arg);
	/* Nanoseconds of a clock that never steps back and stands still during suspend. */
	int64_t (*monotonic_ns)(void *arg);
	void *arg;
	/* Lets that much time go by, or less if a signal comes; NULL: as the system does. */
	void (*sleep_ns)(void *arg, int64_t ns);
};

#define SCR_NS_PER_S INT64_C(1000000000)

extern const struct scr_clock scr_clock_system;

/* Nanoseconds since the system was started, suspend included. */
int64_t scr_clock_uptime(void);
/* Nanoseconds of processor time that the calling thread has taken, in the kernel too. */
int64_t scr_clock_thread_cpu(void);

static inline int64_t scr_clock_wall(const struct scr_clock *c)
{
	return c->wall_ns(c->arg);
}

static inline int64_t scr_clock_monotonic(const struct scr_clock *c)
{
	return c->monotonic_ns(c->arg);
}

void scr_clock_sleep(const struct scr_clock *c, int64_t ns);

#endif
