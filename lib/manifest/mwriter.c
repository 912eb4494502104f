/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing a manifest: records into groups, one group in memory. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>
#include <zlib.h>

#include "base/compiler.h"
#include "base/path.h"
#include "io/state.h"
#include "manifest/codec.h"
#include "manifest/group.h"
#include "manifest/store.h"
#include "manifest/tally.h"

struct scr_mwriter {
	int fd;
	int error; /* the first failure; nothing works after it */
	const struct scr_kernels *k;
	struct scr_codec codec;
	struct scr_group_head head; /* of the group being filled */
	uint8_t *group;
	uint64_t offset; /* bytes of the stream so far */
	uint32_t body_crc;
	struct scr_tally tally;
	struct scr_buf record, path; /* of the record being made; of the last path */
	bool in_files; /* a FILE or LINK was written: no UNSEEN may follow */
	bool in_file;
	struct scr_stamp stamp; /* of the current file */
	uint64_t next_index;    /* its next extent may have this index or a higher one */
	struct scr_extent run;  /* holes not written yet; run == 0: none */
};

/* ---- bytes -------------------------------------------------------------------------------- */

static int flush_group(struct scr_mwriter *w)
{
	int r;

	scr_group_seal(w->k, &w->head, w->group);
	r = scr_write_all(w->fd, w->group, scr_group_size(w->head.used));
	w->head.number++;
	w->head.used = 0;
	return r;
}

/* A full group waits for a byte that follows it: the last one is marked. */
static int append(struct scr_mwriter *w, const uint8_t *p, size_t len)
{
	while (len > 0) {
		size_t n;
		int r = w->head.used == SCR_GROUP_DATA ? flush_group(w) : 0;

		if (r < 0)
			return r;
		n = SCR_MIN(len, SCR_GROUP_DATA - w->head.used);
		memcpy(w->group + SCR_GROUP_HEAD + w->head.used, p, n);
		w->head.used += (uint32_t)n;
		w->offset += n;
		p += n;
		len -= n;
	}
	return 0;
}

static int begin_record(struct scr_mwriter *w, enum scr_type type)
{
	size_t at;

	scr_buf_clear(&w->record);
	return scr_frame_begin(&w->record, type, &at);
}

static int end_record(struct scr_mwriter *w)
{
	int r = scr_frame_end(&w->record, 0);

	if (r < 0)
		return r;
	w->body_crc = (uint32_t)crc32_z(w->body_crc, w->record.data, w->record.len);
	return append(w, w->record.data, w->record.len);
}

/* ---- records ------------------------------------------------------------------------------ */

static int fail(struct scr_mwriter *w, int r)
{
	if (r < 0 && w->error == 0)
		w->error = r;
	return r;
}

static int write_extent(struct scr_mwriter *w, const struct scr_extent *e)
{
	int r = begin_record(w, scr_extent_type(e));

	if (r == 0)
		r = scr_encode_extent(&w->record, e, &w->stamp);
	if (r == 0)
		r = end_record(w);
	if (r == 0)
		r = scr_tally_extent(&w->tally, &w->codec.geometry, e);
	return r;
}

static int flush_run(struct scr_mwriter *w)
{
	struct scr_extent run = w->run;

	w->run.run = 0;
	return run.run ? write_extent(w, &run) : 0;
}

static bool same_stamp(const struct scr_stamp *a, const struct scr_stamp *b)
{
	return a->size == b->size && a->ino == b->ino && a->mtime_ns == b->mtime_ns &&
	       a->ctime_ns == b->ctime_ns;
}

/* Adds a hole to the run that waits, if it goes on from there under the same circumstances. */
static bool extend_run(struct scr_mwriter *w, const struct scr_extent *e)
{
	struct scr_extent *run = &w->run;

	if (run->run == 0 || e->damage_count || run->cut.index + run->run != e->cut.index ||
	    run->flags != e->flags || run->recorded_ns != e->recorded_ns ||
	    run->checked_ns != e->checked_ns || run->reserved != e->reserved ||
	    !same_stamp(&run->stamp, &e->stamp))
		return false;
	run->run += e->run;
	run->run_length += e->run_length;
	return true;
}

static int put_extent(struct scr_mwriter *w, const struct scr_extent *e)
{
	int r;

	if (!w->in_file || e->cut.index < w->next_index ||
	    !scr_extent_valid(&w->codec, w->stamp.size, e))
		return -EINVAL;
	w->next_index = e->cut.index + e->run;
	if (e->hole && extend_run(w, e))
		return 0;
	r = flush_run(w);
	if (r < 0 || !e->hole || e->damage_count)
		return r < 0 ? r : write_extent(w, e);
	w->run = *e;
	return 0;
}

int scr_mwriter_extent(struct scr_mwriter *w, const struct scr_extent *e)
{
	return w->error ? w->error : fail(w, put_extent(w, e));
}

/* Paths are strictly ascending. */
static int take_path(struct scr_mwriter *w, const char *path, uint32_t len)
{
	if (!w->in_files)
		scr_buf_clear(&w->path);
	w->in_files = true;
	if (w->path.len && scr_path_cmp((const char *)w->path.data, w->path.len, path, len) >= 0)
		return -EINVAL;
	scr_buf_clear(&w->path);
	return scr_buf_append(&w->path, path, len);
}

static int put_file(struct scr_mwriter *w, const struct scr_file_record *f)
{
	int r = flush_run(w);

	if (r < 0)
		return r;
	if (f->path_len > SCR_PATH_LIMIT)
		return -ENAMETOOLONG;
	if (!scr_file_valid(&w->codec, f))
		return -EINVAL;
	r = take_path(w, f->path, f->path_len);
	if (r == 0)
		r = begin_record(w, SCR_TYPE_FILE);
	if (r == 0)
		r = scr_encode_file(&w->record, f);
	if (r == 0)
		r = end_record(w);
	w->in_file = true;
	w->stamp = f->stamp;
	w->next_index = 0;
	scr_tally_file(&w->tally, f);
	return r;
}

int scr_mwriter_file(struct scr_mwriter *w, const struct scr_file_record *f)
{
	return w->error ? w->error : fail(w, put_file(w, f));
}

static int put_unseen(struct scr_mwriter *w, const struct scr_unseen_record *u)
{
	int r;

	if (u->path_len > SCR_PATH_LIMIT)
		return -ENAMETOOLONG;
	if (w->in_files || !scr_unseen_valid(u) ||
	    (w->path.len && scr_place_cmp((const char *)w->path.data, w->path.len, u->path,
					  u->path_len) >= 0))
		return -EINVAL;
	scr_buf_clear(&w->path);
	r = scr_buf_append(&w->path, u->path, u->path_len);
	if (r == 0)
		r = begin_record(w, SCR_TYPE_UNSEEN);
	if (r == 0)
		r = scr_encode_unseen(&w->record, u);
	if (r == 0)
		r = end_record(w);
	scr_tally_unseen(&w->tally);
	return r;
}

int scr_mwriter_unseen(struct scr_mwriter *w, const struct scr_unseen_record *u)
{
	return w->error ? w->error : fail(w, put_unseen(w, u));
}

static int put_link(struct scr_mwriter *w, const struct scr_link_record *l)
{
	int r = flush_run(w);

	if (r < 0)
		return r;
	if (l->path_len > SCR_PATH_LIMIT || l->owner_len > SCR_PATH_LIMIT)
		return -ENAMETOOLONG;
	if (!scr_link_valid(&w->codec, l))
		return -EINVAL;
	r = take_path(w, l->path, l->path_len);
	if (r == 0)
		r = begin_record(w, SCR_TYPE_LINK);
	if (r == 0)
		r = scr_encode_link(&w->record, l);
	if (r == 0)
		r = end_record(w);
	w->in_file = false;
	scr_tally_link(&w->tally);
	return r;
}

int scr_mwriter_link(struct scr_mwriter *w, const struct scr_link_record *l)
{
	return w->error ? w->error : fail(w, put_link(w, l));
}

/* ---- begin and end ------------------------------------------------------------------------ */

/* Tells groups of this writing from those of any other; only accidents matter. */
static uint64_t random_id(int64_t now_ns)
{
	uint64_t id;

	if (getrandom(&id, sizeof(id), GRND_NONBLOCK) == (ssize_t)sizeof(id))
		return id;
	return (uint64_t)now_ns * 0x9e3779b97f4a7c15ULL ^ (uint64_t)getpid();
}

static int put_header(struct scr_mwriter *w, const struct scr_header *h)
{
	struct scr_header known = *h; /* shares what @h owns */
	int r;

	known.version = SCR_FORMAT_VERSION;
	known.compat = known.ro_compat = known.incompat = 0;
	known.parities = 1;
	if (!scr_header_valid(&known))
		return -EINVAL;
	r = begin_record(w, SCR_TYPE_HEADER);
	if (r == 0)
		r = scr_encode_header(&w->record, &known);
	return r < 0 ? r : end_record(w);
}

int scr_mwriter_new(int fd, const struct scr_kernels *k, const struct scr_header *h, int64_t now_ns,
		    struct scr_mwriter **out)
{
	struct scr_mwriter *w = calloc(1, sizeof(*w));
	int r = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->fd = fd;
	w->k = k;
	w->codec.geometry = h->settings.geometry;
	w->codec.identities = h->identity_count;
	w->head.writing = random_id(now_ns);
	w->head.generation = h->generation;
	scr_tally_start(&w->tally, now_ns);
	w->group = aligned_alloc(SCR_GROUP_UNIT, SCR_GROUP_STRIDE);
	if (w->group)
		r = put_header(w, h);
	if (r < 0)
		scr_mwriter_free(w);
	else
		*out = w;
	return r;
}

/* The counts of the writer with the pass fields of @pass; segments are still the writer's. */
static struct scr_trailer make_trailer(const struct scr_mwriter *w, const struct scr_trailer *pass)
{
	struct scr_trailer t = w->tally.sum;

	t.generation = w->head.generation;
	t.body_crc = w->body_crc;
	if (pass) {
		t.pass_start_ns = pass->pass_start_ns;
		t.pass_ns = pass->pass_ns;
		t.last_complete_ns = pass->last_complete_ns;
		t.pass_bytes = pass->pass_bytes;
		t.pass_exit = pass->pass_exit;
		t.window_start_ns = pass->window_start_ns;
		t.window_bytes = pass->window_bytes;
	}
	return t;
}

static int put_trailer(struct scr_mwriter *w, const struct scr_trailer *t)
{
	uint64_t at = w->offset;
	int r = begin_record(w, SCR_TYPE_TRAILER);

	if (r == 0)
		r = scr_encode_trailer(&w->record, t);
	if (r == 0)
		r = end_record(w);
	if (r < 0)
		return r;
	w->head.trailer = at;
	w->head.last = true;
	return flush_group(w);
}

const struct scr_trailer *scr_mwriter_sum(const struct scr_mwriter *w)
{
	return &w->tally.sum;
}

int scr_mwriter_finish(struct scr_mwriter *w, const struct scr_trailer *pass,
		       struct scr_trailer *out)
{
	struct scr_trailer t;
	int r = w->error ? w->error : flush_run(w);

	if (r == 0) {
		t = make_trailer(w, pass);
		r = put_trailer(w, &t);
	}
	/* Nothing can follow. */
	w->error = r < 0 ? r : -EINVAL;
	if (r == 0 && out) {
		*out = t;
		w->tally.sum.segments = NULL;
		w->tally.sum.segment_count = 0;
	}
	return r;
}

void scr_mwriter_free(struct scr_mwriter *w)
{
	if (!w)
		return;
	free(w->group);
	scr_tally_free(&w->tally);
	scr_buf_free(&w->record);
	scr_buf_free(&w->path);
	free(w);
}
