/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* export --format=json: what the manifest holds, one JSON object a line; described in scrub(8). */
#include <config.h>
#include "pass/export_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- lines ------------------------------------------------------------------------------- */

static int add(struct scr_exporter *x, const char *fmt, ...) SCR_PRINTF(2, 3);

static int add(struct scr_exporter *x, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return scr_buf_append(&x->line, text, strlen(text));
}

static int end_line(struct scr_exporter *x)
{
	int r = scr_buf_append(&x->line, "}\n", 2);

	if (r == 0)
		r = x->write(x->arg, x->line.data, x->line.len);
	scr_buf_clear(&x->line);
	return r;
}

/* Bytes of the UTF-8 character that @s begins with; 0: it is none. */
static size_t utf8_length(const unsigned char *s, size_t len)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = s[0] < 0x80   ? 1
		   : s[0] < 0xc2 ? 0
		   : s[0] < 0xe0 ? 2
		   : s[0] < 0xf0 ? 3
		   : s[0] < 0xf5 ? 4
				 : 0;
	uint32_t c;

	if (n < 2)
		return n;
	if (n > len)
		return 0;
	c = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

/* One character; what is no UTF-8 becomes U+FFFD. Its length. */
static size_t add_char(struct scr_exporter *x, const char *s, size_t len, bool *exact, int *r)
{
	size_t n = utf8_length((const unsigned char *)s, len);

	if (n == 0) {
		*exact = false;
		*r = scr_buf_append(&x->line, "\xef\xbf\xbd", 3);
		return 1;
	}
	if (n == 1 && ((unsigned char)*s < ' ' || *s == '"' || *s == '\\' || *s == 0x7f))
		*r = add(x, "\\u%04x", (unsigned int)(unsigned char)*s);
	else
		*r = scr_buf_append(&x->line, s, n);
	return n;
}

static int add_percent(struct scr_exporter *x, unsigned char c)
{
	if (c <= ' ' || c >= 0x7f || c == '%' || c == '"' || c == '\\')
		return add(x, "%%%02X", c);
	return add(x, "%c", c);
}

/* ,"KEY":"text"; and ,"KEY_bytes":"percent-encoded" where that is not exact. */
static int add_text(struct scr_exporter *x, const char *key, const char *s, size_t len)
{
	bool exact = true;
	int r = add(x, ",\"%s\":\"", key);

	for (size_t i = 0; r == 0 && i < len;)
		i += add_char(x, s + i, len - i, &exact, &r);
	if (r == 0)
		r = add(x, "\"");
	if (r == 0 && !exact) {
		r = add(x, ",\"%s_bytes\":\"", key);
		for (size_t i = 0; r == 0 && i < len; i++)
			r = add_percent(x, (unsigned char)s[i]);
		if (r == 0)
			r = add(x, "\"");
	}
	return r;
}

/* ---- records ----------------------------------------------------------------------------- */

/* ,"KEY":["one","two"] of a NULL-terminated list. */
static int add_list(struct scr_exporter *x, const char *key, char *const *list)
{
	bool exact, first = true;
	int r = add(x, ",\"%s\":[", key);

	for (; r == 0 && list && *list; list++, first = false) {
		size_t len = strlen(*list);

		r = add(x, first ? "\"" : ",\"");
		for (size_t i = 0; r == 0 && i < len;)
			i += add_char(x, *list + i, len - i, &exact, &r);
		if (r == 0)
			r = add(x, "\"");
	}
	return r < 0 ? r : add(x, "]");
}

static int put_header(struct scr_exporter *x)
{
	static const char *const kinds[] = {"", "directory", "file", "device"};
	const struct scr_header *h = &x->p->header;
	const struct scr_geometry *g = &h->settings.geometry;
	int r = add(x, "{\"record\":\"header\",\"schema\":1,\"kind\":\"%s\"", kinds[h->kind]);

	if (r == 0 && h->target)
		r = add_text(x, "target", h->target, strlen(h->target));
	if (r == 0)
		r = add(x,
			",\"generation\":%" PRIu64 ",\"created_ns\":%" PRId64
			",\"published_ns\":%" PRId64,
			h->generation, h->created_ns, h->published_ns);
	if (r == 0)
		r = add(x, ",\"block_size\":%u,\"columns\":%u,\"parity_unit\":%u,\"parity\":%s",
			g->block_size, g->columns, g->parity_unit,
			h->settings.parity ? "true" : "false");
	if (r == 0)
		r = add_list(x, "settings", h->settings.pairs);
	if (r == 0 && h->device)
		r = add_list(x, "device", h->device);
	return r < 0 ? r : end_line(x);
}

static int put_file(struct scr_exporter *x, const struct scr_file_record *f)
{
	int r = add(x, "{\"record\":\"file\"");

	if (r == 0)
		r = add_text(x, "path", f->path, f->path_len);
	if (r == 0)
		r = add(x,
			",\"size\":%" PRIu64 ",\"mtime_ns\":%" PRId64 ",\"ctime_ns\":%" PRId64
			",\"inode\":%" PRIu64,
			f->stamp.size, f->stamp.mtime_ns, f->stamp.ctime_ns, f->stamp.ino);
	if (r == 0)
		r = add(x,
			",\"mode\":%u,\"uid\":%u,\"gid\":%u,\"nlink\":%u,\"recorded_ns\":%" PRId64,
			f->mode, f->uid, f->gid, f->nlink, f->recorded_ns);
	if (r == 0 && f->damage.kind)
		r = add(x, ",\"damaged_since_ns\":%" PRId64, f->damage.first_ns);
	return r < 0 ? r : end_line(x);
}

static int put_link(struct scr_exporter *x, const struct scr_link_record *l)
{
	int r = add(x, "{\"record\":\"link\"");

	if (r == 0)
		r = add_text(x, "path", l->path, l->path_len);
	if (r == 0)
		r = add_text(x, "link_to", l->owner, l->owner_len);
	return r < 0 ? r : end_line(x);
}

static int put_unseen(struct scr_exporter *x)
{
	struct scr_unseen_record u;
	int r = scr_mreader_rewind(x->p->old);

	while (r == 0 && (r = scr_mreader_unseen(x->p->old, &u)) == 1) {
		r = add(x, "{\"record\":\"unseen\"");
		if (r == 0)
			r = add_text(x, "path", u.path, u.path_len);
		if (r == 0)
			r = add(x, ",\"directory\":%s,\"damaged_since_ns\":%" PRId64,
				u.is_dir ? "true" : "false", u.first_ns);
		if (r == 0)
			r = end_line(x);
	}
	return r;
}

static int add_checks(struct scr_exporter *x, const struct scr_extent *e)
{
	int r = add(x, ",\"crc32\":[");

	for (uint32_t i = 0; r == 0 && i < e->cut.blocks; i++)
		r = add(x, "%s\"%08x\"", i ? "," : "", e->checks[i].crc);
	if (r == 0)
		r = add(x, "],\"inet\":[");
	for (uint32_t i = 0; r == 0 && i < e->cut.blocks; i++)
		r = add(x, "%s\"%04x\"", i ? "," : "", e->checks[i].inet);
	return r < 0 ? r : add(x, "]");
}

static int add_damage(struct scr_exporter *x, const struct scr_extent *e)
{
	static const char *const kinds[] = {"", "rot", "altered", "unreadable", "missing"};
	int r = add(x, ",\"damage\":[");

	for (uint32_t i = 0; r == 0 && i < e->damage_count; i++) {
		const struct scr_damage_record *d = &e->damage[i];

		r = add(x,
			"%s{\"kind\":\"%s\",\"block\":%u,\"offset\":%" PRIu64
			",\"length\":%u,\"since_ns\":%" PRId64 "}",
			i ? "," : "", kinds[d->kind <= SCR_REC_MISSING ? d->kind : 0], d->block,
			e->cut.offset + (uint64_t)d->block * e->cut.block + d->start, d->length,
			d->first_ns);
	}
	return r < 0 ? r : add(x, "]");
}

static int put_extent(struct scr_exporter *x, const struct scr_extent *e)
{
	int r = add(x,
		    "{\"record\":\"extent\",\"index\":%" PRIu64 ",\"extents\":%" PRIu64
		    ",\"offset\":%" PRIu64 ",\"length\":%" PRIu64 ",\"block\":%u",
		    e->cut.index, e->run, e->cut.offset, e->run_length, e->cut.block);

	if (r == 0)
		r = add(x, ",\"recorded_ns\":%" PRId64 ",\"checked_ns\":%" PRId64, e->recorded_ns,
			e->checked_ns);
	if (r == 0)
		r = add(x, ",\"hole\":%s,\"unrecorded\":%s,\"racy\":%s", e->hole ? "true" : "false",
			e->flags & SCR_EXTENT_UNRECORDED ? "true" : "false",
			e->flags & SCR_EXTENT_RACY ? "true" : "false");
	if (r == 0 && e->checks)
		r = add_checks(x, e);
	if (r == 0 && e->damage_count)
		r = add_damage(x, e);
	return r < 0 ? r : end_line(x);
}

int scr_export_json(struct scr_exporter *x)
{
	struct scr_extent e = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	int r = put_header(x);

	if (r == 0)
		r = put_unseen(x);
	while (r == 0 && (r = scr_view_next(x->view, &f, &l)) > 0) {
		if (r == SCR_RECORD_LINK) {
			r = put_link(x, &l);
			continue;
		}
		r = put_file(x, &f);
		while (r == 0 && (r = scr_view_extent(x->view, &e)) == 1)
			r = put_extent(x, &e);
	}
	scr_extent_free(&e);
	if (r == 0)
		r = add(x, "{\"record\":\"end\"");
	return r < 0 ? r : end_line(x);
}
