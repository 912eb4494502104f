/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a manifest record by record. */
#include <config.h>
#include "manifest/mreader.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/path.h"

/* ---- records ------------------------------------------------------------------------------ */

static uint32_t crc_of(const struct scr_mreader *r, uint32_t crc, const uint8_t *p, size_t len)
{
	return r->crc32->fn.crc32(crc, p, len);
}

/* Before a record is called bad zlib is asked too. */
static bool is_sound(const struct scr_mreader *r, const uint8_t *p, uint32_t len)
{
	size_t n = (size_t)SCR_RECORD_HEAD + len;

	return scr_get_le32(p + n) == crc_of(r, 0, p, n) || scr_frame_sound(p, len);
}

/* The frame at @offset, all of which lies before @end. */
static int fetch(struct scr_mreader *r, uint64_t offset, uint64_t end, struct scr_frame *f)
{
	const uint8_t *p;
	int ret;

	if (end - offset < SCR_RECORD_FRAME)
		return -EBADMSG;
	ret = scr_stream_get(&r->stream, offset, SCR_RECORD_HEAD, &p);
	if (ret < 0)
		return ret;
	f->type = p[0];
	if (scr_frame_length(p, &f->len) < 0 || f->len > end - offset - SCR_RECORD_FRAME)
		return -EBADMSG;
	ret = scr_stream_get(&r->stream, offset, f->len + SCR_RECORD_FRAME, &p);
	if (ret < 0)
		return ret;
	if (!is_sound(r, p, f->len))
		return -EBADMSG;
	f->record = p;
	f->payload = p + SCR_RECORD_HEAD;
	f->end = offset + f->len + SCR_RECORD_FRAME;
	return 0;
}

/* The record at the reader's position, without moving. */
static int look(struct scr_mreader *r, struct scr_frame *f)
{
	return fetch(r, r->pos, r->stream.last.trailer, f);
}

/* Passes over the record that look() gave. */
static void advance(struct scr_mreader *r, const struct scr_frame *f)
{
	if (r->whole)
		r->body_crc = crc_of(r, r->body_crc, f->record, f->len + SCR_RECORD_FRAME);
	r->pos = f->end;
}

static bool is_extent(const struct scr_frame *f)
{
	return f->type == SCR_TYPE_EXTENT || f->type == SCR_TYPE_HOLES;
}

static int take_extent(struct scr_mreader *r, const struct scr_frame *f, struct scr_extent *e)
{
	int ret = scr_decode_extent(&r->codec, (enum scr_type)f->type, r->stamp.size, &r->stamp,
				    f->payload, f->len, e);

	if (ret < 0)
		return ret;
	if (e->cut.index < r->next_index)
		return -EBADMSG;
	r->next_index = e->cut.index + e->run;
	advance(r, f);
	return r->whole ? scr_tally_extent(&r->tally, &r->codec.geometry, e) : 0;
}

int scr_mreader_extent(struct scr_mreader *r, struct scr_extent *e)
{
	struct scr_frame f;
	int ret;

	if (!r->in_file || r->pos == r->stream.last.trailer)
		return 0;
	ret = look(r, &f);
	if (ret < 0)
		return ret;
	if (!is_extent(&f))
		return 0;
	ret = take_extent(r, &f, e);
	return ret < 0 ? ret : 1;
}

/* Passes over extents to the next record; 1 with it in *f, 0 at the trailer. Extents are looked
 * into only where everything is counted. */
static int skip_extents(struct scr_mreader *r, struct scr_frame *f)
{
	while (r->pos != r->stream.last.trailer) {
		int ret = look(r, f);

		if (ret < 0)
			return ret;
		if (!is_extent(f))
			return 1;
		if (!r->in_file)
			return -EBADMSG;
		if (r->whole)
			ret = take_extent(r, f, &r->scratch);
		else
			advance(r, f);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* A copy with a NUL behind it. */
static int keep(struct scr_buf *b, const char *s, uint32_t len)
{
	scr_buf_clear(b);
	if (scr_buf_reserve(b, (size_t)len + 1) < 0)
		return -ENOMEM;
	memcpy(b->data, s, len);
	b->data[len] = '\0';
	b->len = len;
	return 0;
}

/* Paths are strictly ascending; the new one is kept. */
static int take_path(struct scr_mreader *r, const char *path, uint32_t len)
{
	if (r->path.len && scr_path_cmp((const char *)r->path.data, r->path.len, path, len) >= 0)
		return -EBADMSG;
	return keep(&r->path, path, len);
}

int scr_mreader_unseen(struct scr_mreader *r, struct scr_unseen_record *u)
{
	struct scr_unseen_record found;
	struct scr_frame f;
	int ret;

	if (r->in_files || r->pos == r->stream.last.trailer)
		return 0;
	ret = look(r, &f);
	if (ret < 0 || f.type != SCR_TYPE_UNSEEN)
		return ret;
	ret = scr_decode_unseen(&r->codec, f.payload, f.len, &found);
	if (ret == 0 && r->path.len && scr_place_cmp((const char *)r->path.data, r->path.len,
						     found.path, found.path_len) >= 0)
		ret = -EBADMSG;
	if (ret == 0)
		ret = keep(&r->path, found.path, found.path_len);
	if (ret < 0)
		return ret;
	advance(r, &f);
	found.path = (const char *)r->path.data;
	if (r->whole)
		scr_tally_unseen(&r->tally);
	*u = found;
	return 1;
}

/* Passes over UNSEEN records: only FILE and LINK follow. */
static int enter_files(struct scr_mreader *r)
{
	struct scr_unseen_record u;
	int ret = 0;

	if (r->in_files)
		return 0;
	while ((ret = scr_mreader_unseen(r, &u)) > 0)
		;
	if (ret < 0)
		return ret;
	scr_buf_clear(&r->path);
	r->in_files = true;
	return 0;
}

static int take_file(struct scr_mreader *r, const struct scr_frame *f, struct scr_file_record *out)
{
	struct scr_file_record file;
	int ret = scr_decode_file(&r->codec, f->payload, f->len, &file);

	if (ret == 0)
		ret = take_path(r, file.path, file.path_len);
	if (ret < 0)
		return ret;
	advance(r, f);
	file.path = (const char *)r->path.data;
	r->in_file = true;
	r->stamp = file.stamp;
	r->next_index = 0;
	if (r->whole)
		scr_tally_file(&r->tally, &file);
	*out = file;
	return SCR_RECORD_FILE;
}

static int take_link(struct scr_mreader *r, const struct scr_frame *f, struct scr_link_record *out)
{
	struct scr_link_record link;
	int ret = scr_decode_link(&r->codec, f->payload, f->len, &link);

	if (ret == 0)
		ret = take_path(r, link.path, link.path_len);
	if (ret == 0)
		ret = keep(&r->owner, link.owner, link.owner_len);
	if (ret < 0)
		return ret;
	advance(r, f);
	link.path = (const char *)r->path.data;
	link.owner = (const char *)r->owner.data;
	r->in_file = false;
	if (r->whole)
		scr_tally_link(&r->tally);
	*out = link;
	return SCR_RECORD_LINK;
}

/* The CRC over header and records once more, by zlib. 0 or -errno. */
static int sum_plainly(struct scr_mreader *r, uint32_t *crc)
{
	uint64_t at = 0;
	int ret = 0;

	*crc = 0;
	while (ret == 0 && at != r->stream.last.trailer) {
		struct scr_frame f;

		ret = fetch(r, at, r->stream.last.trailer, &f);
		if (ret == 0) {
			*crc = (uint32_t)crc32_z(*crc, f.record, f.len + SCR_RECORD_FRAME);
			at = f.end;
		}
	}
	return ret;
}

/* Whether the CRC over all is that of the trailer; a fast kernel that errs is no damage. */
static bool body_sound(struct scr_mreader *r)
{
	uint32_t crc;

	return r->body_crc == r->trailer.body_crc ||
	       (sum_plainly(r, &crc) == 0 && crc == r->trailer.body_crc);
}

/* What only a reading from start to end can tell. */
static int at_end(struct scr_mreader *r)
{
	bool good = !r->whole || (body_sound(r) && scr_tally_agrees(&r->tally, &r->trailer));

	r->whole = false;
	r->in_file = false;
	return good ? SCR_RECORD_END : -EBADMSG;
}

int scr_mreader_next(struct scr_mreader *r, struct scr_file_record *f, struct scr_link_record *l,
		     uint64_t *offset)
{
	struct scr_frame frame;
	uint64_t at;
	int ret = enter_files(r);

	if (ret == 0)
		ret = skip_extents(r, &frame);
	if (ret <= 0)
		return ret < 0 ? ret : at_end(r);
	at = r->pos;
	if (frame.type == SCR_TYPE_FILE)
		ret = take_file(r, &frame, f);
	else if (frame.type == SCR_TYPE_LINK)
		ret = take_link(r, &frame, l);
	else
		return -EBADMSG;
	if (ret > 0 && offset)
		*offset = at;
	return ret;
}

/* ---- positions ---------------------------------------------------------------------------- */

static void forget_place(struct scr_mreader *r)
{
	scr_buf_clear(&r->path);
	scr_tally_free(&r->tally);
	r->in_file = false;
	r->whole = false;
}

int scr_mreader_seek(struct scr_mreader *r, uint64_t offset)
{
	if (offset < r->first || offset >= r->stream.last.trailer)
		return -EINVAL;
	forget_place(r);
	r->in_files = true;
	r->pos = offset;
	return 0;
}

int scr_mreader_rewind(struct scr_mreader *r)
{
	int ret;

	forget_place(r);
	ret = scr_tally_start_like(&r->tally, &r->trailer);
	if (ret < 0)
		return ret;
	r->in_files = false;
	r->pos = r->first;
	r->body_crc = r->header_crc;
	r->whole = true;
	return 0;
}

int scr_mreader_check(struct scr_mreader *r)
{
	struct scr_file_record f;
	struct scr_link_record l;
	int ret = scr_mreader_rewind(r);

	if (ret < 0)
		return ret;
	do
		ret = scr_mreader_next(r, &f, &l, NULL);
	while (ret > 0);
	return ret < 0 ? ret : scr_mreader_rewind(r);
}

/* ---- opening ------------------------------------------------------------------------------ */

static int open_header(struct scr_mreader *r, const char **why)
{
	struct scr_frame f;
	int ret = fetch(r, 0, r->stream.length, &f);

	*why = "its header is not that of a manifest";
	if (ret == 0 && f.type != SCR_TYPE_HEADER)
		ret = -EBADMSG;
	if (ret == 0)
		ret = scr_decode_header(f.payload, f.len, &r->header);
	if (ret == -EPROTONOSUPPORT)
		*why = "it was written by a newer version, which this one can't read";
	if (ret < 0)
		return ret;
	if (r->header.generation != r->stream.last.generation)
		return -EBADMSG;
	r->first = f.end;
	r->header_crc = crc_of(r, 0, f.record, f.len + SCR_RECORD_FRAME);
	r->codec.geometry = r->header.settings.geometry;
	r->codec.identities = r->header.identity_count;
	r->codec.lax = r->header.compat || r->header.ro_compat;
	return 0;
}

static int open_trailer(struct scr_mreader *r, const char **why)
{
	uint64_t at = r->stream.last.trailer;
	struct scr_frame f;
	int ret;

	*why = "its trailer is not that of a manifest";
	if (at < r->first || at >= r->stream.length)
		return -EBADMSG;
	ret = fetch(r, at, r->stream.length, &f);
	if (ret == 0 && (f.type != SCR_TYPE_TRAILER || f.end != r->stream.length))
		ret = -EBADMSG;
	if (ret == 0)
		ret = scr_decode_trailer(&r->codec, f.payload, f.len, &r->trailer);
	if (ret == 0 && r->trailer.generation != r->header.generation)
		ret = -EBADMSG;
	return ret;
}

int scr_mreader_open_with(int fd, scr_pread_fn *pread_fn, const struct scr_kernels *k,
			  struct scr_mreader **out, const char **why)
{
	struct scr_mreader *r = calloc(1, sizeof(*r));
	int ret;

	*why = "out of memory";
	if (!r)
		return -ENOMEM;
	r->crc32 = k->crc32;
	ret = scr_stream_open(&r->stream, fd, pread_fn, k, why);
	if (ret == 0)
		ret = open_header(r, why);
	if (ret == 0)
		ret = open_trailer(r, why);
	if (ret == 0)
		ret = scr_mreader_rewind(r);
	if (ret < 0)
		scr_mreader_free(r);
	else
		*out = r;
	return ret;
}

int scr_mreader_open(int fd, const struct scr_kernels *k, struct scr_mreader **out,
		     const char **why)
{
	return scr_mreader_open_with(fd, pread, k, out, why);
}

void scr_mreader_use(struct scr_mreader *r, const struct scr_kernel *crc32)
{
	r->crc32 = crc32;
}

const struct scr_header *scr_mreader_header(const struct scr_mreader *r)
{
	return &r->header;
}

const struct scr_trailer *scr_mreader_trailer(const struct scr_mreader *r)
{
	return &r->trailer;
}

void scr_mreader_get_damage(const struct scr_mreader *r, struct scr_mreader_damage *out)
{
	*out = r->stream.damage;
}

void scr_mreader_free(struct scr_mreader *r)
{
	if (!r)
		return;
	scr_stream_close(&r->stream);
	scr_header_free(&r->header);
	scr_trailer_free(&r->trailer);
	scr_tally_free(&r->tally);
	scr_extent_free(&r->scratch);
	scr_buf_free(&r->path);
	scr_buf_free(&r->owner);
	free(r);
}
