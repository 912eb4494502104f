/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* XOR, avx512: the template over these vectors. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"
#include "kernels/vec_avx512.h"
#include "kernels/xor_vec.h"

const struct scr_kernel scr_xor_avx512 = {"avx512", SCR_XOR, SCR_CPU_AVX512, {.xor_ = xor_vec}};
