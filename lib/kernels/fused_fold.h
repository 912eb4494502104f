/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template: all three from one load, with CRC-32 by folding. Defines fused_fold().
 *
 * Over a vec_*.h and the CRC headers. CRC_OF_VEC turns a loaded vector into what crc32_fold.h works
 * on, of the same size.
 */
#include "kernels/crc32_fold.h"
#include "kernels/fused_vec.h"

/* All of @len, at least one CRC_STEP; the sum covers whole steps only. @parity is a constant. */
VEC_TARGET SCR_INLINE uint64_t fold_steps(uint32_t *reg, uint8_t *dst, int parity, const uint8_t *p,
					  size_t len)
{
	CRC_V k = CRC_FOLD(CRC_FOLD_FOUR);
	struct four a = four_zero(), x = four_load(p);
	CRC_V c0 = CRC_OF_VEC(x.x0), c1 = CRC_OF_VEC(x.x1);
	CRC_V c2 = CRC_OF_VEC(x.x2), c3 = CRC_OF_VEC(x.x3);
	size_t at = 0, whole = len - len % CRC_STEP;

	c0 = CRC_XOR(c0, CRC_START(Q_SET(*reg, 0)));
	for (;;) {
		a = four_add(a, x);
		if (parity)
			four_xor(dst + at, x);
		at += CRC_STEP;
		if (at == whole)
			break;
		x = four_load(p + at);
		c0 = crc_fold_on(c0, k, CRC_OF_VEC(x.x0));
		c1 = crc_fold_on(c1, k, CRC_OF_VEC(x.x1));
		c2 = crc_fold_on(c2, k, CRC_OF_VEC(x.x2));
		c3 = crc_fold_on(c3, k, CRC_OF_VEC(x.x3));
	}
	*reg = crc_join(c0, c1, c2, c3, p + whole, len - whole);
	return four_sum(a, whole);
}

VEC_TARGET static void fold_run(uint64_t *sum, uint32_t *crc, uint8_t *dst, const uint8_t *src,
				size_t len)
{
	size_t whole = len - len % CRC_STEP;
	uint32_t reg = ~*crc;
	uint64_t words;

	if (dst) {
		words = fold_steps(&reg, dst, 1, src, len);
		xor_end(dst, src, NULL, NULL, NULL, 1, whole, len);
	} else {
		words = fold_steps(&reg, dst, 0, src, len);
	}
	*crc = ~reg;
	*sum = inet_dot(scr_inet_add(*sum, words), src + whole, len - whole);
}

VEC_TARGET static void fused_fold(const struct scr_kernels *k SCR_UNUSED, uint64_t *sum,
				  uint32_t *crc, uint8_t *dst, const uint8_t *src, size_t len)
{
	fused_runs(fold_run, CRC_STEP, sum, crc, dst, src, len);
}
