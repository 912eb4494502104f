/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes export --format=ddrescue: what it writes of any damage is a mapfile that says of each byte
 * what the records say.
 *
 * Input: a head (HEAD bytes: see take_head), then items of ITEM bytes: an extent, or damage of the
 * last one. Extents are in the manifest, or in the journal of a stopped pass over it.
 */
#include <config.h>
#include "fuzz.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "ddrescue_map.h"
#include "manifest/codec.h"
#include "manifest/store.h"
#include "pass/export_internal.h"

#define HEAD 21u
#define ITEM 12u
#define EXTENTS_MAX 24u
#define DAMAGE_MAX 24u
#define BLOCKS_MAX 20000u /* of all extents: each costs time */
#define SIZE_LIMIT (UINT64_C(1) << 60)

const struct fuzz_format fuzz_format = {.name = "ddrescue"};

/* What the input says. */
struct item {
	struct scr_extent e;
	struct scr_damage_record damage[DAMAGE_MAX]; /* e.damage */
};

struct list {
	struct item items[EXTENTS_MAX];
	uint32_t count;
	uint64_t next; /* the first index that the next extent may have */
};

static struct input {
	struct scr_geometry geometry;
	struct scr_file_record file;
	struct list lists[2]; /* of the manifest; of the journal, which is newer */
	uint32_t blocks;
	bool record, journal;     /* there is one */
	unsigned int writes_left; /* the next one fails; UINT_MAX: none does */
} in;

/* ---- the input ------------------------------------------------------------------------------ */

static void take_head(const uint8_t *p)
{
	static const uint8_t kinds[] = {0, SCR_REC_MISSING, SCR_REC_UNREADABLE, SCR_REC_ROT};
	uint64_t size = scr_get_le64(p + 5) % SIZE_LIMIT;

	in.geometry.block_size = 512u << p[0] % 12;
	in.geometry.columns = 2 + p[1] % 255;
	in.geometry.parity_unit = 64u << p[2] % 7;
	in.record = !(p[3] & 1);
	in.journal = p[3] & 2;
	in.writes_left = p[4] ? p[4] - 1u : UINT32_MAX;
	in.file = (struct scr_file_record){.stamp = {.size = size, .ino = 1}, .mode = 0100644};
	in.file.nlink = 1;
	in.file.path = ".";
	in.file.path_len = 1;
	if (p[3] / 4 % 4) {
		in.file.damage.kind = kinds[p[3] / 4 % 4];
		in.file.damage.block = SCR_NO_BLOCK32;
		in.file.damage.size_seen = scr_get_le64(p + 13) % SIZE_LIMIT;
	}
}

/* flags (1), of the journal (1), how many extents to pass over (4), length of a run (4). */
static void take_extent(const uint8_t *p)
{
	struct list *list = &in.lists[p[1] % 2];
	uint64_t size = in.file.stamp.size, count = scr_extent_count(size);
	uint64_t index = list->next + scr_get_le32(p + 2);
	struct scr_extent *e;
	struct scr_cut cut;

	if (index >= count || list->count == EXTENTS_MAX || !(p[1] % 2 ? in.journal : in.record))
		return;
	cut = scr_cut_extent(&in.geometry, size, index);
	if (cut.blocks > BLOCKS_MAX - in.blocks)
		return;
	e = &list->items[list->count].e;
	*e = (struct scr_extent){.cut = cut, .run = 1, .stamp = in.file.stamp};
	e->hole = p[0] & 1;
	e->run_length = cut.length;
	if (e->hole) {
		e->run += scr_get_le32(p + 6) % (count - index);
		e->run_length = scr_run_length(size, index, e->run);
	} else if (p[0] & 2) {
		e->flags = SCR_EXTENT_UNRECORDED;
	} else {
		in.blocks += cut.blocks;
		e->checks = calloc(cut.blocks, sizeof(*e->checks));
		FUZZ_ASSERT(e->checks);
	}
	list->next = index + e->run;
	list->count++;
}

/* Keeps the order of blocks, which the format demands; in a block, that of the input. */
static void add_damage(struct item *item, const struct scr_damage_record *d)
{
	struct scr_extent *e = &item->e;
	uint32_t i = e->damage_count;

	for (; i > 0 && item->damage[i - 1].block > d->block; i--)
		item->damage[i] = item->damage[i - 1];
	item->damage[i] = *d;
	e->damage = item->damage;
	e->damage_count++;
}

static uint32_t get_24(const uint8_t *p)
{
	return scr_get_le16(p) | (uint32_t)p[2] << 16;
}

/* kind (1), of the journal (1), block (3), start (3), length (3). */
static void take_damage(const uint8_t *p)
{
	struct list *list = &in.lists[p[1] % 2];
	struct scr_damage_record d = {.kind = 1 + p[0] % 3};
	struct item *item;
	uint32_t len;

	if (list->count == 0)
		return;
	item = &list->items[list->count - 1];
	if (item->e.run > 1 || item->e.damage_count == DAMAGE_MAX)
		return;
	d.block = get_24(p + 2) % item->e.cut.blocks;
	len = scr_block_length(&item->e.cut, d.block);
	d.start = get_24(p + 5) % len;
	d.length = 1 + get_24(p + 8) % (len - d.start);
	add_damage(item, &d);
}

static void take(const uint8_t *p, size_t size)
{
	memset(&in, 0, sizeof(in));
	take_head(p);
	for (size_t at = HEAD; size - at >= ITEM; at += ITEM) {
		if (p[at] % 4 == 0)
			take_extent(p + at + 1);
		else
			take_damage(p + at + 1);
	}
}

static void forget(void)
{
	for (uint32_t l = 0; l < 2; l++)
		for (uint32_t i = 0; i < in.lists[l].count; i++)
			free(in.lists[l].items[i].e.checks);
}

/* ---- what a map must say of a byte ---------------------------------------------------------- */

/* The extent with @index that counts. */
static const struct scr_extent *extent_at(uint64_t index)
{
	for (int l = 1; l >= 0; l--) {
		for (uint32_t i = 0; i < in.lists[l].count; i++) {
			const struct scr_extent *e = &in.lists[l].items[i].e;

			if (index >= e->cut.index && index - e->cut.index < e->run)
				return e;
		}
	}
	return NULL;
}

/* Of a byte of extent @e, or of one of the run that it stands for, which is cut like @cut. */
static char recorded(const struct scr_extent *e, const struct scr_cut *cut, uint64_t at)
{
	uint32_t in_extent = (uint32_t)(at - cut->offset), in_block = in_extent % cut->block;
	bool content = false, unreadable = false;

	for (uint32_t i = 0; i < e->damage_count; i++) {
		const struct scr_damage_record *d = &e->damage[i];

		if (d->block != in_extent / cut->block)
			continue;
		if (d->kind != SCR_REC_UNREADABLE)
			content = true;
		else if (in_block >= d->start && in_block - d->start < d->length)
			return '-';
		else
			unreadable = true;
	}
	if (unreadable || (e->flags & SCR_EXTENT_UNRECORDED && !content))
		return '?';
	return content ? '*' : '+';
}

/* How much of it can be there. */
static uint64_t there(void)
{
	const struct scr_damage_record *d = &in.file.damage;

	return d->kind && d->kind != SCR_REC_ROT ? d->size_seen : in.file.stamp.size;
}

static char wanted(uint64_t at)
{
	uint64_t size = in.file.stamp.size, last = scr_extent_count(size) - 1;
	uint64_t index = at / SCR_EXTENT_SIZE < last ? at / SCR_EXTENT_SIZE : last;
	struct scr_cut cut = scr_cut_extent(&in.geometry, size, index);
	const struct scr_extent *e = extent_at(index);

	if (!e || cut.offset + cut.length > there())
		return '?';
	return recorded(e, &cut, at);
}

/* Before and behind the border @at, which may be none. */
static void check_border(const struct fuzz_map *map, uint64_t at)
{
	for (uint64_t i = at ? at - 1 : 0; i <= at && i < in.file.stamp.size; i++)
		FUZZ_ASSERT(fuzz_map_at(map, i) == wanted(i));
}

static void check_extent(const struct fuzz_map *map, const struct scr_extent *e)
{
	check_border(map, e->cut.offset);
	check_border(map, e->cut.offset + e->run_length);
	for (uint32_t i = 0; i < e->damage_count; i++) {
		const struct scr_damage_record *d = &e->damage[i];
		uint64_t block = e->cut.offset + (uint64_t)d->block * e->cut.block;

		check_border(map, block);
		check_border(map, block + d->start);
		check_border(map, block + d->start + d->length);
		check_border(map, block + scr_block_length(&e->cut, d->block));
	}
}

/* Both sides change at these borders only, so all bytes are compared. */
static void check(const struct fuzz_map *map)
{
	uint64_t seen = in.file.damage.size_seen;

	FUZZ_ASSERT(map->size == (in.record || in.journal ? in.file.stamp.size : 0));
	if (map->size == 0)
		return;
	for (uint32_t i = 0; i < map->count; i++)
		check_border(map, map->runs[i].start);
	for (uint32_t l = 0; l < 2; l++)
		for (uint32_t i = 0; i < in.lists[l].count; i++)
			check_extent(map, &in.lists[l].items[i].e);
	/* The extent that what is there ends in. */
	check_border(map, seen / SCR_EXTENT_SIZE * SCR_EXTENT_SIZE);
	check_border(map, seen);
}

/* ---- export --------------------------------------------------------------------------------- */

static int write_manifest(void)
{
	struct scr_settings settings = {.geometry = in.geometry};
	struct scr_identity fs = {(char *)(uintptr_t) "", (char *)(uintptr_t) "",
				  (char *)(uintptr_t) "", 1};
	struct scr_header h = {.generation = 42,
			       .kind = SCR_TARGET_FILE,
			       .parities = 1,
			       .settings = settings,
			       .target = (char *)(uintptr_t) "/f",
			       .identities = &fs,
			       .identity_count = 1};
	const struct scr_trailer pass = {0};
	int fd = fuzz_file(0, "", 0);
	struct scr_mwriter *w;

	FUZZ_ASSERT(scr_mwriter_new(fd, scr_kernels_reference(), &h, 0, &w) == 0);
	FUZZ_ASSERT(!in.record || scr_mwriter_file(w, &in.file) == 0);
	for (uint32_t i = 0; i < in.lists[0].count; i++)
		FUZZ_ASSERT(scr_mwriter_extent(w, &in.lists[0].items[i].e) == 0);
	FUZZ_ASSERT(scr_mwriter_finish(w, &pass, NULL) == 0);
	scr_mwriter_free(w);
	return fd;
}

static int no_file(void *arg)
{
	(void)arg;
	return -EIO;
}

static struct scr_journal *open_journal(void)
{
	struct scr_extent extents[EXTENTS_MAX];
	struct scr_update u = {.file = in.file, .extents = extents, .count = in.lists[1].count};
	int fd = fuzz_file(1, "", 0);
	struct scr_buf b = {0};
	struct scr_journal *j;
	uint64_t valid;

	for (uint32_t i = 0; i < u.count; i++)
		extents[i] = in.lists[1].items[i].e;
	FUZZ_ASSERT(scr_journal_start(fd, 42, &in.geometry, 1) == 0);
	FUZZ_ASSERT(scr_journal_encode(&b, &in.geometry, &u) == 0);
	FUZZ_ASSERT(write(fd, b.data, b.len) == (ssize_t)b.len);
	scr_buf_free(&b);
	FUZZ_ASSERT(scr_journal_open(fd, 42, no_file, NULL, &j, &valid) == 0);
	FUZZ_ASSERT(scr_journal_count(j) == 1);
	return j;
}

static int keep(void *arg, const void *data, size_t len)
{
	if (in.writes_left == 0)
		return -ENOSPC;
	if (in.writes_left != UINT32_MAX)
		in.writes_left--;
	return scr_buf_append(arg, data, len);
}

static void export_map(struct scr_mreader *r, struct scr_journal *j)
{
	struct scr_pass p = {.kind = SCR_TARGET_FILE, .old = r, .journal = j};
	struct scr_buf text = {0};
	struct scr_exporter x = {.p = &p, .write = keep, .arg = &text};
	struct fuzz_map map;
	int ret;

	FUZZ_ASSERT(scr_view_new(r, j, &x.view) == 0);
	ret = scr_export_ddrescue(&x);
	scr_view_free(x.view);
	if (in.writes_left == 0) {
		/* The last one may just have been made. */
		FUZZ_ASSERT(ret == 0 || ret == -ENOSPC);
	} else {
		FUZZ_ASSERT(ret == 0);
	}
	if (ret == 0) {
		fuzz_map_parse(&map, text.data, text.len);
		check(&map);
		fuzz_map_free(&map);
	}
	scr_buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	struct scr_journal *j = NULL;
	struct scr_mreader *r;
	const char *why;

	if (size < HEAD)
		return 0;
	take(p, size);
	FUZZ_ASSERT(scr_mreader_open(write_manifest(), scr_kernels_reference(), &r, &why) == 0);
	if (in.journal)
		j = open_journal();
	export_map(r, j);
	scr_journal_free(j);
	scr_mreader_free(r);
	forget();
	return 0;
}
