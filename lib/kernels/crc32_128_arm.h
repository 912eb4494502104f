/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template parameters: the 128-bit operations of crc32_fold.h on arm64: PMULL. */
#include <arm_neon.h>

#define Q uint8x16_t
#define Q_LOAD(p) vld1q_u8(p)
#define Q_SET(low, high) vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)))
#define Q_XOR(a, b) veorq_u8(a, b)
#define Q_P64(a) vreinterpretq_p64_u8(a)
#define Q_MUL_LOW(a, k)                                                                            \
	vreinterpretq_u8_p128(                                                                     \
		vmull_p64((poly64_t)vget_low_p64(Q_P64(a)), (poly64_t)vget_low_p64(Q_P64(k))))
#define Q_MUL_HIGH(a, k) vreinterpretq_u8_p128(vmull_high_p64(Q_P64(a), Q_P64(k)))
#define Q_LOW64(a) vgetq_lane_u64(vreinterpretq_u64_u8(a), 0)
#define Q_HIGH64(a) vgetq_lane_u64(vreinterpretq_u64_u8(a), 1)

/* Byte i is byte idx[i] of a, or 0 where idx[i] is out of range. */
#define Q_SHUFFLE(a, idx) vqtbl1q_u8(a, idx)

/* a where the top bit of idx is set, else b. */
#define Q_SELECT(idx, a, b) vbslq_u8(vcgeq_u8(idx, vdupq_n_u8(0x80)), a, b)
