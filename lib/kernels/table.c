/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of kernels.def as an array, and the reference kernels. */
#include <config.h>
#include "kernels/rows.h"

#include "base/compiler.h"

static const struct scr_kernel *const table[] = {
#define SCR_KERNEL(row) &row,
#include "kernels/kernels.def"
#undef SCR_KERNEL
};

static const struct scr_kernels reference = {
	.inet = &scr_inet_serial,
	.crc32 = &scr_crc32_zlib,
	.xor_ = &scr_xor_8regs,
	.fused = &scr_fused_separate,
};

static const char *const class_names[SCR_KERNEL_CLASSES] = {
	[SCR_INET] = "inet",
	[SCR_CRC32] = "crc32",
	[SCR_XOR] = "xor",
	[SCR_FUSED] = "fused",
};

const struct scr_kernel *const *scr_kernel_table(size_t *n)
{
	*n = SCR_ARRAY_SIZE(table);
	return table;
}

const struct scr_kernels *scr_kernels_reference(void)
{
	return &reference;
}

const char *scr_kernel_class_name(enum scr_kernel_class class)
{
	return class_names[class];
}

const struct scr_kernel **scr_kernels_slot(struct scr_kernels *k, enum scr_kernel_class class)
{
	const struct scr_kernel **const slot[SCR_KERNEL_CLASSES] = {
		[SCR_INET] = &k->inet,
		[SCR_CRC32] = &k->crc32,
		[SCR_XOR] = &k->xor_,
		[SCR_FUSED] = &k->fused,
	};

	return slot[class];
}
