/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template: what the fused kernels share, over a vec_*.h and the CRC headers included before. A
 * vector is loaded once and given to all three.
 *
 * The three loops are those of inet_dot.h, xor_vec.h and one of the CRC files; each reads the block
 * for itself and leaves much of the CPU idle while it does: one waits for additions, one for
 * multiplications, one for stores. Fused, their instructions fill each other's gaps.
 *
 * Data that is used once comes from memory, and the hardware prefetcher stops at each page. So the
 * line AHEAD bytes further on is asked for, into L2, where it waits without pushing the parity out
 * of L1. Beyond the end of the data that is a hint about nothing. With data that is in the cache it
 * costs nearly nothing.
 */
#include "base/compiler.h"
#include "kernels/inet_dot.h"
#include "kernels/xor_vec.h"

#define AHEAD 8192U

#define LINE 64U

/* Accumulators of words may take in so much before they are widened (inet_dot.h). */
#define FUSED_RUN ((size_t)32768 * VEC_BYTES)

/* Four vectors of data on their way to three places; and four accumulators of words. */
struct four {
	VEC x0, x1, x2, x3;
};

VEC_TARGET SCR_INLINE struct four four_zero(void)
{
	return (struct four){VEC_ZERO(), VEC_ZERO(), VEC_ZERO(), VEC_ZERO()};
}

VEC_TARGET SCR_INLINE struct four four_load(const uint8_t *p)
{
	struct four x = {VEC_LOAD(p), VEC_LOAD(p + VEC_BYTES), VEC_LOAD(p + 2 * VEC_BYTES),
			 VEC_LOAD(p + 3 * VEC_BYTES)};
	uintptr_t ahead = (uintptr_t)p + AHEAD;

	VEC_PIN(x.x0);
	VEC_PIN(x.x1);
	VEC_PIN(x.x2);
	VEC_PIN(x.x3);
	VEC_PREFETCH(ahead);
	VEC_PREFETCH(ahead + LINE);
	if (VEC_BYTES == LINE) {
		VEC_PREFETCH(ahead + 2 * LINE);
		VEC_PREFETCH(ahead + 3 * LINE);
	}
	return x;
}

/* The Internet checksum's part. */
VEC_TARGET SCR_INLINE struct four four_add(struct four a, struct four x)
{
	return (struct four){dot_add(a.x0, x.x0), dot_add(a.x1, x.x1), dot_add(a.x2, x.x2),
			     dot_add(a.x3, x.x3)};
}

/* The exact sum of @len bytes of words. */
VEC_TARGET SCR_INLINE uint64_t four_sum(struct four a, size_t len)
{
	VEC all = VEC_ADD32(VEC_ADD32(a.x0, a.x1), VEC_ADD32(a.x2, a.x3));

	return (uint64_t)VEC_SUM32(all) + UINT64_C(32768) * (len / 2);
}

/* The parity's part. */
VEC_TARGET SCR_INLINE void four_xor(uint8_t *dst, struct four x)
{
	VEC_STORE(dst, VEC_XOR(VEC_LOAD(dst), x.x0));
	VEC_STORE(dst + VEC_BYTES, VEC_XOR(VEC_LOAD(dst + VEC_BYTES), x.x1));
	VEC_STORE(dst + 2 * VEC_BYTES, VEC_XOR(VEC_LOAD(dst + 2 * VEC_BYTES), x.x2));
	VEC_STORE(dst + 3 * VEC_BYTES, VEC_XOR(VEC_LOAD(dst + 3 * VEC_BYTES), x.x3));
}

/* A step of one kernel over @len bytes, at most FUSED_RUN and at least what the kernel needs. */
typedef void fused_run_fn(uint64_t *sum, uint32_t *crc, uint8_t *dst, const uint8_t *src,
			  size_t len);

/* Any length: runs, and a rest below @least one by one. */
VEC_TARGET SCR_INLINE void fused_runs(fused_run_fn *run, size_t least, uint64_t *sum, uint32_t *crc,
				      uint8_t *dst, const uint8_t *src, size_t len)
{
	while (len >= least) {
		size_t n = SCR_MIN(len, FUSED_RUN);

		run(sum, crc, dst, src, n);
		src += n;
		len -= n;
		dst = dst ? dst + n : NULL;
	}
	if (!len)
		return;
	*sum = inet_dot(*sum, src, len);
	*crc = crc_fold(*crc, src, len);
	if (dst)
		xor_body(dst, src, NULL, NULL, NULL, 1, len);
}
