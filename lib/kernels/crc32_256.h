/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template parameters: the 256-bit operations of crc32_fold.h: two lanes side by side (VPCLMULQDQ
 * with AVX2). */
#include <immintrin.h>

#include "kernels/scalar.h"

#define CRC_V __m256i
#define CRC_V_BYTES 32U
#define CRC_LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define CRC_XOR(a, b) _mm256_xor_si256(a, b)
#define CRC_XOR3(a, b, c) _mm256_xor_si256(_mm256_xor_si256(a, b), c)
#define CRC_MUL_LOW(a, k) _mm256_clmulepi64_epi128(a, k, 0x00)
#define CRC_MUL_HIGH(a, k) _mm256_clmulepi64_epi128(a, k, 0x11)
#define CRC_SPREAD(q) _mm256_broadcastsi128_si256(q)
#define CRC_START(q) _mm256_inserti128_si256(_mm256_setzero_si256(), q, 0)
#define CRC_TO_LANE(v)                                                                             \
	crc_fold_lane(_mm256_castsi256_si128(v), Q_FOLD(128), _mm256_extracti128_si256(v, 1))
#define CRC_FOLD_FOUR 1024
#define CRC_FOLD_ONE 256
