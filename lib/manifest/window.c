/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A window on a file. */
#include <config.h>
#include "manifest/window.h"

#include <errno.h>
#include <unistd.h>

#include "base/compiler.h"
#include "manifest/medium.h"

#define NEAR (64u << 10) /* a step this long is still reading in order */
#define AHEAD (256u << 10)
#define APART 4096u

void scr_window_init(struct scr_window *w, int fd)
{
	*w = (struct scr_window){.fd = fd};
}

/* Fills the buffer from @offset on with @want bytes or what there is. */
static int fill(struct scr_window *w, uint64_t offset, size_t want)
{
	scr_buf_clear(&w->buf);
	w->base = offset;
	if (scr_buf_reserve(&w->buf, want) < 0)
		return -ENOMEM;
	while (w->buf.len < want) {
		ssize_t n = pread(w->fd, w->buf.data + w->buf.len, want - w->buf.len,
				  (off_t)(offset + w->buf.len));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		w->buf.len += (size_t)n;
	}
	return 0;
}

int scr_window_get(struct scr_window *w, uint64_t offset, size_t len, const uint8_t **p)
{
	uint64_t end = w->base + w->buf.len;
	int r;

	if (offset < w->base || offset > end || len > end - offset) {
		bool in_order = offset >= w->base && offset <= end + NEAR;

		r = fill(w, offset, SCR_MAX(len, in_order ? AHEAD : APART));
		if (r < 0 && scr_medium_error(-r))
			r = fill(w, offset, len); /* what lies ahead may be what is bad */
		if (r < 0)
			return scr_medium_error(-r) ? 0 : r;
		if (w->buf.len < len)
			return 0;
	}
	*p = w->buf.data + (offset - w->base);
	return 1;
}

void scr_window_free(struct scr_window *w)
{
	scr_buf_free(&w->buf);
}
