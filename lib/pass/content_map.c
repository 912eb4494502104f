/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An extent that is in the page cache: computed where it lies, without a copy.
 *
 * It is walked in order. Slices of its columns in turn, so that their part of the parity stays in
 * L1, were measured and lose a quarter: the streams get into each other's way.
 */
#include <config.h>
#include "pass/content_internal.h"

#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"

/* So much is tried each way before the quicker one is kept to. The other one gets every 16th part
 * still, since files differ in the size of their pages, and a machine in what else it does. */
#define TRIAL (UINT64_C(32) << 20)
#define STILL_TRIED 16
/* The first tries, in which the program, its tables and its buffers are not in any cache. */
#define COLD 2

/* Mapped at a time by all threads, since it counts as their memory; by one, not below the size of a
 * huge page. Each end of a window stops the other threads for a moment, so it is not small. */
#define WINDOWS (16u << 20)
#define WINDOW_MIN (2u << 20)
/* Where a mapping may begin, whatever the size of a page. */
#define PAGE_MAX (64u << 10)

struct job {
	const struct scr_content_reader *cr;
	struct scr_content *c;
	const uint8_t *data;
	uint32_t pos, len;
};

static void compute(void *arg)
{
	struct job *job = arg;

	scr_content_check(job->cr, job->c, job->pos / job->c->cut.block, job->data, job->len);
}

/* Whole blocks, if windows of them can be mapped; else all of the extent. */
static uint32_t window_of(const struct scr_content_reader *cr, const struct scr_cut *cut)
{
	uint32_t threads = cr->ways ? SCR_MAX(cr->ways->threads[SCR_WAY_MAPPED], 1u) : 1;
	uint32_t window = SCR_MAX(WINDOWS / threads, WINDOW_MIN);
	uint32_t n = SCR_MAX(window / cut->block, 1u) * cut->block;

	return n % PAGE_MAX ? cut->length : n;
}

static bool compute_window(const struct scr_content_reader *cr, struct scr_content *c, uint32_t pos,
			   uint32_t len)
{
	struct job job = {cr, c, NULL, pos, len};
	bool done;

	job.data = scr_reader_map(cr->reader, c->cut.offset + pos, len);
	if (!job.data)
		return false;
	done = scr_guarded(compute, &job) == 0;
	scr_reader_unmap(cr->reader);
	return done;
}

/* All windows, or none: what was computed of a part is forgotten. */
static bool compute_mapped(const struct scr_content_reader *cr, struct scr_content *c)
{
	const uint32_t step = window_of(cr, &c->cut);

	for (uint32_t pos = 0, len; pos < c->cut.length; pos += len) {
		len = SCR_MIN(step, c->cut.length - pos);
		if (compute_window(cr, c, pos, len))
			continue;
		if (cr->fold)
			memset(c->fold, 0, c->cut.column);
		return false;
	}
	scr_reader_count_mapped(cr->reader, c->cut.length);
	return true;
}

static void note_cost(struct scr_ways *w, int way, uint64_t bytes, int64_t began_ns)
{
	if (w->tries[way]++ < COLD)
		return;
	w->bytes[way] += bytes;
	w->ns[way] += (uint64_t)(scr_clock_thread_cpu() - began_ns);
}

void scr_content_read_cost(const struct scr_content_reader *cr, const struct scr_content *c,
			   uint64_t cached, int64_t began_ns)
{
	if (cr->ways && cached == c->cut.length)
		note_cost(cr->ways, SCR_WAY_READ, cached, began_ns);
}

/* What a byte takes when all threads go that way. */
static double byte_ns(const struct scr_ways *w, int way)
{
	return (double)w->ns[way] / (double)w->bytes[way] / SCR_MAX(w->threads[way], 1u);
}

static bool mapping_pays(const struct scr_ways *w)
{
	uint64_t read, mapped;

	if (!w)
		return true;
	read = w->bytes[SCR_WAY_READ];
	mapped = w->bytes[SCR_WAY_MAPPED];
	if (mapped < TRIAL || read < TRIAL)
		return mapped < TRIAL;
	if (read < mapped / STILL_TRIED || mapped < read / STILL_TRIED)
		return mapped < read;
	return byte_ns(w, SCR_WAY_MAPPED) <= byte_ns(w, SCR_WAY_READ);
}

bool scr_content_map(const struct scr_content_reader *cr, struct scr_content *c)
{
	int64_t began_ns;
	bool done;

	/* Holes are found, and counted, by reading. */
	if (cr->reread || cr->sparse || c->cut.length < SCR_MAP_MIN || !mapping_pays(cr->ways))
		return false;
	began_ns = scr_clock_thread_cpu();
	scr_gate_enter(cr->gate);
	done = compute_mapped(cr, c);
	scr_gate_leave(cr->gate);
	if (!done)
		return false;
	if (cr->ways)
		note_cost(cr->ways, SCR_WAY_MAPPED, c->cut.length, began_ns);
	c->all_hole = false;
	c->present = c->cut.length;
	if (cr->progress)
		cr->progress(cr->arg, c->cut.length, true);
	return true;
}
