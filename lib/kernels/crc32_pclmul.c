/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CRC-32, pclmul: folding with 128-bit carry-less multiplication. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define CRC_TARGET __attribute__((target("pclmul,sse4.1")))

#include "kernels/crc32_128_x86.h"
#include "kernels/crc32_fold.h"

const struct scr_kernel scr_crc32_pclmul = {
	"pclmul", SCR_CRC32, SCR_CPU_SSE41 | SCR_CPU_PCLMUL, {.crc32 = crc_fold}};
