/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where on a device damage lies, and what can't be known of it. */
#include <config.h>
#include "pass/device.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

/* For so many ranges owners are sought. */
#define RANGES_MAX 4096

/* ---- regions ----------------------------------------------------------------------------- */

static void note_range(struct scr_pass_device *d, const struct scr_damage *damage)
{
	if (d->range_count == RANGES_MAX || damage->kind == SCR_DAMAGE_PARITY)
		return;
	if (d->range_count == d->range_cap) {
		size_t cap = d->range_cap ? d->range_cap * 2 : 16;
		struct scr_device_range *list = realloc(d->ranges, cap * sizeof(*list));

		if (!list)
			return; /* a name less is told, no damage */
		d->ranges = list;
		d->range_cap = cap;
	}
	/* Where parity tells which bytes differ, nobody else's are asked for. */
	d->ranges[d->range_count++] =
		damage->bytes_differ
			? (struct scr_device_range){damage->differ_first,
						    damage->differ_last - damage->differ_first + 1}
			: (struct scr_device_range){damage->offset, damage->length};
}

const char *scr_device_note_damage(struct scr_pass *p, const struct scr_damage *damage,
				   char *region, size_t size)
{
	struct scr_pass_device *d = p->device;
	const struct scr_region *r;

	if (damage->block == SCR_NO_BLOCK)
		return NULL;
	pthread_mutex_lock(&d->lock);
	note_range(d, damage);
	pthread_mutex_unlock(&d->lock);
	r = scr_region_at(d->regions, d->region_count, damage->offset);
	if (!r || (d->region_count == 1 && r->kind == SCR_REGION_BARE))
		return NULL;
	scr_region_describe(r, region, size);
	return region;
}

/* ---- limits ------------------------------------------------------------------------------ */

void scr_device_tell_limits(struct scr_pass *p)
{
	const struct scr_pass_device *d = p->device;
	uint64_t unsure;

	if (!d)
		return;
	p->sum.blocks_in_use = d->in_use_blocks;
	p->sum.blocks_unsure = d->unsure_blocks;
	if (d->in_use_blocks)
		scr_warn(p, NULL, 0,
			 "%" PRIu64 " blocks differ, which proves nothing while the device is in "
			 "use: nothing was recorded over",
			 d->in_use_blocks);
	unsure = scr_device_unsure_bytes(p);
	if (unsure && !d->forced)
		scr_note(p,
			 "in %.1f %% of the device rot can't be told from writes, so that "
			 "differences there count as changed (%" PRIu64
			 " blocks now); if nobody writes there: config content=fixed",
			 (double)unsure * 100 / (double)d->d.size, d->unsure_blocks);
}
