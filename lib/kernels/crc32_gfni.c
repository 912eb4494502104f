/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CRC-32, gfni: bit matrices for the bulk, folding at the end. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define CRC_TARGET                                                                                 \
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,vpclmulqdq,pclmul,sse4.1,"       \
			      "gfni")))

#include "kernels/crc32_128_x86.h"
#include "kernels/crc32_512.h"
#include "kernels/crc32_fold.h"
#include "kernels/crc32_gfni.h"

CRC_TARGET static uint32_t crc_gfni(uint32_t crc, const uint8_t *p, size_t len)
{
	struct gfni g;

	if (len < 2 * GFNI_STEP)
		return crc_fold(crc, p, len);
	g = gfni_start(~crc, gfni_load(p));
	p += GFNI_STEP;
	for (len -= GFNI_STEP; len >= 2 * GFNI_STEP; p += GFNI_STEP, len -= GFNI_STEP)
		g = gfni_step(g, gfni_load(p));
	return ~gfni_end(g, gfni_load(p), p + GFNI_STEP, len - GFNI_STEP);
}

const struct scr_kernel scr_crc32_gfni = {"gfni",
					  SCR_CRC32,
					  SCR_CPU_AVX512 | SCR_CPU_PCLMUL | SCR_CPU_VPCLMUL |
						  SCR_CPU_GFNI,
					  {.crc32 = crc_gfni}};
