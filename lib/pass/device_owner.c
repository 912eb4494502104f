/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose the damaged bytes of a device are: asked once, at the end, where the file system is
 * mounted. */
#include <config.h>
#include "pass/device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "dev/owner.h"
#include "dev/partition.h"

/* So long owners are sought. */
#define OWNERS_NS (60 * SCR_NS_PER_S)

struct seeker {
	struct scr_pass *p;
	const char *mountpoint;
};

static void tell_owner(void *arg, const struct scr_owner *o)
{
	struct seeker *s = arg;
	struct scr_owner_event e = {
		.offset = o->offset,
		.length = o->length,
		.name = {o->path, o->path_len},
		.file_offset = o->file_offset,
		.mountpoint = s->mountpoint,
	};

	switch (o->kind) {
	case SCR_OWNER_FILE:
		e.kind = SCR_OWNED_BY_FILE;
		break;
	case SCR_OWNER_FREE:
		e.kind = SCR_OWNED_BY_NONE;
		break;
	case SCR_OWNER_METADATA:
		e.kind = SCR_OWNED_BY_METADATA;
		break;
	case SCR_OWNER_UNKNOWN:
		e.kind = SCR_OWNED_UNKNOWN;
		break;
	}
	scr_emit_owner(s->p, &e);
}

static bool overlaps(const struct scr_region *r, const struct scr_device_range *x)
{
	return x->offset < r->offset + r->length && r->offset < x->offset + x->length;
}

/* Adds the part of each damaged range that lies in @r. Whether there is any. */
static int add_ranges(struct scr_owners *o, const struct scr_pass_device *d,
		      const struct scr_region *r)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < d->range_count; i++) {
		const struct scr_device_range *x = &d->ranges[i];
		uint64_t from = SCR_MAX(x->offset, r->offset);
		uint64_t to = SCR_MIN(x->offset + x->length, r->offset + r->length);

		if (from < to)
			ret = scr_owners_add(o, from, to - from);
	}
	return ret;
}

/* False: no mounted file system could be asked. */
static bool seek_in_region(struct scr_pass *p, const struct scr_region *r, int64_t deadline)
{
	const struct scr_pass_device *d = p->device;
	struct scr_owners *o = NULL;
	struct seeker s = {.p = p};
	char *where = NULL;
	dev_t dev = d->d.dev;
	int ret = r->partition ? scr_device_partition(d->d.dev, r->partition, &dev) : 0;

	if (ret == 0 && !p->ctx->opt.map)
		ret = scr_device_mountpoint(dev, &where);
	s.mountpoint = p->ctx->opt.map ? p->ctx->opt.map : where;
	if (ret == 0)
		ret = scr_owners_open(s.mountpoint, dev, r->offset, &o);
	if (ret == 0)
		ret = add_ranges(o, d, r);
	if (ret == 0)
		ret = scr_owners_find(o, deadline, tell_owner, &s);
	/* Not mounted is no news; another of several regions is what --map is about. */
	if (ret < 0 && ret != -ENOENT && ret != -EXDEV && ret != -ENOTSUP)
		scr_note(p, "cannot tell whose the damaged bytes are: %s", strerror(-ret));
	scr_owners_close(o);
	free(where);
	return ret != -ENOENT;
}

void scr_device_tell_owners(struct scr_pass *p)
{
	struct scr_pass_device *d = p->device;
	bool unasked = false;
	int64_t deadline;

	if (!d || d->range_count == 0)
		return;
	deadline = scr_clock_monotonic(p->ctx->clock) + OWNERS_NS;
	for (size_t i = 0; i < d->region_count; i++) {
		bool any = false;

		for (size_t j = 0; j < d->range_count && !any; j++)
			any = overlaps(&d->regions[i], &d->ranges[j]);
		if (any && d->regions[i].kind == SCR_REGION_FS)
			unasked |= !seek_in_region(p, &d->regions[i], deadline);
	}
	if (unasked)
		scr_note(p, "whose the damaged bytes are can be told while the file system is "
			    "mounted read-only");
}
