/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures kernels on a block in cache. */
#ifndef SCR_SELECT_CALIBRATE_H
#define SCR_SELECT_CALIBRATE_H

#include "base/clock.h"
#include "kernels/kernel.h"

#define SCR_CALIBRATE_BLOCK 4096

/* The rows of one class and what they work on. */
struct scr_calibration {
	const struct scr_kernel *const *row;
	const struct scr_kernels
		*chosen; /* of the other classes; for the fused row that calls them */
	const uint8_t *src;
	uint8_t *dst;
	size_t len;
};

/* A scr_work_fn; @arg is a struct scr_calibration. */
void scr_calibrate_work(void *arg, size_t i, unsigned int reps);

/* ps[i] = picoseconds that @row[i] takes for SCR_CALIBRATE_BLOCK bytes in cache. 0 or -ENOMEM. */
int scr_calibrate(const struct scr_clock *clock, const struct scr_kernel *const *row, size_t n,
		  const struct scr_kernels *chosen, int64_t *ps);

/* MB/s (10^6 bytes) of @len bytes in @ps. */
static inline uint64_t scr_mb_per_s(size_t len, int64_t ps)
{
	return (uint64_t)len * 1000000 / (uint64_t)ps;
}

#endif
