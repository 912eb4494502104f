/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rot or written: what the regions of a device say about a difference. Pure.
 *
 * A device has no times. What takes their place is kept with each extent when it is recorded: which
 * regions it touches, and what their file systems had to show. Everything that is doubtful is
 * decided so that a record is not overwritten: a superblock that went bad takes its evidence with
 * it, and must not thereby make rot look like a write.
 */
#include <config.h>
#include "pass/device.h"

#include <string.h>

#include "base/compiler.h"

static uint64_t hash_bytes(uint64_t h, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

static uint64_t hash_number(uint64_t h, uint64_t v)
{
	unsigned char b[8];

	for (int i = 0; i < 8; i++)
		b[i] = (unsigned char)(v >> 8 * i);
	return hash_bytes(h, b, sizeof(b));
}

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* What stands where; not whether its superblock is sound. A region that grows with the device is
 * the same one. */
static uint64_t hash_region(uint64_t h, const struct scr_region *r)
{
	h = hash_number(h, r->kind);
	h = hash_number(h, r->offset);
	h = hash_bytes(h, r->type, strlen(r->type) + 1);
	return hash_bytes(h, r->uuid, strlen(r->uuid) + 1);
}

/* Nobody writes to partition tables, nor where no partition is; unless the whole is of one piece.
 */
static uint64_t class_of(const struct scr_region *r, enum scr_device_content content, bool alone)
{
	bool changing = content == SCR_CONTENT_CHANGING;

	switch (r->kind) {
	case SCR_REGION_TABLE:
		return 0;
	case SCR_REGION_BARE:
		return alone && changing ? SCR_STAMP_CHANGING | SCR_STAMP_UNKNOWN : 0;
	case SCR_REGION_EMPTY:
		return changing ? SCR_STAMP_CHANGING | SCR_STAMP_UNKNOWN : 0;
	case SCR_REGION_FS:
	case SCR_REGION_STACK:
		break;
	}
	if (r->evidence)
		return SCR_STAMP_EVIDENCE;
	if (content == SCR_CONTENT_FIXED)
		return 0;
	return SCR_STAMP_CHANGING | (r->dirty ? SCR_STAMP_DIRTY : 0);
}

struct scr_stamp scr_region_stamp(const struct scr_region *list, size_t count, uint64_t size,
				  enum scr_device_content content, uint64_t offset, uint64_t length)
{
	uint64_t tokens = HASH_START, layout = HASH_START, class = 0;

	for (size_t i = 0; i < count; i++) {
		const struct scr_region *r = &list[i];

		if (r->offset >= offset + length || offset >= r->offset + r->length)
			continue;
		class |= class_of(r, content, count == 1);
		class |= r->damaged ? SCR_STAMP_DAMAGED : 0;
		layout = hash_region(layout, r);
		if (r->evidence)
			tokens = hash_number(tokens, r->token);
	}
	return (struct scr_stamp){
		.size = size,
		.ino = class,
		/* Times are written as signed numbers; the sign bit is not worth a question. */
		.mtime_ns = class & SCR_STAMP_EVIDENCE ? (int64_t)(tokens >> 1) : 0,
		.ctime_ns = (int64_t)(layout >> 1),
	};
}

enum scr_device_judgement scr_stamp_judge(const struct scr_stamp *was,
					  const struct scr_stamp *extent,
					  const struct scr_stamp *block)
{
	bool alike = was->ctime_ns == extent->ctime_ns;
	bool had = was->ino & SCR_STAMP_EVIDENCE;
	bool lost = had && !(extent->ino & (SCR_STAMP_EVIDENCE | SCR_STAMP_DIRTY));

	if (was->ino & SCR_STAMP_IN_USE)
		return SCR_JUDGED_WRITTEN;
	if (!(block->ino & (SCR_STAMP_EVIDENCE | SCR_STAMP_CHANGING)))
		return alike ? SCR_JUDGED_ROT : SCR_JUDGED_ALTERED;
	if (!(block->ino & SCR_STAMP_CHANGING) && alike && had && was->mtime_ns == extent->mtime_ns)
		return SCR_JUDGED_ROT;
	/* What went wrong here since says nothing, and least of all that somebody wrote. */
	if ((extent->ino & SCR_STAMP_DAMAGED) && !(was->ino & SCR_STAMP_DAMAGED))
		return SCR_JUDGED_ALTERED;
	if (!(block->ino & SCR_STAMP_CHANGING))
		return SCR_JUDGED_WRITTEN;
	if (lost && (alike || (block->ino & SCR_STAMP_UNKNOWN)))
		return SCR_JUDGED_ALTERED;
	/* It had evidence once, and now is found mounted: no other way than writing leads there. */
	return had && alike && (block->ino & SCR_STAMP_DIRTY) ? SCR_JUDGED_WRITTEN
							      : SCR_JUDGED_UNSURE;
}

static struct scr_stamp stamp_now(const struct scr_pass *p, uint64_t offset, uint64_t length)
{
	const struct scr_pass_device *d = p->device;

	return scr_region_stamp(d->regions, d->region_count, d->d.size, p->policy.content, offset,
				length);
}

struct scr_stamp scr_device_stamp(const struct scr_pass *p, uint64_t offset, uint64_t length)
{
	const struct scr_pass_device *d = p->device;
	struct scr_stamp s = stamp_now(p, offset, length);

	s.ino &= SCR_STAMP_RECORDED;
	if (d->forced)
		s.ino |= SCR_STAMP_IN_USE;
	return s;
}

enum scr_device_judgement scr_device_judge(const struct scr_pass *p, const struct scr_cut *cut,
					   const struct scr_stamp *was, uint32_t i)
{
	struct scr_stamp extent = stamp_now(p, cut->offset, cut->length);
	struct scr_stamp block =
		stamp_now(p, cut->offset + (uint64_t)i * cut->block, scr_block_length(cut, i));

	return scr_stamp_judge(was, &extent, &block);
}

uint64_t scr_device_unsure_bytes(const struct scr_pass *p)
{
	const struct scr_pass_device *d = p->device;
	uint64_t n = 0;

	for (size_t i = 0; i < d->region_count; i++)
		if (class_of(&d->regions[i], p->policy.content, d->region_count == 1) &
		    SCR_STAMP_CHANGING)
			n += d->regions[i].length;
	return n;
}
