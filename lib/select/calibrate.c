/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures kernels on a block in cache. */
#include <config.h>
#include "select/calibrate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "select/measure.h"

static void run_inet(const struct scr_calibration *c, const struct scr_kernel *k, unsigned int reps)
{
	uint64_t sum = 0;

	while (reps--)
		sum = k->fn.inet(sum, c->src, c->len);
}

static void run_crc32(const struct scr_calibration *c, const struct scr_kernel *k,
		      unsigned int reps)
{
	uint32_t crc = 0;

	while (reps--)
		crc = k->fn.crc32(crc, c->src, c->len);
}

static void run_xor(const struct scr_calibration *c, const struct scr_kernel *k, unsigned int reps)
{
	while (reps--)
		k->fn.xor_(c->dst, &c->src, 1, c->len);
}

static void run_fused(const struct scr_calibration *c, const struct scr_kernel *k,
		      unsigned int reps)
{
	uint64_t sum = 0;
	uint32_t crc = 0;

	while (reps--)
		k->fn.fused(c->chosen, &sum, &crc, c->dst, c->src, c->len);
}

/* Calls go through a pointer, so the compiler can't leave out work whose result nobody reads. */
void scr_calibrate_work(void *arg, size_t i, unsigned int reps)
{
	const struct scr_calibration *c = arg;
	const struct scr_kernel *k = c->row[i];

	switch (k->class) {
	case SCR_INET:
		run_inet(c, k, reps);
		break;
	case SCR_CRC32:
		run_crc32(c, k, reps);
		break;
	case SCR_XOR:
		run_xor(c, k, reps);
		break;
	case SCR_FUSED:
		run_fused(c, k, reps);
		break;
	case SCR_KERNEL_CLASSES:
		break;
	}
}

int scr_calibrate(const struct scr_clock *clock, const struct scr_kernel *const *row, size_t n,
		  const struct scr_kernels *chosen, int64_t *ps)
{
	struct scr_calibration c = {.row = row, .chosen = chosen, .len = SCR_CALIBRATE_BLOCK};
	uint8_t *block = aligned_alloc(SCR_CALIBRATE_BLOCK, 2 * (size_t)SCR_CALIBRATE_BLOCK);

	if (!block)
		return -ENOMEM;
	memset(block, 0x5a, 2 * (size_t)SCR_CALIBRATE_BLOCK);
	c.src = block;
	c.dst = block + SCR_CALIBRATE_BLOCK;
	scr_measure(clock, scr_calibrate_work, &c, n, ps);
	free(block);
	return 0;
}
