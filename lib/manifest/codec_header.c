/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The HEADER record. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "manifest/codec.h"

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static uint32_t count_strings(char *const *list)
{
	uint32_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static bool pairs_valid(char *const *list)
{
	for (; list && *list; list++) {
		const char *eq = strchr(*list, '=');

		if (!eq || eq == *list)
			return false;
	}
	return true;
}

bool scr_header_valid(const struct scr_header *h)
{
	return scr_geometry_valid(&h->settings.geometry) && h->parities == 1 &&
	       h->kind >= SCR_TARGET_DIR && h->kind <= SCR_TARGET_DEVICE &&
	       strlen(or_empty(h->target)) <= SCR_PATH_LIMIT && pairs_valid(h->settings.pairs) &&
	       pairs_valid(h->device);
}

/* ---- to bytes ----------------------------------------------------------------------------- */

static int append_string(struct scr_buf *b, const char *s)
{
	return scr_buf_append(b, or_empty(s), strlen(or_empty(s)));
}

static int append_strings(struct scr_buf *b, char *const *list)
{
	for (; list && *list; list++)
		if (scr_buf_append_le32(b, (uint32_t)strlen(*list)) < 0 ||
		    append_string(b, *list) < 0)
			return -ENOMEM;
	return 0;
}

static int append_identity(struct scr_buf *b, const struct scr_identity *id)
{
	uint8_t fixed[SCR_IDENTITY_SIZE], *p = fixed;

	scr_put64(&p, id->fsid);
	scr_put32(&p, (uint32_t)strlen(or_empty(id->type)));
	scr_put32(&p, (uint32_t)strlen(or_empty(id->uuid)));
	scr_put32(&p, (uint32_t)strlen(or_empty(id->subvol)));
	scr_put32(&p, 0);
	if (scr_buf_append(b, fixed, sizeof(fixed)) < 0 || append_string(b, id->type) < 0 ||
	    append_string(b, id->uuid) < 0 || append_string(b, id->subvol) < 0)
		return -ENOMEM;
	return 0;
}

static void put_fixed(uint8_t *p, const struct scr_header *h)
{
	scr_put_bytes(&p, SCR_MAGIC, SCR_MAGIC_LENGTH);
	scr_put32(&p, h->version);
	scr_put32(&p, h->compat);
	scr_put32(&p, h->ro_compat);
	scr_put32(&p, h->incompat);
	scr_put64(&p, h->generation);
	scr_put_time(&p, h->created_ns);
	scr_put_time(&p, h->published_ns);
	scr_put32(&p, (uint32_t)h->kind);
	scr_put32(&p, h->settings.geometry.block_size);
	scr_put32(&p, h->settings.geometry.columns);
	scr_put32(&p, h->settings.geometry.parity_unit);
	scr_put32(&p, SCR_EXTENT_SIZE);
	scr_put32(&p, h->parities);
	scr_put32(&p, h->settings.parity);
	scr_put32(&p, (uint32_t)strlen(or_empty(h->target)));
	scr_put32(&p, count_strings(h->settings.pairs));
	scr_put32(&p, h->identity_count);
	scr_put32(&p, count_strings(h->device));
	scr_put_zeros(&p, 12);
}

int scr_encode_header(struct scr_buf *b, const struct scr_header *h)
{
	uint8_t fixed[SCR_HEADER_SIZE];

	put_fixed(fixed, h);
	if (scr_buf_append(b, fixed, sizeof(fixed)) < 0 || append_string(b, h->target) < 0 ||
	    append_strings(b, h->settings.pairs) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->identity_count; i++)
		if (append_identity(b, &h->identities[i]) < 0)
			return -ENOMEM;
	return append_strings(b, h->device);
}

/* ---- from bytes --------------------------------------------------------------------------- */

/* A string of @len bytes, owned by the caller. */
static int take_string(struct scr_cursor *c, uint32_t len, char **out)
{
	const uint8_t *p = scr_take(c, len);
	char *s;

	if (!p || memchr(p, 0, len))
		return -EBADMSG;
	s = strndup((const char *)p, len);
	if (!s)
		return -ENOMEM;
	*out = s;
	return 0;
}

/* @n strings, each with its length before it; the list is in *out whatever happens. */
static int take_strings(struct scr_cursor *c, uint32_t n, char ***out)
{
	char **list;
	int r;

	if (n > c->left / 4)
		return -EBADMSG;
	list = calloc((size_t)n + 1, sizeof(*list));
	*out = list;
	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		r = take_string(c, scr_take32(c), &list[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_identity(struct scr_cursor *c, struct scr_identity *id)
{
	uint32_t type, uuid, subvol;
	int r;

	id->fsid = scr_take64(c);
	type = scr_take32(c);
	uuid = scr_take32(c);
	subvol = scr_take32(c);
	scr_take32(c);
	r = take_string(c, type, &id->type);
	if (r == 0)
		r = take_string(c, uuid, &id->uuid);
	if (r == 0)
		r = take_string(c, subvol, &id->subvol);
	return r;
}

static int take_identities(struct scr_cursor *c, uint32_t n, struct scr_header *h)
{
	int r = 0;

	if (n > c->left / SCR_IDENTITY_SIZE)
		return -EBADMSG;
	if (n == 0)
		return 0;
	h->identities = calloc(n, sizeof(*h->identities));
	if (!h->identities)
		return -ENOMEM;
	h->identity_count = n;
	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = take_identity(c, &h->identities[i]);
	return r;
}

struct lengths { /* of what follows the fixed part */
	uint32_t extent_size, parity, target, pairs, identities, device;
};

static void take_fixed(struct scr_cursor *c, struct scr_header *h, struct lengths *n)
{
	h->generation = scr_take64(c);
	h->created_ns = scr_take_time(c);
	h->published_ns = scr_take_time(c);
	h->kind = (enum scr_target_kind)scr_take32(c);
	h->settings.geometry.block_size = scr_take32(c);
	h->settings.geometry.columns = scr_take32(c);
	h->settings.geometry.parity_unit = scr_take32(c);
	n->extent_size = scr_take32(c);
	h->parities = scr_take32(c);
	n->parity = scr_take32(c);
	n->target = scr_take32(c);
	n->pairs = scr_take32(c);
	n->identities = scr_take32(c);
	n->device = scr_take32(c);
	scr_take(c, 12);
	h->settings.parity = n->parity == 1;
}

/* Magic, version and features: what decides whether the rest means anything to us. */
static int take_version(struct scr_cursor *c, struct scr_header *h)
{
	const uint8_t *magic = scr_take(c, SCR_MAGIC_LENGTH);

	h->version = scr_take32(c);
	h->compat = scr_take32(c);
	h->ro_compat = scr_take32(c);
	h->incompat = scr_take32(c);
	if (c->bad || memcmp(magic, SCR_MAGIC, SCR_MAGIC_LENGTH) != 0 || h->version == 0)
		return -EBADMSG;
	return h->version > SCR_FORMAT_VERSION || h->incompat ? -EPROTONOSUPPORT : 0;
}

static int take_lists(struct scr_cursor *c, const struct lengths *n, struct scr_header *h)
{
	int r = take_string(c, n->target, &h->target);

	if (r == 0)
		r = take_strings(c, n->pairs, &h->settings.pairs);
	if (r == 0)
		r = take_identities(c, n->identities, h);
	if (r == 0 && n->device)
		r = take_strings(c, n->device, &h->device);
	return r;
}

int scr_decode_header(const uint8_t *p, size_t len, struct scr_header *out)
{
	struct scr_cursor c = {.p = p, .left = len};
	struct scr_codec codec = {0};
	struct scr_header h = {0};
	struct lengths n;
	int r = take_version(&c, &h);

	if (r < 0)
		return r;
	codec.lax = h.compat || h.ro_compat;
	take_fixed(&c, &h, &n);
	if (c.bad || n.extent_size != SCR_EXTENT_SIZE || n.parity > 1)
		return -EBADMSG;
	r = take_lists(&c, &n, &h);
	if (r == 0)
		r = scr_payload_end(&codec, &c);
	if (r == 0 && !scr_header_valid(&h))
		r = -EBADMSG;
	if (r < 0)
		scr_header_free(&h);
	else
		*out = h;
	return r;
}
