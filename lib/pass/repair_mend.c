/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Repairing one file, extent by extent. */
#include <config.h>
#include "pass/repair_internal.h"

#include <errno.h>

#include "base/compiler.h"
#include "manifest/codec.h"
#include "pass/device.h"
#include "pass/judge.h"

static const char changed_since[] =
	"the file was changed since it was recorded: its present content is taken by run or accept";
static const char written_since[] =
	"what lies there was written since it was recorded, or nothing tells that it wasn't: the recorded content is not put over it";
static const char altered_why[] =
	"its content differs, but a tool may have written it without moving the modification time: accept it, or name it with --force";
static const char never_read[] = "it could never be read, so nothing is recorded to repair it by";
static const char too_many[] = "too many files look rotten at once";

static enum scr_relation relation(const struct scr_repair *r, const struct scr_repair_file *rf,
				  const struct scr_stamp *stamp)
{
	/* A device is judged block by block: see judge_blocks(). */
	if (r->p->device)
		return SCR_REL_SAME;
	return scr_judge(&r->p->policy, stamp, &rf->f, &rf->before, false);
}

/* ---- what must not be touched ------------------------------------------------------------ */

static const struct scr_damage_record *known(const struct scr_extent *e, uint32_t block)
{
	for (uint32_t i = 0; i < e->damage_count; i++)
		if (e->damage[i].block == block)
			return &e->damage[i];
	return NULL;
}

/* What the bad blocks of an extent of a device are, the worst of them. */
static enum scr_device_judgement judge_blocks(const struct scr_repair *r,
					      const struct scr_extent *e)
{
	enum scr_device_judgement worst = SCR_JUDGED_ROT;

	for (uint32_t i = 0; i < e->cut.blocks; i++) {
		const struct scr_damage_record *d = known(e, i);
		enum scr_device_judgement j;

		if (r->mend.state[i] == SCR_BLOCK_SOUND)
			continue;
		j = scr_device_judge(r->p, &e->cut, &e->stamp, i);
		if (d && d->kind == SCR_REC_ALTERED && j < SCR_JUDGED_WRITTEN)
			j = SCR_JUDGED_ALTERED;
		worst = SCR_MAX(worst, j);
	}
	return worst;
}

/*
 * The rules of a check: rot only if nothing but rot can have changed the content. Damage that is
 * known was judged when it was found.
 */
static bool is_altered(const struct scr_repair *r, const struct scr_repair_file *rf,
		       const struct scr_extent *e)
{
	bool lazy = r->p->fs.lazytime && e->recorded_ns < r->p->boot_ns;
	bool racy = (e->flags & SCR_EXTENT_RACY) || lazy;

	if (r->p->device)
		return judge_blocks(r, e) != SCR_JUDGED_ROT;
	if (scr_judge_difference(relation(r, rf, &e->stamp), false) != SCR_ROT)
		return true;
	for (uint32_t i = 0; i < e->cut.blocks; i++) {
		const struct scr_damage_record *d = known(e, i);

		if (r->mend.state[i] != SCR_BLOCK_SOUND &&
		    (d ? d->kind == SCR_REC_ALTERED : racy))
			return true;
	}
	return false;
}

/* Why extent @e, in which something is wrong, is left alone; NULL: it isn't. */
static const char *refusal(struct scr_repair *r, struct scr_repair_file *rf,
			   const struct scr_extent *e)
{
	bool altered = is_altered(r, rf, e);

	rf->altered |= altered;
	if (altered && !(r->force && r->named))
		return altered_why;
	if (!altered && !rf->rotten) {
		rf->rotten = true;
		r->rotten++;
	}
	if (r->rotten > 10 && r->rotten * 10 > r->looked_at && r->named && !r->force)
		return too_many;
	return NULL;
}

static int stop_mass(struct scr_repair *r)
{
	scr_trouble(r->p, NULL, 0, 0,
		    "%llu of %llu files look rotten: stopped; that is a wrong or restored disk, a tool that keeps modification times, or bad memory, rather than rot; if it is rot, use --force",
		    (unsigned long long)r->rotten, (unsigned long long)r->looked_at);
	return -ECANCELED;
}

/* ---- one extent -------------------------------------------------------------------------- */

/* The kind of damage for the undo entry. */
static uint8_t kind_of(const struct scr_repair *r, const struct scr_repair_file *rf,
		       const struct scr_extent *e)
{
	if (is_altered(r, rf, e))
		return SCR_REC_ALTERED;
	return r->mend.gaps.count ? SCR_REC_UNREADABLE : SCR_REC_ROT;
}

static int64_t since_of(const struct scr_repair *r, const struct scr_extent *e)
{
	int64_t since = scr_repair_now(r);

	for (uint32_t i = 0; i < e->damage_count; i++)
		since = SCR_MIN(since, e->damage[i].first_ns);
	return since;
}

/* Makes damaged parity anew. */
static int rebuild_parity(struct scr_repair *r, struct scr_repair_file *rf,
			  struct scr_extent *out)
{
	const struct scr_mend *m = &r->mend;
	int err = scr_segments_append(r->p->segments, m->parity, m->cut.column,
				      &out->parity_segment, &out->parity_offset);

	if (err < 0) {
		scr_trouble(r->p, NULL, 0, -err, "cannot write parity in %s", r->p->state.path);
		return err;
	}
	out->parity_length = m->cut.column;
	r->p->sum.repaired++;
	scr_repair_tell_range(r, rf, SCR_REPAIR_REBUILT, m->cut.offset, m->cut.length, NULL);
	return 0;
}

/* Damage that both checksums missed, or parity of other content: told, never repaired. */
static void tell_inconsistent(struct scr_repair *r, const struct scr_repair_file *rf)
{
	const struct scr_mend *m = &r->mend;

	if (!m->inconsistent)
		return;
	r->p->sum.parity_damaged++;
	scr_emit_damage(r->p, &(struct scr_damage){
				      .name = {(char *)rf->path.data, rf->path.len},
				      .kind = SCR_DAMAGE_PARITY,
				      .block = SCR_NO_BLOCK,
				      .offset = m->cut.offset,
				      .length = m->cut.length,
				      .size_was = -1,
				      .size_now = -1,
				      .inconsistent = true,
			      });
}

/* What is known of the extent now goes to the record. */
static int record(struct scr_repair *r, struct scr_repair_file *rf, const struct scr_extent *e,
		  uint8_t kind, int64_t since)
{
	bool rebuild = r->mend.parity_bad && r->p->header.settings.parity && !r->dry_run;
	struct scr_extent out = {0};
	int err;

	if (r->dry_run && r->mend.parity_bad)
		scr_repair_tell_range(r, rf, SCR_REPAIR_REBUILT, e->cut.offset, e->cut.length,
				      NULL);
	if (e->damage_count == 0 && r->mend.bad == 0 && r->mend.mended == 0 && !rebuild)
		return 0;
	err = scr_mend_result(r, e, kind, since, &out);
	if (err == 0 && rebuild)
		err = rebuild_parity(r, rf, &out);
	if (err == 0)
		err = scr_repair_changed(rf, &out);
	scr_extent_free(&out);
	return err;
}

static int mend_bad(struct scr_repair *r, struct scr_repair_file *rf, const struct scr_extent *e)
{
	struct scr_mend *m = &r->mend;
	uint8_t kind = kind_of(r, rf, e);
	int64_t since = since_of(r, e);
	int err;

	rf->refused = refusal(r, rf, e);
	if (!rf->refused) {
		err = scr_mend_fix(r, rf, e);
		if (err == 0)
			err = scr_mend_plan(rf, m);
		if (err == 0 && m->run_count > 0 && !r->dry_run)
			err = scr_mend_apply(r, rf, kind, since);
		if (err < 0 && err != -EREMCHG)
			return err;
		if (!r->dry_run)
			r->p->sum.repaired += m->mended;
	}
	scr_repair_tell(r, rf);
	tell_inconsistent(r, rf);
	rf->told |= rf->refused != NULL;
	if (rf->refused == too_many)
		return stop_mass(r);
	/* What it had before, if it was not known yet. */
	return record(r, rf, e, kind == SCR_REC_ALTERED ? SCR_REC_ALTERED : SCR_REC_ROT, since);
}

static int mend_sound(struct scr_repair *r, struct scr_repair_file *rf,
		      const struct scr_extent *e)
{
	int err = 0;

	if (r->named || e->damage_count)
		err = scr_mend_fix(r, rf, e);
	if (err < 0)
		return err;
	tell_inconsistent(r, rf);
	if (e->damage_count)
		scr_repair_tell_range(r, rf, SCR_REPAIR_SOUND, e->cut.offset, e->cut.length, NULL);
	return record(r, rf, e, SCR_REC_ROT, 0);
}

static int mend_extent(struct scr_repair *r, struct scr_repair_file *rf,
		       const struct scr_extent *e)
{
	int err;

	if (e->flags & SCR_EXTENT_UNRECORDED) {
		scr_repair_tell_range(r, rf, SCR_REPAIR_NOT, e->cut.offset, e->cut.length,
				      never_read);
		return 0;
	}
	if (relation(r, rf, &e->stamp) == SCR_REL_MTIME) {
		rf->refused = changed_since;
		return 0;
	}
	err = scr_mend_load(r, rf, e);
	if (err < 0)
		return err;
	if (r->p->device && r->mend.bad && judge_blocks(r, e) >= SCR_JUDGED_WRITTEN) {
		scr_repair_tell_range(r, rf, SCR_REPAIR_NOT, e->cut.offset, e->cut.length,
				      written_since);
		return 0;
	}
	return r->mend.bad ? mend_bad(r, rf, e) : mend_sound(r, rf, e);
}

/* ---- one file ---------------------------------------------------------------------------- */

static bool is_cut_off(const struct scr_repair_file *rf, const struct scr_extent *e)
{
	return e->cut.offset + e->run_length > (uint64_t)rf->before.st_size;
}

static bool is_due(const struct scr_repair *r, const struct scr_repair_file *rf,
		   const struct scr_extent *e)
{
	/* What a device does not have can't be put on it. */
	if (r->p->device && is_cut_off(rf, e))
		return false;
	return r->named || e->damage_count > 0 || is_cut_off(rf, e);
}

/* A run of holes, as single extents; one that still is a hole needs no reading. */
static int mend_run(struct scr_repair *r, struct scr_repair_file *rf, const struct scr_extent *run)
{
	const struct scr_geometry *g = &r->p->header.settings.geometry;
	int err = 0;

	scr_reader_attach(r->k.reader, rf->fd, SCR_READ_CHECK);
	if (!run->damage_count &&
	    scr_reader_hole(r->k.reader, run->cut.offset, run->run_length) == run->run_length)
		return 0;
	for (uint64_t i = run->cut.index; err == 0 && i < run->cut.index + run->run; i++) {
		struct scr_extent e = *run;

		if (scr_pass_stopped(r->p))
			return -EINTR;
		scr_extent_narrow(&e, g, rf->f.stamp.size, i, i + 1);
		err = mend_extent(r, rf, &e);
	}
	return err;
}

static int mend_extents(struct scr_repair *r, struct scr_repair_file *rf)
{
	struct scr_extent e = {0};
	int err = 0;

	while (err == 0 && !rf->refused && !r->broken &&
	       (err = scr_repair_next_extent(r, rf, &e)) == 1) {
		if (scr_pass_stopped(r->p))
			err = -EINTR;
		else if (!is_due(r, rf, &e))
			err = 0;
		else
			err = e.run > 1 ? mend_run(r, rf, &e) : mend_extent(r, rf, &e);
		/* One extent that is left alone doesn't keep the others from being looked at. */
		if (rf->refused == altered_why)
			rf->refused = NULL;
	}
	scr_extent_free(&e);
	return err;
}

static int mend_size(struct scr_repair *r, struct scr_repair_file *rf)
{
	uint64_t was = (uint64_t)rf->before.st_size, want = rf->f.stamp.size;
	bool altered = rf->f.damage.kind == SCR_REC_ALTERED ||
		       relation(r, rf, &rf->f.stamp) == SCR_REL_CTIME;
	int err = 0;

	if (was == want || rf->refused)
		return 0;
	if (r->p->device) {
		if (was < want)
			scr_repair_tell_file(r, rf, SCR_REPAIR_NOT,
					     "the device is smaller than it was: what is missing can be restored to a device of that size alone");
		return 0;
	}
	if (altered && !(r->force && r->named))
		rf->refused = altered_why;
	else if (was > want && !r->dry_run)
		err = scr_repair_cut(r, rf);
	if (err < 0 && err != -EREMCHG)
		return err;
	if (rf->refused) {
		scr_repair_tell_file(r, rf, SCR_REPAIR_NOT, rf->refused);
		rf->refused = NULL;
		return 0;
	}
	if (r->dry_run ? rf->no_growth : (uint64_t)rf->now.st_size != want) {
		scr_repair_tell_file(r, rf, SCR_REPAIR_NOT,
				     "the end of the file is lost, so it can't get its size back");
		return 0;
	}
	r->p->sum.repaired += !r->dry_run;
	scr_repair_tell_file(r, rf, SCR_REPAIR_SIZE, NULL);
	return 0;
}

static const char *why_not_file(const struct scr_repair *r, const struct scr_repair_file *rf)
{
	if (relation(r, rf, &rf->f.stamp) == SCR_REL_MTIME)
		return changed_since;
	return NULL;
}

/* What can't be read for another reason than the medium is trouble of this file alone. */
static int pass_over(struct scr_repair *r, struct scr_repair_file *rf, int err)
{
	if (err == 0 || scr_pass_interrupted(r->p, err) || err == -ENOMEM || err == -ECANCELED || r->broken)
		return err;
	scr_trouble(r->p, (char *)rf->path.data, rf->path.len, -err, "cannot check the file");
	return 0;
}

int scr_repair_mend_file(struct scr_repair *r, struct scr_repair_file *rf)
{
	int err = scr_repair_open_file(r, rf), closed;

	if (err < 0)
		return err;
	r->looked_at++;
	if (!rf->refused)
		rf->refused = why_not_file(r, rf);
	if (rf->refused) {
		scr_repair_tell_file(r, rf, SCR_REPAIR_NOT, rf->refused);
		return 0;
	}
	rf->renew = true;
	err = pass_over(r, rf, mend_extents(r, rf));
	if (rf->refused && !rf->told)
		scr_repair_tell_file(r, rf, SCR_REPAIR_NOT, rf->refused);
	if (err == 0)
		err = pass_over(r, rf, mend_size(r, rf));
	/* What was done counts even when the rest was not. */
	closed = scr_repair_close_file(r, rf);
	return err < 0 ? err : closed;
}
