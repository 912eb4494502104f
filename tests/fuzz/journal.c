/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the journal: what is sound in it comes in order and fits, however much memory there is. */
#include <config.h>
#include "fuzz.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/path.h"
#include "manifest/journal.h"

#define GENERATION 42

static size_t mend(uint8_t *p, size_t size, size_t max)
{
	(void)max;
	fuzz_mend_records(p, size);
	return size;
}

const struct fuzz_format fuzz_format = {.name = "journal", .records = true, .mend = mend};

static int temporary(void *unused)
{
	(void)unused;
	return memfd_create("run", MFD_CLOEXEC);
}

static uint32_t sum(uint32_t crc, const void *p, size_t len)
{
	return (uint32_t)crc32_z(crc, p, len);
}

/* Extents of one path ascend and lie in the file. */
static uint32_t sum_extents(struct scr_journal *j, const struct scr_file_record *f,
			    struct scr_extent *e, uint32_t crc)
{
	struct scr_codec codec = {j->codec.geometry, UINT32_MAX, false};
	uint64_t next = 0;
	int r;

	while ((r = scr_journal_extent(j, e)) > 0) {
		FUZZ_ASSERT(e->cut.index >= next && e->run > 0);
		FUZZ_ASSERT(scr_extent_valid(&codec, f->stamp.size, e));
		next = e->cut.index + e->run;
		crc = sum(crc, &e->cut.index, sizeof(e->cut.index));
		crc = sum(crc, &e->run, sizeof(e->run));
		crc = sum(crc, &e->checked_ns, sizeof(e->checked_ns));
		for (uint32_t i = 0; e->checks && i < e->cut.blocks; i++)
			crc = sum(crc, &e->checks[i].crc, sizeof(e->checks[i].crc));
	}
	FUZZ_ASSERT(r == 0);
	return crc;
}

/* Reads all there is. A sum over what came. */
static uint32_t sum_all(struct scr_journal *j)
{
	struct scr_buf last = {0};
	struct scr_extent e = {0};
	struct scr_file_record f;
	uint32_t crc = 0;
	bool done;
	int r;

	while ((r = scr_journal_next(j, &f, &done)) > 0) {
		FUZZ_ASSERT(scr_path_valid(f.path, f.path_len));
		FUZZ_ASSERT(last.len == 0 ||
			    scr_path_cmp((char *)last.data, last.len, f.path, f.path_len) < 0);
		scr_buf_clear(&last);
		FUZZ_ASSERT(scr_buf_append(&last, f.path, f.path_len) == 0);
		crc = sum(crc, f.path, f.path_len);
		crc = sum(crc, &f.stamp, sizeof(f.stamp));
		crc = sum(crc, &done, sizeof(done));
		crc = sum_extents(j, &f, &e, crc);
	}
	FUZZ_ASSERT(r == 0);
	scr_buf_free(&last);
	scr_extent_free(&e);
	return crc;
}

/* An empty manifest cut by @g, for a view. */
static struct scr_mreader *empty_manifest(const struct scr_geometry *g)
{
	struct scr_header h = {
		.version = SCR_FORMAT_VERSION,
		.generation = GENERATION,
		.kind = SCR_TARGET_DIR,
		.parities = 1,
		.settings = {.geometry = *g, .parity = true},
		.target = (char *)(uintptr_t) "/t",
	};
	int fd = fuzz_file(1, "", 0);
	struct scr_mwriter *w;
	struct scr_mreader *r;
	const char *why;

	FUZZ_ASSERT(scr_mwriter_new(fd, scr_kernels_reference(), &h, 1, &w) == 0);
	FUZZ_ASSERT(scr_mwriter_finish(w, NULL, NULL) == 0);
	scr_mwriter_free(w);
	FUZZ_ASSERT(scr_mreader_open(fd, scr_kernels_reference(), &r, &why) == 0);
	return r;
}

/* The view over an empty manifest has the paths of the journal. */
static void check_view(struct scr_journal *j)
{
	struct scr_mreader *m = empty_manifest(&j->codec.geometry);
	struct scr_extent e = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	struct scr_view *v;
	int r;

	FUZZ_ASSERT(scr_view_new(m, j, &v) == 0);
	while ((r = scr_view_next(v, &f, &l)) > 0)
		while ((r = scr_view_extent(v, &e)) > 0)
			;
	FUZZ_ASSERT(r == 0);
	scr_view_free(v);
	scr_extent_free(&e);
	scr_mreader_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	static const struct scr_sort_limits small = {600, 2};
	int fd = fuzz_file(0, p, size);
	uint64_t valid, valid_again, count;
	struct scr_journal *j;
	uint32_t whole;
	int r = scr_journal_open(fd, GENERATION, temporary, NULL, &j, &valid);

	if (r < 0) {
		FUZZ_ASSERT(r == -EPROTONOSUPPORT);
		return 0;
	}
	FUZZ_ASSERT(valid <= size);
	count = scr_journal_count(j);
	FUZZ_ASSERT(valid > 0 || count == 0);
	whole = sum_all(j);
	if (valid > 0)
		check_view(j);
	scr_journal_free(j);
	/* What is behind the good part has no bearing on it, and neither has the way of sorting. */
	FUZZ_ASSERT(ftruncate(fd, (off_t)valid) == 0);
	FUZZ_ASSERT(scr_journal_open_with(fd, GENERATION, &small, temporary, NULL, &j,
					  &valid_again) == 0);
	FUZZ_ASSERT(valid_again == valid && scr_journal_count(j) == count);
	FUZZ_ASSERT(sum_all(j) == whole);
	scr_journal_free(j);
	return 0;
}
