/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What this CPU and this kernel offer, as bits with names. */
#ifndef SCR_CPU_CPU_H
#define SCR_CPU_CPU_H

#include <stddef.h>
#include <stdint.h>

/* Positions of the bits, in the order of features.def. */
enum scr_cpu_bit {
#define SCR_CPU_FEATURE(id, name) SCR_CPU_BIT_##id,
#include "cpu/features.def"
#undef SCR_CPU_FEATURE
	SCR_CPU_BITS
};

/* The bits themselves: SCR_CPU_AVX2 and so on. */
enum scr_cpu_mask {
#define SCR_CPU_FEATURE(id, name) SCR_CPU_##id = 1U << SCR_CPU_BIT_##id,
#include "cpu/features.def"
#undef SCR_CPU_FEATURE
};

/*
 * The features that may be used here: the CPU has them, the operating system saves their registers,
 * and they are worth it. SCR_CPU_AVX512 stands for F, BW, VL and DQ together, and for the policy
 * that 512-bit vectors pay: only CPUs that also have VPCLMULQDQ report it, because the earlier ones
 * lower the clock of the whole core as long as 512-bit instructions run.
 */
uint64_t scr_cpu_features(void);

/* The bit called @name (@len bytes), or 0. */
uint64_t scr_cpu_by_name(const char *name, size_t len);

/* The name of bit @bit (SCR_CPU_BIT_*), or NULL. */
const char *scr_cpu_name(unsigned int bit);

/*
 * Turns a list of names, separated by commas, into bits, so that features can be masked by name.
 * Returns 0 or -EINVAL for a name that does not exist; *@bits is written on success only.
 */
int scr_cpu_parse(const char *list, uint64_t *bits);

#endif
