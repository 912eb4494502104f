/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sorted names of one directory. */
#include <config.h>
#include "walk/walk_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

static int reserve(struct scr_names *n, size_t extra)
{
	if (n->cap - n->len < extra) {
		size_t cap = SCR_MAX(n->cap * 2, n->len + extra + 512);
		char *text = realloc(n->text, cap);

		if (!text)
			return -ENOMEM;
		n->text = text;
		n->cap = cap;
	}
	if (n->count == n->order_cap) {
		size_t cap = SCR_MAX(n->order_cap * 2, 32);
		uint32_t *order = reallocarray(n->order, cap, sizeof(*order));

		if (!order)
			return -ENOMEM;
		n->order = order;
		n->order_cap = cap;
	}
	return n->len > UINT32_MAX ? -ENOMEM : 0;
}

static int add(struct scr_names *n, const char *name, enum scr_name_type type)
{
	size_t len = strlen(name);
	int ret = reserve(n, len + 2);

	if (ret < 0)
		return ret;
	n->order[n->count++] = (uint32_t)n->len;
	n->text[n->len] = (char)type;
	memcpy(n->text + n->len + 1, name, len + 1);
	n->len += len + 2;
	return 0;
}

/* 0 for symlinks, FIFOs, sockets and devices, which nobody looks at again. */
static enum scr_name_type type_of(unsigned char d_type)
{
	switch (d_type) {
	case DT_REG:
		return SCR_NAME_FILE;
	case DT_DIR:
		return SCR_NAME_DIR;
	case DT_UNKNOWN:
		return SCR_NAME_UNKNOWN;
	default:
		return 0;
	}
}

static int add_entries(struct scr_names *n, const char *buf, size_t len)
{
	for (size_t at = 0; at < len;) {
		const struct dirent64 *e = (const void *)(buf + at);
		enum scr_name_type type = type_of(e->d_type);
		int ret;

		at += e->d_reclen;
		if (!type || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (!e->d_name[0] || strchr(e->d_name, '/'))
			return -EUCLEAN;
		ret = add(n, e->d_name, type);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int compare(const void *a, const void *b, void *arg)
{
	const char *text = arg;

	/* strcmp() compares as unsigned char, whatever the locale. */
	return strcmp(text + *(const uint32_t *)a + 1, text + *(const uint32_t *)b + 1);
}

/* A directory that changes while it is listed may give a name twice. */
static void drop_doubles(struct scr_names *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->count; i++) {
		if (kept > 0 && strcmp(scr_names_get(n, kept - 1), scr_names_get(n, i)) == 0)
			continue;
		n->order[kept++] = n->order[i];
	}
	n->count = kept;
}

int scr_names_list(struct scr_names *out, int fd, char *buf, size_t size)
{
	struct scr_names n = {0};
	ssize_t got;
	int ret = 0;

	while (ret == 0 && (got = getdents64(fd, buf, size)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		ret = got < 0 ? -errno : add_entries(&n, buf, (size_t)got);
	}
	if (ret == -ENOMEM) {
		scr_names_free(&n);
		return ret;
	}
	if (n.count > 0) {
		qsort_r(n.order, n.count, sizeof(*n.order), compare, n.text);
		drop_doubles(&n);
	}
	*out = n;
	return ret;
}

void scr_names_free(struct scr_names *n)
{
	free(n->text);
	free(n->order);
	*n = (struct scr_names){0};
}
