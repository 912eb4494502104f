/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internet checksum, avx512: dot products of 512 bits (VNNI). */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define VEC_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))

#include "kernels/vec_avx512.h"
#include "kernels/inet_dot.h"

const struct scr_kernel scr_inet_avx512 = {
	"avx512", SCR_INET, SCR_CPU_AVX512 | SCR_CPU_AVX512VNNI, {.inet = inet_dot}};
