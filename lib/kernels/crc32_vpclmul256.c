/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CRC-32, vpclmul256: folding with 256-bit vectors, for CPUs without AVX-512. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define CRC_TARGET __attribute__((target("avx2,vpclmulqdq,pclmul")))

#include "kernels/crc32_128_x86.h"
#include "kernels/crc32_256.h"
#include "kernels/crc32_fold.h"

const struct scr_kernel scr_crc32_vpclmul256 = {"vpclmul256",
						SCR_CRC32,
						SCR_CPU_AVX2 | SCR_CPU_PCLMUL | SCR_CPU_VPCLMUL,
						{.crc32 = crc_fold}};
