/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Partition tables as libblkid reads them, made into a list that covers the device. */
#include <config.h>
#include "dev/region_internal.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

/* Bytes of the entries of a GPT: 128 of 128 bytes, the least there are and what all tools make. */
#define GPT_ENTRIES 16384

int scr_claims_add(struct scr_claims *c, const struct scr_region *r)
{
	if (c->count == c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 16;
		struct scr_region *list = realloc(c->list, cap * sizeof(*list));

		if (!list)
			return -ENOMEM;
		c->list = list;
		c->cap = cap;
	}
	c->list[c->count++] = *r;
	return 0;
}

/* Whether the header of a GPT is at byte @at. What of it and of the entries is wrong is libblkid's
 * to know: it then takes the other. */
static bool gpt_at(int fd, uint64_t at, uint64_t size)
{
	const struct scr_place p = {fd, 0, size};
	char magic[8];

	return scr_place_read(&p, at, magic, sizeof(magic)) && memcmp(magic, "EFI PART", 8) == 0;
}

static int add_table(struct scr_claims *c, const char *type, uint64_t offset, uint64_t length,
		     bool damaged)
{
	struct scr_region r = {
		.offset = offset, .length = length, .kind = SCR_REGION_TABLE, .damaged = damaged};

	snprintf(r.type, sizeof(r.type), "%s", type);
	return scr_claims_add(c, &r);
}

/* The sectors that the table itself is in, at both ends for GPT. */
static int add_tables(struct scr_claims *c, int fd, const char *type, uint64_t size,
		      uint32_t logical)
{
	int ret;

	if (strcmp(type, "gpt") != 0)
		return add_table(c, type, 0, SCR_MIN((uint64_t)logical, size), false);
	if (size < 2 * (GPT_ENTRIES + 2 * (uint64_t)logical))
		return add_table(c, type, 0, size, false);
	/* A protective MBR, the header, the entries; entries and header again. */
	ret = add_table(c, type, 0, 2 * (uint64_t)logical + GPT_ENTRIES,
			!gpt_at(fd, logical, size));
	if (ret == 0)
		ret = add_table(c, type, size - logical - GPT_ENTRIES,
				(uint64_t)logical + GPT_ENTRIES, false);
	return ret;
}

static int add_partition(struct scr_claims *c, blkid_partition part, uint64_t size)
{
	struct scr_region r = {.kind = SCR_REGION_EMPTY};
	/* libblkid counts sectors of 512 bytes whatever the device has. */
	uint64_t start = (uint64_t)blkid_partition_get_start(part);
	uint64_t length = (uint64_t)blkid_partition_get_size(part);

	if (start >= size / 512 || length == 0)
		return 0;
	r.offset = start * 512;
	r.length = SCR_MIN(length, (size - r.offset + 511) / 512) * 512;
	r.length = SCR_MIN(r.length, size - r.offset);
	r.partition = blkid_partition_get_partno(part);
	if (blkid_partition_is_extended(part)) {
		/* Behind the logical partitions in it: settled by what is told apart below. */
		r.kind = SCR_REGION_TABLE;
		r.partition = 0;
		strcpy(r.type, "dos");
	}
	return scr_claims_add(c, &r);
}

static int add_list(struct scr_claims *c, int fd, blkid_partlist list, uint64_t size,
		    uint32_t logical)
{
	blkid_parttable table = blkid_partlist_get_table(list);
	int n = blkid_partlist_numof_partitions(list), ret = 0;

	if (table)
		ret = add_tables(c, fd, blkid_parttable_get_type(table), size, logical);
	for (int i = 0; i < n && ret == 0; i++)
		ret = add_partition(c, blkid_partlist_get_partition(list, i), size);
	return ret;
}

int scr_claims_partitions(struct scr_claims *c, int fd, uint64_t size, uint32_t logical,
			  size_t *partitions)
{
	blkid_probe probe = blkid_new_probe();
	blkid_partlist list;
	int ret = 0;

	*partitions = 0;
	if (!probe)
		return -ENOMEM;
	if (blkid_probe_set_device(probe, fd, 0, (blkid_loff_t)size) != 0) {
		ret = -EIO;
		goto out;
	}
	blkid_probe_set_sectorsize(probe, logical);
	blkid_probe_enable_partitions(probe, 1);
	/* NULL: no table, or one that can't be read. */
	list = blkid_probe_get_partitions(probe);
	if (list)
		ret = add_list(c, fd, list, size, logical);
	for (size_t i = 0; i < c->count; i++)
		*partitions += c->list[i].kind == SCR_REGION_EMPTY;
out:
	blkid_free_probe(probe);
	return ret;
}

/* By offset; of two that begin together the longer first: an extended partition, and the logical
 * one in it. */
static int by_offset(const void *a, const void *b)
{
	const struct scr_region *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->length > y->length ? -1 : x->length < y->length;
}

/* Appends the part of @r from @from up to @to. */
static int put(struct scr_claims *to_list, const struct scr_region *r, uint64_t from, uint64_t to)
{
	struct scr_region part = *r;

	if (from >= to)
		return 0;
	part.offset = from;
	part.length = to - from;
	return scr_claims_add(to_list, &part);
}

/*
 * Later claims win over earlier ones that they lie in, and those go on behind them: so logical
 * partitions are cut out of the extended one. @open is a stack of claims that are not over.
 */
static int sweep(const struct scr_claims *from, uint64_t size, const struct scr_region **open,
		 struct scr_claims *to)
{
	static const struct scr_region bare = {.length = UINT64_MAX, .kind = SCR_REGION_BARE};
	uint64_t at = 0;
	size_t depth = 0, next = 0;
	int ret = 0;

	open[depth++] = &bare;
	while (ret == 0 && at < size) {
		const struct scr_region *top = open[depth - 1];
		uint64_t end = top == &bare ? size : SCR_MIN(top->offset + top->length, size);

		if (end <= at && top != &bare) {
			depth--;
			continue;
		}
		if (next < from->count && from->list[next].offset <= at) {
			open[depth++] = &from->list[next++];
			continue;
		}
		if (next < from->count)
			end = SCR_MIN(end, from->list[next].offset);
		ret = put(to, top, at, end);
		at = end;
	}
	return ret;
}

int scr_claims_settle(struct scr_claims *c, uint64_t size)
{
	const struct scr_region **open = malloc((c->count + 1) * sizeof(*open));
	struct scr_claims settled = {0};
	int ret = -ENOMEM;

	if (!open)
		return ret;
	if (c->count)
		qsort(c->list, c->count, sizeof(*c->list), by_offset);
	ret = sweep(c, size, open, &settled);
	free(open);
	if (ret < 0) {
		free(settled.list);
		return ret;
	}
	free(c->list);
	*c = settled;
	return 0;
}
