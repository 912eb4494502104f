/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the scalar kernels share: words at any address, and the promise to stay scalar. */
#ifndef SCR_KERNELS_SCALAR_H
#define SCR_KERNELS_SCALAR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SCR_INLINE static inline __attribute__((always_inline))

/*
 * Compilers vectorise plain loops behind our back, and then a row called "8regs" measures SSE2. A
 * word that went through here sits in a general register, whatever the compiler and its options;
 * no instruction comes of it. tests/scalar-rows.t disassembles the rows and checks.
 */
static inline uint64_t scr_scalar(uint64_t v)
{
	__asm__("" : "+r"(v));
	return v;
}

/* The 64-bit word at @p in the byte order of the host. */
static inline uint64_t scr_load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void scr_store64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

#endif
