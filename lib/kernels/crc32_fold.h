/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template: CRC-32 by folding with carry-less multiplication. Defines crc_fold().
 *
 * Parameters: CRC_TARGET, the 128-bit operations of crc32_128_*.h, and for wider vectors CRC_V and
 * its operations, else they are the 128-bit ones.
 *
 * The plain loop (crc32_scalar.c) divides the message, a polynomial, by P bit by bit. Any step that
 * replaces the message by a shorter one with the same remainder is as good. Take 16 bytes A at some
 * place and D bits further on 16 bytes B. A counts as A * x^D at the place of B, so A may be taken
 * out if (A * x^D mod P) is XORed onto B. That is not a full division: A is multiplied by the
 * constant x^D mod P, which gives more bits than B has, but not if it is done by halves: with
 * A = L * x^64 + H (L is the earlier half, the lower one in memory),
 *
 *	A * x^D = L * x^(D+64) + H * x^D
 *
 * and each half times 32 bits fits easily into 128. Two multiplications and two XORs take in 16
 * bytes. A multiplication is slow to finish but a new one can start each cycle, so four vectors are
 * folded side by side, D being the distance from one step to the next; a wider vector is two or
 * four of these next to each other.
 *
 * Bits are reversed: bit 0 of a register stands for the highest power. The product of two reversed
 * 64-bit numbers, read as a reversed 128-bit number, is the product times x. A constant p of 32
 * bits, shifted left by one, stands for p * x^31. Together that is x^32 too much, and so the
 * constants are x^(D+32) and x^(D-32). See Gopal et al., "Fast CRC Computation for Generic
 * Polynomials Using PCLMULQDQ Instruction", Intel, 2009. contrib/gen-crc32-fold has computed them.
 */
#include "base/compiler.h"
#include "kernels/crc32.h"
#include "kernels/crc32_fold_constants.h"
#include "kernels/scalar.h"

#define Q_FOLD(d) Q_SET(SCR_CRC32_FOLD_##d##_LOW, SCR_CRC32_FOLD_##d##_HIGH)

#ifndef CRC_V
#define CRC_V Q
#define CRC_V_BYTES 16U
#define CRC_LOAD(p) Q_LOAD(p)
#define CRC_XOR(a, b) Q_XOR(a, b)
#define CRC_XOR3(a, b, c) Q_XOR(Q_XOR(a, b), c)
#define CRC_MUL_LOW(a, k) Q_MUL_LOW(a, k)
#define CRC_MUL_HIGH(a, k) Q_MUL_HIGH(a, k)
#define CRC_SPREAD(q) (q)  /* the constant in every lane */
#define CRC_START(q) (q)   /* in the first lane, zeros in the others */
#define CRC_TO_LANE(v) (v) /* all lanes folded into the last */
#define CRC_FOLD_FOUR 512  /* the distance of a step of four vectors, in bits */
#define CRC_FOLD_ONE 128   /* and of one vector */
#endif

#define CRC_FOLD_(d) CRC_SPREAD(Q_FOLD(d))
#define CRC_FOLD(d) CRC_FOLD_(d)
#define CRC_STEP (4 * (size_t)CRC_V_BYTES)

/* @acc taken out and counted at @next. */
CRC_TARGET SCR_INLINE CRC_V crc_fold_on(CRC_V acc, CRC_V k, CRC_V next)
{
	return CRC_XOR3(CRC_MUL_LOW(acc, k), CRC_MUL_HIGH(acc, k), next);
}

CRC_TARGET SCR_INLINE Q crc_fold_lane(Q acc, Q k, Q next)
{
	return Q_XOR(Q_XOR(Q_MUL_LOW(acc, k), Q_MUL_HIGH(acc, k)), next);
}

/*
 * The register after the 16 bytes @acc, that is acc * x^32 mod P.
 *
 * First the earlier half: L * x^96 is congruent to L * (x^95 mod P) * x, below x^96. The later
 * half, H * x^32, just moves up. Then the 32 bits from x^64 to x^95 in the same way with x^63, and
 * 64 bits remain. Of these the upper 32 are a register that takes in four more bytes of zeros by
 * table; the lower 32 are added.
 */
CRC_TARGET SCR_INLINE uint32_t crc_reduce(Q acc)
{
	const uint32_t(*t)[256] = scr_crc32_tables;
	uint64_t high = Q_HIGH64(acc);
	Q b = Q_XOR(Q_MUL_LOW(acc, Q_SET(SCR_CRC32_REDUCE_95, 0)), Q_SET(high << 32, high >> 32));
	uint64_t c = Q_HIGH64(Q_XOR(Q_MUL_LOW(b, Q_SET(SCR_CRC32_REDUCE_63, 0)), b));

	return t[3][c & 0xff] ^ t[2][c >> 8 & 0xff] ^ t[1][c >> 16 & 0xff] ^ t[0][c >> 24 & 0xff] ^
	       (uint32_t)(c >> 32);
}

/*
 * The last @n bytes at @p, 1 to 15, with at least 16 bytes of the message before them. The 16 + n
 * bytes of @acc and these are cut anew: the first n, moved to the end of a vector, are folded onto
 * the last 16. @window slides over "nothing, 0 to 15, nothing" and makes both shifts.
 */
CRC_TARGET SCR_INLINE Q crc_last(Q acc, const uint8_t *p, size_t n)
{
	static const uint8_t window[48] = {
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		0x80, 0x80, 0x80, 0x80, 0,    1,    2,    3,    4,    5,    6,    7,
		8,    9,    10,   11,   12,   13,   14,   15,   0x80, 0x80, 0x80, 0x80,
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
	Q right = Q_LOAD(window + n), left = Q_LOAD(window + 16 + n);
	Q last = Q_SELECT(right, Q_SHUFFLE(acc, left), Q_LOAD(p + n - 16));

	return crc_fold_lane(Q_SHUFFLE(acc, right), Q_FOLD(128), last);
}

/* The register after @acc, which has taken in at least 16 bytes, and @len more bytes. */
CRC_TARGET SCR_INLINE uint32_t crc_end(Q acc, const uint8_t *p, size_t len)
{
	for (; len >= 16; p += 16, len -= 16)
		acc = crc_fold_lane(acc, Q_FOLD(128), Q_LOAD(p));
	if (len)
		acc = crc_last(acc, p, len);
	return crc_reduce(acc);
}

/* Four vectors become one, then what is left is taken vector by vector. */
CRC_TARGET SCR_INLINE uint32_t crc_join(CRC_V a0, CRC_V a1, CRC_V a2, CRC_V a3, const uint8_t *p,
					size_t len)
{
	CRC_V one = CRC_FOLD(CRC_FOLD_ONE);

	a0 = crc_fold_on(crc_fold_on(crc_fold_on(a0, one, a1), one, a2), one, a3);
	for (; len >= CRC_V_BYTES; p += CRC_V_BYTES, len -= CRC_V_BYTES)
		a0 = crc_fold_on(a0, one, CRC_LOAD(p));
	return crc_end(CRC_TO_LANE(a0), p, len);
}

CRC_TARGET SCR_INLINE uint32_t crc_long(uint32_t reg, const uint8_t *p, size_t len)
{
	CRC_V four = CRC_FOLD(CRC_FOLD_FOUR);
	CRC_V a0 = CRC_XOR(CRC_LOAD(p), CRC_START(Q_SET(reg, 0)));
	CRC_V a1 = CRC_LOAD(p + CRC_V_BYTES), a2 = CRC_LOAD(p + 2 * CRC_V_BYTES);
	CRC_V a3 = CRC_LOAD(p + 3 * CRC_V_BYTES);

	for (p += CRC_STEP, len -= CRC_STEP; len >= CRC_STEP; p += CRC_STEP, len -= CRC_STEP) {
		a0 = crc_fold_on(a0, four, CRC_LOAD(p));
		a1 = crc_fold_on(a1, four, CRC_LOAD(p + CRC_V_BYTES));
		a2 = crc_fold_on(a2, four, CRC_LOAD(p + 2 * CRC_V_BYTES));
		a3 = crc_fold_on(a3, four, CRC_LOAD(p + 3 * CRC_V_BYTES));
	}
	return crc_join(a0, a1, a2, a3, p, len);
}

CRC_TARGET SCR_UNUSED static uint32_t crc_fold(uint32_t crc, const uint8_t *p, size_t len)
{
	uint32_t reg = ~crc; /* counts as the first four bytes of the message, XORed on */

	if (len < 16)
		reg = scr_crc32_slice8_raw(reg, p, len);
	else if (len < CRC_STEP)
		reg = crc_end(Q_XOR(Q_LOAD(p), Q_SET(reg, 0)), p + 16, len - 16);
	else
		reg = crc_long(reg, p, len);
	return ~reg;
}
