/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* XOR, eor3: NEON with the three-input exclusive or that came with SHA-3. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define VEC_TARGET __attribute__((target("arch=armv8.2-a+sha3")))
#define VEC_XOR3(a, b, c) veor3q_u8(a, b, c)

#include "kernels/vec_neon.h"
#include "kernels/xor_vec.h"

const struct scr_kernel scr_xor_eor3 = {
	"eor3", SCR_XOR, SCR_CPU_NEON | SCR_CPU_ARM_SHA3, {.xor_ = xor_vec}};
