/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internet checksum, avxvnni: dot products of 256 bits in one instruction, for CPUs without
 * AVX-512. This is the VEX encoding, which has a CPUID bit of its own. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define VEC_TARGET __attribute__((target("avx2,avxvnni")))
#define VEC_DOT(acc, a, b) _mm256_dpwssd_avx_epi32(acc, a, b)

#include "kernels/vec_avx2.h"
#include "kernels/inet_dot.h"

const struct scr_kernel scr_inet_avxvnni = {
	"avxvnni", SCR_INET, SCR_CPU_AVX2 | SCR_CPU_AVXVNNI, {.inet = inet_dot}};
