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
SCR_INLINE void hint(const uint8_t *p, size_t at, int write)
{
	if (write)
		__builtin_prefetch((const void *)((uintptr_t)p + at), 1);
	else
		__builtin_prefetch((const void *)((uintptr_t)p + at), 0);
}

SCR_INLINE void hints(const uint8_t *dst, SCR_XOR_SOURCES, size_t at)
{
	hint(dst, at, 1);
	hint(a, at, 0);
	if (n > 1)
		hint(b, at, 0);
	if (n > 2)
		hint(c, at, 0);
	if (n > 3)
		hint(d, at, 0);
}

SCR_INLINE void line_8regs(uint8_t *dst, SCR_XOR_SOURCES, size_t at)
{
	size_t end = at + LINE;

#pragma GCC unroll 8
	for (; at < end; at += 8)
		scr_store64(dst + at, scr_xor_word(scr_load64(dst + at), a, b, c, d, n, at));
}

/* The eight registers have names: compilers put small arrays on the stack. */
SCR_INLINE void line_32regs(uint8_t *dst, SCR_XOR_SOURCES, size_t at)
{
	uint8_t *l = dst + at;
	uint64_t r0 = scr_scalar(scr_load64(l + 0)), r1 = scr_scalar(scr_load64(l + 8));
	uint64_t r2 = scr_scalar(scr_load64(l + 16)), r3 = scr_scalar(scr_load64(l + 24));
	uint64_t r4 = scr_scalar(scr_load64(l + 32)), r5 = scr_scalar(scr_load64(l + 40));
	uint64_t r6 = scr_scalar(scr_load64(l + 48)), r7 = scr_scalar(scr_load64(l + 56));

	r0 = scr_xor_word(r0, a, b, c, d, n, at + 0);
	r1 = scr_xor_word(r1, a, b, c, d, n, at + 8);
	r2 = scr_xor_word(r2, a, b, c, d, n, at + 16);
	r3 = scr_xor_word(r3, a, b, c, d, n, at + 24);
	r4 = scr_xor_word(r4, a, b, c, d, n, at + 32);
	r5 = scr_xor_word(r5, a, b, c, d, n, at + 40);
	r6 = scr_xor_word(r6, a, b, c, d, n, at + 48);
	r7 = scr_xor_word(r7, a, b, c, d, n, at + 56);
	scr_store64(l + 0, r0);
	scr_store64(l + 8, r1);
	scr_store64(l + 16, r2);
	scr_store64(l + 24, r3);
	scr_store64(l + 32, r4);
	scr_store64(l + 40, r5);
	scr_store64(l + 48, r6);
	scr_store64(l + 56, r7);
}

#define XOR_SCALAR(name, line, prefetch)                                                           \
	SCR_INLINE void name##_body(uint8_t *dst, SCR_XOR_SOURCES, size_t len)                     \
	{                                                                                          \
		size_t at;                                                                         \
                                                                                                   \
		for (at = 0; len - at >= LINE; at += LINE) {                                       \
			if (prefetch)                                                              \
				hints(dst, a, b, c, d, n, at + LINE);                              \
			line(dst, a, b, c, d, n, at);                                              \
		}                                                                                  \
		scr_xor_tail(dst, a, b, c, d, n, at, len);                                         \
	}                                                                                          \
	SCR_XOR_KERNEL(name, , name##_body)

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
