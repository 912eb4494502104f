/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All three from one load, avx512: dot products, folding, XOR (fused_vec.h explains). */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define VEC_TARGET                                                                                 \
	__attribute__((                                                                            \
		target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,vpclmulqdq,pclmul,sse4.1")))
#define CRC_TARGET VEC_TARGET

#define CRC_OF_VEC(v) (v)

#include "kernels/vec_avx512.h"
#include "kernels/crc32_128_x86.h"
#include "kernels/crc32_512.h"
#include "kernels/fused_fold.h"

const struct scr_kernel scr_fused_avx512 = {"avx512",
					    SCR_FUSED,
					    SCR_CPU_AVX512 | SCR_CPU_AVX512VNNI | SCR_CPU_PCLMUL |
						    SCR_CPU_VPCLMUL,
					    {.fused = fused_fold}};
