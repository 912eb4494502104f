/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parity of extents in a pass: stored with what is recorded, checked with what is compared. */
#include <config.h>
#include "pass/parity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "fold/fold.h"
#include "pass/limit.h"

/* Less than this is not worth a word. */
#define WORTH_SAYING (UINT64_C(1) << 20)
/* Kept free on the file system of the state: the smaller of this and a twentieth. */
#define KEEP_FREE (UINT64_C(1) << 30)

/* ---- the store --------------------------------------------------------------------------- */

static uint32_t highest_segment(const struct scr_pass *p)
{
	const struct scr_trailer *t = scr_mreader_trailer(p->old);
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->segment_count; i++)
		n = SCR_MAX(n, t->segments[i].segment);
	return n;
}

int scr_parity_open(struct scr_pass *p, bool write)
{
	struct scr_why why = {""};
	int r;

	if (p->segments || p->state.dirfd < 0)
		return 0;
	r = scr_segments_open(&p->state, !write, &p->segments, &why);
	if (r == 0 && p->ctx->reader_ops)
		scr_segments_set_reader(p->segments, p->ctx->reader_ops);
	if (r == 0 && p->ctx->opt.cached)
		scr_segments_set_cached(p->segments);
	if (r == 0 && write) {
		r = scr_segments_collect(p->segments, scr_mreader_trailer(p->old));
		if (r == 0 && p->header.settings.parity)
			r = scr_segments_write(p->segments, highest_segment(p), &why);
	}
	if (r < 0)
		scr_trouble(p, NULL, 0, r == -EPERM ? 0 : -r, "cannot use the parity store in %s%s%s",
			    p->state.path, *why.text ? ": " : "", why.text);
	return r;
}

uint64_t scr_parity_estimate(const struct scr_geometry *g, uint64_t size, uint64_t allocated)
{
	uint64_t n = scr_extent_count(size), bytes;
	struct scr_cut last;

	if (n == 0)
		return 0;
	last = scr_cut_extent(g, size, n - 1);
	bytes = last.column;
	if (n > 1)
		bytes += (n - 1) * scr_cut_extent(g, size, 0).column;
	return SCR_MIN(bytes, allocated);
}

static void human(char *out, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double v = (double)bytes;
	unsigned int u = 0;

	for (; v >= 1024 && u + 1 < SCR_ARRAY_SIZE(units); u++)
		v /= 1024;
	snprintf(out, size, u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

static bool beside_data(const struct scr_pass *p, const struct scr_fs_info *state)
{
	const struct scr_fs_info *data = &p->fs;

	return scr_fs_same(data->type, data->uuid, data->subvol, data->fsid, state);
}

/* Of each queue an extent is read, whatever the limit; the last may be two. */
uint64_t scr_parity_needed(const struct scr_pass *p, const struct scr_planned *planned)
{
	uint64_t part, all = planned->parity_bytes;

	if (!p->limit || p->kind == SCR_TARGET_DIR || p->limit->all == 0)
		return all;
	part = SCR_MIN(scr_limit_total(p->limit), p->limit->all) +
	       (uint64_t)SCR_QUEUES * SCR_EXTENT_LIMIT;
	return SCR_MIN(all, (uint64_t)((double)all * ((double)part / (double)p->limit->all)));
}

int scr_parity_check_space(struct scr_pass *p, const struct scr_planned *planned)
{
	uint64_t need = scr_parity_needed(p, planned), used = 0, available = 0, keep;
	char needs[32], frees[32];
	struct scr_fs_info fs;
	int r;

	if (!p->header.settings.parity || need == 0)
		return 0;
	r = scr_segments_usage(p->segments, &used, &available);
	if (r == 0)
		r = scr_fs_info(p->state.dirfd, &fs);
	if (r < 0) {
		scr_trouble(p, NULL, 0, -r, "cannot tell how much is free in %s", p->state.path);
		return r;
	}
	keep = SCR_MIN(KEEP_FREE, fs.total / 20);
	human(needs, sizeof(needs), need);
	human(frees, sizeof(frees), available);
	if (available < need || available - need < keep) {
		scr_trouble(p, NULL, 0, ENOSPC,
			    "parity needs up to %s in %s, where %s are free: nothing was read; use --state DIR on another disk, a first run with --parity=N (fewer bytes with larger N) or --no-parity",
			    needs, p->state.path, frees);
		return -ENOSPC;
	}
	if (need < WORTH_SAYING)
		return 0;
	scr_note(p, "parity: up to %s will be written to %s (%s free)", needs, p->state.path, frees);
	if (p->sum.first && beside_data(p, &fs))
		scr_note(p, "parity on the disk of the data repairs rot and bad sectors, not a lost disk");
	return 0;
}

void scr_parity_status(struct scr_pass *p, struct scr_status *s)
{
	struct scr_fs_info fs;
	uint64_t available;

	if (p->state.dirfd < 0 || scr_fs_info(p->state.dirfd, &fs) < 0)
		return;
	s->state_free = fs.available;
	s->state_beside_data = beside_data(p, &fs);
	if (scr_parity_open(p, false) == 0)
		scr_segments_usage(p->segments, &s->parity_stored, &available);
}

/* ---- storing ----------------------------------------------------------------------------- */

static bool all_zero(const uint8_t *p, size_t len)
{
	return len == 0 || (p[0] == 0 && memcmp(p, p + 1, len - 1) == 0);
}

static uint32_t parity_block_length(const struct scr_cut *cut, uint32_t i)
{
	return SCR_MIN(cut->block, cut->column - i * cut->block);
}

/* Both checksums of each block of @parity into @out. */
static void check_parity(const struct scr_kernels *k, const struct scr_cut *cut,
			 const uint8_t *parity, struct scr_check *out)
{
	for (uint32_t i = 0; i < cut->parity_blocks; i++)
		out[i] = scr_check_bytes(k, parity + (size_t)i * cut->block,
					 parity_block_length(cut, i));
}

/*
 * The CRC is affine: that of a parity block is the XOR of those above it, and of that of zeros if
 * their number is even. Free, and proof that the kernels saw the same bytes. Extents of whole
 * blocks and columns only.
 */
static bool crcs_belong_together(const struct scr_content *c, const struct scr_check *parity)
{
	const struct scr_cut *cut = &c->cut;
	uint32_t columns = scr_fold_columns(cut), per = cut->column / cut->block;
	uint32_t zeros;

	if (cut->length % cut->column || cut->column % cut->block)
		return true;
	zeros = columns % 2 == 0 ? scr_check_zeros(cut->block).crc : 0;
	for (uint32_t i = 0; i < per; i++) {
		uint32_t crc = parity[i].crc ^ zeros;

		for (uint32_t j = 0; j < columns; j++)
			crc ^= c->checks[j * per + i].crc;
		if (crc != 0)
			return false;
	}
	return true;
}

/* It ends the pass: nothing else could be recorded. */
static int say_write_error(struct scr_worker *k, int r)
{
	k->store_failed = true;
	scr_trouble(k->p, NULL, 0, -r, "cannot write parity in %s; what was finished before is kept",
		    k->p->state.path);
	return r;
}

/* In place of a segment, of parity that is in k->pending: its offset is counted in there. */
#define PENDING UINT32_MAX
/* More than this is written at once. */
#define PENDING_MAX (64u << 10)

static void place(struct scr_extent *e, uint32_t count, uint32_t segment, uint64_t offset)
{
	for (uint32_t i = 0; i < count; i++) {
		if (e[i].parity_segment != PENDING)
			continue;
		e[i].parity_segment = segment;
		e[i].parity_offset += offset;
	}
}

static void place_all(struct scr_worker *k, uint32_t segment, uint64_t offset)
{
	for (unsigned int i = 0; i < k->held_count; i++)
		place(k->held[i].results, k->held[i].count, segment, offset);
	place(k->results, k->result_count, segment, offset);
}

/* Appends what is pending of these results, each by itself. */
static int append_each(struct scr_worker *k, struct scr_extent *e, uint32_t count)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < count; i++) {
		uint32_t segment;
		uint64_t offset;

		if (e[i].parity_segment != PENDING)
			continue;
		r = scr_segments_append(k->p->segments, k->pending.data + e[i].parity_offset,
					e[i].parity_length, &segment, &offset);
		if (r < 0)
			break;
		e[i].parity_segment = segment;
		e[i].parity_offset = offset;
	}
	return r;
}

/* All of it together did not go: as much as there is room for, file by file, does. */
static int append_some(struct scr_worker *k)
{
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < k->held_count; i++)
		r = append_each(k, k->held[i].results, k->held[i].count);
	return r < 0 ? r : append_each(k, k->results, k->result_count);
}

int scr_worker_flush_parity(struct scr_worker *k)
{
	uint32_t segment;
	uint64_t offset;
	int r;

	if (k->pending.len == 0)
		return 0;
	r = scr_segments_append(k->p->segments, k->pending.data, (uint32_t)k->pending.len, &segment,
				&offset);
	if (r == 0)
		place_all(k, segment, offset);
	else
		r = append_some(k);
	scr_buf_clear(&k->pending);
	return r < 0 ? say_write_error(k, r) : 0;
}

bool scr_worker_lacks_parity(const struct scr_worker *k)
{
	for (uint32_t i = 0; i < k->result_count; i++)
		if (k->results[i].parity_segment == PENDING)
			return true;
	return false;
}

/* Sets the parity of a small file aside. */
static int append_later(struct scr_worker *k, struct scr_extent *out)
{
	out->parity_segment = PENDING;
	out->parity_offset = k->pending.len;
	return scr_buf_append(&k->pending, k->content.fold, out->parity_length);
}

static int append(struct scr_worker *k, struct scr_work *w, struct scr_extent *out)
{
	out->parity_length = out->cut.column;
	if (w->whole && out->parity_length <= PENDING_MAX)
		return append_later(k, out);
	return scr_segments_append(k->p->segments, k->content.fold, out->parity_length,
				   &out->parity_segment, &out->parity_offset);
}

static void forget(struct scr_extent *out)
{
	free(out->parity_checks);
	out->parity_checks = NULL;
	out->parity_segment = out->parity_length = 0;
	out->parity_offset = 0;
	out->flags &= ~(uint32_t)SCR_EXTENT_PARITY_ZERO;
}

int scr_parity_store(struct scr_worker *k, struct scr_work *w, struct scr_extent *out)
{
	struct scr_content *c = &k->content;
	int r;

	forget(out);
	if (!k->p->header.settings.parity || out->hole || !c->folded)
		return 0;
	if (all_zero(c->fold, out->cut.column)) {
		out->flags |= SCR_EXTENT_PARITY_ZERO;
		return 0;
	}
	out->parity_checks = malloc(out->cut.parity_blocks * sizeof(*out->parity_checks));
	if (!out->parity_checks)
		return -ENOMEM;
	scr_gate_enter(k->gate);
	check_parity(k->kernels, &out->cut, c->fold, out->parity_checks);
	scr_gate_leave(k->gate);
	if (!crcs_belong_together(c, out->parity_checks)) {
		forget(out);
		return -EBADMSG;
	}
	r = append(k, w, out);
	if (r < 0) {
		forget(out);
		return say_write_error(k, r);
	}
	return 0;
}

/* ---- checking ---------------------------------------------------------------------------- */

static void tell(struct scr_work *w, const struct scr_extent *base, bool repaired,
		 bool inconsistent)
{
	scr_emit_damage(w->p, &(struct scr_damage){
				      .name = {(char *)w->path.data, w->path.len},
				      .kind = SCR_DAMAGE_PARITY,
				      .block = SCR_NO_BLOCK,
				      .offset = base->cut.offset,
				      .length = base->cut.length,
				      .size_was = -1,
				      .size_now = -1,
				      .repaired = repaired,
				      .inconsistent = inconsistent,
			      });
	pthread_mutex_lock(&w->p->ctx->lock);
	w->p->sum.repaired += repaired;
	w->p->sum.parity_damaged += !repaired;
	pthread_mutex_unlock(&w->p->ctx->lock);
}

/* Parity blocks that are looked at together, in bytes, if they are no longer than that. */
#define STEP (256u << 10)

/* Whether blocks @first to @end of the parity of @base, at @p, are as recorded. */
static bool blocks_sound(const struct scr_kernels *k, const struct scr_extent *base, uint32_t first,
			 uint32_t end, const uint8_t *p)
{
	for (uint32_t i = first; i < end; i++) {
		uint32_t len = parity_block_length(&base->cut, i);

		if (!scr_check_equal(scr_check_bytes(k, p, len), base->parity_checks[i]))
			return false;
		p += len;
	}
	return true;
}

/* Bytes [at, at+len) of the stored parity of @base. 1 and *p, 0 if they can't be read, -errno. */
static int read_stored(struct scr_worker *k, const struct scr_extent *base, uint32_t at,
		       uint32_t len, bool ahead, const uint8_t **p)
{
	struct scr_parity_gap gap;
	unsigned int ngaps = 0;
	int r = 0;

	if (ahead)
		r = scr_segments_look(k->p->segments, &k->window, k->ahead, base->parity_segment,
				      base->parity_offset + at, len, p);
	if (r != 0)
		return r;
	scr_buf_clear(&k->parity);
	r = scr_buf_reserve(&k->parity, len);
	if (r == 0)
		r = scr_segments_read(k->p->segments, base->parity_segment,
				      base->parity_offset + at, k->parity.data, len, &gap, 1,
				      &ngaps);
	*p = k->parity.data;
	return r < 0 ? r : ngaps == 0;
}

/*
 * Whether the stored parity of @base is what its record says. 1, 0, -errno. *same receives whether
 * it is the fold too: its checksums can miss what those of the data missed.
 */
static int compare_stored(struct scr_worker *k, const struct scr_extent *base, bool ahead,
			  bool *same)
{
	const struct scr_cut *cut = &base->cut;
	const uint32_t step = SCR_MAX(STEP / cut->block, 1u);
	int r = 1;

	*same = true;
	for (uint32_t i = 0; r == 1 && i < cut->parity_blocks; i += step) {
		uint32_t end = SCR_MIN(i + step, cut->parity_blocks), at = i * cut->block;
		uint32_t len = SCR_MIN(end * cut->block, base->parity_length) - at;
		const uint8_t *p;

		r = read_stored(k, base, at, len, ahead, &p);
		if (r != 1)
			break;
		scr_gate_enter(k->gate);
		r = blocks_sound(k->kernels, base, i, end, p);
		*same = *same && memcmp(p, k->content.fold + at, len) == 0;
		scr_gate_leave(k->gate);
	}
	return r;
}

/* The same; what was read ahead is not believed when it speaks of damage. */
static int stored_is_sound(struct scr_worker *k, const struct scr_extent *base, bool *same)
{
	int r = compare_stored(k, base, true, same);

	return r == 1 && *same ? 1 : compare_stored(k, base, false, same);
}

/* Stored parity that is damaged, over sound data: a run writes it anew. */
static int rebuild(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
		   struct scr_extent *out)
{
	int r = 0;

	if (out && k->p->header.settings.parity)
		r = append(k, w, out);
	if (r < 0)
		return say_write_error(k, r);
	tell(w, base, out && k->p->header.settings.parity, false);
	return 0;
}

static int check_stored(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
			struct scr_extent *out)
{
	bool sound, same;
	int r = stored_is_sound(k, base, &same);

	if (r < 0)
		return r;
	/* Equal to the fold and as recorded: nothing is left to be asked of the fold. */
	if (r == 1 && same)
		return 0;
	scr_gate_enter(k->gate);
	sound = blocks_sound(k->kernels, base, 0, base->cut.parity_blocks, k->content.fold);
	scr_gate_leave(k->gate);
	/* All blocks check, and yet the fold is another one than recorded: or than stored. */
	if (sound && r == 0)
		return rebuild(k, w, base, out);
	tell(w, base, false, true);
	return 0;
}

int scr_parity_check(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
		     struct scr_extent *out)
{
	struct scr_content *c = &k->content;

	if (!k->p->segments || !c->folded || base->hole)
		return 0;
	if (base->parity_segment)
		return check_stored(k, w, base, out);
	if (base->flags & SCR_EXTENT_PARITY_ZERO) {
		if (!all_zero(c->fold, base->cut.column))
			tell(w, base, false, true);
		return 0;
	}
	return out ? scr_parity_store(k, w, out) : 0;
}

/* ---- collecting -------------------------------------------------------------------------- */

bool scr_parity_is_sparse(const struct scr_pass *p, uint32_t n)
{
	const struct scr_trailer *t = scr_mreader_trailer(p->old);

	if (!p->segments || !p->header.settings.parity)
		return false;
	for (uint32_t i = 0; i < t->segment_count; i++)
		if (t->segments[i].segment == n)
			return t->segments[i].live < scr_segments_size(p->segments, n) / 2;
	return false;
}

int scr_parity_compact(struct scr_pass *p, struct scr_extent *e)
{
	struct scr_parity_gap gap;
	unsigned int ngaps = 0;
	uint32_t segment;
	uint64_t offset;
	uint8_t *copy;
	int r;

	if (!e->parity_segment || !scr_parity_is_sparse(p, e->parity_segment))
		return 0;
	copy = malloc(e->parity_length);
	if (!copy)
		return -ENOMEM;
	r = scr_segments_read(p->segments, e->parity_segment, e->parity_offset, copy,
			      e->parity_length, &gap, 1, &ngaps);
	/* What can't be read stays where it is, for the next check to rebuild. */
	if (r == 0 && ngaps == 0) {
		r = scr_segments_append(p->segments, copy, e->parity_length, &segment, &offset);
		if (r == 0) {
			e->parity_segment = segment;
			e->parity_offset = offset;
		}
	}
	free(copy);
	return r;
}
