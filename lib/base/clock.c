/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clocks of the system. */
#include <config.h>
#include "base/clock.h"

#include <time.h>

#include "base/compiler.h"

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts) < 0)
		return 0;
	return ts.tv_sec * SCR_NS_PER_S + ts.tv_nsec;
}

static int64_t system_wall(void *arg SCR_UNUSED)
{
	return read_clock(CLOCK_REALTIME);
}

static int64_t system_monotonic(void *arg SCR_UNUSED)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t scr_clock_uptime(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

int64_t scr_clock_thread_cpu(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void scr_clock_sleep(const struct scr_clock *c, int64_t ns)
{
	struct timespec ts = {ns / SCR_NS_PER_S, ns % SCR_NS_PER_S};

	if (c->sleep_ns)
		c->sleep_ns(c->arg, ns);
	else
		nanosleep(&ts, NULL);
}

const struct scr_clock scr_clock_system = {
	.wall_ns = system_wall,
	.monotonic_ns = system_monotonic,
};
