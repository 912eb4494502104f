/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internet checksum, neon: pairwise addition into wider lanes.
 *
 * The plain loop adds 16-bit words into something wider. NEON has that as one instruction: add
 * neighbouring 16-bit lanes, unsigned, and accumulate into 32-bit lanes. A lane takes two words a
 * step, at most 131070; eight accumulators are added up before they are widened to 64 bits, and
 * 8 * 4096 * 131070 is just below 2^32; hence at most 4096 steps in a row.
 */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"
#include "kernels/inet.h"
#include "kernels/vec_neon.h"

#define STEP (8 * (size_t)VEC_BYTES)
#define RUN (4096 * STEP)

SCR_INLINE uint32x4_t add(uint32x4_t acc, const uint8_t *p)
{
	return vpadalq_u16(acc, vreinterpretq_u16_u8(VEC_LOAD(p)));
}

/* The exact sum of the words of @len bytes, a multiple of VEC_BYTES and at most RUN. */
static uint64_t run(const uint8_t *p, size_t len)
{
	uint32x4_t a0 = vdupq_n_u32(0), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0,
		   a7 = a0;
	const uint8_t *end = p + len;

	for (; (size_t)(end - p) >= STEP; p += STEP) {
		a0 = add(a0, p);
		a1 = add(a1, p + VEC_BYTES);
		a2 = add(a2, p + 2 * VEC_BYTES);
		a3 = add(a3, p + 3 * VEC_BYTES);
		a4 = add(a4, p + 4 * VEC_BYTES);
		a5 = add(a5, p + 5 * VEC_BYTES);
		a6 = add(a6, p + 6 * VEC_BYTES);
		a7 = add(a7, p + 7 * VEC_BYTES);
	}
	a0 = vaddq_u32(vaddq_u32(a0, a1), vaddq_u32(a2, a3));
	a4 = vaddq_u32(vaddq_u32(a4, a5), vaddq_u32(a6, a7));
	for (; p < end; p += VEC_BYTES)
		a0 = add(a0, p);
	return vaddlvq_u32(a0) + vaddlvq_u32(a4);
}

static uint64_t inet_neon(uint64_t sum, const uint8_t *p, size_t len)
{
	size_t whole;

	for (; len > RUN; p += RUN, len -= RUN)
		sum = scr_inet_add(sum, run(p, RUN));
	whole = len - len % VEC_BYTES;
	sum = scr_inet_add(sum, run(p, whole));
	return scr_inet_tail(sum, p + whole, len - whole);
}

const struct scr_kernel scr_inet_neon = {"neon", SCR_INET, SCR_CPU_NEON, {.inet = inet_neon}};
