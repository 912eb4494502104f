/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All three from one load, gfni: dot products, bit matrices, XOR (fused_vec.h and crc32_gfni.h). */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define VEC_TARGET                                                                                 \
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,vpclmulqdq,pclmul,"   \
			      "sse4.1,gfni")))
#define CRC_TARGET VEC_TARGET

#include "kernels/vec_avx512.h"
#include "kernels/crc32_128_x86.h"
#include "kernels/crc32_512.h"
#include "kernels/crc32_fold.h"
#include "kernels/crc32_gfni.h"
#include "kernels/fused_vec.h"

#define LEAST (2 * GFNI_STEP)
#define HALF (GFNI_STEP / 2)

/* Four vectors, summed and folded into the parity on their way. @parity is a constant. */
VEC_TARGET SCR_INLINE struct four take(struct four *a, uint8_t *dst, int parity, const uint8_t *p)
{
	struct four x = four_load(p);

	*a = four_add(*a, x);
	if (parity)
		four_xor(dst, x);
	return x;
}

VEC_TARGET SCR_INLINE struct gfni take_eight(struct four *a, uint8_t *dst, int parity,
					     const uint8_t *p)
{
	struct four x = take(a, dst, parity, p);
	struct four y = take(a, dst + HALF, parity, p + HALF);

	return (struct gfni){x.x0, x.x1, x.x2, x.x3, y.x0, y.x1, y.x2, y.x3};
}

/* By halves: fewer lines are waited for at a time. */
VEC_TARGET SCR_INLINE struct gfni step(struct gfni g, struct four *a, uint8_t *dst, int parity,
				       const uint8_t *p)
{
	struct four x = take(a, dst, parity, p);

	g = gfni_low(g, x.x0, x.x1, x.x2, x.x3);
	x = take(a, dst + HALF, parity, p + HALF);
	return gfni_high(g, x.x0, x.x1, x.x2, x.x3);
}

/* All of @len, at least LEAST; the sum covers whole steps only. */
VEC_TARGET SCR_INLINE uint64_t steps(uint32_t *reg, uint8_t *dst, int parity, const uint8_t *p,
				     size_t len)
{
	size_t at, whole = len - len % GFNI_STEP;
	struct four a = four_zero();
	struct gfni g = gfni_start(*reg, take_eight(&a, dst, parity, p));

	for (at = GFNI_STEP; at < whole - GFNI_STEP; at += GFNI_STEP)
		g = step(g, &a, dst + at, parity, p + at);
	*reg = gfni_end(g, take_eight(&a, dst + at, parity, p + at), p + whole, len - whole);
	return four_sum(a, whole);
}

VEC_TARGET static void run(uint64_t *sum, uint32_t *crc, uint8_t *dst, const uint8_t *src,
			   size_t len)
{
	size_t whole = len - len % GFNI_STEP;
	uint32_t reg = ~*crc;
	uint64_t words;

	if (dst) {
		words = steps(&reg, dst, 1, src, len);
		xor_end(dst, src, NULL, NULL, NULL, 1, whole, len);
	} else {
		words = steps(&reg, dst, 0, src, len);
	}
	*crc = ~reg;
	*sum = inet_dot(scr_inet_add(*sum, words), src + whole, len - whole);
}

VEC_TARGET static void fused_gfni(const struct scr_kernels *k SCR_UNUSED, uint64_t *sum,
				  uint32_t *crc, uint8_t *dst, const uint8_t *src, size_t len)
{
	fused_runs(run, LEAST, sum, crc, dst, src, len);
}

const struct scr_kernel scr_fused_gfni = {"gfni",
					  SCR_FUSED,
					  SCR_CPU_AVX512 | SCR_CPU_AVX512VNNI | SCR_CPU_PCLMUL |
						  SCR_CPU_VPCLMUL | SCR_CPU_GFNI,
					  {.fused = fused_gfni}};
