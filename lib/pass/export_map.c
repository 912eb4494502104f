/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* export --format=ddrescue: a mapfile of ddrescue(1) for a target that is one device or file.
 *
 *	+  finished     recorded, and sound when it was checked last
 *	-  bad sector   could not be read
 *	*  non-trimmed  reads, but not what was recorded: to be fetched again, from somewhere else
 *	?  non-tried    not recorded, gone, or in one block with what could not be read
 *
 * So ddrescue, given a copy as its input and this map, fetches exactly what is not known to be
 *right.
 */
#include <config.h>
#include "pass/export_internal.h"

#include <errno.h>
#include <inttypes.h>

#define FINISHED '+'
#define BAD_SECTOR '-'
#define DIFFERS '*'
#define NON_TRIED '?'

/* The run that is being joined: [from, to) has @status. */
struct map {
	struct scr_exporter *x;
	uint64_t from, to;
	char status;
};

static int flush(struct map *m)
{
	int r = 0;

	if (m->to > m->from)
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

/* One damage record of extent @e; @rest: what the extent is otherwise. */
static int add_damage(struct map *m, const struct scr_extent *e, const struct scr_damage_record *d,
		      char rest)
{
	uint64_t block = e->cut.offset + (uint64_t)d->block * e->cut.block;
	uint64_t end = block + scr_block_length(&e->cut, d->block);
	int r = upto(m, block, rest);

	if (d->kind != SCR_REC_UNREADABLE)
		return r < 0 ? r : upto(m, end, DIFFERS);
	if (r == 0)
		r = upto(m, block + d->start, NON_TRIED);
	return r < 0 ? r : upto(m, block + d->start + d->length, BAD_SECTOR);
}

static int add_extent(struct map *m, const struct scr_extent *e)
{
	char rest = e->flags & SCR_EXTENT_UNRECORDED ? NON_TRIED : FINISHED;
	int r = upto(m, e->cut.offset, NON_TRIED);

	for (uint32_t i = 0; r == 0 && i < e->damage_count; i++) {
		const struct scr_damage_record *d = &e->damage[i];
		uint64_t end = e->cut.offset + (uint64_t)d->block * e->cut.block +
			       scr_block_length(&e->cut, d->block);

		r = add_damage(m, e, d, rest);
		/* The last of its block: nothing of that can be checked. */
		if (r == 0 && (i + 1 == e->damage_count || e->damage[i + 1].block != d->block))
			r = upto(m, end, NON_TRIED);
	}
	return r < 0 ? r : upto(m, e->cut.offset + e->run_length, rest);
}

/* The extents of the target, up to @there: what follows is not there any more. */
static int add_extents(struct map *m, uint64_t size, uint64_t there)
{
	struct scr_extent e = {0};
	int r;

	while ((r = scr_view_extent(m->x->view, &e)) == 1) {
		if (e.cut.offset + e.run_length > there)
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

int scr_export_ddrescue(struct scr_exporter *x)
{
	const struct scr_trailer *t = scr_mreader_trailer(x->p->old);
	bool sound = t->files_damaged == 0 && t->blocks_damaged == 0 && t->extents_unrecorded == 0;
	struct map m = {.x = x};
	struct scr_file_record f;
	struct scr_link_record l;
	uint64_t there;
	int r;

	if (x->p->kind == SCR_TARGET_DIR)
		return scr_usage(
			x->p, NULL,
			"--format=ddrescue is for a device or a single file, not for a directory");
	r = scr_export_print(x,
			     "# Mapfile. Created by " PACKAGE_STRING "\n"
			     "# current_pos  current_status  current_pass\n"
			     "0x00000000     %c               1\n"
			     "#      pos        size  status\n",
			     sound ? FINISHED : NON_TRIED);
	if (r == 0)
		r = scr_view_next(x->view, &f, &l);
	if (r != SCR_RECORD_FILE)
		return r;
	there = f.damage.kind == SCR_REC_MISSING ? f.damage.size_seen : f.stamp.size;
	return add_extents(&m, f.stamp.size, there);
}
