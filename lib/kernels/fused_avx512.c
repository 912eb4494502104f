/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All three from one load, avx512.
 *
 * The three loops are those of inet_dot.h, crc32_fold.h and xor_vec.h; each reads the block for
 * itself and leaves most of the CPU idle while it does: one waits for additions, one for
 * multiplications, one for stores. Here each vector is loaded once and given to all three, and
 * their instructions fill each other's gaps.
 *
 * Data that is used once comes from memory, and the hardware prefetcher stops at each page. So the
 * line AHEAD bytes further on is asked for, into L2, where it waits without pushing the parity out
 * of L1. Beyond the end of the data that is a hint about nothing. With data that is in the cache it
 * costs nearly nothing; on data from memory it is worth up to half of the speed.
 */
#include <config.h>
#include "kernels/rows.h"

#include "base/compiler.h"
#include "cpu/cpu.h"

#define VEC_TARGET                                                                                 \
	__attribute__((                                                                            \
		target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,vpclmulqdq,pclmul,sse4.1")))
#define CRC_TARGET VEC_TARGET

#include "kernels/vec_avx512.h"
#include "kernels/inet_dot.h"
#include "kernels/xor_vec.h"

#include "kernels/crc32_128_x86.h"
#include "kernels/crc32_512.h"
#include "kernels/crc32_fold.h"

#define STEP (4 * (size_t)VEC_BYTES)
#define AHEAD 8192U

/* Four accumulators of words, so half of what inet_dot.h has, may take twice its steps. */
#define RUN (8192 * STEP)

/* A step of data, on its way to three places. */
struct step {
	VEC x0, x1, x2, x3;
};

struct sums {
	VEC s0, s1, s2, s3;
};

VEC_TARGET SCR_INLINE struct step load(const uint8_t *p)
{
	struct step s = {VEC_LOAD(p), VEC_LOAD(p + VEC_BYTES), VEC_LOAD(p + 2 * VEC_BYTES),
			 VEC_LOAD(p + 3 * VEC_BYTES)};
	uintptr_t ahead = (uintptr_t)p + AHEAD;

	VEC_PIN(s.x0);
	VEC_PIN(s.x1);
	VEC_PIN(s.x2);
	VEC_PIN(s.x3);
	VEC_PREFETCH(ahead);
	VEC_PREFETCH(ahead + VEC_BYTES);
	VEC_PREFETCH(ahead + 2 * VEC_BYTES);
	VEC_PREFETCH(ahead + 3 * VEC_BYTES);
	return s;
}

VEC_TARGET SCR_INLINE struct sums add(struct sums a, struct step s)
{
	a.s0 = dot_add(a.s0, s.x0);
	a.s1 = dot_add(a.s1, s.x1);
	a.s2 = dot_add(a.s2, s.x2);
	a.s3 = dot_add(a.s3, s.x3);
	return a;
}

VEC_TARGET SCR_INLINE void fold(uint8_t *dst, struct step s)
{
	VEC_STORE(dst, VEC_XOR(VEC_LOAD(dst), s.x0));
	VEC_STORE(dst + VEC_BYTES, VEC_XOR(VEC_LOAD(dst + VEC_BYTES), s.x1));
	VEC_STORE(dst + 2 * VEC_BYTES, VEC_XOR(VEC_LOAD(dst + 2 * VEC_BYTES), s.x2));
	VEC_STORE(dst + 3 * VEC_BYTES, VEC_XOR(VEC_LOAD(dst + 3 * VEC_BYTES), s.x3));
}

/* The exact sum of the words of the whole steps in @len bytes; *reg is the CRC register, continued
 * over all of @len. @parity is a constant. */
VEC_TARGET SCR_INLINE uint64_t whole_steps(uint32_t *reg, uint8_t *dst, int parity,
					   const uint8_t *p, size_t len)
{
	VEC four = CRC_FOLD(CRC_FOLD_FOUR), zero = VEC_ZERO();
	struct sums a = {zero, zero, zero, zero};
	struct step s = load(p);
	VEC c0 = VEC_XOR(s.x0, CRC_START(Q_SET(*reg, 0))), c1 = s.x1, c2 = s.x2, c3 = s.x3;
	size_t at = 0, whole = len - len % STEP;

	for (;;) {
		a = add(a, s);
		if (parity)
			fold(dst + at, s);
		at += STEP;
		if (at == whole)
			break;
		s = load(p + at);
		c0 = crc_fold_on(c0, four, s.x0);
		c1 = crc_fold_on(c1, four, s.x1);
		c2 = crc_fold_on(c2, four, s.x2);
		c3 = crc_fold_on(c3, four, s.x3);
	}
	*reg = crc_join(c0, c1, c2, c3, p + whole, len - whole);
	a.s0 = VEC_ADD32(VEC_ADD32(a.s0, a.s1), VEC_ADD32(a.s2, a.s3));
	return (uint64_t)VEC_SUM32(a.s0) + UINT64_C(32768) * (whole / 2);
}

VEC_TARGET static void run(uint64_t *sum, uint32_t *crc, uint8_t *dst, const uint8_t *src,
			   size_t len)
{
	size_t whole = len - len % STEP;
	uint32_t reg = ~*crc;
	uint64_t words;

	if (dst) {
		words = whole_steps(&reg, dst, 1, src, len);
		xor_end(dst, src, NULL, NULL, NULL, 1, whole, len);
	} else {
		words = whole_steps(&reg, dst, 0, src, len);
	}
	*crc = ~reg;
	*sum = inet_dot(scr_inet_add(*sum, words), src + whole, len - whole);
}

VEC_TARGET static void fused_avx512(const struct scr_kernels *k SCR_UNUSED, uint64_t *sum,
				    uint32_t *crc, uint8_t *dst, const uint8_t *src, size_t len)
{
	for (; len >= STEP; src += SCR_MIN(len, RUN), len -= SCR_MIN(len, RUN)) {
		run(sum, crc, dst, src, SCR_MIN(len, RUN));
		dst = dst ? dst + SCR_MIN(len, RUN) : NULL;
	}
	if (!len)
		return;
	*sum = inet_dot(*sum, src, len);
	*crc = crc_fold(*crc, src, len);
	if (dst)
		xor_body(dst, src, NULL, NULL, NULL, 1, len);
}

const struct scr_kernel scr_fused_avx512 = {"avx512",
					    SCR_FUSED,
					    SCR_CPU_AVX512 | SCR_CPU_AVX512VNNI | SCR_CPU_PCLMUL |
						    SCR_CPU_VPCLMUL,
					    {.fused = fused_avx512}};
