/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a disk to the devices of its partitions. */
#ifndef SCR_DEV_PARTITION_H
#define SCR_DEV_PARTITION_H

#include <sys/types.h>

/* The device of partition @number of the disk @disk, as the kernel knows it. 0; -ENOENT: it knows
 * none of that number; -errno. */
int scr_device_partition(dev_t disk, int number, dev_t *out);

#endif
