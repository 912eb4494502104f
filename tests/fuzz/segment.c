/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes reading parity from a segment: any place, any length, sectors that can't be read.
 *
 * Input: offset (8 bytes), length, size of the file (4 each), how reads behave, segment (1 each);
 * then the bad runs of sectors: first one (2), how many (1). The content is a function of the
 * place.
 */
#include <config.h>
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/endian.h"
#include "parity/segments.h"

#define SECTOR 512u
#define SIZE_MAX_HERE (1200u << 10) /* more than a reader takes at once */
#define GAPS 16u
#define FIXED 18u
#define PATIENCE 256u /* well below the failures after which a reader steps down no more */

const struct fuzz_format fuzz_format = {.name = "segment"};

static struct medium {
	uint64_t size;
	bool choppy; /* short reads instead of errors where a part could be read */
	const uint8_t *runs;
	size_t count;
} medium;

static uint8_t content[SIZE_MAX_HERE];

static bool bad_at(uint64_t at)
{
	for (size_t i = 0; i < medium.count; i++) {
		uint64_t first =
			(uint64_t)(medium.runs[3 * i] | medium.runs[3 * i + 1] << 8) * SECTOR;

		if (at >= first && at < first + medium.runs[3 * i + 2] * (uint64_t)SECTOR)
			return true;
	}
	return false;
}

static unsigned int bad_sectors(void)
{
	unsigned int n = 0;

	for (size_t i = 0; i < medium.count; i++)
		n += medium.runs[3 * i + 2];
	return n;
}

static ssize_t fail(int err)
{
	errno = err;
	return -1;
}

static ssize_t read_medium(void *arg, int fd, void *buf, size_t len, off_t offset)
{
	uint64_t at = (uint64_t)offset, n = 0;

	(void)arg, (void)fd;
	if (offset < 0)
		return fail(EINVAL);
	if (at >= medium.size)
		return 0;
	if (len > medium.size - at)
		len = (size_t)(medium.size - at);
	while (n < len && !bad_at(at + n)) {
		uint64_t to = (at + n) / SECTOR * SECTOR + SECTOR;

		n = to - at < len ? to - at : len;
	}
	if (n < len && (n == 0 || !medium.choppy))
		return fail(EIO);
	memcpy(buf, content + at, (size_t)n);
	return (ssize_t)n;
}

static off_t seek_medium(void *arg, int fd, off_t offset, int whence)
{
	(void)arg, (void)fd, (void)offset, (void)whence;
	return fail(ENOTSUP);
}

static int stat_medium(void *arg, int fd, struct stat *st)
{
	int r = fstat(fd, st);

	(void)arg;
	st->st_size = (off_t)medium.size;
	return r;
}

static const struct scr_reader_ops ops = {
	.pread = read_medium,
	.lseek = seek_medium,
	.fstat = stat_medium,
};

/* ---- one segment that can be opened --------------------------------------------------------- */

static char dir[] = "/tmp/scrub-fuzz-XXXXXX";
static struct scr_segments *segments;
static struct scr_state state = {.dirfd = -1, .path = dir};

static void clean_up(void)
{
	scr_segments_free(segments);
	unlinkat(state.dirfd, "parity/00000001", 0);
	unlinkat(state.dirfd, "parity", AT_REMOVEDIR);
	close(state.dirfd);
	rmdir(dir);
}

static void set_up(void)
{
	struct scr_why why;
	int fd;

	for (uint32_t i = 0; i < SIZE_MAX_HERE; i++)
		content[i] = (uint8_t)(i * 7 + i / 251 + 1);
	FUZZ_ASSERT(mkdtemp(dir));
	state.dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_ASSERT(state.dirfd >= 0 && mkdirat(state.dirfd, "parity", 0700) == 0);
	fd = openat(state.dirfd, "parity/00000001", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	FUZZ_ASSERT(fd >= 0 && write(fd, "x", 1) == 1);
	close(fd);
	FUZZ_ASSERT(scr_segments_open(&state, true, &segments, &why) == 0);
	scr_segments_set_reader(segments, &ops);
	atexit(clean_up);
}

/* ---- judging -------------------------------------------------------------------------------- */

/* The first border of a gap behind @start, or @end. A reader that steps down no more may give up in
 * the middle of a sector, and find the other half when it reads on from there. */
static uint32_t gap_border(const struct scr_parity_gap *gaps, unsigned int n, uint32_t start,
			   uint32_t end)
{
	for (unsigned int i = 0; i < n; i++) {
		uint32_t gap_end = gaps[i].start + gaps[i].length;

		if (gaps[i].start > start && gaps[i].start < end)
			end = gaps[i].start;
		if (gap_end > start && gap_end < end)
			end = gap_end;
	}
	return end;
}

/* The gap that [@start, @end) lies in; NULL: it touches none. */
static const struct scr_parity_gap *gap_of(const struct scr_parity_gap *gaps, unsigned int n,
					   uint32_t start, uint32_t end)
{
	for (unsigned int i = 0; i < n; i++) {
		uint32_t gap_end = gaps[i].start + gaps[i].length;

		if (end <= gaps[i].start || start >= gap_end)
			continue;
		FUZZ_ASSERT(start >= gaps[i].start && end <= gap_end);
		return &gaps[i];
	}
	return NULL;
}

static void check_order(const struct scr_parity_gap *gaps, unsigned int n, uint32_t len)
{
	uint32_t end = 0;

	for (unsigned int i = 0; i < n; i++) {
		FUZZ_ASSERT(gaps[i].length > 0 && gaps[i].start >= end);
		FUZZ_ASSERT(gaps[i].start <= len && gaps[i].length <= len - gaps[i].start);
		end = gaps[i].start + gaps[i].length;
	}
}

/* A piece of one sector, all of it there or not, and in one gap or in none: the right bytes, or
 * zeros and a gap that says why.
 */
static void check_piece(const uint8_t *p, uint32_t start, uint32_t end, uint64_t at, bool there,
			const struct scr_parity_gap *gaps, unsigned int n)
{
	static const uint8_t zeros[SECTOR];
	const struct scr_parity_gap *gap = gap_of(gaps, n, start, end);
	bool good = there && !bad_at(at);

	if (good && !gap)
		FUZZ_ASSERT(memcmp(p + start, content + at, end - start) == 0);
	if (!good)
		FUZZ_ASSERT(gap && memcmp(p + start, zeros, end - start) == 0);
	/* Exact while there is room to be, and the reader has patience. */
	if (n < GAPS && bad_sectors() < PATIENCE)
		FUZZ_ASSERT(good == !gap && (good || gap->err == (there ? EIO : ENOENT)));
}

static void check(const uint8_t *p, uint32_t len, uint64_t offset, bool exists,
		  const struct scr_parity_gap *gaps, unsigned int n)
{
	uint32_t end;

	check_order(gaps, n, len);
	for (uint32_t i = 0; i < len; i = end) {
		uint64_t at = offset + i;
		uint32_t most = SECTOR - (uint32_t)(at % SECTOR);
		bool there = exists && at >= offset && at < medium.size;

		if (there && medium.size - at < most)
			most = (uint32_t)(medium.size - at);
		end = gap_border(gaps, n, i, len - i < most ? len : i + most);
		check_piece(p, i, end, at, there, gaps, n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	static uint8_t buf[SIZE_MAX_HERE];
	struct scr_parity_gap gaps[GAPS];
	unsigned int n = 0;
	uint64_t offset;
	uint32_t len;
	int r;

	if (size < FIXED)
		return 0;
	if (!segments)
		set_up();
	offset = scr_get_le64(p);
	len = scr_get_le32(p + 8) % SIZE_MAX_HERE;
	medium = (struct medium){scr_get_le32(p + 12) % SIZE_MAX_HERE, p[16] & 1, p + FIXED,
				 (size - FIXED) / 3 % 8};
	memset(buf, 0xee, len);
	r = scr_segments_read(segments, p[17], offset, buf, len, gaps, GAPS, &n);
	if (r < 0)
		FUZZ_ASSERT(r == -EINVAL && offset > (uint64_t)INT64_MAX - len);
	else
		check(buf, len, offset, p[17] == 1, gaps, n);
	return 0;
}
