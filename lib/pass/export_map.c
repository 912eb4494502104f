/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* export --format=ddrescue: a mapfile of ddrescue(1) for a target that is one device or file.
 *
 *	+  finished     recorded, and sound when it was checked last
 *	-  bad sector   could not be read
 *	*  non-trimmed  reads, but not what was recorded: to be fetched again, from somewhere else
 *	?  non-tried    not recorded, gone, can't be opened, or in a block that can't be read whole
 *
 * So ddrescue, given a copy as its input and this map, fetches exactly what is not known to be
 * right.
 */
#include <config.h>
#include "pass/export_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define FINISHED '+'
#define BAD_SECTOR '-'
#define DIFFERS '*'
#define NON_TRIED '?'

/* The run that is being joined: [from, to) has @status. */
struct map {
	struct scr_exporter *x;
	bool quiet;    /* nothing is printed yet: */
	bool finished; /* whether there was only FINISHED so far */
	uint64_t from, to;
	char status;
};

static int flush(struct map *m)
{
	int r = 0;

	if (m->to == m->from)
		return 0;
	if (m->status != FINISHED)
		m->finished = false;
	if (!m->quiet)
		r = scr_export_print(m->x, "0x%08" PRIX64 "  0x%08" PRIX64 "  %c\n", m->from,
				     m->to - m->from, m->status);
	m->from = m->to;
	return r;
}

/* All up to @to, from where the map has come to, has @status. */
static int upto(struct map *m, uint64_t to, char status)
{
	int r = 0;

	if (to <= m->to)
		return 0;
	if (status != m->status)
		r = flush(m);
	m->status = status;
	m->to = to;
	return r;
}

static int cmp_damage(const void *a, const void *b)
{
	const struct scr_damage_record *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* The block of extent @e that damage record *i is about, up to its end; *i becomes the next
 * block's. */
static int add_block(struct map *m, const struct scr_extent *e, uint32_t *i, char rest)
{
	const struct scr_damage_record *d = &e->damage[*i];
	uint32_t block = d->block, count = 0;
	uint64_t at = e->cut.offset + (uint64_t)block * e->cut.block;
	char status = DIFFERS;
	int r = upto(m, at, rest);

	for (; *i + count < e->damage_count && d[count].block == block; count++)
		if (d[count].kind == SCR_REC_UNREADABLE)
			status = NON_TRIED; /* nothing of that block can be checked */
	for (uint32_t k = 0; r == 0 && k < count; k++) {
		if (d[k].kind != SCR_REC_UNREADABLE)
			continue;
		r = upto(m, at + d[k].start, NON_TRIED);
		if (r == 0)
			r = upto(m, at + d[k].start + d[k].length, BAD_SECTOR);
	}
	*i += count;
	return r < 0 ? r : upto(m, at + scr_block_length(&e->cut, block), status);
}

static int add_extent(struct map *m, struct scr_extent *e)
{
	char rest = e->flags & SCR_EXTENT_UNRECORDED ? NON_TRIED : FINISHED;
	int r = upto(m, e->cut.offset, NON_TRIED);

	/* Records have the order of blocks; in a block they may have any. */
	if (e->damage_count > 1)
		qsort(e->damage, e->damage_count, sizeof(*e->damage), cmp_damage);
	for (uint32_t i = 0; r == 0 && i < e->damage_count;)
		r = add_block(m, e, &i, rest);
	return r < 0 ? r : upto(m, e->cut.offset + e->run_length, rest);
}

/* What is whole of @e below @there; a run of holes may be cut short. False: nothing. */
static bool cut_off(struct scr_extent *e, uint64_t there)
{
	uint64_t end = e->cut.offset + e->run_length, whole;

	if (end <= there)
		return true;
	if (e->run == 1 || there < e->cut.offset)
		return false;
	/* All of a run but the last are equally long. */
	whole = (there - e->cut.offset) / e->cut.length;
	e->run = SCR_MIN(whole, e->run - 1);
	e->run_length = e->run * e->cut.length;
	return true;
}

/* The extents of the target, up to @there: what follows is not there any more. */
static int add_extents(struct map *m, uint64_t size, uint64_t there)
{
	struct scr_extent e = {0};
	int r;

	while ((r = scr_view_extent(m->x->view, &e)) == 1) {
		if (!cut_off(&e, there))
			continue;
		r = add_extent(m, &e);
		if (r < 0)
			break;
	}
	scr_extent_free(&e);
	if (r == 0)
		r = upto(m, size, NON_TRIED);
	return r < 0 ? r : flush(m);
}

/* The one record of the target; none: nothing is known of it, not even its size. */
static int add_target(struct map *m)
{
	struct scr_file_record f;
	struct scr_link_record l;
	uint64_t there;
	int r = scr_view_next(m->x->view, &f, &l);

	if (r != SCR_RECORD_FILE)
		return r < 0 ? r : 0;
	/* Of a file that can't even be opened nothing is there. */
	there = f.damage.kind == SCR_REC_MISSING || f.damage.kind == SCR_REC_UNREADABLE
			? f.damage.size_seen
			: f.stamp.size;
	return add_extents(m, f.stamp.size, there);
}

/* Once for the line at the head, which says whether there is anything left to do. */
static int survey(struct scr_exporter *x, bool *finished)
{
	struct map m = {.x = x, .quiet = true, .finished = true};
	int r = add_target(&m);

	*finished = m.finished;
	scr_view_free(x->view);
	x->view = NULL;
	return r < 0 ? r : scr_view_new(x->p->old, x->p->journal, &x->view);
}

int scr_export_ddrescue(struct scr_exporter *x)
{
	struct map m = {.x = x};
	bool finished;
	int r;

	if (x->p->kind == SCR_TARGET_DIR)
		return scr_usage(
			x->p, NULL,
			"--format=ddrescue is for a device or a single file, not for a directory");
	r = survey(x, &finished);
	if (r == 0)
		r = scr_export_print(x,
				     "# Mapfile. Created by " PACKAGE_STRING "\n"
				     "# current_pos  current_status  current_pass\n"
				     "0x00000000     %c               1\n"
				     "#      pos        size  status\n",
				     finished ? FINISHED : NON_TRIED);
	return r < 0 ? r : add_target(&m);
}
