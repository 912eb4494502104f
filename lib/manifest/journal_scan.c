/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starting a journal, and reading one from its start to its first bad record. */
#include <config.h>

#include <errno.h>

#include "io/state.h"
#include "manifest/journal.h"

int scr_journal_start(int fd, uint64_t generation, const struct scr_geometry *g, int64_t now_ns)
{
	struct scr_journal_head h = {
		.version = SCR_FORMAT_VERSION,
		.generation = generation,
		.started_ns = now_ns,
		.geometry = *g,
	};
	struct scr_buf b = {0};
	size_t at = 0;
	int r = scr_geometry_valid(g) ? scr_frame_begin(&b, SCR_TYPE_JOURNAL, &at) : -EINVAL;

	if (r == 0)
		r = scr_encode_journal(&b, &h);
	if (r == 0)
		r = scr_frame_end(&b, at);
	if (r == 0)
		r = scr_write_all(fd, b.data, b.len);
	scr_buf_free(&b);
	return r;
}

/* The sound record at @offset: 1 with its type and payload, 0 if there is none, -errno. */
static int fetch(struct scr_journal *j, uint64_t offset, uint8_t *type, const uint8_t **payload,
		 uint32_t *len)
{
	const uint8_t *p;
	int r = scr_window_get(&j->window, offset, SCR_RECORD_HEAD, &p);

	if (r <= 0)
		return r;
	if (scr_frame_length(p, len) < 0)
		return 0;
	r = scr_window_get(&j->window, offset, (size_t)*len + SCR_RECORD_FRAME, &p);
	if (r <= 0 || !scr_frame_sound(p, *len))
		return r < 0 ? r : 0;
	*type = p[0];
	*payload = p + SCR_RECORD_HEAD;
	return 1;
}

/* Judges an UPDATE before any part of it is used. Returns 0, -EBADMSG, -ENOMEM. */
static int judge(struct scr_update_walk *w, const struct scr_codec *codec, const uint8_t *p,
		 uint32_t len)
{
	struct scr_part part;
	int r = scr_update_begin(w, codec, p, len, &part);

	if (r < 0)
		return r;
	do
		r = scr_update_next(w, &part);
	while (r > 0);
	return r;
}

/* Hands the parts of the UPDATE whose payload is at @p, and at @offset of the file, over. */
static int add_parts(struct scr_journal *j, struct scr_update_walk *w, uint64_t offset,
		     const uint8_t *p, uint32_t len)
{
	struct scr_part part;
	int r = judge(w, &j->codec, p, len);

	if (r == 0)
		r = scr_update_begin(w, &j->codec, p, len, &part);
	if (r < 0)
		return r;
	do {
		struct scr_item item = {
			.where = offset + (uint64_t)(part.payload - p),
			.index = part.index,
			.end = part.end,
			.size = w->file.stamp.size,
			.len = part.len,
			.path_len = w->file.path_len,
			.type = (uint8_t)part.type,
			.done = w->done,
		};

		r = scr_sorter_add(j->sorter, &item, w->file.path);
		if (r == 0)
			r = scr_update_next(w, &part);
	} while (r > 0);
	return r;
}

/* The JOURNAL record. Returns 1 with its end in *end, 0 if it is none of this generation. */
static int scan_head(struct scr_journal *j, uint64_t generation, uint64_t *end)
{
	struct scr_journal_head h;
	const uint8_t *p;
	uint8_t type;
	uint32_t len;
	int r = fetch(j, 0, &type, &p, &len);

	if (r <= 0 || type != SCR_TYPE_JOURNAL)
		return r < 0 ? r : 0;
	r = scr_decode_journal(p, len, &h);
	if (r == -EBADMSG || (r == 0 && h.generation != generation))
		return 0;
	if (r < 0)
		return r;
	j->codec.geometry = h.geometry;
	j->codec.identities = UINT32_MAX;
	j->codec.lax = h.compat;
	*end = (uint64_t)len + SCR_RECORD_FRAME;
	return 1;
}

int scr_journal_scan(struct scr_journal *j, uint64_t generation, uint64_t *valid)
{
	struct scr_update_walk w = {0};
	uint64_t pos = 0;
	int r = scan_head(j, generation, &pos);

	while (r > 0) {
		const uint8_t *p;
		uint8_t type;
		uint32_t len;

		r = fetch(j, pos, &type, &p, &len);
		if (r <= 0 || type != SCR_TYPE_UPDATE)
			break;
		r = add_parts(j, &w, pos + SCR_RECORD_HEAD, p, len);
		if (r < 0)
			break;
		j->count++;
		pos += (uint64_t)len + SCR_RECORD_FRAME;
		r = 1;
	}
	scr_extent_free(&w.scratch);
	if (r < 0 && r != -EBADMSG)
		return r;
	*valid = pos;
	return 0;
}
