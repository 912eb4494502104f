/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two ways to an extent's content share: content.c reads it, content_map.c maps it. */
#ifndef SCR_PASS_CONTENT_INTERNAL_H
#define SCR_PASS_CONTENT_INTERNAL_H

#include "pass/content.h"

/* Checksums, and the fold, of @len bytes that begin with block @i. */
void scr_content_check(const struct scr_content_reader *cr, struct scr_content *c, uint32_t i,
		       const uint8_t *p, size_t len);

/*
 * Computes the extent c->cut where it lies in the page cache. @c is prepared, its fold all zeros.
 * Returns false, and leaves @c like that, if it is to be read instead.
 */
bool scr_content_map(const struct scr_content_reader *cr, struct scr_content *c);

/* A smaller extent is sooner read than mapped. */
#define SCR_MAP_MIN (1u << 20)

/* Notes what reading the extent has cost since @began_ns, by scr_clock_thread_cpu(), if all of its
 * bytes came from the cache: @cached. */
void scr_content_read_cost(const struct scr_content_reader *cr, const struct scr_content *c,
			   uint64_t cached, int64_t began_ns);

#endif
