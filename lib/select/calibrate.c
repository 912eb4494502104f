/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures kernels on a block in cache. */
#include <config.h>
#include "select/calibrate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "select/measure.h"

/* Source, destination, and mapped memory behind them for kernels that prefetch far ahead: a prefetch
 * of an address that is not mapped is no fault but a slow search in page tables. */
#define AREA ((size_t)64 << 10)

static void run_inet(const struct scr_calibration *c, const struct scr_kernel *k, unsigned int reps)
{
	while (reps--)
		k->fn.inet(0, c->src, c->len);
}

static void run_crc32(const struct scr_calibration *c, const struct scr_kernel *k,
		      unsigned int reps)
{
	/* Blocks do not depend on each other, so repetitions don't either. */
	while (reps--)
		k->fn.crc32(0, c->src, c->len);
}

static void run_xor(const struct scr_calibration *c, const struct scr_kernel *k, unsigned int reps)
{
	while (reps--)
		k->fn.xor_(c->dst, &c->src, 1, c->len);
}

static void run_fused(const struct scr_calibration *c, const struct scr_kernel *k,
		      unsigned int reps)
{
	while (reps--) {
		uint64_t sum = 0;
		uint32_t crc = 0;

		k->fn.fused(c->chosen, &sum, &crc, c->dst, c->src, c->len);
	}
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
	uint8_t *block = aligned_alloc(SCR_CALIBRATE_BLOCK, AREA);

	if (!block)
		return -ENOMEM;
	memset(block, 0x5a, AREA);
	c.src = block;
	c.dst = block + SCR_CALIBRATE_BLOCK;
	scr_measure(clock, scr_calibrate_work, &c, n, ps);
	free(block);
	return 0;
}
