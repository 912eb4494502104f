/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* XOR with general registers: 8regs, 32regs, and their twins with prefetch.
 *
 * The plain loop is dst[i] ^= src[i], byte by byte. Eight bytes make a word, and XOR has no
 * carries, so whole words may be taken. These are the two portable shapes that Linux has carried
 * since its RAID-5 code was written (include/asm-generic/xor.h), and whose race at boot gave our
 * selection its form:
 *
 * 8regs takes a line of eight words and finishes each word before the next: load, xor, store. It
 * leaves all overlap to the CPU. 32regs loads the line of dst into eight registers first, then goes
 * through the sources, then stores, so that machines without out-of-order execution have work while
 * a load is under way. (The names count the registers of the machines that they were made for.)
 * The _prefetch twins also ask for the lines one step ahead.
 */
#include <config.h>
#include "kernels/rows.h"

#include "kernels/xor.h"

#define LINE 64U /* bytes of a step: eight words */

/* dst is about to be written, so its line is asked for in a state that may be. Addresses beyond the
 * end do no harm: a prefetch is a hint. */
SCR_INLINE void hint(const uint8_t *dst, const uint8_t *const *src, unsigned int n, size_t at)
{
	unsigned int k;

	__builtin_prefetch((const void *)((uintptr_t)dst + at), 1);
	for (k = 0; k < n; k++)
		__builtin_prefetch((const void *)((uintptr_t)src[k] + at));
}

SCR_INLINE uint64_t word(uint64_t v, const uint8_t *const *src, unsigned int n, size_t at)
{
	unsigned int k;

	for (k = 0; k < n; k++)
		v = scr_scalar(v ^ scr_load64(src[k] + at));
	return v;
}

SCR_INLINE void line_8regs(uint8_t *dst, const uint8_t *const *src, unsigned int n, size_t at)
{
	unsigned int i;

#pragma GCC unroll 8
	for (i = 0; i < LINE; i += 8)
		scr_store64(dst + at + i, word(scr_load64(dst + at + i), src, n, at + i));
}

/* The eight registers have names: compilers put small arrays on the stack. */
SCR_INLINE void line_32regs(uint8_t *dst, const uint8_t *const *src, unsigned int n, size_t at)
{
	uint8_t *d = dst + at;
	uint64_t d0 = scr_scalar(scr_load64(d + 0)), d1 = scr_scalar(scr_load64(d + 8));
	uint64_t d2 = scr_scalar(scr_load64(d + 16)), d3 = scr_scalar(scr_load64(d + 24));
	uint64_t d4 = scr_scalar(scr_load64(d + 32)), d5 = scr_scalar(scr_load64(d + 40));
	uint64_t d6 = scr_scalar(scr_load64(d + 48)), d7 = scr_scalar(scr_load64(d + 56));

	d0 = word(d0, src, n, at + 0);
	d1 = word(d1, src, n, at + 8);
	d2 = word(d2, src, n, at + 16);
	d3 = word(d3, src, n, at + 24);
	d4 = word(d4, src, n, at + 32);
	d5 = word(d5, src, n, at + 40);
	d6 = word(d6, src, n, at + 48);
	d7 = word(d7, src, n, at + 56);
	scr_store64(d + 0, d0);
	scr_store64(d + 8, d1);
	scr_store64(d + 16, d2);
	scr_store64(d + 24, d3);
	scr_store64(d + 32, d4);
	scr_store64(d + 40, d5);
	scr_store64(d + 48, d6);
	scr_store64(d + 56, d7);
}

#define XOR_SCALAR(name, line, prefetch)                                                           \
	SCR_INLINE void name##_body(uint8_t *dst, const uint8_t *const *src, unsigned int n,       \
				    size_t len)                                                    \
	{                                                                                          \
		size_t at;                                                                         \
                                                                                                   \
		for (at = 0; len - at >= LINE; at += LINE) {                                       \
			if (prefetch)                                                              \
				hint(dst, src, n, at + LINE);                                      \
			line(dst, src, n, at);                                                     \
		}                                                                                  \
		scr_xor_tail(dst, src, n, at, len);                                                \
	}                                                                                          \
	SCR_XOR_DRIVER(name, , name##_body)

XOR_SCALAR(xor_8regs, line_8regs, 0)
XOR_SCALAR(xor_32regs, line_32regs, 0)
XOR_SCALAR(xor_8regs_prefetch, line_8regs, 1)
XOR_SCALAR(xor_32regs_prefetch, line_32regs, 1)

const struct scr_kernel scr_xor_8regs = {"8regs", SCR_XOR, 0, {.xor_ = xor_8regs}};
const struct scr_kernel scr_xor_32regs = {"32regs", SCR_XOR, 0, {.xor_ = xor_32regs}};
const struct scr_kernel scr_xor_8regs_prefetch = {
	"8regs_prefetch", SCR_XOR, 0, {.xor_ = xor_8regs_prefetch}};
const struct scr_kernel scr_xor_32regs_prefetch = {
	"32regs_prefetch", SCR_XOR, 0, {.xor_ = xor_32regs_prefetch}};
