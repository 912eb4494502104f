/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What lies where on a block device. */
#include <config.h>
#include "dev/region.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dev/region_internal.h"

static bool knows_type(const struct scr_region *r)
{
	return r->kind == SCR_REGION_FS || r->kind == SCR_REGION_STACK;
}

/* Looks into each partition. */
static int look_into_all(struct scr_claims *c, int fd, uint32_t logical)
{
	for (size_t i = 0; i < c->count; i++) {
		struct scr_region *r = &c->list[i];
		int ret = r->kind == SCR_REGION_EMPTY ? scr_region_look(fd, logical, r) : 0;

		if (ret < 0)
			return ret;
	}
	return 0;
}

int scr_regions_probe(int fd, uint64_t size, uint32_t logical, struct scr_region **out,
		      size_t *count)
{
	struct scr_region whole = {.length = size, .kind = SCR_REGION_EMPTY};
	struct scr_claims c = {0};
	size_t partitions = 0;
	int ret;

	if (size == 0) {
		*out = NULL;
		*count = 0;
		return 0;
	}
	ret = scr_region_look(fd, logical, &whole);
	if (ret == 0)
		ret = scr_claims_partitions(&c, fd, size, logical, &partitions);
	if (ret < 0)
		goto fail;
	if (partitions == 0 || knows_type(&whole)) {
		/* A file system and a table with partitions: one of them is a leftover, or it is a
		 * hybrid image. Nothing about writes follows from either. */
		if (partitions > 0) {
			whole.evidence = false;
			whole.token = 0;
		}
		c.count = partitions > 0 || knows_type(&whole) ? 0 : c.count;
		ret = c.count == 0 ? scr_claims_add(&c, &whole) : 0;
	} else {
		ret = look_into_all(&c, fd, logical);
	}
	if (ret == 0)
		ret = scr_claims_settle(&c, size);
	if (ret < 0)
		goto fail;
	*out = c.list;
	*count = c.count;
	return 0;
fail:
	free(c.list);
	return ret;
}

const struct scr_region *scr_region_at(const struct scr_region *list, size_t count, uint64_t offset)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (offset < list[mid].offset)
			high = mid;
		else if (offset - list[mid].offset >= list[mid].length)
			low = mid + 1;
		else
			return &list[mid];
	}
	return NULL;
}

static const char *table_text(const struct scr_region *r)
{
	bool gpt = strcmp(r->type, "gpt") == 0;

	if (r->offset == 0)
		return gpt ? "the primary GPT" : "the partition table";
	return gpt ? "the backup GPT" : "the tables of the logical partitions";
}

void scr_region_describe(const struct scr_region *r, char *out, size_t size)
{
	const char *quote = r->label[0] ? "'" : "", *space = r->label[0] ? " " : "";

	switch (r->kind) {
	case SCR_REGION_BARE:
		snprintf(out, size, "outside of the partitions");
		return;
	case SCR_REGION_TABLE:
		snprintf(out, size, "%s", table_text(r));
		return;
	case SCR_REGION_FS:
	case SCR_REGION_STACK:
		if (r->partition > 0)
			snprintf(out, size, "partition %d (%s%s%s%s%s)", r->partition, r->type,
				 space, quote, r->label, quote);
		else
			snprintf(out, size, "the %s%s%s%s%s", r->type, space, quote, r->label,
				 quote);
		return;
	case SCR_REGION_EMPTY:
		if (r->partition > 0)
			snprintf(out, size, "partition %d (no known content)", r->partition);
		else
			snprintf(out, size, "a device without known content");
		return;
	}
}
