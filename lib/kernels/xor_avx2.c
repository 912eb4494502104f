/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* XOR, avx2: the template over these vectors. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"
#include "kernels/vec_avx2.h"
#include "kernels/xor_vec.h"

const struct scr_kernel scr_xor_avx2 = {"avx2", SCR_XOR, SCR_CPU_AVX2, {.xor_ = xor_vec}};
