/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An extent that is in the page cache: computed where it lies, without a copy.
 *
 * It is walked in order. Slices of its columns in turn, so that their part of the parity stays in
 * L1, were measured and lose a quarter: the streams get into each other's way.
 */
#include <config.h>
#include "pass/content_internal.h"

#include <string.h>

/* A smaller extent is sooner read than mapped. */
#define MAP_MIN (1u << 20)

struct job {
	const struct scr_content_reader *cr;
	struct scr_content *c;
	const uint8_t *data;
};

static void compute(void *arg)
{
	struct job *job = arg;

	scr_content_check(job->cr, job->c, 0, job->data, job->c->cut.length);
}

static bool compute_mapped(const struct scr_content_reader *cr, struct scr_content *c)
{
	struct job job = {.cr = cr, .c = c};

	job.data = scr_reader_map(cr->reader, c->cut.offset, c->cut.length);
	if (!job.data)
		return false;
	if (scr_guarded(compute, &job) == 0) {
		scr_reader_unmap(cr->reader, true);
		return true;
	}
	scr_reader_unmap(cr->reader, false);
	if (cr->fold)
		memset(c->fold, 0, c->cut.column);
	return false;
}

bool scr_content_map(const struct scr_content_reader *cr, struct scr_content *c)
{
	bool done;

	/* Holes are found, and counted, by reading. */
	if (cr->reread || cr->sparse || c->cut.length < MAP_MIN)
		return false;
	scr_gate_enter(cr->gate);
	done = compute_mapped(cr, c);
	scr_gate_leave(cr->gate);
	if (!done)
		return false;
	c->all_hole = false;
	c->present = c->cut.length;
	if (cr->progress)
		cr->progress(cr->arg, c->cut.length, true);
	return true;
}
