/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template parameters: vectors of 16 bytes, NEON: the baseline of arm64. */
#ifndef VEC_TARGET
#define VEC_TARGET
#endif

#include <arm_neon.h>

#define VEC uint8x16_t
#define VEC_BYTES 16U
#define VEC_ZERO() vdupq_n_u8(0)
#define VEC_LOAD(p) vld1q_u8(p)
#define VEC_STORE(p, v) vst1q_u8(p, v)
#define VEC_XOR(a, b) veorq_u8(a, b)
#ifndef VEC_XOR3
#define VEC_XOR3(a, b, c) veorq_u8(veorq_u8(a, b), c)
#endif
