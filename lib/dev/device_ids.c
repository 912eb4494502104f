/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Identities as lists of "key=value": building, comparing, naming. Pure. */
#include <config.h>
#include "dev/device.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/compiler.h"
#include "dev/device_internal.h"

/* A name longer than this is cut: file names may have 255 bytes. */
#define NAME_CUT 200

static void add(struct scr_ids *ids, char *entry)
{
	char **list = entry ? realloc(ids->list, (ids->count + 2) * sizeof(*list)) : NULL;

	if (!list) {
		free(entry);
		ids->error = -ENOMEM;
		return;
	}
	list[ids->count++] = entry;
	list[ids->count] = NULL;
	ids->list = list;
}

void scr_ids_add(struct scr_ids *ids, const char *key, const char *value)
{
	size_t n = strlen(key);
	char *entry, *to;

	if (!value[0])
		return;
	entry = malloc(n + 1 + 4 * strlen(value) + 1);
	if (entry) {
		memcpy(entry, key, n);
		to = entry + n;
		*to++ = '=';
		for (const char *p = value; *p; p++) {
			unsigned char c = (unsigned char)*p;

			if (c >= ' ' && c < 0x7f && c != '\\')
				*to++ = *p;
			else
				to += sprintf(to, "\\x%02x", c);
		}
		*to = '\0';
	}
	add(ids, entry);
}

void scr_ids_add_number(struct scr_ids *ids, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	scr_ids_add(ids, key, text);
}

void scr_identity_free(char **identity)
{
	for (char **p = identity; p && *p; p++)
		free(*p);
	free(identity);
}

const char *scr_identity_get(char *const *identity, const char *key)
{
	size_t n = strlen(key);

	for (char *const *p = identity; p && *p; p++)
		if (strncmp(*p, key, n) == 0 && (*p)[n] == '=')
			return *p + n + 1;
	return NULL;
}

/* 1: both know @key and agree; -1: they differ; 0: one of them doesn't know. */
static int agree(char *const *a, char *const *b, const char *key)
{
	const char *x = scr_identity_get(a, key), *y = scr_identity_get(b, key);

	return !x || !y ? 0 : strcmp(x, y) == 0 ? 1 : -1;
}

/* The same number of partition, or both a whole device. */
static bool same_part(char *const *a, char *const *b)
{
	const char *x = scr_identity_get(a, "partition"), *y = scr_identity_get(b, "partition");

	return x && y ? strcmp(x, y) == 0 : x == y;
}

enum scr_device_match scr_device_compare(char *const *was, char *const *is)
{
	/* The strongest first. A disk image that was copied to another disk takes the names in it
	 * along (partuuid), but not those of the disk. */
	static const char *const keys[] = {"partuuid", "dm-uuid", "md-uuid", "wwn",
					   "serial",   "ptuuid",  "uuid"};

	for (size_t i = 0; i < SCR_ARRAY_SIZE(keys); i++) {
		int a = agree(was, is, keys[i]);

		if (a == 0)
			continue;
		/* A serial number is one among those of its model. */
		if (strcmp(keys[i], "serial") == 0 && agree(was, is, "model") < 0)
			a = -1;
		if (strcmp(keys[i], "wwn") == 0 || strcmp(keys[i], "serial") == 0)
			a = same_part(was, is) ? a : -1;
		return a > 0 ? SCR_DEVICE_SAME : SCR_DEVICE_OTHER;
	}
	return SCR_DEVICE_UNKNOWN;
}

/* The text that a name is made of: "wwn-naa.5000", of a partition with "-part2". NULL: no memory;
 * "": nothing lasting is known. */
static char *name_source(const struct scr_device *d)
{
	static const char *const keys[] = {"partuuid", "dm-uuid", "md-uuid", "wwn"};
	const char *value = NULL, *model = scr_identity_get(d->identity, "model");
	const char *part = scr_identity_get(d->identity, "partition");
	const char *key = "";
	char *out;
	int n;

	for (size_t i = 0; i < SCR_ARRAY_SIZE(keys) && !value; i++) {
		key = keys[i];
		value = scr_identity_get(d->identity, key);
	}
	if (value) {
		if (strcmp(key, "wwn") != 0)
			part = NULL;
		n = asprintf(&out, "%s-%s%s%s", key, value, part ? "-part" : "", part ? part : "");
		return n < 0 ? NULL : out;
	}
	value = scr_identity_get(d->identity, "serial");
	if (!value)
		return strdup("");
	n = asprintf(&out, "%s%s%s%s%s", model ? model : "serial", "-", value, part ? "-part" : "",
		     part ? part : "");
	return n < 0 ? NULL : out;
}

static bool kept(char c, bool first)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
		return true;
	return c == ':' || c == '_' || c == '-' || (c == '.' && !first);
}

/* @source escaped; beyond NAME_CUT bytes cut, with its CRC-32. */
static size_t escape(const char *source, char *out)
{
	size_t n = 0;

	for (const char *p = source; *p; p++) {
		size_t need = kept(*p, n == 0) ? 1 : 4;

		if (n + need > NAME_CUT)
			return n + (size_t)sprintf(
					   out + n, "-%08lx",
					   crc32(0, (const Bytef *)source, (uInt)strlen(source)));
		if (need == 1)
			out[n] = *p;
		else
			sprintf(out + n, "\\x%02x", (unsigned int)(unsigned char)*p);
		n += need;
	}
	out[n] = '\0';
	return n;
}

int scr_device_state_name(const struct scr_device *d, char *out, size_t size)
{
	char *source = name_source(d);
	char name[NAME_CUT + 16];
	int ret = 0;

	if (!source)
		return -ENOMEM;
	if (!source[0])
		ret = -ENOENT;
	else if (escape(source, name) >= size)
		ret = -ENAMETOOLONG;
	else
		strcpy(out, name);
	free(source);
	return ret;
}
