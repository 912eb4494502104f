/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that is not needed for a while. */
#ifndef SCR_IO_PAGES_H
#define SCR_IO_PAGES_H

#include <stddef.h>

/* Gives the whole pages of [@p, @p + @len) back to the system; they stay allocated and hold
 * anything then. */
void scr_pages_drop(void *p, size_t len);

#endif
