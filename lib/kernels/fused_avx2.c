/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All three from one load, avx2: what CPUs have that know neither AVX-512 nor VPCLMULQDQ. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define VEC_TARGET __attribute__((target("avx2,pclmul")))
#define CRC_TARGET VEC_TARGET
#define CRC_OF_VEC(v) ((struct crc_pair){_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)})

#include "kernels/vec_avx2.h"
#include "kernels/crc32_128_x86.h"
#include "kernels/crc32_pair.h"
#include "kernels/fused_fold.h"

const struct scr_kernel scr_fused_avx2 = {
	"avx2", SCR_FUSED, SCR_CPU_AVX2 | SCR_CPU_PCLMUL, {.fused = fused_fold}};
