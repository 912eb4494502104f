/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* EXTENT and HOLES records. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "manifest/codec.h"

static size_t bitmap_size(const struct scr_extent *e)
{
	return ((size_t)e->cut.blocks + 7) / 8;
}

/* ---- what is valid ------------------------------------------------------------------------ */

static bool cut_valid(const struct scr_codec *codec, uint64_t size, const struct scr_extent *e)
{
	uint64_t count = scr_extent_count(size);
	struct scr_cut cut;

	if (e->cut.index >= count || e->run < 1 || e->run > count - e->cut.index)
		return false;
	cut = scr_cut_extent(&codec->geometry, size, e->cut.index);
	return e->cut.offset == cut.offset && e->cut.length == cut.length &&
	       e->cut.column == cut.column && e->cut.block == cut.block &&
	       e->cut.blocks == cut.blocks && e->cut.parity_blocks == cut.parity_blocks &&
	       e->run_length == scr_run_length(size, e->cut.index, e->run);
}

static bool bitmap_valid(const struct scr_extent *e)
{
	unsigned int used = e->cut.blocks % 8;

	return used == 0 || e->holes[bitmap_size(e) - 1] >> used == 0;
}

static bool holes_valid(const struct scr_extent *e)
{
	return !(e->flags & SCR_EXTENT_UNRECORDED) && !e->checks && !e->parity_checks &&
	       !e->holes && e->parity_segment == 0 && (e->run == 1 || e->damage_count == 0);
}

static bool content_valid(const struct scr_extent *e)
{
	bool parity = e->parity_segment != 0;

	if (e->run != 1 || parity != (e->parity_checks != NULL))
		return false;
	if (parity && (e->parity_length != e->cut.column || (e->flags & SCR_EXTENT_PARITY_ZERO)))
		return false;
	if (e->flags & SCR_EXTENT_UNRECORDED)
		return !e->checks && !parity && !e->holes && !(e->flags & SCR_EXTENT_PARITY_ZERO);
	return e->checks && (!e->holes || bitmap_valid(e));
}

static bool damage_valid(const struct scr_extent *e)
{
	for (uint32_t i = 0; i < e->damage_count; i++)
		if (!scr_block_damage_valid(&e->cut, &e->damage[i]) ||
		    (i && e->damage[i].block < e->damage[i - 1].block))
			return false;
	return true;
}

bool scr_extent_valid(const struct scr_codec *codec, uint64_t size, const struct scr_extent *e)
{
	return cut_valid(codec, size, e) && !(e->flags & ~(uint32_t)SCR_EXTENT_FLAGS) &&
	       (e->hole ? holes_valid(e) : content_valid(e)) && damage_valid(e);
}

/* ---- to bytes ----------------------------------------------------------------------------- */

enum scr_type scr_extent_type(const struct scr_extent *e)
{
	return e->hole ? SCR_TYPE_HOLES : SCR_TYPE_EXTENT;
}

static bool stamps_equal(const struct scr_stamp *a, const struct scr_stamp *b)
{
	return a->size == b->size && a->ino == b->ino && a->mtime_ns == b->mtime_ns &&
	       a->ctime_ns == b->ctime_ns;
}

static uint32_t disk_flags(const struct scr_extent *e, const struct scr_stamp *file)
{
	uint32_t flags = e->flags;

	if (!file || !stamps_equal(file, &e->stamp))
		flags |= SCR_EXTENT_HAS_STAMP;
	if (e->parity_segment)
		flags |= SCR_EXTENT_HAS_PARITY;
	if (e->holes)
		flags |= SCR_EXTENT_HAS_HOLES;
	return flags;
}

/* Bytes behind the fixed part, damage left out. */
static size_t variable_size(const struct scr_extent *e, uint32_t flags, bool hole)
{
	size_t n = hole ? SCR_RUN_SIZE : 0;

	if (flags & SCR_EXTENT_HAS_STAMP)
		n += SCR_STAMP_SIZE;
	if (flags & SCR_EXTENT_HAS_PARITY)
		n += SCR_PLACE_SIZE + (size_t)e->cut.parity_blocks * SCR_CHECK_SIZE;
	if (!hole && !(flags & SCR_EXTENT_UNRECORDED))
		n += (size_t)e->cut.blocks * SCR_CHECK_SIZE;
	if (flags & SCR_EXTENT_HAS_HOLES)
		n += bitmap_size(e);
	return n;
}

static void put_checks(uint8_t **p, const struct scr_check *checks, uint32_t n)
{
	for (uint32_t i = 0; checks && i < n; i++)
		scr_put_check(p, checks[i]);
}

static void put_variable(uint8_t **p, const struct scr_extent *e, uint32_t flags)
{
	if (e->hole)
		scr_put64(p, e->run);
	if (flags & SCR_EXTENT_HAS_STAMP)
		scr_put_stamp(p, &e->stamp);
	if (flags & SCR_EXTENT_HAS_PARITY) {
		scr_put32(p, e->parity_segment);
		scr_put32(p, e->parity_length);
		scr_put64(p, e->parity_offset);
	}
	put_checks(p, e->checks, e->cut.blocks);
	put_checks(p, e->parity_checks, e->cut.parity_blocks);
	if (flags & SCR_EXTENT_HAS_HOLES)
		scr_put_bytes(p, e->holes, bitmap_size(e));
	for (uint32_t i = 0; i < e->damage_count; i++)
		scr_put_damage(p, &e->damage[i]);
}

int scr_encode_extent(struct scr_buf *b, const struct scr_extent *e, const struct scr_stamp *file)
{
	uint32_t flags = disk_flags(e, file);
	size_t len = SCR_EXTENT_SIZE_FIXED + variable_size(e, flags, e->hole) +
		     (size_t)e->damage_count * SCR_DAMAGE_SIZE;
	uint8_t *p;

	if (scr_buf_reserve(b, len) < 0)
		return -ENOMEM;
	p = b->data + b->len;
	scr_put64(&p, e->cut.index);
	scr_put32(&p, e->cut.length);
	scr_put32(&p, flags);
	scr_put_time(&p, e->recorded_ns);
	scr_put_time(&p, e->checked_ns);
	scr_put64(&p, e->reserved);
	scr_put32(&p, e->damage_count);
	put_variable(&p, e, flags);
	b->len += len;
	return 0;
}

/* ---- from bytes --------------------------------------------------------------------------- */

/* *array becomes @n elements of @size bytes, or NULL for none. */
static int resize(void *array, size_t n, size_t size)
{
	void *old, *p;

	memcpy(&old, array, sizeof(old));
	if (n == 0) {
		free(old);
		p = NULL;
	} else {
		p = realloc(old, n * size);
		if (!p)
			return -ENOMEM;
	}
	memcpy(array, &p, sizeof(p));
	return 0;
}

static void take_fixed(struct scr_cursor *c, struct scr_extent *e)
{
	e->cut.index = scr_take64(c);
	e->cut.length = scr_take32(c);
	e->flags = scr_take32(c);
	e->recorded_ns = scr_take_time(c);
	e->checked_ns = scr_take_time(c);
	e->reserved = scr_take64(c);
	e->damage_count = scr_take32(c);
	e->run = 1;
	e->parity_segment = 0;
	e->parity_length = 0;
	e->parity_offset = 0;
}

/* The cut that the file prescribes, if the record says the same length. */
static int take_cut(const struct scr_codec *codec, uint64_t size, struct scr_extent *e)
{
	struct scr_cut cut;

	if (e->cut.index >= scr_extent_count(size))
		return -EBADMSG;
	cut = scr_cut_extent(&codec->geometry, size, e->cut.index);
	if (cut.length != e->cut.length)
		return -EBADMSG;
	e->cut = cut;
	return 0;
}

static bool flags_known(uint32_t flags, bool hole)
{
	uint32_t known = SCR_EXTENT_FLAGS | SCR_EXTENT_HAS_STAMP;

	if (!hole)
		known |= SCR_EXTENT_HAS_PARITY | SCR_EXTENT_HAS_HOLES;
	return !(flags & ~known);
}

/* Arrays of the size that the record has, which was found to be in the payload. */
static int resize_all(struct scr_extent *e, uint32_t flags)
{
	size_t checks = e->hole || (flags & SCR_EXTENT_UNRECORDED) ? 0 : e->cut.blocks;
	size_t parity = flags & SCR_EXTENT_HAS_PARITY ? e->cut.parity_blocks : 0;

	if (resize(&e->checks, checks, sizeof(*e->checks)) < 0 ||
	    resize(&e->parity_checks, parity, sizeof(*e->parity_checks)) < 0 ||
	    resize(&e->holes, flags & SCR_EXTENT_HAS_HOLES ? bitmap_size(e) : 0, 1) < 0 ||
	    resize(&e->damage, e->damage_count, sizeof(*e->damage)) < 0)
		return -ENOMEM;
	return 0;
}

static void take_checks(struct scr_cursor *c, struct scr_check *checks, uint32_t n)
{
	for (uint32_t i = 0; checks && i < n; i++)
		checks[i] = scr_take_check(c);
}

static void take_variable(struct scr_cursor *c, struct scr_extent *e, uint32_t flags,
			  const struct scr_stamp *file)
{
	if (e->hole)
		e->run = scr_take64(c);
	if (flags & SCR_EXTENT_HAS_STAMP)
		e->stamp = scr_take_stamp(c);
	else
		e->stamp = *file;
	if (flags & SCR_EXTENT_HAS_PARITY) {
		e->parity_segment = scr_take32(c);
		e->parity_length = scr_take32(c);
		e->parity_offset = scr_take64(c);
	}
	take_checks(c, e->checks, e->cut.blocks);
	take_checks(c, e->parity_checks, e->cut.parity_blocks);
	if (e->holes)
		memcpy(e->holes, scr_take(c, bitmap_size(e)), bitmap_size(e));
	for (uint32_t i = 0; i < e->damage_count; i++)
		e->damage[i] = scr_take_damage(c);
}

int scr_decode_extent(const struct scr_codec *codec, enum scr_type type, uint64_t size,
		      const struct scr_stamp *file, const uint8_t *p, size_t len,
		      struct scr_extent *e)
{
	struct scr_cursor c = {.p = p, .left = len};
	uint32_t flags;

	take_fixed(&c, e);
	flags = e->flags;
	e->flags &= SCR_EXTENT_FLAGS;
	e->hole = type == SCR_TYPE_HOLES;
	if (c.bad || !flags_known(flags, e->hole) || take_cut(codec, size, e) < 0 ||
	    (!file && !(flags & SCR_EXTENT_HAS_STAMP)))
		goto bad;
	/* Nothing is allocated for what the payload does not have. */
	if (variable_size(e, flags, e->hole) > c.left ||
	    e->damage_count > (c.left - variable_size(e, flags, e->hole)) / SCR_DAMAGE_SIZE)
		goto bad;
	if (resize_all(e, flags) < 0)
		return -ENOMEM;
	take_variable(&c, e, flags, file);
	e->run_length = e->run ? scr_run_length(size, e->cut.index, e->run) : 0;
	if (scr_payload_end(codec, &c) < 0 || !scr_extent_valid(codec, size, e))
		goto bad;
	return 0;
bad:
	e->damage_count = 0;
	return -EBADMSG;
}
