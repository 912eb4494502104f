/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template parameters: vectors of 32 bytes, AVX2. */
#ifndef VEC_TARGET
#define VEC_TARGET __attribute__((target("avx2")))
#endif

#include <immintrin.h>

#define VEC __m256i
#define VEC_BYTES 32U
#define VEC_ZERO() _mm256_setzero_si256()
#define VEC_LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define VEC_STORE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define VEC_XOR(a, b) _mm256_xor_si256(a, b)
#define VEC_XOR3(a, b, c) _mm256_xor_si256(_mm256_xor_si256(a, b), c)
#define VEC_SET16(x) _mm256_set1_epi16(x)
#define VEC_ADD32(a, b) _mm256_add_epi32(a, b)

/* Keeps a loaded vector in a register: gcc else folds the load into each use, that is, repeats it.
 */
#define VEC_PIN(v) __asm__("" : "+x"(v))

/* acc + the sums of pairs of 16-bit products. AVX-VNNI has one instruction for the two. */
#ifndef VEC_DOT
#define VEC_DOT(acc, a, b) _mm256_add_epi32(acc, _mm256_madd_epi16(a, b))
#endif

/* The sum of the eight signed 32-bit lanes, as 64 bits. */
VEC_TARGET static inline int64_t vec_sum32(__m256i v)
{
	__m256i a = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(v));
	__m256i b = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(v, 1));
	__m128i q;

	a = _mm256_add_epi64(a, b);
	q = _mm_add_epi64(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
	return _mm_cvtsi128_si64(_mm_add_epi64(q, _mm_unpackhi_epi64(q, q)));
}

#define VEC_SUM32(v) vec_sum32(v)

/* Fetches a line into the L2 cache. */
#define VEC_PREFETCH(p) _mm_prefetch((const char *)(p), _MM_HINT_T1)
