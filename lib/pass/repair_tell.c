/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What repair says: runs of blocks that were repaired alike, or left for the same reason. */
#include <config.h>
#include "pass/repair_internal.h"

#include "base/compiler.h"

static const char *why_text(const struct scr_repair_file *rf, uint8_t why)
{
	switch (why) {
	case 0:
		return rf->refused;
	case SCR_LEFT_UNIT:
		return "it shares a sector or page with a block that is lost";
	case SCR_LEFT_END:
		return "the file is cut off, and what stood before it is lost";
	case SCR_LEFT_LONG:
		return "the file is too long, and what follows in the same page can't be kept: cut it yourself";
	default:
		return scr_lost_why_text((enum scr_lost_why)why);
	}
}

static bool worth_telling(const struct scr_mend *m, uint32_t i)
{
	return m->state[i] != SCR_BLOCK_SOUND;
}

static bool alike(const struct scr_mend *m, uint32_t i, uint32_t j)
{
	return worth_telling(m, j) && m->how[i] == m->how[j] && m->why[i] == m->why[j];
}

/* Blocks @i to @j - 1. */
static void tell_run(struct scr_repair *r, const struct scr_repair_file *rf, uint32_t i,
		     uint32_t j)
{
	const struct scr_mend *m = &r->mend;
	const struct scr_geometry *g = &r->p->header.settings.geometry;
	uint32_t start = i * m->cut.block;

	scr_emit_repair(r->p, &(struct scr_repair_event){
				      .name = {(char *)rf->path.data, rf->path.len},
				      .how = (enum scr_repair_how)m->how[i],
				      .block = scr_blocks_before(g, rf->f.stamp.size,
								 m->cut.index) + i,
				      .blocks = j - i,
				      .offset = m->cut.offset + start,
				      .length = SCR_MIN(j * m->cut.block, m->cut.length) - start,
				      .why = m->how[i] == SCR_REPAIR_NOT ? why_text(rf, m->why[i])
									 : NULL,
				      .dry_run = r->dry_run,
			      });
}

void scr_repair_tell(struct scr_repair *r, const struct scr_repair_file *rf)
{
	const struct scr_mend *m = &r->mend;
	uint32_t j;

	for (uint32_t i = 0; i < m->cut.blocks; i = j) {
		j = i + 1;
		if (!worth_telling(m, i))
			continue;
		while (j < m->cut.blocks && alike(m, i, j))
			j++;
		tell_run(r, rf, i, j);
	}
}

void scr_repair_tell_range(struct scr_repair *r, const struct scr_repair_file *rf,
			   enum scr_repair_how how, uint64_t offset, uint64_t length,
			   const char *why)
{
	scr_emit_repair(r->p, &(struct scr_repair_event){
				      .name = {(char *)rf->path.data, rf->path.len},
				      .how = how,
				      .block = SCR_NO_BLOCK,
				      .offset = offset,
				      .length = length,
				      .why = why,
				      .dry_run = r->dry_run,
			      });
}

void scr_repair_tell_file(struct scr_repair *r, const struct scr_repair_file *rf,
			  enum scr_repair_how how, const char *why)
{
	scr_repair_tell_range(r, rf, how, 0, 0, why);
}
