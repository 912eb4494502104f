/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* accept: the present content of files with open damage is taken as right. */
#include <config.h>
#include "pass/device.h"
#include "pass/verbs.h"

#include <errno.h>
#include <string.h>

#include "pass/parity.h"
#include "pass/planner_internal.h"
#include "pass/publish.h"
#include "pass/readphase.h"
#include "pass/repair.h"
#include "pass/select.h"
#include "pass/tally.h"

static bool select_path(void *arg, const char *path, size_t len, bool damaged)
{
	return scr_paths_take(arg, path, len, damaged) && damaged;
}

/* ---- the plan: no walk ------------------------------------------------------------------- */

static void count_accepted(struct planner *pl, const struct scr_plan_entry *e)
{
	if (e->action != SCR_PLAN_ACCEPT)
		return;
	pl->out->files++;
	pl->out->bytes += e->size;
	pl->out->bands[0]++;
}

/* Inodes of several links. */
struct links {
	struct scr_map damaged; /* those with open damage */
	struct scr_map wanted;  /* of these, the ones that a further path was given of */
};

static int select_link(struct planner *pl, struct scr_plan_entry *e, struct links *links,
		       scr_plan_select_fn *select, void *arg)
{
	uint64_t *owner = scr_map_get(&pl->new_links, e->fs, e->ino);
	bool damaged = scr_map_get(&links->damaged, e->fs, e->ino) != NULL;
	bool taken = select(arg, (char *)pl->old.path.data, pl->old.path.len, damaged);

	e->action = owner ? SCR_PLAN_LINK : SCR_PLAN_KEEP;
	e->owner = owner ? *owner : SCR_PLAN_NONE;
	return taken && damaged ? scr_map_put(&links->wanted, e->fs, e->ino, 1) : 0;
}

static int add_recorded(struct planner *pl, struct links *links, scr_plan_select_fn *select,
			void *arg)
{
	const char *path = (char *)pl->old.path.data;
	size_t len = pl->old.path.len;
	bool link = pl->old.type == SCR_RECORD_LINK;
	struct scr_plan_entry e;
	uint64_t pos;
	int r = 0;

	scr_planner_fill_old(pl, &e);
	e.action = SCR_PLAN_KEEP;
	if (link)
		r = select_link(pl, &e, links, select, arg);
	else if (select(arg, path, len, e.flags & SCR_PLAN_DAMAGED) &&
		 !scr_repair_holds(pl->p, path, len, e.ino) && !scr_repair_unsure(pl->p))
		e.action = SCR_PLAN_ACCEPT;
	if (r == 0)
		r = scr_plan_add(pl->out->plan, &e, path, &pos);
	if (r == 0 && !link && e.nlink > 1)
		r = scr_map_put(&pl->new_links, e.fs, e.ino, pos);
	if (r == 0 && !link && e.nlink > 1 && (e.flags & SCR_PLAN_DAMAGED))
		r = scr_map_put(&links->damaged, e.fs, e.ino, 1);
	pl->out->entries++;
	count_accepted(pl, &e);
	return r;
}

/* A further path stands for its inode, whose record is under the first. */
static int accept_owners(struct planner *pl, const struct links *links)
{
	struct scr_plan_cursor c;
	struct scr_plan_entry e;
	struct scr_buf path = {0};
	uint64_t pos;
	int r;

	scr_plan_cursor_init(&c, pl->out->plan);
	while ((r = scr_plan_next(&c, &e, &path, &pos)) == 1) {
		if (e.action != SCR_PLAN_KEEP || (e.flags & SCR_PLAN_WAS_LINK) || e.nlink < 2 ||
		    !scr_map_get(&links->wanted, e.fs, e.ino))
			continue;
		e.action = SCR_PLAN_ACCEPT;
		count_accepted(pl, &e);
		r = scr_plan_patch(pl->out->plan, pos, &e);
		if (r < 0)
			break;
	}
	scr_plan_cursor_free(&c);
	scr_buf_free(&path);
	return r;
}

int scr_plan_accept(struct scr_pass *p, scr_plan_select_fn *select, void *arg,
		    struct scr_planned *out)
{
	struct planner pl = {0};
	struct links links = {0};
	int r;

	*out = (struct scr_planned){0};
	r = scr_planner_start(&pl, p, out);
	if (r == 0)
		r = scr_unseen_keep(&out->unseen);
	while (r == 0 && (r = scr_planner_load_old(&pl)) == 0 &&
	       pl.old.type != SCR_RECORD_END)
		r = add_recorded(&pl, &links, select, arg);
	if (r == 0)
		r = scr_plan_seal(out->plan);
	if (r == 0 && links.wanted.count > 0)
		r = accept_owners(&pl, &links);
	scr_planner_free(&pl);
	scr_map_free(&links.damaged);
	scr_map_free(&links.wanted);
	if (r < 0)
		scr_trouble(p, NULL, 0, -r, "cannot plan (the plan is kept in %s)",
			    p->state.path);
	return r;
}

/* ---- the verb ---------------------------------------------------------------------------- */

static void tell_sound(struct scr_paths *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->seen[i] && !s->damaged[i])
			scr_note(s->p, "%s has no open damage: nothing to accept", s->list[i]);
}

static int read_and_publish(struct scr_pass *p, struct scr_planned *planned)
{
	struct scr_journalist j;
	int r = scr_journalist_open(&j, p);

	if (r == 0)
		r = scr_read_phase(p, planned, &j);
	if (r == 0)
		r = scr_publish_plan(p, planned, j.fd, false);
	scr_journalist_close(&j);
	return r;
}

static int accept_paths(struct scr_pass *p, struct scr_paths *paths)
{
	struct scr_planned planned = {0};
	int r = scr_parity_open(p, true);

	if (r == 0)
		r = scr_plan_accept(p, select_path, paths, &planned);
	if (r == 0) {
		scr_paths_tell_unseen(paths);
		tell_sound(paths);
		if (planned.files > 0)
			r = read_and_publish(p, &planned);
		p->sum.complete = r == 0 && p->sum.verdicts[SCR_SKIPPED] == 0;
		scr_tally_totals(p, p->published ? &p->trailer : scr_mreader_trailer(p->old));
	}
	scr_unseen_free(&planned.unseen);
	scr_plan_free(planned.plan);
	return r;
}

int scr_verb_accept(struct scr_ctx *ctx, const char *target, const char *const *paths,
		    size_t npaths, struct scr_summary *out)
{
	struct scr_paths select = {0};
	struct scr_pass p;
	int r = scr_pass_begin(&p, ctx, "accept", target, true);

	if (r == 0 && npaths == 0)
		r = scr_usage(&p, NULL, "accept needs a PATH ('.' for all files with damage)");

	if (r == 0)
		r = scr_device_guard_use(&p, true);
	if (r == 0)
		r = scr_paths_init(&select, &p, paths, npaths);
	if (r == 0) {
		r = scr_pass_open_state(&p, SCR_ACCESS_WRITE);
		if (r == -ENOENT)
			r = scr_pass_no_manifest(&p);
	}
	if (r == 0)
		r = scr_plan_guard_identity(&p);
	if (r == 0 && p.journal)
		r = scr_publish_view(&p);
	if (r == 0)
		r = scr_repair_recover(&p);
	if (r == 0)
		r = accept_paths(&p, &select);
	scr_repair_forget(&p);
	scr_paths_free(&select);
	return scr_pass_end(&p, r, out);
}
