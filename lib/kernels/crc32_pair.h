/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template parameters: the 256-bit operations of crc32_fold.h as pairs of 128-bit ones: PCLMULQDQ
 * under AVX2, for CPUs that have no wider multiplication. */
#include "kernels/scalar.h"

struct crc_pair {
	Q lo, hi;
};

#define CRC_V struct crc_pair
#define CRC_V_BYTES 32U
#define CRC_LOAD(p) ((struct crc_pair){Q_LOAD(p), Q_LOAD((p) + 16)})
#define CRC_XOR(a, b) crc_pair_xor(a, b)
#define CRC_XOR3(a, b, c) crc_pair_xor(crc_pair_xor(a, b), c)
#define CRC_MUL_LOW(a, k) ((struct crc_pair){Q_MUL_LOW((a).lo, (k).lo), Q_MUL_LOW((a).hi, (k).hi)})
#define CRC_MUL_HIGH(a, k)                                                                         \
	((struct crc_pair){Q_MUL_HIGH((a).lo, (k).lo), Q_MUL_HIGH((a).hi, (k).hi)})
#define CRC_SPREAD(q) ((struct crc_pair){q, q})
#define CRC_START(q) ((struct crc_pair){q, Q_SET(0, 0)})
#define CRC_TO_LANE(v) crc_fold_lane((v).lo, Q_FOLD(128), (v).hi)
#define CRC_FOLD_FOUR 1024
#define CRC_FOLD_ONE 256

CRC_TARGET SCR_INLINE struct crc_pair crc_pair_xor(struct crc_pair a, struct crc_pair b)
{
	return (struct crc_pair){Q_XOR(a.lo, b.lo), Q_XOR(a.hi, b.hi)};
}
