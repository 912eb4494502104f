/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template parameters: vectors of 64 bytes, AVX-512. */
#ifndef VEC_TARGET
#define VEC_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#endif

#include <immintrin.h>

#define VEC __m512i
#define VEC_BYTES 64U
#define VEC_ZERO() _mm512_setzero_si512()
#define VEC_LOAD(p) _mm512_loadu_si512(p)
#define VEC_STORE(p, v) _mm512_storeu_si512(p, v)
#define VEC_XOR(a, b) _mm512_xor_si512(a, b)
#define VEC_SET16(x) _mm512_set1_epi16(x)
#define VEC_ADD32(a, b) _mm512_add_epi32(a, b)

/* Any function of three bits is one instruction; bit i of the constant is its value for the input
 * i, and 0x96 is one where the number of ones in i is odd. */
#define VEC_XOR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)

/* The first @n < 64 bytes and zeros; the bytes behind are not touched. */
#define VEC_MASK(n) ((__mmask64)((UINT64_C(1) << (n)) - 1))
#define VEC_LOAD_PART(p, n) _mm512_maskz_loadu_epi8(VEC_MASK(n), p)
#define VEC_STORE_PART(p, n, v) _mm512_mask_storeu_epi8(p, VEC_MASK(n), v)

/* acc + the sums of pairs of 16-bit products. */
#define VEC_DOT(acc, a, b) _mm512_dpwssd_epi32(acc, a, b)

/* The sum of the sixteen signed 32-bit lanes, as 64 bits. */
#define VEC_SUM32(v)                                                                               \
	_mm512_reduce_add_epi64(                                                                   \
		_mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(v)),                 \
				 _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(v, 1))))

/* Keeps a loaded vector in a register: gcc else folds the load into each use, that is, repeats it.
 */
#define VEC_PIN(v) __asm__("" : "+v"(v))

/* Fetches a line into the L2 cache. */
#define VEC_PREFETCH(p) _mm_prefetch((const char *)(p), _MM_HINT_T1)
