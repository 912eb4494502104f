/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CRC-32, arm_pmull: folding with NEON's carry-less multiplication. */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"

#define CRC_TARGET __attribute__((target("+crypto")))

#include "kernels/crc32_128_arm.h"
#include "kernels/crc32_fold.h"

const struct scr_kernel scr_crc32_arm_pmull = {
	"arm_pmull", SCR_CRC32, SCR_CPU_NEON | SCR_CPU_ARM_PMULL, {.crc32 = crc_fold}};
