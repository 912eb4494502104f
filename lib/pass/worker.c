/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a worker thread owns: a reader, room for one extent, results to be journalled. */
#include <config.h>
#include "pass/device.h"
#include "pass/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/pages.h"

int scr_worker_init(struct scr_worker *k, struct scr_pass *p)
{
	*k = (struct scr_worker){
		.p = p, .kernels = scr_pass_kernels(p), .ahead = SCR_PARITY_AHEAD};
	return scr_reader_new(p->ctx->reader_ops, &k->reader);
}

void scr_worker_free(struct scr_worker *k)
{
	scr_reader_free(k->reader);
	scr_content_free(&k->content);
	scr_content_free(&k->scratch);
	scr_worker_clear(k);
	free(k->results);
	for (unsigned int i = 0; i < SCR_BATCH_FILES; i++)
		free(k->held[i].results);
	scr_buf_free(&k->record);
	scr_buf_free(&k->parity);
	scr_buf_free(&k->pending);
	scr_opener_free(&k->opener);
	scr_segments_window_free(k->window);
}

static void slim_content(struct scr_content *c)
{
	if (c->fold)
		scr_pages_drop(c->fold, c->fold_cap);
}

void scr_worker_slim(struct scr_worker *k, size_t keep)
{
	scr_reader_slim(k->reader, keep);
	slim_content(&k->content);
	slim_content(&k->scratch);
	if (k->parity.data)
		scr_pages_drop(k->parity.data, k->parity.cap);
}

struct scr_extent *scr_worker_result(struct scr_worker *k)
{
	struct scr_extent *e;

	if (k->result_count == k->result_cap) {
		uint32_t cap = k->result_cap ? k->result_cap * 2 : 8;

		e = realloc(k->results, cap * sizeof(*e));
		if (!e)
			return NULL;
		k->results = e;
		k->result_cap = cap;
	}
	e = &k->results[k->result_count++];
	memset(e, 0, sizeof(*e));
	return e;
}

void scr_worker_clear(struct scr_worker *k)
{
	for (uint32_t i = 0; i < k->result_count; i++)
		scr_extent_free(&k->results[i]);
	k->result_count = 0;
}

/* Trades the results in @k for those of @h. */
static void swap_results(struct scr_worker *k, struct scr_held *h)
{
	struct scr_held mine = {NULL, k->results, k->result_count, k->result_cap};

	k->results = h->results;
	k->result_count = h->count;
	k->result_cap = h->cap;
	h->results = mine.results;
	h->count = mine.count;
	h->cap = mine.cap;
}

void scr_worker_hold(struct scr_worker *k, struct scr_work *w)
{
	struct scr_held *h = &k->held[k->held_count++];

	swap_results(k, h);
	h->work = w;
}

struct scr_work *scr_worker_unhold(struct scr_worker *k, unsigned int i)
{
	struct scr_held *h = &k->held[i];
	struct scr_work *w = h->work;

	swap_results(k, h);
	h->work = NULL;
	return w;
}

static enum scr_reader_mode mode_of(const struct scr_worker *k, const struct scr_work *w)
{
	if (k->p->ctx->opt.cached)
		return SCR_READ_CACHED;
	/* What a device's cache holds need not be what file systems wrote past it. */
	return w->record_all && !k->p->device ? SCR_READ_RECORD : SCR_READ_CHECK;
}

void scr_worker_attach(struct scr_worker *k, struct scr_work *w)
{
	scr_reader_attach_known(k->reader, w->fd, mode_of(k, w), &w->st);
	/* The one of a device is shared with what looks at its superblocks. */
	if (w->whole && !k->p->device)
		scr_reader_own(k->reader);
	k->kernels = scr_pass_kernels(k->p);
}

static void count_progress(void *arg, uint64_t bytes, bool read)
{
	struct scr_pass *p = arg;

	scr_ctx_progress(p->ctx, bytes, read);
}

struct scr_content_reader scr_worker_content_reader(struct scr_worker *k, const struct scr_work *w,
						    bool again)
{
	return (struct scr_content_reader){
		.reader = k->reader,
		.kernels = again ? scr_kernels_reference() : k->kernels,
		.sparse = (uint64_t)w->st.st_blocks * 512 < (uint64_t)w->st.st_size,
		.fold = !again && k->p->segments,
		.gate = k->gate,
		.ways = &k->p->ways,
		.reread = again,
		.stop = &k->p->ctx->stop,
		.progress = again ? NULL : count_progress,
		.arg = k->p,
	};
}

struct scr_work *scr_work_new(struct scr_pass *p, bool verify)
{
	struct scr_work *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->p = p;
	w->verify = verify;
	w->pos = SCR_PLAN_NONE;
	w->fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	return w;
}

void scr_work_close(struct scr_work *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

void scr_work_free(struct scr_work *w)
{
	if (!w)
		return;
	scr_work_close(w);
	for (uint32_t i = 0; i < w->damaged_count; i++)
		scr_extent_free(&w->damaged[i]);
	free(w->damaged);
	scr_buf_free(&w->path);
	scr_buf_free(&w->base_path);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void scr_work_found(struct scr_work *w, enum scr_verdict v, bool left)
{
	pthread_mutex_lock(&w->lock);
	w->worst = scr_verdict_worst(w->worst, v);
	w->damage_left |= left;
	pthread_mutex_unlock(&w->lock);
}

static void settle(struct scr_work *w, enum scr_work_state state)
{
	pthread_mutex_lock(&w->lock);
	if (w->state == SCR_WORK_OPEN)
		w->state = state;
	pthread_mutex_unlock(&w->lock);
}

bool scr_work_unchanged(struct scr_worker *k, struct scr_work *w)
{
	const struct scr_reader_ops *ops = k->p->ctx->reader_ops;
	struct scr_stamp was = scr_stamp_of(&w->st), is;
	struct stat st;

	if (w->p->device && scr_device_same_size(w->p, w->fd))
		return true;
	if (!w->p->device && ops->fstat(ops->arg, w->fd, &st) == 0) {
		is = scr_stamp_of(&st);
		if (scr_stamp_equal(&was, &is) && st.st_dev == w->st.st_dev &&
		    (st.st_mode & S_IFMT) == (w->st.st_mode & S_IFMT))
			return true;
	}
	settle(w, SCR_WORK_CHANGED);
	return false;
}

bool scr_work_errno_lost(int err)
{
	return err == ENODEV || err == ENXIO || err == ENOTCONN || err == ESTALE ||
	       err == ETIMEDOUT || err == ECONNRESET || err == ECONNABORTED;
}

int scr_work_read_error(struct scr_work *w, int r)
{
	if (scr_pass_interrupted(w->p, r) || r == -ENOMEM)
		return r;
	if (r == -ESTALE) {
		settle(w, SCR_WORK_CHANGED);
		return 0;
	}
	scr_trouble(w->p, (char *)w->path.data, w->path.len, -r, "cannot read the file");
	w->lost = scr_work_errno_lost(-r);
	settle(w, SCR_WORK_FAILED);
	return 0;
}
