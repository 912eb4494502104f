/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Owning records: free and deep copy. */
#include <config.h>
#include "manifest/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void free_strings(char **list)
{
	for (char **s = list; s && *s; s++)
		free(*s);
	free(list);
}

void scr_extent_free(struct scr_extent *e)
{
	if (!e)
		return;
	free(e->checks);
	free(e->parity_checks);
	free(e->holes);
	free(e->damage);
	*e = (struct scr_extent){0};
}

void scr_header_free(struct scr_header *h)
{
	if (!h)
		return;
	free(h->target);
	free_strings(h->settings.pairs);
	free_strings(h->device);
	for (uint32_t i = 0; i < h->identity_count; i++) {
		free(h->identities[i].type);
		free(h->identities[i].uuid);
		free(h->identities[i].subvol);
	}
	free(h->identities);
	*h = (struct scr_header){0};
}

void scr_trailer_free(struct scr_trailer *t)
{
	if (!t)
		return;
	free(t->segments);
	*t = (struct scr_trailer){0};
}

/* A copy of @n bytes; NULL stays NULL. */
static int copy_bytes(void **dst, const void *src, size_t n)
{
	*dst = NULL;
	if (!src || n == 0)
		return 0;
	*dst = malloc(n);
	if (!*dst)
		return -ENOMEM;
	memcpy(*dst, src, n);
	return 0;
}

int scr_extent_copy(struct scr_extent *dst, const struct scr_extent *src)
{
	struct scr_extent e = *src;
	void *checks, *parity = NULL, *holes = NULL, *damage = NULL;

	if (copy_bytes(&checks, src->checks, src->cut.blocks * sizeof(*src->checks)) < 0 ||
	    copy_bytes(&parity, src->parity_checks,
		       src->cut.parity_blocks * sizeof(*src->parity_checks)) < 0 ||
	    copy_bytes(&holes, src->holes, ((size_t)src->cut.blocks + 7) / 8) < 0 ||
	    copy_bytes(&damage, src->damage, src->damage_count * sizeof(*src->damage)) < 0)
		goto fail;
	e.checks = checks;
	e.parity_checks = parity;
	e.holes = holes;
	e.damage = damage;
	*dst = e;
	return 0;
fail:
	free(checks);
	free(parity);
	free(holes);
	free(damage);
	return -ENOMEM;
}

static int copy_string(char **dst, const char *src)
{
	if (!src)
		return 0;
	*dst = strdup(src);
	return *dst ? 0 : -ENOMEM;
}

static int copy_strings(char ***dst, char *const *src)
{
	size_t n = 0;

	if (!src)
		return 0;
	while (src[n])
		n++;
	*dst = calloc(n + 1, sizeof(**dst));
	if (!*dst)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (copy_string(&(*dst)[i], src[i]) < 0)
			return -ENOMEM;
	return 0;
}

static int copy_identities(struct scr_header *dst, const struct scr_header *src)
{
	if (src->identity_count == 0)
		return 0;
	dst->identities = calloc(src->identity_count, sizeof(*dst->identities));
	if (!dst->identities)
		return -ENOMEM;
	dst->identity_count = src->identity_count;
	for (uint32_t i = 0; i < src->identity_count; i++) {
		const struct scr_identity *from = &src->identities[i];
		struct scr_identity *to = &dst->identities[i];

		to->fsid = from->fsid;
		if (copy_string(&to->type, from->type) < 0 ||
		    copy_string(&to->uuid, from->uuid) < 0 ||
		    copy_string(&to->subvol, from->subvol) < 0)
			return -ENOMEM;
	}
	return 0;
}

int scr_header_copy(struct scr_header *dst, const struct scr_header *src)
{
	struct scr_header h = *src;

	h.target = NULL;
	h.settings.pairs = NULL;
	h.identities = NULL;
	h.identity_count = 0;
	h.device = NULL;
	if (copy_string(&h.target, src->target) < 0 ||
	    copy_strings(&h.settings.pairs, src->settings.pairs) < 0 ||
	    copy_strings(&h.device, src->device) < 0 || copy_identities(&h, src) < 0) {
		scr_header_free(&h);
		return -ENOMEM;
	}
	*dst = h;
	return 0;
}
