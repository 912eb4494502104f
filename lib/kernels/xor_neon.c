/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* XOR, neon: the template over these vectors. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"
#include "kernels/vec_neon.h"
#include "kernels/xor_vec.h"

const struct scr_kernel scr_xor_neon = {"neon", SCR_XOR, SCR_CPU_NEON, {.xor_ = xor_vec}};
