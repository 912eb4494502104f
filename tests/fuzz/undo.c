/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes undo entries: what is taken is valid, and written again it is read as the same. */
#include <config.h>
#include "fuzz.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/endian.h"
#include "parity/undo_internal.h"

/* Right CRCs, and states that name the body before them. */
static size_t mend(uint8_t *p, size_t size, size_t max)
{
	const uint8_t *payload;
	size_t pos = 0, body = 0;
	uint32_t len;
	uint8_t type;
	bool states = false;

	(void)max;
	fuzz_mend_records(p, size);
	for (size_t at = 0; fuzz_record(p, size, &pos, &type, &payload, &len); at = pos) {
		if (type == SCR_TYPE_STATE && !states) {
			states = true;
			body = at;
		}
		if (type == SCR_TYPE_STATE && len >= 8)
			scr_put_le32(p + at + SCR_RECORD_HEAD + 4, (uint32_t)crc32_z(0, p, body));
	}
	fuzz_mend_records(p, size);
	return size;
}

const struct fuzz_format fuzz_format = {.name = "undo", .records = true, .mend = mend};

static void assert_same(const struct scr_undo_entry *a, const struct scr_undo_entry *b)
{
	FUZZ_ASSERT(a->count == b->count && a->path_len == b->path_len && a->unit == b->unit);
	FUZZ_ASSERT(memcmp(a->path, b->path, a->path_len) == 0 && !strcmp(a->fs.type, b->fs.type));
	FUZZ_ASSERT(a->size_after == b->size_after && a->stamp.size == b->stamp.size);
	FUZZ_ASSERT(a->mark.state == b->mark.state && a->mark.time_ns == b->mark.time_ns);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct scr_undo_range *x = &a->ranges[i], *y = &b->ranges[i];

		FUZZ_ASSERT(x->offset == y->offset && x->length == y->length);
		FUZZ_ASSERT(x->old_length == y->old_length && x->flags == y->flags);
		FUZZ_ASSERT(x->check.crc == y->check.crc && x->check.inet == y->check.inet);
	}
}

static void append_range(struct scr_buf *b, const struct scr_undo_entry *e, uint32_t i)
{
	struct scr_undo_range range = e->ranges[i];
	uint8_t *old = malloc(range.old_length + 1u);

	FUZZ_ASSERT(old);
	if (!(range.flags & SCR_UNDO_UNREADABLE))
		FUZZ_ASSERT(scr_undo_old(e, i, old) == 0);
	range.old = old;
	FUZZ_ASSERT(scr_undo_encode_range(b, &range) == 0);
	free(old);
}

static void check_round_trip(const struct scr_undo_entry *e)
{
	struct scr_undo_entry again = {.fd = -1};
	struct scr_buf b = {0};

	FUZZ_ASSERT(scr_undo_encode_head(&b, e) == 0);
	for (uint32_t i = 0; i < e->count; i++)
		append_range(&b, e, i);
	FUZZ_ASSERT(scr_undo_encode_mark(&b, &e->mark, (uint32_t)crc32_z(0, b.data, b.len)) == 0);
	FUZZ_ASSERT(scr_undo_parse(fuzz_file(1, b.data, b.len), true, &again) == 0);
	FUZZ_ASSERT(again.length == b.len);
	assert_same(e, &again);
	scr_undo_entry_free(&again);
	scr_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	struct scr_undo_entry all = {.fd = -1}, light = {.fd = -1};
	int fd = fuzz_file(0, p, size);
	int r = scr_undo_parse(fd, true, &all), l = scr_undo_parse(fd, false, &light);

	FUZZ_ASSERT(r == 0 || r == -EBADMSG || r == -ENODATA || r == -EPROTONOSUPPORT);
	if (r == 0) {
		FUZZ_ASSERT(scr_undo_entry_valid(&all) && all.length <= size);
		FUZZ_ASSERT(l == 0 && light.length == all.length);
		assert_same(&all, &light);
		all.fd = fd;
		check_round_trip(&all);
		all.fd = -1;
	}
	scr_undo_entry_free(&all);
	scr_undo_entry_free(&light);
	return 0;
}
