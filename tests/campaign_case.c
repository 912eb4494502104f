/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One file of the campaign: what it holds, and what goes wrong with it. */
#include <config.h>
#include "campaign.h"
#include "spoil.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define PAGE 4096u
#define ROOM 100000u /* for a file that becomes longer */

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void *take(uint64_t n)
{
	void *p = calloc(n ? n : 1, 1);

	if (!p)
		abort();
	return p;
}

/* ---- content ------------------------------------------------------------------------------ */

static uint64_t any_size(struct dice *d, uint64_t size_max, bool large)
{
	/* Where something changes in the geometry, and one byte more or less. */
	static const uint32_t borders[] = {1, 512, 4096, 8192, 65536, 131072, 1 << 20, 2 << 20};
	uint32_t dice = dice_below(d, 1000);
	uint64_t size, limit;

	if (large)
		return 16 * MIB - 100 +
		       spoil_below(d, size_max > 16 * MIB ? size_max - 16 * MIB + 100 : 1);
	if (dice < 120) {
		size = borders[dice_below(d, 8)] + dice_below(d, 3) - 1;
		return at_most(size ? size : 1, size_max);
	}
	limit = dice < 320   ? 5000
		: dice < 650 ? 70000
		: dice < 900 ? 300000
		: dice < 985 ? 2 * MIB
			     : 5 * MIB;
	return 1 + spoil_below(d, at_most(limit, size_max));
}

static void fill_random(struct dice *d, uint8_t *p, uint64_t len)
{
	while (len > 0) {
		uint64_t roll = dice_roll(d), n = at_most(len, sizeof(roll));

		memcpy(p, &roll, n);
		p += n;
		len -= n;
	}
}

static void fill_text(struct dice *d, uint8_t *p, uint64_t len)
{
	static const char letters[] = "etaoin shrdlu et";

	for (uint64_t i = 0; i < len;) {
		uint64_t roll = dice_roll(d);

		for (unsigned int j = 0; j < 16 && i < len; j++, roll >>= 4)
			p[i++] = (uint8_t)letters[roll & 15];
	}
}

static void repeat(uint8_t *p, uint64_t len, uint64_t period)
{
	for (uint64_t at = period; at < len; at += period)
		memcpy(p + at, p, at_most(period, len - at));
}

/* Some blocks are copies of others. */
static void fill_duplicates(struct dice *d, uint8_t *p, uint64_t len, uint64_t unit)
{
	fill_random(d, p, len);
	for (uint64_t at = unit; at < len; at += unit)
		if (dice_below(d, 3) == 0)
			memcpy(p + at, p + spoil_below(d, at / unit) * unit,
			       at_most(unit, len - at));
}

/* Data here and there. */
static void fill_sparse(struct dice *d, uint8_t *p, uint64_t len)
{
	for (uint64_t n = 1 + dice_below(d, 6); n > 0; n--) {
		uint64_t start = spoil_below(d, len);

		fill_random(d, p + start, at_most(1 + dice_below(d, 200000), len - start));
	}
}

static void fill(struct victim *v, struct dice *d, const struct scr_cut *cut)
{
	switch (dice_below(d, 12)) {
	case 0:
		v->sparse = dice_below(d, 2);
		break;
	case 1:
		memset(v->was, 0xff, v->size);
		break;
	case 2:
	case 3:
		fill_text(d, v->was, v->size);
		break;
	case 4:
		fill_random(d, v->was, at_most(v->size, cut->column));
		repeat(v->was, v->size, cut->column);
		break;
	case 5:
		fill_duplicates(d, v->was, v->size, cut->block);
		break;
	case 6:
		fill_duplicates(d, v->was, v->size, PAGE);
		break;
	case 7:
	case 8:
		v->sparse = true;
		fill_sparse(d, v->was, v->size);
		break;
	default:
		fill_random(d, v->was, v->size);
		break;
	}
}

void victim_make(struct victim *v, struct dice *d, uint64_t size_max, bool large,
		 const struct scr_geometry *g)
{
	struct scr_cut cut;

	v->size = v->size_now = any_size(d, size_max, large);
	v->room = v->size + ROOM;
	v->was = take(v->size);
	v->now = take(v->room);
	cut = scr_cut_extent(g, v->size, 0);
	fill(v, d, &cut);
	memcpy(v->now, v->was, v->size);
}

void victim_free(struct victim *v)
{
	for (uint32_t i = 0; i < v->places; i++) {
		free(v->place[i].parity);
		if (v->place[i].lost_count)
			close(v->place[i].fd);
	}
	free(v->place);
	free(v->was);
	free(v->now);
	*v = (struct victim){.size = 0};
}

/* ---- on the disk -------------------------------------------------------------------------- */

static bool all_zero(const uint8_t *p, uint64_t len)
{
	return len == 0 || (p[0] == 0 && !memcmp(p, p + 1, len - 1));
}

static bool is_due(const struct victim *v, uint64_t at, uint64_t len, bool first)
{
	if (first)
		return !v->sparse || !all_zero(v->now + at, len);
	return at + len > v->size || memcmp(v->now + at, v->was + at, len) != 0;
}

static bool write_pages(const struct victim *v, int fd, bool first)
{
	for (uint64_t at = 0; at < v->size_now; at += PAGE) {
		uint64_t len = at_most(PAGE, v->size_now - at);

		if (is_due(v, at, len, first) &&
		    pwrite(fd, v->now + at, len, (off_t)at) != (ssize_t)len)
			return false;
	}
	return ftruncate(fd, (off_t)v->size_now) == 0;
}

bool victim_write(const struct victim *v, const char *dir, bool first)
{
	struct timespec past[2] = {{.tv_sec = CAMPAIGN_MTIME}, {.tv_sec = CAMPAIGN_MTIME}};
	char path[128];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, v->name);
	fd = open(path, O_WRONLY | O_CLOEXEC | (first ? O_CREAT | O_EXCL : 0), 0644);
	if (fd < 0)
		return false;
	done = write_pages(v, fd, first) && futimens(fd, past) == 0;
	close(fd);
	return done;
}

/* ---- damage ------------------------------------------------------------------------------- */

bool victim_lost(const struct victim *v, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < v->lost_count; i++)
		if (v->lost[i].from < to && v->lost[i].to > from)
			return true;
	return false;
}

uint64_t victim_lost_bytes(const struct victim *v)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < v->lost_count; i++)
		n += v->lost[i].to - v->lost[i].from;
	return n;
}

/* Bytes that damage goes to: an extent, or its parity. */
struct target {
	struct victim *v;
	struct place *place;
	uint8_t *p;
	uint64_t base, len;
	bool parity;
};

/* The same extent again and again, mostly: damage shall meet. */
static struct target any_target(struct victim *v, struct dice *d, uint32_t favourite)
{
	uint32_t i = dice_below(d, 4) ? favourite : dice_below(d, v->places);
	struct place *at = &v->place[i];

	if (at->parity && dice_below(d, 6) == 0) {
		at->parity_hit = true;
		return (struct target){v, at, at->parity, 0, at->cut.column, true};
	}
	return (struct target){v,    at, v->now + at->cut.offset, at->cut.offset, at->cut.length,
			       false};
}

/* Sectors that can't be read; what the disk holds there is not what it should either. */
static void lose(struct dice *d, struct target to, uint64_t start, uint64_t len)
{
	uint64_t from = start / 512 * 512, end = at_most((start + len + 511) / 512 * 512, to.len);
	struct span s;

	if (to.parity) {
		/* Not those that it shares with its neighbours. */
		uint64_t at = to.place->offset;

		from = (at + start + 511) / 512 * 512;
		end = (at + at_most(start + len, to.len)) / 512 * 512;
		if (from >= end)
			return;
		from -= at;
		end -= at;
	}
	if (to.parity ? to.place->lost_count == 8 : to.v->lost_count == SPANS)
		return;
	s = (struct span){to.base + from, to.base + end};
	for (uint64_t i = from; i < end; i++)
		to.p[i] ^= (uint8_t)(1 + dice_below(d, 255));
	if (to.parity)
		to.place->lost[to.place->lost_count++] = s;
	else
		to.v->lost[to.v->lost_count++] = s;
}

/* Cut off: mostly what parity can give back. */
static void cut_off(struct victim *v, struct dice *d)
{
	uint32_t c = v->place[v->places - 1].cut.column;
	uint64_t limit = dice_below(d, 4) ? c : v->size;

	if (v->size_now == v->size)
		v->size_now = v->size - 1 - spoil_below(d, at_most(limit, v->size));
}

static void lengthen(struct victim *v, struct dice *d)
{
	uint64_t more = 1 + dice_below(d, dice_below(d, 2) ? ROOM : 512);

	if (v->size_now != v->size)
		return;
	v->size_now = v->size + more;
	if (dice_below(d, 3))
		fill_random(d, v->now + v->size, more);
}

static void damage(struct victim *v, struct dice *d, uint32_t favourite)
{
	const struct spoiler how = {d, fill_random};
	struct target to = any_target(v, d, favourite);

	switch (dice_below(d, 18)) {
	case 0:
	case 1:
		spoil_bit(&how, to.p, to.len);
		break;
	case 2:
		spoil_unit(&how, to.p, to.len, 1);
		break;
	case 3:
		spoil_unit(&how, to.p, to.len, 1 + dice_below(d, 8));
		break;
	case 4:
	case 5:
	case 6:
		spoil_burst(&how, to.p, to.len, to.place->cut.column);
		break;
	case 7:
		spoil_unit(&how, to.p, to.len, 512);
		break;
	case 8:
		spoil_unit(&how, to.p, to.len, PAGE);
		break;
	case 9:
		spoil_unit(&how, to.p, to.len, to.place->cut.block);
		break;
	case 10:
		lose(d, to, spoil_below(d, to.len) / 512 * 512, 512);
		break;
	case 11:
		lose(d, to, spoil_below(d, to.len) / PAGE * PAGE, PAGE);
		break;
	case 12:
		lose(d, to, spoil_below(d, to.len), 1 + dice_below(d, to.place->cut.column));
		break;
	case 13:
		spoil_swap(&how, to.p, to.len, to.place->cut.block);
		break;
	case 14:
		spoil_swap(&how, to.p, to.len, 512);
		break;
	case 15:
		cut_off(v, d);
		break;
	case 16:
		lengthen(v, d);
		break;
	default: /* across extents */
		to = (struct target){v, to.place, v->now, 0, v->size, false};
		spoil_burst(&how, to.p, to.len, to.place->cut.column);
		break;
	}
}

/* Whatever else hit them, sectors that can't be read must not hold what they should: repair would
 * find it in the page cache. */
static void keep_wrong(struct victim *v, struct span s)
{
	for (uint64_t at = s.from; at < s.to; at += 512)
		if (!memcmp(v->now + at, v->was + at, at_most(512, s.to - at)))
			v->now[at] ^= 0x5a;
}

/* What is cut off can't be unreadable too; nor is there anything in it. */
static void settle_end(struct victim *v)
{
	uint32_t n = 0;

	if (v->size_now < v->size)
		memset(v->now + v->size_now, 0, v->size - v->size_now);
	for (uint32_t i = 0; i < v->lost_count; i++) {
		struct span s = v->lost[i];

		s.to = at_most(s.to, v->size_now);
		if (s.from >= s.to)
			continue;
		keep_wrong(v, s);
		v->lost[n++] = s;
	}
	v->lost_count = n;
}

void victim_damage(struct victim *v, struct dice *d)
{
	uint32_t favourite = dice_below(d, v->places);

	v->damages = 1 + dice_below(d, 1 + dice_below(d, 6));
	for (uint32_t i = 0; i < v->damages; i++)
		damage(v, d, favourite);
	settle_end(v);
}
