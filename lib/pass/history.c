/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The history of passes: read, and replaced as a whole. */
#include <config.h>
#include "pass/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manifest/history.h"
#include "pass/tally.h"
#include "pass/verbs.h"

#define TEMPORARY SCR_HISTORY_NAME SCR_TEMPORARY_SUFFIX

static int load(int fd, struct scr_buf *out)
{
	struct stat st;
	size_t len;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size > SCR_HISTORY_LIMIT)
		return -EFBIG;
	len = (size_t)st.st_size;
	r = scr_buf_reserve(out, len);
	if (r == 0)
		r = scr_pread_all(fd, out->data, len, 0);
	if (r == 0)
		out->len = len;
	return r;
}

int scr_history_load(struct scr_pass *p, struct scr_buf *out, struct scr_why *why)
{
	int fd = scr_state_open_file(&p->state, SCR_HISTORY_NAME, O_RDONLY, p->reading, why), r;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	r = load(fd, out);
	close(fd);
	if (r < 0)
		snprintf(why->text, sizeof(why->text), "cannot read %.4000s/" SCR_HISTORY_NAME,
			 p->state.path);
	return r;
}

static struct scr_pass_record describe(const struct scr_pass *p)
{
	const struct scr_summary *s = &p->sum;
	struct scr_pass_record r = {
		.start_ns = p->start_wall_ns,
		.duration_ns = (int64_t)(s->seconds * 1e9),
		.generation = p->header.generation,
		.files = s->files,
		.bytes = s->bytes,
		.bytes_read = s->bytes_read,
		.transient = s->transient,
		.repaired = s->repaired,
		.blocks_damaged = s->blocks_damaged,
		.files_damaged = s->files_damaged,
		.trouble = s->trouble,
		.exit = s->exit,
		.complete = s->complete,
		.first = s->first,
		.limited = s->limited != NULL,
	};

	memcpy(r.verdicts, s->verdicts, sizeof(r.verdicts));
	return r;
}

static int replace(struct scr_pass *p, const struct scr_buf *b, struct scr_why *why)
{
	int fd = scr_state_new_file(&p->state, TEMPORARY, why), r;

	if (fd < 0)
		return fd;
	r = scr_write_all(fd, b->data, b->len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	close(fd);
	if (r == 0)
		r = scr_state_replace(&p->state, TEMPORARY, SCR_HISTORY_NAME);
	if (r < 0)
		scr_state_unlink(&p->state, TEMPORARY);
	return r;
}

/* Whether what can't be read now (@err: -errno) is lost, and not out of reach for a while only. */
static bool lost(int err)
{
	return err == -EFBIG || scr_errno_is_medium(-err);
}

void scr_history_record(struct scr_pass *p)
{
	struct scr_pass_record now = describe(p);
	struct scr_buf old = {0}, out = {0};
	struct scr_why why = {""};
	int r = scr_history_load(p, &old, &why);

	/* One that is damaged is begun anew; that it was lost is said. */
	if (r < 0 && lost(r)) {
		scr_warn(p, NULL, 0, "the history of passes is lost: %s",
			 *why.text ? why.text : strerror(-r));
		why.text[0] = '\0';
		r = 0;
	}
	if (r == 0)
		r = scr_history_append(&old, &now, &out);
	if (r == 0)
		r = replace(p, &out, &why);
	if (r < 0)
		scr_trouble(p, NULL, 0, *why.text ? 0 : -r,
			    "the pass is done, but could not be added to its history: %s",
			    *why.text ? why.text : p->state.path);
	scr_buf_free(&old);
	scr_buf_free(&out);
}

static int tell(struct scr_pass *p, scr_pass_fn *fn, void *arg)
{
	struct scr_buf b = {0};
	struct scr_why why = {""};
	struct scr_history_cursor c;
	struct scr_pass_record rec;
	int r = scr_history_load(p, &b, &why);

	if (r < 0) {
		scr_trouble(p, NULL, 0, *why.text ? 0 : -r, "%s",
			    *why.text ? why.text : "cannot read the history");
		return r;
	}
	c = (struct scr_history_cursor){.p = b.data, .len = b.len};
	while (scr_history_next(&c, &rec))
		fn(arg, &rec);
	if (c.damaged)
		scr_trouble(p, NULL, 0, 0,
			    "%s/" SCR_HISTORY_NAME " is damaged in %u place%s; "
			    "what was recorded there of earlier passes is lost, and nothing else",
			    p->state.path, c.damaged, c.damaged == 1 ? "" : "s");
	p->sum.complete = c.damaged == 0;
	scr_buf_free(&b);
	return 0;
}

int scr_verb_history(struct scr_ctx *ctx, const char *target, scr_pass_fn *fn, void *arg,
		     struct scr_summary *out)
{
	struct scr_pass p;
	int r = scr_pass_begin(&p, ctx, "status", target, false);

	if (r == 0 && ctx->opt.manifest)
		r = scr_usage(&p, NULL, "a manifest alone has no history");
	if (r == 0)
		r = scr_pass_open_state(&p, SCR_ACCESS_PEEK);
	if (r == -ENOENT && p.path && p.state.dirfd < 0)
		r = scr_pass_no_manifest(&p);
	if (r == 0) {
		scr_tally_totals(&p, scr_mreader_trailer(p.old));
		r = tell(&p, fn, arg);
	}
	return scr_pass_end(&p, r, out);
}
