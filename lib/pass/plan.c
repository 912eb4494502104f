/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plan file: appended once, read in order, patched in place. */
#include <config.h>
#include "pass/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "io/state.h"

#define WRITE_BEHIND (256u << 10)
#define READ_AHEAD (256u << 10)

struct scr_plan {
	int fd;
	struct scr_buf pending;  /* not yet written */
	uint64_t written;
};

int scr_plan_new(int fd, struct scr_plan **out)
{
	struct scr_plan *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->fd = fd;
	*out = p;
	return 0;
}

void scr_plan_free(struct scr_plan *p)
{
	if (!p)
		return;
	close(p->fd);
	scr_buf_free(&p->pending);
	free(p);
}

int scr_plan_seal(struct scr_plan *p)
{
	int r = scr_pwrite_all(p->fd, p->pending.data, p->pending.len, p->written);

	if (r < 0)
		return r;
	p->written += p->pending.len;
	scr_buf_clear(&p->pending);
	return 0;
}

int scr_plan_add(struct scr_plan *p, const struct scr_plan_entry *e, const char *path,
		 uint64_t *pos)
{
	int r;

	*pos = p->written + p->pending.len;
	r = scr_buf_append(&p->pending, e, sizeof(*e));
	if (r == 0)
		r = scr_buf_append(&p->pending, path, e->path_len);
	if (r == 0 && p->pending.len >= WRITE_BEHIND)
		r = scr_plan_seal(p);
	return r;
}

int scr_plan_patch(struct scr_plan *p, uint64_t pos, const struct scr_plan_entry *e)
{
	if (pos >= p->written) {
		memcpy(p->pending.data + (pos - p->written), e, sizeof(*e));
		return 0;
	}
	return scr_pwrite_all(p->fd, e, sizeof(*e), pos);
}

void scr_plan_cursor_init(struct scr_plan_cursor *c, struct scr_plan *p)
{
	*c = (struct scr_plan_cursor){.plan = p};
}

void scr_plan_cursor_rewind(struct scr_plan_cursor *c)
{
	c->next = 0;
	scr_buf_clear(&c->window);
}

void scr_plan_cursor_free(struct scr_plan_cursor *c)
{
	scr_buf_free(&c->window);
}

/* Makes the window hold [next, next + len). */
static int fill(struct scr_plan_cursor *c, size_t len)
{
	uint64_t left = c->plan->written - c->next;
	size_t want = SCR_MAX(len, (size_t)SCR_MIN(left, READ_AHEAD));
	int r;

	if (c->next >= c->window_at && c->next - c->window_at + len <= c->window.len)
		return 0;
	if (len > left)
		return -EIO;
	scr_buf_clear(&c->window);
	r = scr_buf_reserve(&c->window, want);
	if (r < 0)
		return r;
	r = scr_pread_all(c->plan->fd, c->window.data, want, c->next);
	if (r < 0)
		return r;
	c->window.len = want;
	c->window_at = c->next;
	return 0;
}

static int set_path(struct scr_buf *path, const void *p, uint32_t len)
{
	int r;

	scr_buf_clear(path);
	r = scr_buf_reserve(path, (size_t)len + 1);
	if (r < 0)
		return r;
	memcpy(path->data, p, len);
	path->data[len] = '\0';
	path->len = len;
	return 0;
}

int scr_plan_next(struct scr_plan_cursor *c, struct scr_plan_entry *e, struct scr_buf *path,
		  uint64_t *pos)
{
	int r;

	if (c->next >= c->plan->written)
		return 0;
	r = fill(c, sizeof(*e));
	if (r < 0)
		return r;
	memcpy(e, c->window.data + (c->next - c->window_at), sizeof(*e));
	r = fill(c, sizeof(*e) + e->path_len);
	if (r == 0)
		r = set_path(path, c->window.data + (c->next - c->window_at) + sizeof(*e),
			     e->path_len);
	if (r < 0)
		return r;
	*pos = c->next;
	c->next += sizeof(*e) + e->path_len;
	return 1;
}

int scr_plan_get(struct scr_plan *p, uint64_t pos, struct scr_plan_entry *e, struct scr_buf *path)
{
	int r = scr_pread_all(p->fd, e, sizeof(*e), pos);

	if (r < 0 || !path)
		return r;
	scr_buf_clear(path);
	r = scr_buf_reserve(path, (size_t)e->path_len + 1);
	if (r < 0)
		return r;
	r = scr_pread_all(p->fd, path->data, e->path_len, pos + sizeof(*e));
	if (r < 0)
		return r;
	path->data[e->path_len] = '\0';
	path->len = e->path_len;
	return 0;
}
