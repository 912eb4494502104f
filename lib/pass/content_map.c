/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An extent that is in the page cache: computed where it lies, without a copy.
 *
 * The columns of an extent are walked side by side, a slice of each in turn:
 *
 *	for each slice of the parity
 *		for each column
 *			checksum the column's slice, and XOR it into that of the parity
 *
 * So the slice of the parity stays in L1 while everything that belongs to it goes by, and memory is
 * read in several streams. Each column's block is under way all the time: its sums are carried.
 */
#include <config.h>
#include "pass/content_internal.h"

#include <string.h>

#include "base/compiler.h"
#include "fold/fold.h"

/* A smaller extent is sooner read than mapped. */
#define MAP_MIN (1u << 20)
#define SLICE (16u << 10)
#define STREAMS_MAX SCR_COLUMNS_MAX

struct job {
	const struct scr_content_reader *cr;
	struct scr_content *c;
	const uint8_t *data;
	uint32_t streams;          /* columns side by side; 0: in order, block by block */
	uint64_t sum[STREAMS_MAX]; /* of the block under way in each */
	uint32_t crc[STREAMS_MAX];
};

static uint32_t slice_length(const struct scr_cut *cut)
{
	return SCR_MIN(cut->block, SLICE);
}

/* All columns are whole, and so are their blocks: the usual case. */
static bool is_regular(const struct scr_cut *cut)
{
	return cut->length % cut->column == 0 && cut->column % cut->block == 0 &&
	       cut->column % SCR_READER_PAGE == 0 && cut->length / cut->column <= STREAMS_MAX;
}

/* The slice at @at of column @j. */
static void take_slice(struct job *job, uint32_t j, uint32_t at, uint32_t len)
{
	struct scr_content *c = job->c;
	const uint32_t offset = j * c->cut.column + at;
	uint8_t *dst = job->cr->fold ? c->fold + at : NULL;

	job->cr->kernels->fused->fn.fused(job->cr->kernels, &job->sum[j], &job->crc[j], dst,
					  job->data + offset, len);
	if ((offset + len) % c->cut.block)
		return;
	c->checks[offset / c->cut.block] =
		(struct scr_check){.crc = job->crc[j], .inet = scr_inet_fold(job->sum[j])};
	job->sum[j] = 0;
	job->crc[j] = 0;
}

static void compute(void *arg)
{
	struct job *job = arg;
	const struct scr_cut *cut = &job->c->cut;
	const uint32_t len = slice_length(cut);

	if (job->streams == 0)
		scr_content_check(job->cr, job->c, 0, job->data, cut->length);
	for (uint32_t at = 0; job->streams && at < cut->column; at += len)
		for (uint32_t j = 0; j < job->streams; j++)
			take_slice(job, j, at, len);
}

static bool compute_mapped(const struct scr_content_reader *cr, struct scr_content *c)
{
	struct job job = {.cr = cr, .c = c};

	job.data = scr_reader_map(cr->reader, c->cut.offset, c->cut.length);
	if (!job.data)
		return false;
	if (is_regular(&c->cut))
		job.streams = c->cut.length / c->cut.column;
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
		cr->progress(cr->arg, c->cut.length);
	return true;
}
