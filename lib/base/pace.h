/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A token bucket: so many bytes a second, over all threads that take from it.
 *
 *	take(bytes)    the bucket is filled by the time that went by, up to its brim; the bytes go
 *	               out of it; what is missing then is waited for
 *
 * The brim is a quarter of a second: after a pause, be it a stopped process or a suspended machine,
 * nobody gets more in one go than after a quiet quarter of a second.
 */
#ifndef SCR_BASE_PACE_H
#define SCR_BASE_PACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/clock.h"

#define SCR_PACE_BRIM_NS (SCR_NS_PER_S / 4)

struct scr_pace {
	const struct scr_clock *clock;
	uint64_t rate; /* bytes a second; 0: any number */
	pthread_mutex_t lock;
	double level;      /* bytes in the bucket; below 0: owed */
	int64_t filled_ns; /* monotonic: when it was filled last */
};

void scr_pace_init(struct scr_pace *p, const struct scr_clock *clock, uint64_t rate);
void scr_pace_destroy(struct scr_pace *p);
/* Takes @bytes out; returns how many nanoseconds to wait before taking more. */
int64_t scr_pace_take(struct scr_pace *p, uint64_t bytes);
/* Takes @bytes out and waits, until *@stop is set. */
void scr_pace_wait(struct scr_pace *p, uint64_t bytes, const atomic_int *stop);

#endif
