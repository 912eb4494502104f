/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of CPU features. */
#include <config.h>
#include "cpu/cpu.h"

#include <errno.h>
#include <string.h>

static const char *const names[] = {
#define SCR_CPU_FEATURE(id, name) name,
#include "cpu/features.def"
#undef SCR_CPU_FEATURE
};

const char *scr_cpu_name(unsigned int bit)
{
	return bit < SCR_CPU_BITS ? names[bit] : NULL;
}

uint64_t scr_cpu_by_name(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < SCR_CPU_BITS; i++) {
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return UINT64_C(1) << i;
	}
	return 0;
}

int scr_cpu_parse(const char *list, uint64_t *bits)
{
	uint64_t all = 0;

	for (;;) {
		size_t len = strcspn(list, ",");
		uint64_t bit = scr_cpu_by_name(list, len);

		if (!bit)
			return -EINVAL;
		all |= bit;
		if (!list[len])
			break;
		list += len + 1;
	}
	*bits = all;
	return 0;
}
