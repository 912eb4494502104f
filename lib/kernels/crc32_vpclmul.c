/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CRC-32, vpclmul: folding with 512-bit vectors. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define CRC_TARGET                                                                                 \
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,vpclmulqdq,pclmul,sse4.1")))

#include "kernels/crc32_128_x86.h"
#include "kernels/crc32_512.h"
#include "kernels/crc32_fold.h"

const struct scr_kernel scr_crc32_vpclmul = {"vpclmul",
					     SCR_CRC32,
					     SCR_CPU_AVX512 | SCR_CPU_PCLMUL | SCR_CPU_VPCLMUL,
					     {.crc32 = crc_fold}};
