/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The descriptor of every row of kernels.def. */
#ifndef SCR_KERNELS_ROWS_H
#define SCR_KERNELS_ROWS_H

#include "kernels/kernel.h"

#define SCR_KERNEL(row) extern const struct scr_kernel row;
#include "kernels/kernels.def"
#undef SCR_KERNEL

#endif
