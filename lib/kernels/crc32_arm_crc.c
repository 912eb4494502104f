/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CRC-32, arm_crc: the instruction that takes eight bytes of zlib's polynomial at once.
 *
 * It is the eight-byte step of slicing in hardware, table lookups and all. One chain: each step
 * waits for the one before. */
#include <config.h>
#include "kernels/rows.h"

#include <arm_acle.h>

#include "cpu/cpu.h"
#include "kernels/scalar.h"

#define TARGET __attribute__((target("+crc")))

TARGET static uint32_t arm_crc(uint32_t crc, const uint8_t *p, size_t len)
{
	uint32_t reg = ~crc;

	for (; len >= 8; p += 8, len -= 8)
		reg = __crc32d(reg, scr_load64(p));
	while (len--)
		reg = __crc32b(reg, *p++);
	return ~reg;
}

const struct scr_kernel scr_crc32_arm_crc = {
	"arm_crc", SCR_CRC32, SCR_CPU_ARM_CRC32, {.crc32 = arm_crc}};
