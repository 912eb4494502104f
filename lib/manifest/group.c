/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One group of the container: its head, checks and parity over its own bytes. */
#include <config.h>
#include "manifest/group.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/endian.h"
#include "fold/fold.h"
#include "manifest/codec.h"

static const struct scr_geometry group_geometry = {
	.block_size = SCR_GROUP_UNIT,
	.columns = 16,
	.parity_unit = SCR_GROUP_UNIT,
};

static uint32_t data_size(uint32_t used)
{
	return (used + SCR_GROUP_UNIT - 1) / SCR_GROUP_UNIT * SCR_GROUP_UNIT;
}

static struct scr_cut cut_data(uint32_t data)
{
	return scr_cut_extent(&group_geometry, data, 0);
}

size_t scr_group_size(uint32_t used)
{
	uint32_t data = data_size(used);

	return 2 * (size_t)SCR_GROUP_HEAD + data + cut_data(data).column;
}

static struct scr_check check_unit(const struct scr_kernels *k, const uint8_t *p, uint8_t *fold)
{
	uint64_t sum = 0;
	uint32_t crc = 0;

	k->fused->fn.fused(k, &sum, &crc, fold, p, SCR_GROUP_UNIT);
	return (struct scr_check){.crc = crc, .inet = scr_inet_fold(sum)};
}

/* ---- sealing ------------------------------------------------------------------------------ */

/* Parity and the checks of all blocks; one pass over the data. */
static void seal_blocks(const struct scr_kernels *k, const struct scr_cut *cut, uint8_t *group)
{
	uint8_t *data = group + SCR_GROUP_HEAD, *parity = data + cut->length;
	uint8_t *checks = group + SCR_HEAD_CHECKS;
	struct scr_fold fold;

	scr_fold_start(&fold, k, cut->column, parity);
	for (uint32_t i = 0; i < cut->blocks; i++) {
		uint32_t at = i * SCR_GROUP_UNIT, room;

		scr_put_check(&checks, check_unit(k, data + at, scr_fold_target(&fold, at, &room)));
	}
	for (uint32_t i = 0; i < cut->parity_blocks; i++)
		scr_put_check(&checks, check_unit(k, parity + i * SCR_GROUP_UNIT, NULL));
}

static void seal_head(const struct scr_group_head *h, const struct scr_cut *cut, uint8_t *head)
{
	memcpy(head, SCR_GROUP_MAGIC, 4);
	scr_put_le32(head + SCR_HEAD_LENGTH, SCR_GROUP_HEAD);
	scr_put_le64(head + SCR_HEAD_NUMBER, h->number);
	scr_put_le64(head + SCR_HEAD_WRITING, h->writing);
	scr_put_le64(head + SCR_HEAD_GENERATION, h->generation);
	scr_put_le32(head + SCR_HEAD_USED, h->used);
	scr_put_le32(head + SCR_HEAD_DATA, h->data);
	scr_put_le32(head + SCR_HEAD_PARITY, h->parity);
	scr_put_le32(head + SCR_HEAD_FLAGS, h->last ? SCR_GROUP_LAST : 0);
	scr_put_le32(head + SCR_HEAD_BLOCK, SCR_GROUP_UNIT);
	scr_put_le32(head + SCR_HEAD_DATA_BLOCKS, cut->blocks);
	scr_put_le32(head + SCR_HEAD_PARITY_BLOCKS, cut->parity_blocks);
	scr_put_le64(head + SCR_HEAD_TRAILER, h->trailer);
	scr_put_le32(head + SCR_HEAD_CRC, (uint32_t)crc32_z(0, head, SCR_HEAD_CRC));
}

void scr_group_seal(const struct scr_kernels *k, struct scr_group_head *h, uint8_t *group)
{
	struct scr_cut cut;

	h->data = data_size(h->used);
	cut = cut_data(h->data);
	h->parity = cut.column;
	memset(group, 0, SCR_GROUP_HEAD);
	memset(group + SCR_GROUP_HEAD + h->used, 0, h->data - h->used);
	seal_blocks(k, &cut, group);
	seal_head(h, &cut, group);
	memcpy(group + SCR_GROUP_HEAD + h->data + h->parity, group, SCR_GROUP_HEAD);
}

/* ---- opening ------------------------------------------------------------------------------ */

static bool head_sound(const uint8_t *head)
{
	return scr_get_le32(head + SCR_HEAD_CRC) == crc32_z(0, head, SCR_HEAD_CRC);
}

static void note_damage(struct scr_group_repair *repair, size_t offset)
{
	if (!repair->any || offset < repair->first)
		repair->first = (uint32_t)offset;
	repair->any = true;
}

/* The head to go by: the first copy, or the second, moved over the first; NULL if there is none. */
static const uint8_t *choose_head(uint8_t *group, size_t size, const bool *unreadable,
				  struct scr_group_repair *repair)
{
	uint8_t *tail = group + size - SCR_GROUP_HEAD;
	bool first = !unreadable[0] && head_sound(group);
	bool second = !unreadable[size / SCR_GROUP_UNIT - 1] && head_sound(tail);

	if ((!first && !second) || (first && second && memcmp(group, tail, SCR_GROUP_HEAD) != 0))
		return NULL;
	if (!first) {
		note_damage(repair, 0);
		memcpy(group, tail, SCR_GROUP_HEAD);
	}
	if (!second)
		note_damage(repair, size - SCR_GROUP_HEAD);
	return group;
}

static int parse_head(const uint8_t *head, size_t size, struct scr_group_head *h)
{
	uint32_t flags = scr_get_le32(head + SCR_HEAD_FLAGS);
	struct scr_cut cut;

	h->number = scr_get_le64(head + SCR_HEAD_NUMBER);
	h->writing = scr_get_le64(head + SCR_HEAD_WRITING);
	h->generation = scr_get_le64(head + SCR_HEAD_GENERATION);
	h->used = scr_get_le32(head + SCR_HEAD_USED);
	h->data = scr_get_le32(head + SCR_HEAD_DATA);
	h->parity = scr_get_le32(head + SCR_HEAD_PARITY);
	h->trailer = scr_get_le64(head + SCR_HEAD_TRAILER);
	h->last = flags & SCR_GROUP_LAST;
	if (memcmp(head, SCR_GROUP_MAGIC, 4) != 0 || flags & ~SCR_GROUP_LAST ||
	    scr_get_le32(head + SCR_HEAD_LENGTH) != SCR_GROUP_HEAD ||
	    scr_get_le32(head + SCR_HEAD_BLOCK) != SCR_GROUP_UNIT)
		return -EBADMSG;
	if (h->used == 0 || h->used > SCR_GROUP_DATA || h->data != data_size(h->used) ||
	    (!h->last && (h->used != SCR_GROUP_DATA || h->trailer != 0)))
		return -EBADMSG;
	cut = cut_data(h->data);
	if (h->parity != cut.column || size != scr_group_size(h->used) ||
	    scr_get_le32(head + SCR_HEAD_DATA_BLOCKS) != cut.blocks ||
	    scr_get_le32(head + SCR_HEAD_PARITY_BLOCKS) != cut.parity_blocks)
		return -EBADMSG;
	return 0;
}

static bool unit_sound(const struct scr_kernels *k, const uint8_t *group, uint32_t i)
{
	struct scr_cursor c = {
		.p = group + SCR_HEAD_CHECKS + (size_t)i * SCR_CHECK_SIZE,
		.left = SCR_CHECK_SIZE,
	};
	struct scr_check want = scr_take_check(&c);
	struct scr_check have =
		check_unit(k, group + SCR_GROUP_HEAD + (size_t)i * SCR_GROUP_UNIT, NULL);

	return want.crc == have.crc && want.inet == have.inet;
}

/* Rebuilds what is bad at position @pos (a block number inside a column), if it is one block. */
static int repair_position(const struct scr_kernels *k, const struct scr_cut *cut, uint8_t *group,
			   const bool *bad, uint32_t pos)
{
	uint32_t columns = scr_fold_columns(cut), victim = columns, count = 0;
	uint8_t *data = group + SCR_GROUP_HEAD;

	for (uint32_t i = 0; i < columns; i++)
		if (i * cut->parity_blocks + pos < cut->blocks &&
		    bad[i * cut->parity_blocks + pos]) {
			victim = i;
			count++;
		}
	count += bad[cut->blocks + pos];
	if (count == 0)
		return 0;
	if (count > 1)
		return -EBADMSG;
	scr_fold_rebuild(k, cut, data, data + cut->length, victim, pos * SCR_GROUP_UNIT,
			 SCR_GROUP_UNIT);
	if (!unit_sound(k, group,
			victim == columns ? cut->blocks + pos : victim * cut->parity_blocks + pos))
		return -EBADMSG;
	return victim < columns;
}

static int repair_blocks(const struct scr_kernels *k, const struct scr_cut *cut, uint8_t *group,
			 const bool *unreadable, struct scr_group_repair *repair)
{
	bool bad[SCR_GROUP_BLOCKS], any = false;

	for (uint32_t i = 0; i < cut->blocks + cut->parity_blocks; i++) {
		bad[i] = unreadable[i + 1] || !unit_sound(k, group, i);
		any |= bad[i];
		if (bad[i])
			note_damage(repair, SCR_GROUP_HEAD + (size_t)i * SCR_GROUP_UNIT);
	}
	for (uint32_t pos = 0; any && pos < cut->parity_blocks; pos++) {
		int r = repair_position(k, cut, group, bad, pos);

		if (r < 0)
			return r;
		repair->blocks += (uint32_t)r;
	}
	return 0;
}

int scr_group_open(const struct scr_kernels *k, uint8_t *group, size_t size, const bool *unreadable,
		   struct scr_group_head *h, struct scr_group_repair *repair)
{
	const uint8_t *head;
	struct scr_cut cut;

	*repair = (struct scr_group_repair){0};
	head = choose_head(group, size, unreadable, repair);
	if (!head || parse_head(head, size, h) < 0)
		return -EBADMSG;
	cut = cut_data(h->data);
	return repair_blocks(k, &cut, group, unreadable, repair);
}
