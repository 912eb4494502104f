/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Verdicts that follow from the plan alone, told once reading is through. */
#include <config.h>
#include "pass/tally.h"

struct tally {
	struct scr_pass *p;
	const struct scr_planned *planned;
	struct scr_plan_entry e;
	struct scr_buf path;
};

static void tell(struct tally *t, enum scr_verdict v)
{
	struct scr_file_event ev = {.name = {(char *)t->path.data, t->path.len}, .verdict = v};

	scr_emit_file(t->p, &ev);
}

static int tell_link(struct tally *t)
{
	struct scr_plan_entry owner;
	int r = scr_plan_get(t->planned->plan, t->e.owner, &owner, NULL);

	if (r < 0)
		return r;
	/* The path that stands for the inode was not looked at in this pass. */
	if (t->p->limit && owner.action != SCR_PLAN_KEEP && !(owner.flags & SCR_PLAN_VISITED))
		return 0;
	if (owner.action == SCR_PLAN_KEEP)
		tell(t, SCR_SKIPPED);
	else
		tell(t, t->e.flags & SCR_PLAN_HAD_RECORD ? (enum scr_verdict)owner.verdict
							 : SCR_NEW);
	return 0;
}

static void warn_damaged(struct tally *t, const char *what)
{
	if (t->e.flags & SCR_PLAN_DAMAGED)
		scr_warn(t->p, (char *)t->path.data, t->path.len,
			 "%s with open damage: its record goes, this is the last that is said of it",
			 what);
}

static void tell_missing(struct tally *t)
{
	struct scr_damage d = {
		.name = {(char *)t->path.data, t->path.len},
		.kind = SCR_DAMAGE_MISSING,
		.block = SCR_NO_BLOCK,
		.length = t->e.size,
		.size_was = -1,
		.size_now = -1,
		.known = t->e.flags & SCR_PLAN_DAMAGED,
	};

	scr_emit_damage(t->p, &d);
	tell(t, SCR_MISSING);
}

static int tell_entry(struct tally *t)
{
	switch ((enum scr_plan_action)t->e.action) {
	case SCR_PLAN_LINK:
		return tell_link(t);
	case SCR_PLAN_GONE:
		warn_damaged(t, "removed");
		tell(t, SCR_REMOVED);
		break;
	case SCR_PLAN_EXCLUDED:
		warn_damaged(t, "excluded");
		tell(t, SCR_EXCLUDED);
		break;
	case SCR_PLAN_KEEP:
		if (t->e.flags & SCR_PLAN_MISSING)
			tell_missing(t);
		else
			tell(t, SCR_SKIPPED);
		break;
	case SCR_PLAN_CHECK:
	case SCR_PLAN_RECORD:
	case SCR_PLAN_ACCEPT:
	case SCR_PLAN_MOVED_AWAY:
		break;
	}
	return 0;
}

int scr_tally(struct scr_pass *p, const struct scr_planned *planned)
{
	struct tally t = {.p = p, .planned = planned};
	struct scr_plan_cursor c;
	uint64_t pos;
	int r;

	scr_plan_cursor_init(&c, planned->plan);
	while ((r = scr_plan_next(&c, &t.e, &t.path, &pos)) == 1) {
		r = tell_entry(&t);
		if (r < 0)
			break;
	}
	scr_plan_cursor_free(&c);
	scr_buf_free(&t.path);
	return r;
}

void scr_tally_totals(struct scr_pass *p, const struct scr_trailer *t)
{
	p->sum.files = t->files + t->links;
	p->sum.bytes = t->bytes;
	p->sum.blocks = t->blocks;
	p->sum.blocks_damaged = t->blocks_damaged;
	p->sum.files_damaged = t->files_damaged;
}
