/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes seeds of manifests, journals and undo entries with everything that may be in them.
 *
 * Usage: seedgen DIR; make-seeds calls it.
 */
#include <config.h>
#include "../store_common.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "base/path.h"
#include "manifest/codec.h"
#include "parity/undo_internal.h"

static const char *top;

static void save(const char *folder, const char *name, const void *p, size_t len)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", top, folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void save_manifest(const char *name, uint64_t seed, const struct scr_geometry *g, uint32_t n)
{
	struct sample s = make_sample(seed, g, n);
	int fd = write_sample(&s);
	size_t len;
	uint8_t *stream = take_stream(fd, &len);

	save("manifest", name, stream, len);
	free(stream);
	if (n < 3) {
		stream = read_whole(fd, &len);
		save("group", name, stream, len);
		free(stream);
	}
	close(fd);
	free_sample(&s);
}

static void save_journal(const char *name, uint64_t seed, const struct scr_geometry *g)
{
	int fd = temp_file(NULL);
	struct rng r = {seed};
	struct scr_buf b = {0};
	uint8_t *head;
	size_t len;

	assert_int_equal(scr_journal_start(fd, 42, g, 1), 0);
	head = read_whole(fd, &len);
	assert_int_equal(scr_buf_append(&b, head, len), 0);
	for (unsigned int i = 0; i < 5; i++) {
		uint64_t size = i % 2 ? 40 * MIB : 1 + rng_below(&r, 9000);
		struct scr_extent e[2] = {random_extent(&r, g, size, 0)};
		struct scr_update u = {.done = i != 1, .extents = e, .count = 1};
		char path[] = {(char)('a' + i % 3), '\0'};

		if (i % 2) {
			scr_extent_free(&e[0]);
			e[0] = random_run(&r, g, size, i / 2, 1);
		}
		u.file = random_file(&r, size);
		u.file.path = path;
		u.file.path_len = 1;
		assert_int_equal(scr_journal_encode(&b, g, &u), 0);
		scr_extent_free(&e[0]);
	}
	save("journal", name, b.data, b.len);
	save("journal", "cut", b.data, b.len - 5);
	scr_buf_free(&b);
	free(head);
	close(fd);
}

static void save_undo(const char *name, enum scr_undo_state last)
{
	static const uint8_t old[700] = {1, 2, 3};
	struct scr_undo_range ranges[] = {
		{.offset = 0, .length = 512, .old_length = 512, .check = {1, 2}, .old = old},
		{.offset = 4096, .length = 512, .old_length = 512, .flags = SCR_UNDO_UNREADABLE},
		{.offset = 8192, .length = 1808, .old_length = 700, .old = old},
	};
	struct scr_undo_entry e = {
		.created_ns = 1234,
		.stamp = {8892, 77, -5, 6},
		.size_after = 10000,
		.unit = 4096,
		.damage_kind = SCR_REC_ROT,
		.fs = {(char *)(uintptr_t) "ext4", (char *)(uintptr_t) "u", (char *)(uintptr_t) "",
		       4},
		.path = (char *)(uintptr_t) "a/b",
		.path_len = 3,
		.ranges = ranges,
		.count = 3,
	};
	struct scr_buf b = {0};
	uint32_t crc;

	assert_int_equal(scr_undo_encode_head(&b, &e), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(scr_undo_encode_range(&b, &ranges[i]), 0);
	crc = (uint32_t)crc32_z(0, b.data, b.len);
	for (int s = SCR_UNDO_OPEN; s <= (int)last; s++) {
		struct scr_undo_mark m = {(enum scr_undo_state)s, 99, e.stamp};

		assert_int_equal(scr_undo_encode_mark(&b, &m, crc), 0);
	}
	save("undo", name, b.data, b.len);
	scr_buf_free(&b);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 16;
	top = argv[1];
	save_manifest("empty", 1, &small_geometry, 0);
	save_manifest("two", 9, &small_geometry, 2);
	save_manifest("eight", 5, &small_geometry, 8);
	save_manifest("columns", 3, &any_geometry[2], 5);
	save_journal("five", 7, &small_geometry);
	save_undo("open", SCR_UNDO_OPEN);
	save_undo("undone", SCR_UNDO_UNDONE);
	return 0;
}
