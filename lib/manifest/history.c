/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PASS records to bytes and back. */
#include <config.h>
#include "manifest/history.h"

#include <errno.h>

#include "base/compiler.h"
#include "manifest/codec.h"
#include "manifest/cursor.h"

#define PASS_VERSION 1u
#define FIXED 104u /* bytes before the counts by verdict */

enum {
	COMPLETE = 1,
	FIRST = 2,
	LIMITED = 4,
};

static uint32_t flags_of(const struct scr_pass_record *r)
{
	return (r->complete ? COMPLETE : 0u) | (r->first ? FIRST : 0u) |
	       (r->limited ? LIMITED : 0u);
}

int scr_history_encode(struct scr_buf *b, const struct scr_pass_record *r)
{
	const uint64_t counts[] = {
		r->generation, r->files,          r->bytes,         r->bytes_read, r->transient,
		r->repaired,   r->blocks_damaged, r->files_damaged, r->trouble,
	};
	size_t at, len = FIXED + SCR_VERDICTS * 8;
	int ret = scr_frame_begin(b, SCR_TYPE_PASS, &at);
	uint8_t *p;

	if (ret == 0)
		ret = scr_buf_reserve(b, len);
	if (ret < 0)
		return ret;
	p = b->data + b->len;
	scr_put32(&p, PASS_VERSION);
	scr_put32(&p, flags_of(r));
	scr_put_time(&p, r->start_ns);
	scr_put_time(&p, r->duration_ns);
	for (size_t i = 0; i < SCR_ARRAY_SIZE(counts); i++)
		scr_put64(&p, counts[i]);
	scr_put32(&p, (uint32_t)r->exit);
	scr_put32(&p, SCR_VERDICTS);
	for (int v = 0; v < SCR_VERDICTS; v++)
		scr_put64(&p, r->verdicts[v]);
	b->len += len;
	return scr_frame_end(b, at);
}

static int decode(const uint8_t *payload, size_t len, struct scr_pass_record *out)
{
	struct scr_cursor c = {.p = payload, .left = len};
	struct scr_pass_record r = {0};
	uint32_t flags, count;

	if (scr_take32(&c) < PASS_VERSION) /* later versions only append */
		return -EBADMSG;
	flags = scr_take32(&c);
	r.complete = flags & COMPLETE;
	r.first = flags & FIRST;
	r.limited = flags & LIMITED;
	r.start_ns = scr_take_time(&c);
	r.duration_ns = scr_take_time(&c);
	r.generation = scr_take64(&c);
	r.files = scr_take64(&c);
	r.bytes = scr_take64(&c);
	r.bytes_read = scr_take64(&c);
	r.transient = scr_take64(&c);
	r.repaired = scr_take64(&c);
	r.blocks_damaged = scr_take64(&c);
	r.files_damaged = scr_take64(&c);
	r.trouble = scr_take64(&c);
	r.exit = (int)(scr_take32(&c) & 0xff);
	count = scr_take32(&c);
	for (uint32_t v = 0; v < SCR_MIN(count, SCR_VERDICTS); v++)
		r.verdicts[v] = scr_take64(&c);
	if (c.bad)
		return -EBADMSG;
	*out = r;
	return 0;
}

/* Whether a sound PASS record begins at @c->at, and then its end in *@end. */
static bool record_here(const struct scr_history_cursor *c, struct scr_pass_record *out,
			size_t *end)
{
	const uint8_t *p = c->p + c->at;
	size_t left = c->len - c->at;
	uint32_t len;

	if (left < SCR_RECORD_FRAME || p[0] != SCR_TYPE_PASS || scr_frame_length(p, &len) < 0 ||
	    len > left - SCR_RECORD_FRAME || !scr_frame_sound(p, len))
		return false;
	*end = c->at + SCR_RECORD_FRAME + len;
	return decode(p + SCR_RECORD_HEAD, len, out) == 0;
}

int scr_history_next(struct scr_history_cursor *c, struct scr_pass_record *out)
{
	bool gap = false;
	size_t end;

	for (; c->at < c->len; c->at++) {
		if (record_here(c, out, &end)) {
			c->from = c->at;
			c->at = end;
			c->damaged += gap;
			return 1;
		}
		gap = true;
	}
	c->damaged += gap;
	return 0;
}

static unsigned int count_records(const struct scr_buf *b)
{
	struct scr_history_cursor c = {.p = b->data, .len = b->len};
	struct scr_pass_record r;
	unsigned int n = 0;

	while (scr_history_next(&c, &r))
		n++;
	return n;
}

int scr_history_append(const struct scr_buf *old, const struct scr_pass_record *r,
		       struct scr_buf *out)
{
	struct scr_history_cursor c = {.p = old->data, .len = old->len};
	unsigned int n = count_records(old),
		     skip = n >= SCR_HISTORY_PASSES ? n - (SCR_HISTORY_PASSES - 1) : 0;
	struct scr_pass_record each;
	int ret = 0;

	while (ret == 0 && scr_history_next(&c, &each)) {
		if (skip)
			skip--;
		else /* as it is: a later version may have appended to it */
			ret = scr_buf_append(out, c.p + c.from, c.at - c.from);
	}
	return ret < 0 ? ret : scr_history_encode(out, r);
}
