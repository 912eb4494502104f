/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* init and run: THE pass.
 *
 *	open the state, or create it where there is none and something to record
 *	fold in the journal of a pass that was stopped
 *	PLAN, guards
 *	READ, journalled
 *	PUBLISH
 */
#include <config.h>
#include "pass/verbs.h"

#include <errno.h>

#include "pass/device.h"
#include "pass/limit.h"
#include "pass/parity.h"
#include "pass/publish.h"
#include "pass/readphase.h"
#include "pass/repair.h"
#include "pass/space.h"
#include "pass/tally.h"
#include "walk/walk.h"

/* ---- state ------------------------------------------------------------------------------- */

static bool exclude(void *arg, const char *path, size_t len, bool is_dir)
{
	const struct scr_policy *policy = arg;

	return scr_filter_match(policy->exclude, path, len, is_dir);
}

/* Whether there is anything to record: 1, 0, -errno. */
static int any_file(struct scr_pass *p)
{
	struct scr_walk_options o = {
		.cross_mounts = p->policy.cross_mounts,
		.exclude = exclude,
		.arg = &p->policy,
	};
	struct scr_walk_entry e;
	struct scr_walk *w;
	int r;

	if (p->kind != SCR_TARGET_DIR)
		return 1;
	r = scr_walk_new(p->rootfd, &o, &w);
	if (r < 0)
		return r;
	do {
		r = scr_walk_next(w, &e);
	} while (r == 0 && e.type != SCR_WALK_FILE && e.type != SCR_WALK_END);
	scr_walk_free(w);
	return r < 0 ? r : e.type == SCR_WALK_FILE;
}

static int create_state(struct scr_pass *p)
{
	int r;

	if (p->ctx->opt.existing || p->ctx->opt.from_previous)
		return scr_pass_no_manifest(p);
	r = scr_pass_prepare_new(p);
	if (r < 0)
		return r;
	r = any_file(p);
	if (r == 0) {
		scr_trouble(p, NULL, 0, 0,
			    "there is no manifest and nothing to record: is the disk mounted? ('init' makes an empty manifest)");
		return -ENOENT;
	}
	return r < 0 ? r : scr_pass_create_state(p);
}

/* Settings are for a first pass; also for one after a first that recorded nothing, perhaps because
 * it was refused for want of room and said which settings would help. */
static int take_settings(struct scr_pass *p)
{
	const char *const *s = p->ctx->opt.settings;
	int r;

	if (!s || !*s)
		return 0;
	if (scr_mreader_trailer(p->old)->files == 0 && !p->journal) {
		r = scr_pass_apply_options(p);
		return r < 0 ? r : scr_publish_view(p);
	}
	return scr_usage(p, NULL,
			 "the target has its settings already; '%s' is for a first run: use 'config' to change it",
			 *s);
}

/* The state, ready for a pass: what a stopped pass left is folded in first. */
static int open_state(struct scr_pass *p)
{
	int r = scr_pass_open_state(p, SCR_ACCESS_WRITE);

	if (r == -ENOENT)
		return create_state(p);
	if (r == 0)
		r = take_settings(p);
	if (r == 0 && p->journal) {
		scr_note(p, "going on from a pass that was stopped");
		r = scr_publish_view(p);
	}
	return r;
}

/* ---- the pass ---------------------------------------------------------------------------- */

/* What the manifest says now, whatever became of this pass. */
static void total(struct scr_pass *p, int r)
{
	uint64_t blocks = p->sum.blocks_damaged, files = p->sum.files_damaged;

	if (p->published && r == 0) {
		scr_tally_totals(p, &p->trailer);
	} else if (p->old) {
		scr_tally_totals(p, scr_mreader_trailer(p->old));
	}
	p->sum.oldest_check_ns = p->published && r == 0 ? p->trailer.oldest_check_ns : 0;
	/* What was found and could not be published, or has no record, is open too. */
	if (r < 0 || p->sum.files_damaged == 0) {
		p->sum.blocks_damaged = SCR_MAX(blocks, p->sum.blocks_damaged);
		p->sum.files_damaged = SCR_MAX(files, p->sum.files_damaged);
	}
}

static int read_and_publish(struct scr_pass *p, struct scr_planned *planned)
{
	struct scr_journalist j;
	int r = scr_journalist_open(&j, p);

	p->historic = true;
	if (r == 0)
		r = scr_read_phase(p, planned, &j);
	if (r == 0 && p->limit)
		scr_limit_tell(p->limit);
	/* Where not one file was there to read, nothing has shown that the device is. */
	if (r == 0)
		scr_unseen_settle(p, &planned->unseen, p->sum.bytes_read > 0);
	if (r == 0)
		r = scr_tally(p, planned);
	if (r == 0) {
		bool complete = p->sum.trouble == 0 && p->sum.verdicts[SCR_SKIPPED] == 0 &&
				!p->sum.limited;

		p->sum.complete = complete;
		r = scr_publish_plan(p, planned, j.fd, complete);
	}
	if (r < 0)
		p->sum.complete = false;
	scr_journalist_close(&j);
	return r;
}

/*
 * The plan; a file system met for the first time gets its place in the manifest before any journal
 * refers to it.
 */
static int plan(struct scr_pass *p, struct scr_planned *planned)
{
	int r = scr_plan_run(p, planned);

	if (r == 0)
		r = scr_plan_guards(p, planned); /* before anything is written */
	if (r < 0 || p->header.identity_count == scr_mreader_header(p->old)->identity_count)
		return r;
	scr_plan_free(planned->plan);
	planned->plan = NULL;
	r = scr_publish_view(p);
	if (r == 0)
		r = scr_plan_run(p, planned);
	return r < 0 ? r : scr_plan_guards(p, planned);
}

static int limit(struct scr_pass *p, const struct scr_planned *planned)
{
	int r = scr_limit_new(p, planned, &p->limit);

	if (r < 0 && r != -EINTR)
		scr_trouble(p, NULL, 0, -r, "cannot read plan or manifest in %s", p->state.path);
	return r;
}

static int pass(struct scr_pass *p)
{
	struct scr_planned planned = {0};
	int r;

	p->sum.first = scr_mreader_trailer(p->old)->files == 0;
	r = scr_space_probe(p);
	if (r == 0)
		r = scr_plan_guard_identity(p);
	if (r == 0)
		r = scr_repair_recover(p);
	if (r == 0)
		r = scr_parity_open(p, true);
	if (r == 0)
		r = plan(p, &planned);
	if (r == 0 && scr_limit_wanted(&p->ctx->opt))
		r = limit(p, &planned);
	if (r == 0)
		r = scr_parity_check_space(p, &planned);
	if (r == 0)
		r = scr_space_check(p, &planned);
	if (r == 0)
		r = read_and_publish(p, &planned);
	if (r == 0) {
		scr_device_tell_limits(p);
		scr_device_tell_owners(p);
	}
	scr_unseen_settle(p, &planned.unseen, false);
	scr_limit_free(p->limit);
	p->limit = NULL;
	scr_unseen_free(&planned.unseen);
	scr_plan_free(planned.plan);
	total(p, r);
	if (r == 0 && p->ctx->opt.repair && (p->sum.blocks_damaged || p->sum.files_damaged))
		r = scr_repair_after_run(p);
	return r;
}

int scr_verb_run(struct scr_ctx *ctx, const char *target, struct scr_summary *out)
{
	struct scr_pass p;
	int r = scr_pass_begin(&p, ctx, "run", target, true);

	if (r == 0)
		r = scr_device_guard_use(&p, false);
	if (r == 0)
		r = open_state(&p);
	if (r == 0)
		r = pass(&p);
	scr_repair_forget(&p);
	return scr_pass_end(&p, r, out);
}

int scr_verb_init(struct scr_ctx *ctx, const char *target, struct scr_summary *out)
{
	struct scr_pass p;
	int r = scr_pass_begin(&p, ctx, "init", target, true);

	if (r == 0) {
		r = scr_pass_open_state(&p, SCR_ACCESS_WRITE);
		if (r == 0) {
			scr_trouble(&p, NULL, 0, 0,
				    "there is a manifest already in %s; 'config' changes its settings",
				    p.state.path);
			r = -EEXIST;
		} else if (r == -ENOENT) {
			r = scr_pass_prepare_new(&p);
			if (r == 0)
				r = scr_pass_create_state(&p);
		}
	}
	return scr_pass_end(&p, r, out);
}
