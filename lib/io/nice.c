/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Letting everybody else go first. */
#include <config.h>
#include "io/nice.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ioprio_set(2) has no wrapper, and its numbers no header before Linux 5.15. */
#define WHO_PROCESS 1
#define CLASS_IDLE 3
#define CLASS_SHIFT 13
#define LOWEST 7

int scr_nice(void)
{
	const struct sched_param none = {0};
	int r = 0;

	if (sched_setscheduler(0, SCHED_BATCH, &none) < 0)
		r = -errno;
	if (setpriority(PRIO_PROCESS, 0, 19) < 0 && r == 0)
		r = -errno;
	if (syscall(SYS_ioprio_set, WHO_PROCESS, 0, CLASS_IDLE << CLASS_SHIFT | LOWEST) < 0 &&
	    r == 0)
		r = -errno;
	return r;
}
