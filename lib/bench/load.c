/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plain load loop: the most that any kernel could reach. */
#include <config.h>
#include "bench/internal.h"

#include "kernels/scalar.h"

/* Four words or vectors a step, combined so that no load is idle; the result goes nowhere. */
static void load_words(const uint8_t *p, size_t len)
{
	uint64_t a = 0, b = 0;

	for (; len >= 32; p += 32, len -= 32) {
		a ^= scr_load64(p) | scr_load64(p + 8);
		b ^= scr_load64(p + 16) | scr_load64(p + 24);
	}
	scr_scalar(a ^ b);
}

#if ARCH_X86

#include <immintrin.h>

/* One more width is one more line. An empty asm takes the result, so that it has to be there. */
#define LOAD_LOOP(name, isa, type, load, or, xor)                                                  \
	__attribute__((target(isa))) static void name(const uint8_t *p, size_t len)                \
	{                                                                                          \
		const type *v = (const type *)(const void *)p;                                     \
		type a = load(v), b = a;                                                           \
                                                                                                   \
		for (; len >= 4 * sizeof(type); v += 4, len -= 4 * sizeof(type)) {                 \
			a = xor(a, or (load(v), load(v + 1)));                                     \
			b = xor(b, or (load(v + 2), load(v + 3)));                                 \
		}                                                                                  \
		a = xor(a, b);                                                                     \
		__asm__ volatile("" : : "m"(a));                                                   \
	}

LOAD_LOOP(load_sse2, "sse2", __m128i, _mm_loadu_si128, _mm_or_si128, _mm_xor_si128)
#if BUILD_AVX2
LOAD_LOOP(load_avx2, "avx2", __m256i, _mm256_loadu_si256, _mm256_or_si256, _mm256_xor_si256)
#endif
#if BUILD_AVX512
LOAD_LOOP(load_avx512, "avx512f", __m512i, _mm512_loadu_si512, _mm512_or_si512, _mm512_xor_si512)
#endif

scr_load_fn *scr_bench_load(uint64_t cpu)
{
#if BUILD_AVX512
	if (cpu & SCR_CPU_AVX512)
		return load_avx512;
#endif
#if BUILD_AVX2
	if (cpu & SCR_CPU_AVX2)
		return load_avx2;
#endif
	return cpu & SCR_CPU_SSE2 ? load_sse2 : load_words;
}

#elif ARCH_ARM64

#include <arm_neon.h>

static void load_neon(const uint8_t *p, size_t len)
{
	uint8x16_t a = vdupq_n_u8(0), b = a;

	for (; len >= 64; p += 64, len -= 64) {
		a = veorq_u8(a, vorrq_u8(vld1q_u8(p), vld1q_u8(p + 16)));
		b = veorq_u8(b, vorrq_u8(vld1q_u8(p + 32), vld1q_u8(p + 48)));
	}
	a = veorq_u8(a, b);
	__asm__ volatile("" : : "w"(a));
}

scr_load_fn *scr_bench_load(uint64_t cpu)
{
	return cpu & SCR_CPU_NEON ? load_neon : load_words;
}

#else

scr_load_fn *scr_bench_load(uint64_t cpu)
{
	(void)cpu;
	return load_words;
}

#endif
