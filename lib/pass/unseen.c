/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Medium errors of the walk: a list in memory, one entry after another, each with its path and a
 * NUL behind it.
 */
#include <config.h>
#include "pass/unseen.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "io/reader.h"
#include "pass/pass.h"
#include "walk/look.h"

/* ---- lists ------------------------------------------------------------------------------- */

struct entry {
	int64_t first_ns, last_ns;
	int err;
	uint32_t len;
	bool is_dir, claimed;
};

static int append(struct scr_buf *list, const struct scr_unseen_place *place)
{
	struct entry e = {
		.first_ns = place->first_ns,
		.last_ns = place->last_ns,
		.err = place->err,
		.len = (uint32_t)place->len,
		.is_dir = place->is_dir,
		.claimed = place->claimed,
	};
	size_t was = list->len;
	int r;

	/* No record could hold its path, as for a file. */
	if (place->len > SCR_PATH_LIMIT)
		e.claimed = true;
	r = scr_buf_append(list, &e, sizeof(e));
	if (r == 0)
		r = scr_buf_append(list, place->path, place->len);
	if (r == 0)
		r = scr_buf_append(list, "", 1);
	if (r < 0)
		list->len = was;
	return r;
}

static bool next_of(const struct scr_buf *list, size_t *pos, struct scr_unseen_place *out)
{
	struct entry e;

	if (*pos >= list->len)
		return false;
	memcpy(&e, list->data + *pos, sizeof(e));
	*out = (struct scr_unseen_place){
		.path = (char *)list->data + *pos + sizeof(e),
		.len = e.len,
		.first_ns = e.first_ns,
		.last_ns = e.last_ns,
		.err = e.err,
		.is_dir = e.is_dir,
		.claimed = e.claimed,
	};
	*pos += sizeof(e) + e.len + 1;
	return true;
}

/* Overwrites what is not the path of the entry at @pos. */
static void patch(struct scr_buf *list, size_t pos, const struct scr_unseen_place *place)
{
	struct entry e;

	memcpy(&e, list->data + pos, sizeof(e));
	e.first_ns = place->first_ns;
	e.last_ns = place->last_ns;
	e.claimed = place->claimed;
	memcpy(list->data + pos, &e, sizeof(e));
}

bool scr_unseen_next(const struct scr_unseen *u, size_t *pos, struct scr_unseen_place *out)
{
	return next_of(&u->list, pos, out);
}

void scr_unseen_free(struct scr_unseen *u)
{
	scr_buf_free(&u->list);
	scr_buf_free(&u->old);
	scr_buf_free(&u->hidden);
	*u = (struct scr_unseen){0};
}

/* ---- planning ---------------------------------------------------------------------------- */

int scr_unseen_start(struct scr_unseen *u, struct scr_mreader *old)
{
	struct scr_unseen_record rec;
	int r = 0;

	scr_unseen_free(u);
	while (old && r == 0 && (r = scr_mreader_unseen(old, &rec)) == 1)
		r = append(&u->old, &(struct scr_unseen_place){
					    .path = rec.path,
					    .len = rec.path_len,
					    .first_ns = rec.first_ns,
					    .last_ns = rec.last_ns,
					    .is_dir = rec.is_dir,
				    });
	return r;
}

static bool is_hidden(const struct scr_unseen *u, const struct scr_unseen_place *place)
{
	return u->hidden.len > 0 && scr_path_covers((char *)u->hidden.data, u->hidden.len,
						    place->path, place->len);
}

/* Recorded places before @path (NULL: all of them): those that are hidden stay. */
static int pass_by(struct scr_unseen *u, const char *path, size_t len)
{
	struct scr_unseen_place old;
	size_t pos = u->old_at;
	int r = 0;

	while (r == 0 && next_of(&u->old, &pos, &old)) {
		if (path && scr_place_cmp(old.path, old.len, path, len) >= 0)
			break;
		if (is_hidden(u, &old))
			r = append(&u->list, &old);
		u->old_at = pos;
	}
	return r;
}

/* The recorded place @path itself, if there is one, which is passed by. */
static bool take_old(struct scr_unseen *u, const char *path, size_t len,
		     struct scr_unseen_place *old)
{
	size_t pos = u->old_at;

	if (!next_of(&u->old, &pos, old) || scr_place_cmp(old->path, old->len, path, len) != 0)
		return false;
	u->old_at = pos;
	return true;
}

static int hide(struct scr_unseen *u, const char *path, size_t len)
{
	if (u->hidden.len > 0 &&
	    scr_path_covers((char *)u->hidden.data, u->hidden.len, path, len))
		return 0;
	scr_buf_clear(&u->hidden);
	return scr_buf_append(&u->hidden, path, len);
}

int scr_unseen_note(struct scr_unseen *u, const char *path, size_t len, bool is_dir, int err)
{
	struct scr_unseen_place place = {.path = path, .len = len, .is_dir = is_dir, .err = err};
	struct scr_unseen_place old;
	bool medium = scr_errno_is_medium(err), known;
	int r = pass_by(u, path, len);

	if (r < 0)
		return r;
	known = take_old(u, path, len, &old);
	if (medium && known)
		place.first_ns = old.first_ns;
	if (medium || known)
		r = append(&u->list, medium ? &place : &old);
	return r < 0 ? r : hide(u, path, len);
}

int scr_unseen_walked(struct scr_unseen *u)
{
	return pass_by(u, NULL, 0);
}

int scr_unseen_keep(struct scr_unseen *u)
{
	int r = hide(u, ".", 1);

	return r < 0 ? r : pass_by(u, NULL, 0);
}

bool scr_unseen_claim(struct scr_unseen *u, const char *path, size_t len, int64_t since_ns)
{
	struct scr_unseen_place place;
	size_t pos = u->claim_at;
	int c = -1;

	while (c < 0) {
		u->claim_at = pos;
		if (!next_of(&u->list, &pos, &place))
			return false;
		c = scr_place_cmp(place.path, place.len, path, len);
	}
	if (c > 0 || !place.err)
		return false;
	place.claimed = true;
	if (since_ns)
		place.first_ns = since_ns;
	patch(&u->list, u->claim_at, &place);
	return true;
}

/* ---- telling ----------------------------------------------------------------------------- */

static void tell_damage(struct scr_pass *p, const struct scr_unseen_place *place)
{
	p->sum.files_damaged++;
	scr_emit_damage(p, &(struct scr_damage){
				   .name = {place->path, place->len},
				   .kind = SCR_DAMAGE_UNREADABLE,
				   .block = SCR_NO_BLOCK,
				   .size_was = -1,
				   .size_now = -1,
				   .since = place->first_ns,
				   .known = place->first_ns != 0,
				   .err = place->err,
			   });
}

void scr_unseen_settle(struct scr_pass *p, struct scr_unseen *u, bool damage)
{
	struct scr_unseen_place place;
	size_t at = 0, pos = 0;

	if (u->told)
		return;
	u->told = true;
	u->believed = damage;
	for (; next_of(&u->list, &pos, &place); at = pos) {
		if (!place.err)
			continue;
		if (!damage && place.first_ns == 0) {
			scr_trouble(p, place.path, place.len, place.err, "cannot look at it");
			continue;
		}
		tell_damage(p, &place);
		if (place.first_ns == 0)
			place.first_ns = p->start_wall_ns;
		place.last_ns = p->start_wall_ns;
		patch(&u->list, at, &place);
	}
}

/* ---- publishing -------------------------------------------------------------------------- */

int scr_unseen_write(const struct scr_unseen *u, struct scr_mwriter *w)
{
	struct scr_unseen_place place;
	size_t pos = 0;
	int r = 0;

	while (r == 0 && next_of(&u->list, &pos, &place))
		if (place.first_ns && !place.claimed)
			r = scr_mwriter_unseen(w, &(struct scr_unseen_record){
							  .path = place.path,
							  .path_len = (uint32_t)place.len,
							  .is_dir = place.is_dir,
							  .first_ns = place.first_ns,
							  .last_ns = place.last_ns,
						  });
	return r;
}

int scr_unseen_copy(struct scr_mreader *old, struct scr_mwriter *w)
{
	struct scr_unseen_record rec;
	int r;

	while ((r = scr_mreader_unseen(old, &rec)) == 1) {
		r = scr_mwriter_unseen(w, &rec);
		if (r < 0)
			break;
	}
	return r;
}

/* ---- verify ------------------------------------------------------------------------------ */

static void look_again(struct scr_pass *p, const struct scr_unseen_record *rec)
{
	struct scr_unseen_place place = {
		.path = rec->path,
		.len = rec->path_len,
		.first_ns = rec->first_ns,
	};

	place.err = -scr_look_beneath(p->rootfd, rec->path, rec->path_len, !p->policy.cross_mounts);
	if (place.err == 0)
		return;
	if (scr_errno_is_medium(place.err))
		tell_damage(p, &place);
	else
		scr_trouble(p, place.path, place.len, place.err, "cannot look at it");
}

int scr_unseen_verify(struct scr_pass *p, bool (*take)(void *arg, const char *path, size_t len),
		      void *arg)
{
	struct scr_unseen_record rec;
	int r = scr_mreader_rewind(p->old);

	while (r == 0 && (r = scr_mreader_unseen(p->old, &rec)) == 1) {
		if (scr_pass_stopped(p))
			return -EINTR;
		if (take(arg, rec.path, rec.path_len))
			look_again(p, &rec);
		r = 0;
	}
	return r;
}
