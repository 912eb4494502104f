/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts that several records share: stamps, checks, damage entries. */
#include <config.h>

#include "manifest/codec.h"

void scr_put_stamp(uint8_t **p, const struct scr_stamp *s)
{
	scr_put64(p, s->size);
	scr_put64(p, s->ino);
	scr_put_time(p, s->mtime_ns);
	scr_put_time(p, s->ctime_ns);
}

struct scr_stamp scr_take_stamp(struct scr_cursor *c)
{
	struct scr_stamp s;

	s.size = scr_take64(c);
	s.ino = scr_take64(c);
	s.mtime_ns = scr_take_time(c);
	s.ctime_ns = scr_take_time(c);
	return s;
}

void scr_put_check(uint8_t **p, struct scr_check k)
{
	scr_put16_be(p, k.inet);
	scr_put32(p, k.crc);
}

struct scr_check scr_take_check(struct scr_cursor *c)
{
	struct scr_check k;

	k.inet = scr_take_be16(c);
	k.crc = scr_take32(c);
	return k;
}

void scr_put_damage(uint8_t **p, const struct scr_damage_record *d)
{
	scr_put32(p, d->block);
	scr_put8(p, d->kind);
	scr_put8(p, d->flags);
	scr_put_check(p, d->seen);
	scr_put32(p, d->seen_length);
	scr_put32(p, d->start);
	scr_put32(p, d->length);
	scr_put64(p, d->size_seen);
	scr_put_time(p, d->first_ns);
	scr_put_time(p, d->last_ns);
	scr_put64(p, 0);
}

struct scr_damage_record scr_take_damage(struct scr_cursor *c)
{
	struct scr_damage_record d;

	d.block = scr_take32(c);
	d.kind = scr_take8(c);
	d.flags = scr_take8(c);
	d.seen = scr_take_check(c);
	d.seen_length = scr_take32(c);
	d.start = scr_take32(c);
	d.length = scr_take32(c);
	d.size_seen = scr_take64(c);
	d.first_ns = scr_take_time(c);
	d.last_ns = scr_take_time(c);
	scr_take64(c);
	return d;
}

static bool kind_and_flags_valid(const struct scr_damage_record *d)
{
	return d->kind >= SCR_REC_ROT && d->kind <= SCR_REC_MISSING &&
	       !(d->flags & ~SCR_DAMAGE_CARRIED);
}

bool scr_file_damage_valid(const struct scr_damage_record *d)
{
	return kind_and_flags_valid(d) && d->block == SCR_NO_BLOCK32 && d->seen_length == 0 &&
	       d->start == 0 && d->length == 0;
}

bool scr_block_damage_valid(const struct scr_cut *cut, const struct scr_damage_record *d)
{
	uint32_t len;

	if (!kind_and_flags_valid(d) || d->kind == SCR_REC_MISSING || d->block >= cut->blocks)
		return false;
	len = scr_block_length(cut, d->block);
	return d->seen_length <= len && d->start < len && d->length > 0 &&
	       d->length <= len - d->start && d->size_seen == 0;
}
