/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template parameters: the 512-bit operations of crc32_fold.h: four lanes side by side (VPCLMULQDQ
 * with AVX-512). */
#include <immintrin.h>

#include "kernels/scalar.h"

#define CRC_V __m512i
#define CRC_V_BYTES 64U
#define CRC_LOAD(p) _mm512_loadu_si512(p)
#define CRC_XOR(a, b) _mm512_xor_si512(a, b)
#define CRC_XOR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define CRC_MUL_LOW(a, k) _mm512_clmulepi64_epi128(a, k, 0x00)
#define CRC_MUL_HIGH(a, k) _mm512_clmulepi64_epi128(a, k, 0x11)
#define CRC_SPREAD(q) _mm512_broadcast_i32x4(q)
#define CRC_START(q) _mm512_inserti32x4(_mm512_setzero_si512(), q, 0)
#define CRC_LANE(v, i) _mm512_extracti32x4_epi32(v, i)

/* The first lane is 384 bits away from the last, the second 256, the third 128. */
#define CRC_TO_LANE(v)                                                                             \
	crc_fold_lane(CRC_LANE(v, 0), Q_FOLD(384),                                                 \
		      crc_fold_lane(CRC_LANE(v, 1), Q_FOLD(256),                                   \
				    crc_fold_lane(CRC_LANE(v, 2), Q_FOLD(128), CRC_LANE(v, 3))))
#define CRC_FOLD_FOUR 2048
#define CRC_FOLD_ONE 512
