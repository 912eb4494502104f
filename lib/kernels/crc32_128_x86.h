/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template parameters: the 128-bit operations of crc32_fold.h on x86: PCLMULQDQ, and SSE4.1 for
 * bytes. */
#include <immintrin.h>

#define Q __m128i
#define Q_LOAD(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define Q_SET(low, high) _mm_set_epi64x((long long)(high), (long long)(low))
#define Q_XOR(a, b) _mm_xor_si128(a, b)
#define Q_MUL_LOW(a, k) _mm_clmulepi64_si128(a, k, 0x00)
#define Q_MUL_HIGH(a, k) _mm_clmulepi64_si128(a, k, 0x11)
#define Q_LOW64(a) ((uint64_t)_mm_cvtsi128_si64(a))
#define Q_HIGH64(a) ((uint64_t)_mm_extract_epi64(a, 1))

/* Byte i is byte idx[i] of a, or 0 where the top bit of idx[i] is set. */
#define Q_SHUFFLE(a, idx) _mm_shuffle_epi8(a, idx)

/* a where the top bit of idx is set, else b. */
#define Q_SELECT(idx, a, b) _mm_blendv_epi8(b, a, idx)
