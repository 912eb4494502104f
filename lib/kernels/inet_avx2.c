/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internet checksum, avx2: dot products as multiply-add and a separate addition. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"
#include "kernels/vec_avx2.h"
#include "kernels/inet_dot.h"

const struct scr_kernel scr_inet_avx2 = {"avx2", SCR_INET, SCR_CPU_AVX2, {.inet = inet_dot}};
