/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All three from one load, vpclmul256: AVX2 with VPCLMULQDQ, without AVX-512. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define VEC_TARGET __attribute__((target("avx2,vpclmulqdq,pclmul")))
#define CRC_TARGET VEC_TARGET
#define CRC_OF_VEC(v) (v)

#include "kernels/vec_avx2.h"
#include "kernels/crc32_128_x86.h"
#include "kernels/crc32_256.h"
#include "kernels/fused_fold.h"

const struct scr_kernel scr_fused_vpclmul256 = {"vpclmul256",
						SCR_FUSED,
						SCR_CPU_AVX2 | SCR_CPU_PCLMUL | SCR_CPU_VPCLMUL,
						{.fused = fused_fold}};
