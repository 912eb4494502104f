/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The journal being written: whole records appended, synced now and then. */
#include <config.h>
#include "pass/journalist.h"

#include <errno.h>
#include <unistd.h>

/* After a power cut no more than this is read again. */
#define SYNC_INTERVAL_NS (30 * SCR_NS_PER_S)

/* Records of one thread that are written together, in bytes, about. */
#define RECORDS_MAX (256u << 10)

int scr_journalist_open(struct scr_journalist *j, struct scr_pass *p)
{
	struct scr_why why = {""};
	int r;

	*j = (struct scr_journalist){.p = p, .fd = -1};
	j->synced_ns = scr_clock_monotonic(p->ctx->clock);
	pthread_mutex_init(&j->lock, NULL);
	r = scr_state_unlink(&p->state, SCR_JOURNAL_NAME);
	if (r == 0)
		j->fd = r = scr_state_new_file(&p->state, SCR_JOURNAL_NAME, &why);
	if (r >= 0)
		r = scr_journal_start(j->fd, p->header.generation, &p->header.settings.geometry,
				      p->start_wall_ns);
	if (r >= 0)
		r = scr_state_sync(&p->state);
	if (r < 0) {
		scr_trouble(p, NULL, 0, -r, "cannot start the journal in %s", p->state.path);
		return r;
	}
	j->length = (uint64_t)lseek(j->fd, 0, SEEK_END);
	return 0;
}

/* The caller holds the lock. */
static int sync_locked(struct scr_journalist *j)
{
	int r = j->p->segments ? scr_segments_sync(j->p->segments) : 0;

	/* Parity first: the journal refers to it. */
	if (r < 0)
		return r;
	if (fdatasync(j->fd) < 0)
		return -errno;
	j->synced_ns = scr_clock_monotonic(j->p->ctx->clock);
	return 0;
}

static int append_locked(struct scr_journalist *j, const struct scr_buf *record)
{
	int r = scr_write_all(j->fd, record->data, record->len);

	if (r < 0) {
		/* Half a record would end the journal for its readers anyway; be tidy. */
		if (ftruncate(j->fd, (off_t)j->length) < 0)
			j->broken = true;
		j->broken = true;
		return r;
	}
	j->length += record->len;
	if (scr_clock_monotonic(j->p->ctx->clock) - j->synced_ns > SYNC_INTERVAL_NS)
		r = sync_locked(j);
	return r;
}

int scr_journalist_put(struct scr_journalist *j, struct scr_worker *k,
		       const struct scr_file_record *f, bool done)
{
	struct scr_update u = {*f, done, k->results, k->result_count};
	int r = scr_journal_encode(&k->record, &j->p->header.settings.geometry, &u);

	if (r < 0)
		scr_trouble(j->p, f->path, f->path_len, -r, "cannot put the result in the journal");
	else if (k->record.len > RECORDS_MAX)
		r = scr_journalist_flush(j, k);
	return r;
}

int scr_journalist_flush(struct scr_journalist *j, struct scr_worker *k)
{
	bool first;
	int r;

	if (k->record.len == 0)
		return 0;
	pthread_mutex_lock(&j->lock);
	first = !j->broken;
	r = j->broken ? -EIO : append_locked(j, &k->record);
	pthread_mutex_unlock(&j->lock);
	scr_buf_clear(&k->record);
	if (r < 0 && first)
		scr_trouble(j->p, NULL, 0, -r,
			    "cannot write the journal in %s; what was finished before is kept",
			    j->p->state.path);
	return r;
}

int scr_journalist_append(struct scr_journalist *j, struct scr_worker *k,
			  const struct scr_file_record *f, bool done)
{
	int r = scr_journalist_put(j, k, f, done), e = scr_journalist_flush(j, k);

	return r < 0 ? r : e;
}

int scr_journalist_sync(struct scr_journalist *j)
{
	int r;

	pthread_mutex_lock(&j->lock);
	r = sync_locked(j);
	pthread_mutex_unlock(&j->lock);
	if (r < 0)
		scr_trouble(j->p, NULL, 0, -r, "cannot sync the journal in %s", j->p->state.path);
	return r;
}

void scr_journalist_close(struct scr_journalist *j)
{
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
	pthread_mutex_destroy(&j->lock);
}
