/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All three from one load, avx512: dot products, folding, XOR (fused_512.h explains). */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define VEC_TARGET                                                                                 \
	__attribute__((                                                                            \
		target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,vpclmulqdq,pclmul,sse4.1")))
#define CRC_TARGET VEC_TARGET

#include "kernels/fused_512.h"

/* All of @len, at least one CRC_STEP; the sum covers whole steps only. @parity is a constant. */
VEC_TARGET SCR_INLINE uint64_t steps(uint32_t *reg, uint8_t *dst, int parity, const uint8_t *p,
				     size_t len)
{
	VEC k = CRC_FOLD(CRC_FOLD_FOUR);
	struct four a = four_zero(), x = four_load(p), c = x;
	size_t at = 0, whole = len - len % CRC_STEP;

	c.x0 = VEC_XOR(c.x0, CRC_START(Q_SET(*reg, 0)));
	for (;;) {
		a = four_add(a, x);
		if (parity)
			four_xor(dst + at, x);
		at += CRC_STEP;
		if (at == whole)
			break;
		x = four_load(p + at);
		c.x0 = crc_fold_on(c.x0, k, x.x0);
		c.x1 = crc_fold_on(c.x1, k, x.x1);
		c.x2 = crc_fold_on(c.x2, k, x.x2);
		c.x3 = crc_fold_on(c.x3, k, x.x3);
	}
	*reg = crc_join(c.x0, c.x1, c.x2, c.x3, p + whole, len - whole);
	return four_sum(a, whole);
}

VEC_TARGET static void run(uint64_t *sum, uint32_t *crc, uint8_t *dst, const uint8_t *src,
			   size_t len)
{
	size_t whole = len - len % CRC_STEP;
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

VEC_TARGET static void fused_avx512(const struct scr_kernels *k SCR_UNUSED, uint64_t *sum,
				    uint32_t *crc, uint8_t *dst, const uint8_t *src, size_t len)
{
	fused_runs(run, CRC_STEP, sum, crc, dst, src, len);
}

const struct scr_kernel scr_fused_avx512 = {"avx512",
					    SCR_FUSED,
					    SCR_CPU_AVX512 | SCR_CPU_AVX512VNNI | SCR_CPU_PCLMUL |
						    SCR_CPU_VPCLMUL,
					    {.fused = fused_avx512}};
