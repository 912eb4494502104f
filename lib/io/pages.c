/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Giving pages back to the system. */
#include <config.h>
#include "io/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void scr_pages_drop(void *p, size_t len)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t skip = (page - (uintptr_t)p % page) % page;

	/* What can't be given back is kept. */
	if (len > skip && len - skip >= page)
		(void)madvise((char *)p + skip, (len - skip) / page * page, MADV_DONTNEED);
}
