/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asks the CPU (x86: cpuid and xgetbv; arm64: the auxiliary vector) what it can do. */
#include <config.h>
#include "cpu/cpu.h"

#if ARCH_X86

#include <cpuid.h>

/* State components in XCR0: the system saves xmm and ymm, or also the mask and zmm registers. */
#define XCR0_AVX 0x06U
#define XCR0_AVX512 0xe6U

static uint32_t read_xcr0(void)
{
	uint32_t eax, edx;

	__asm__("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
	return eax;
}

static int has(uint32_t reg, uint32_t bits)
{
	return (reg & bits) == bits;
}

/* Leaf 7, subleaf 1 is zero where it does not exist. */
static uint32_t leaf7_1_eax(void)
{
	uint32_t a = 0, b, c, d;

	return __get_cpuid_count(7, 1, &a, &b, &c, &d) ? a : 0;
}

static uint64_t avx512_features(uint32_t b7, uint32_t c7)
{
	if (!has(b7, bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ) ||
	    !has(c7, bit_VPCLMULQDQ))
		return 0;
	return SCR_CPU_AVX512 | (has(c7, bit_AVX512VNNI) ? SCR_CPU_AVX512VNNI : 0);
}

static uint64_t avx_features(uint32_t xcr0)
{
	uint32_t a7, b7, c7, d7;
	uint64_t f = 0;

	if (!has(xcr0, XCR0_AVX) || !__get_cpuid_count(7, 0, &a7, &b7, &c7, &d7))
		return 0;
	if (has(b7, bit_AVX2))
		f |= SCR_CPU_AVX2;
	if (has(b7, bit_AVX2) && has(leaf7_1_eax(), 1U << 4))
		f |= SCR_CPU_AVXVNNI;
	if (has(c7, bit_VPCLMULQDQ))
		f |= SCR_CPU_VPCLMUL;
	if (has(c7, bit_GFNI))
		f |= SCR_CPU_GFNI;
	if (has(xcr0, XCR0_AVX512))
		f |= avx512_features(b7, c7);
	return f;
}

uint64_t scr_cpu_features(void)
{
	uint32_t a, b, c, d;
	uint64_t f = SCR_CPU_SSE2; /* every x86-64 has it */

	if (!__get_cpuid(1, &a, &b, &c, &d))
		return f;
	if (has(c, bit_SSE4_1))
		f |= SCR_CPU_SSE41;
	if (has(c, bit_PCLMUL))
		f |= SCR_CPU_PCLMUL;
	if (has(c, bit_OSXSAVE | bit_AVX))
		f |= avx_features(read_xcr0());
	return f;
}

#elif ARCH_ARM64

#include <asm/hwcap.h>
#include <sys/auxv.h>

uint64_t scr_cpu_features(void)
{
	unsigned long cap = getauxval(AT_HWCAP);
	uint64_t f = 0;

	if (cap & HWCAP_ASIMD)
		f |= SCR_CPU_NEON;
	if (cap & HWCAP_CRC32)
		f |= SCR_CPU_ARM_CRC32;
	if (cap & HWCAP_PMULL)
		f |= SCR_CPU_ARM_PMULL;
	if (cap & HWCAP_SHA3)
		f |= SCR_CPU_ARM_SHA3;
	return f;
}

#else

uint64_t scr_cpu_features(void)
{
	return 0;
}

#endif
