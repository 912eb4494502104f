/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template parameters: vectors of 16 bytes, SSE2: the baseline of x86-64. */
#ifndef VEC_TARGET
#define VEC_TARGET __attribute__((target("sse2")))
#endif

#include <immintrin.h>

#define VEC __m128i
#define VEC_BYTES 16U
#define VEC_ZERO() _mm_setzero_si128()
#define VEC_LOAD(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define VEC_STORE(p, v) _mm_storeu_si128((__m128i *)(void *)(p), v)
#define VEC_XOR(a, b) _mm_xor_si128(a, b)
#define VEC_XOR3(a, b, c) _mm_xor_si128(_mm_xor_si128(a, b), c)
#define VEC_ADD64(a, b) _mm_add_epi64(a, b)
#define VEC_SHR64_32(a) _mm_srli_epi64(a, 32)

/* Keeps a loaded vector in a register: gcc else folds the load into each use, that is, repeats it.
 */
#define VEC_PIN(v) __asm__("" : "+x"(v))

/* The wrapping sum of both 64-bit lanes. */
#define VEC_SUM64(a)                                                                               \
	((uint64_t)_mm_cvtsi128_si64(a) + (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(a, a)))
