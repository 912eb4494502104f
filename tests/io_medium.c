/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where bytes come from: directly, from the cache, past it; and that the cache stays as it was. */
#include <config.h>
#include "io_disk.h"

#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/vfs.h>

static int medium_setup(void **state)
{
	struct rig *g;

	if (rig_setup(state) < 0)
		return -1;
	g = *state;
	g->ops.probe = disk_probe;
	g->ops.open_direct = disk_open_direct;
	g->ops.close_direct = disk_close_direct;
	g->ops.resident = disk_resident;
	g->disk.direct = (struct scr_reader_direct){.possible = true, .medium = true, .align = 512};
	return 0;
}

static void attach(struct rig *g, enum scr_reader_mode mode)
{
	scr_reader_attach(g->r, ORDINARY_FD, mode);
}

static struct scr_reader_counts counts(const struct rig *g)
{
	struct scr_reader_counts c;

	scr_reader_get_counts(g->r, &c);
	assert_int_equal(c.medium + c.unknown + c.cache, c.total);
	return c;
}

static void cache_pages(struct rig *g, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		g->disk.cached[i] = true;
}

static void test_check_is_direct(void **state)
{
	struct rig *g = *state;

	cache_pages(g, 0, 100);
	attach(g, SCR_READ_CHECK);
	assert_int_equal(read_at(g, 0, 1 << 20), 1 << 20);
	assert_content(g, 0, 1 << 20);
	assert_int_equal(counts(g).medium, 1 << 20);
	assert_int_equal(g->disk.from_cache + g->disk.from_disk, 0);
	/* At odd places: more is read, not more is given or counted. */
	assert_int_equal(read_at(g, 70001, 3), 3);
	assert_content(g, 70001, 3);
	assert_int_equal(read_at(g, SIZE - 100, 1 << 20), 1334);
	assert_content(g, SIZE - 100, 1334);
	assert_int_equal(read_at(g, ODD_SIZE, 512), 0);
	assert_int_equal(counts(g).medium, (1 << 20) + 1337);
	assert_int_equal(counts(g).total, (1 << 20) + 1337);
	assert_int_equal(g->disk.direct_open, 1);
}

static void test_direct_elsewhere(void **state)
{
	struct rig *g = *state;

	g->disk.direct.medium = false; /* a file system that reads from who knows where */
	attach(g, SCR_READ_CHECK);
	assert_int_equal(read_at(g, 0, 5000), 5000);
	assert_int_equal(counts(g).unknown, 5000);
	assert_int_equal(g->disk.directly, 5120);
}

static void test_record_takes_the_cache(void **state)
{
	struct rig *g = *state;

	cache_pages(g, 10, 20);
	cache_pages(g, 30, 31);
	attach(g, SCR_READ_RECORD);
	assert_int_equal(read_at(g, 0, 1 << 20), 1 << 20);
	assert_content(g, 0, 1 << 20);
	assert_int_equal(counts(g).cache, 11 * 4096);
	assert_int_equal(counts(g).medium, (1 << 20) - 11 * 4096);
	assert_int_equal(g->disk.from_cache, 11 * 4096);
	assert_int_equal(g->disk.from_disk, 0);
	assert_int_equal(g->disk.advised, 0);
}

static void test_small_cached_file_needs_no_second_descriptor(void **state)
{
	struct rig *g = *state;

	cache_pages(g, 0, 4);
	attach(g, SCR_READ_RECORD);
	assert_int_equal(read_at(g, 0, 10000), 10000);
	assert_int_equal(g->disk.direct_open, 0);
	assert_int_equal(counts(g).cache, 10000);
}

static void test_without_direct(void **state)
{
	struct rig *g = *state;

	g->disk.direct.possible = false;
	cache_pages(g, 10, 20);
	for (int mode = SCR_READ_RECORD; mode <= SCR_READ_CACHED; mode++) {
		g->disk.from_cache = g->disk.from_disk = 0;
		attach(g, (enum scr_reader_mode)mode);
		assert_int_equal(read_at(g, 5, 500000), 500000);
		assert_content(g, 5, 500000);
		assert_int_equal(g->disk.from_cache, 10 * 4096);
		for (size_t i = 0; i < DISK_PAGES; i++)
			assert_int_equal(g->disk.cached[i], i >= 10 && i < 20);
	}
	assert_int_equal(counts(g).cache, 3 * 10 * 4096);
	assert_int_equal(counts(g).unknown, 3 * (500000 - 10 * 4096));
}

/* Nothing is dropped where it isn't known what others had in the cache. */
static int no_resident(void *arg, int fd, off_t offset, size_t len, uint8_t *vec)
{
	(void)arg, (void)fd, (void)offset, (void)len, (void)vec;
	errno = EPERM;
	return -1;
}

static void test_unknown_residency(void **state)
{
	struct rig *g = *state;

	g->ops.resident = no_resident;
	cache_pages(g, 0, 8);
	attach(g, SCR_READ_RECORD);
	assert_int_equal(read_at(g, 0, 40000), 40000);
	assert_int_equal(counts(g).medium, 40000);
	attach(g, SCR_READ_CACHED);
	assert_int_equal(read_at(g, 0, 40000), 40000);
	assert_int_equal(counts(g).unknown, 40000);
	assert_int_equal(g->disk.advised, 0);
}

static void test_word_taken_back(void **state)
{
	struct rig *g = *state;

	g->disk.takes_back = true;
	cache_pages(g, 0, 1);
	attach(g, SCR_READ_CHECK);
	assert_int_equal(read_at(g, 100, 100000), 100000);
	assert_content(g, 100, 100000);
	assert_int_equal(counts(g).cache, 4096 - 100);
	assert_int_equal(counts(g).unknown, 100000 - 4096 + 100);
	assert_false(g->disk.cached[1]);
	/* Until the next file. */
	g->disk.takes_back = false;
	attach(g, SCR_READ_CHECK);
	assert_int_equal(read_at(g, 100, 100), 100);
	assert_int_equal(counts(g).medium, 100);
}

static void test_reread_is_direct(void **state)
{
	struct rig *g = *state;

	cache_pages(g, 0, 8);
	for (int mode = SCR_READ_RECORD; mode <= SCR_READ_CACHED; mode++) {
		attach(g, (enum scr_reader_mode)mode);
		assert_int_equal(scr_reader_reread(g->r, 1000, 9000, &g->data, g->bad, 16, &g->nbad),
				 9000);
		assert_content(g, 1000, 9000);
	}
	assert_int_equal(counts(g).medium, 3 * 9000);
	assert_int_equal(g->disk.advised, 0);
	g->disk.direct.possible = false;
	attach(g, SCR_READ_CHECK);
	assert_int_equal(scr_reader_reread(g->r, 1000, 9000, &g->data, g->bad, 16, &g->nbad), 9000);
	assert_int_equal(g->disk.from_cache, 0);
	assert_int_equal(g->disk.from_disk, 9000);
}

static void test_bad_sectors_directly(void **state)
{
	struct rig *g = *state;

	add_bad(g, 40960 + 512, 40960 + 1024, EIO);
	add_bad(g, SIZE + 1024, SIZE + 1536, ENODATA);
	attach(g, SCR_READ_CHECK);
	assert_int_equal(read_at(g, 1000, 100000), 100000);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, 40960 + 512, 40960 + 1024, EIO);
	assert_content(g, 1000, 100000);
	/* A range that was read because of the alignment alone is nobody's. */
	assert_int_equal(read_at(g, 41984, 100), 100);
	assert_int_equal(g->nbad, 0);
	assert_int_equal(read_at(g, 41500, 400), 400);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, 41500, 41900, EIO);
	/* The last sector is longer than the file. */
	assert_int_equal(read_at(g, SIZE, 1 << 20), 1234);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, SIZE + 1024, ODD_SIZE, ENODATA);
	assert_content(g, SIZE, 1234);
}

/* A disk of 4096-byte sectors: nothing smaller is tried. */
/* A disk of 4 KiB sectors that takes reads of 512 bytes: nothing smaller can fail by itself. */
static void test_physical_sectors(void **state)
{
	struct rig *g = *state;

	g->disk.direct.align = 512;
	g->disk.direct.sector = 4096;
	add_bad(g, 40960 + 1024, 40960 + 1536, EIO);
	attach(g, SCR_READ_CHECK);
	assert_int_equal(read_at(g, 512, 1 << 20), 1 << 20);
	assert_int_equal(g->nbad, 1);
	/* What the disk gave of the sector before it failed is taken. */
	assert_bad(g, 0, 40960 + 1024, 45056, EIO);
	assert_int_equal(g->disk.failures, 3);
	g->disk.direct.sector = 0;
	attach(g, SCR_READ_CHECK);
	assert_int_equal(read_at(g, 512, 1 << 20), 1 << 20);
	assert_bad(g, 0, 40960 + 1024, 40960 + 1536, EIO);
}

static void test_large_sectors(void **state)
{
	struct rig *g = *state;

	g->disk.direct.align = 4096;
	add_bad(g, 40960, 45056, EIO);
	attach(g, SCR_READ_CHECK);
	assert_int_equal(read_at(g, 777, 1 << 20), 1 << 20);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, 40960, 45056, EIO);
	assert_content(g, 777, 1 << 20);
	assert_int_equal(counts(g).medium, 1 << 20);
	g->disk.direct.align = 65536;
	attach(g, SCR_READ_RECORD);
	cache_pages(g, 16, 32);
	cache_pages(g, 33, 40);
	assert_int_equal(read_at(g, 1 << 19, 1 << 20), 1 << 20);
	assert_content(g, 1 << 19, 1 << 20);
	assert_int_equal(read_at(g, 100, 1 << 19), 1 << 19);
	assert_int_equal(counts(g).cache, 65536);
	g->disk.direct.align = 1 << 20; /* too much: not tried */
	attach(g, SCR_READ_CHECK);
	assert_int_equal(read_at(g, 0, 65536), 65536);
	assert_int_equal(counts(g).cache, 65536);
	assert_int_equal(counts(g).unknown, 65536);
}

/* Everything at once: content, ranges, counts and the cache are what they have to be. */
static void test_everything(void **state)
{
	struct rig *g = *state;
	unsigned int seed = 5;

	for (unsigned int t = 0; t < 400; t++) {
		static const uint32_t aligns[] = {512, 1024, 4096, 8192};
		uint64_t offset = (uint64_t)rand_r(&seed) % ODD_SIZE, bytes = 0, want = 0;
		size_t len = 1 + (size_t)rand_r(&seed) % (1 << 20);
		uint64_t end = SCR_MIN(offset + len, ODD_SIZE), at = 0;
		struct scr_reader_counts before = counts(g);
		bool cached[DISK_PAGES];

		g->disk.direct.possible = rand_r(&seed) % 3;
		g->disk.direct.align = aligns[rand_r(&seed) % 4];
		g->disk.most = rand_r(&seed) % 2 ? 100000 : 0;
		g->disk.interrupt = rand_r(&seed) % 2 ? 4 : 0;
		g->disk.nbad = 0;
		for (unsigned int i = 0; i < 4; i++) {
			uint64_t n = 8192 * (1 + (uint64_t)rand_r(&seed) % 4);

			at += 8192 * (1 + (uint64_t)rand_r(&seed) % 140);
			add_bad(g, at, at + n, EIO);
			if (at + n > offset && at < end)
				want += SCR_MIN(at + n, end) - SCR_MAX(at, offset);
			at += n;
		}
		for (size_t i = 0, on = 0; i < DISK_PAGES; i++) {
			on ^= rand_r(&seed) % 20 == 0;
			g->disk.cached[i] = on;
		}
		memcpy(cached, g->disk.cached, sizeof(cached));
		attach(g, (enum scr_reader_mode)(rand_r(&seed) % 3));
		assert_int_equal(read_at(g, offset, len), end - offset);
		for (unsigned int i = 0; i < g->nbad; i++)
			bytes += g->bad[i].length;
		assert_int_equal(bytes, want);
		assert_content(g, offset, (size_t)(end - offset));
		assert_memory_equal(cached, g->disk.cached, sizeof(cached));
		assert_int_equal(counts(g).total - before.total, end - offset);
	}
}

/* ---- real files --------------------------------------------------------------------------- */

#define REAL_SIZE ((2u << 20) + 4321)

static void make_real(const char *path)
{
	uint8_t *data = malloc(REAL_SIZE);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	assert_non_null(data);
	for (size_t i = 0; i < REAL_SIZE; i++)
		data[i] = pattern(i);
	assert_int_equal(write(fd, data, REAL_SIZE), REAL_SIZE);
	assert_int_equal(fsync(fd), 0);
	free(data);
	close(fd);
}

static void resident_pages(int fd, unsigned char *vec)
{
	void *map = mmap(NULL, REAL_SIZE, PROT_READ, MAP_SHARED, fd, 0);

	assert_true(map != MAP_FAILED);
	assert_int_equal(mincore(map, REAL_SIZE, vec), 0);
	munmap(map, REAL_SIZE);
}

static size_t read_real(struct scr_reader *r, int fd, enum scr_reader_mode mode)
{
	size_t total = 0;

	scr_reader_attach(r, fd, mode);
	for (;;) {
		const uint8_t *data;
		unsigned int nbad;
		ssize_t n = scr_reader_read(r, total, 300000, &data, NULL, 0, &nbad);

		assert_true(n >= 0);
		for (size_t i = 0; i < (size_t)n; i++)
			if (data[i] != pattern(total + i))
				fail_msg("byte %zu", total + i);
		total += (size_t)n;
		if (n < 300000)
			break;
	}
	scr_reader_detach(r);
	return total;
}

/* A file of which only some pages are cached, read in all modes: they and no others stay. */
static void test_cache_is_left_alone(void **state)
{
	const size_t pages = (REAL_SIZE + 4095) / 4096;
	unsigned char before[REAL_SIZE / 4096 + 1], after[REAL_SIZE / 4096 + 1];
	struct scr_reader *r;
	size_t resident = 0;
	char buf[4096];
	int fd;

	(void)state;
	SKIP_UNLESS(sysconf(_SC_PAGESIZE) == 4096, "counts pages of 4096 bytes");
	make_real("f");
	fd = open("f", O_RDONLY);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (unsigned int i = 100; i < 110; i++)
		assert_int_equal(pread(fd, buf, 4096, i * 4096), 4096);
	resident_pages(fd, before);
	for (size_t i = 0; i < pages; i++)
		resident += before[i] & 1;
	SKIP_UNLESS(resident == 10, "this file system keeps more in memory than was read");
	assert_int_equal(scr_reader_new(NULL, &r), 0);
	for (int mode = SCR_READ_RECORD; mode <= SCR_READ_CACHED; mode++) {
		assert_int_equal(read_real(r, fd, (enum scr_reader_mode)mode), REAL_SIZE);
		resident_pages(fd, after);
		assert_memory_equal(before, after, pages);
	}
	scr_reader_free(r);
	close(fd);
}

static void test_dirty_file_is_recorded_from_the_cache(void **state)
{
	struct scr_reader_counts c;
	struct scr_reader *r;
	int fd;

	(void)state;
	make_real("f");
	fd = open("f", O_RDONLY);
	assert_int_equal(scr_reader_new(NULL, &r), 0);
	assert_int_equal(read_real(r, fd, SCR_READ_RECORD), REAL_SIZE);
	scr_reader_get_counts(r, &c);
	assert_int_equal(c.total, REAL_SIZE);
	assert_int_equal(c.cache, REAL_SIZE);
	scr_reader_free(r);
	close(fd);
}

/* Content that changed on the medium, under a cached page, shows in a check only. */
static int look_beneath_the_cache(const char *make, const char *type)
{
	struct scr_reader_counts c;
	struct scr_reader *r;
	char command[512];
	int fd, ret = 0;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return 77;
	snprintf(command, sizeof(command),
		 "PATH=$PATH:/usr/sbin:/sbin; truncate -s 400M img && %s >/dev/null 2>&1 && "
		 "mount -t %s -o loop img m 2>/dev/null", make, type);
	if (system(command) != 0)
		return 77;
	make_real("m/f");
	fd = open("m/f", O_RDONLY);
	if (scr_reader_new(NULL, &r) < 0)
		return 1;
	read_real(r, fd, SCR_READ_CHECK);
	scr_reader_get_counts(r, &c);
	if (c.medium != REAL_SIZE)
		ret = 2;
	read_real(r, fd, SCR_READ_CACHED);
	scr_reader_get_counts(r, &c);
	if (c.cache != REAL_SIZE)
		ret = 3;
	scr_reader_free(r);
	close(fd);
	return system("umount m") ? 4 : ret;
}

static int on_ext4(void *arg)
{
	(void)arg;
	return look_beneath_the_cache("mkfs.ext4 -q img", "ext4");
}

static int on_xfs(void *arg)
{
	(void)arg;
	return look_beneath_the_cache("mkfs.xfs -q img", "xfs");
}

static void test_on(int (*fn)(void *arg))
{
	int ret;

	SKIP_UNLESS(geteuid() == 0, "needs root, to mount");
	mkdir("m", 0755);
	ret = sys_as(0, fn, NULL);
	SKIP_UNLESS(ret != 77, "it can't be made and mounted here (loop device, tools)");
	assert_int_equal(ret, 0);
}

static void test_ext4_reads_the_medium(void **state)
{
	(void)state;
	test_on(on_ext4);
}

static void test_xfs_reads_the_medium(void **state)
{
	(void)state;
	test_on(on_xfs);
}

/*
 * A file whose sector 2 of block 50 can't be read, on ext4 on a loop device over an nbdkit that says
 * so. The loop device must read directly too, or the kernel would fail whole pages of the image.
 */
static const char bad_sector_script[] =
	"PATH=$PATH:/usr/sbin:/sbin\n"
	"for tool in nbdkit nbdfuse mkfs.ext4 debugfs losetup; do\n"
	"	command -v $tool >/dev/null || exit 77\n"
	"done\n"
	"exec >log 2>&1\n"
	"size=67108864\n"
	"truncate -s $size img && mkfs.ext4 -q -b 4096 -d src img && mkdir nbd || exit 77\n"
	"block=$(debugfs -R 'bmap /f 50' img 2>/dev/null) && [ \"$block\" -gt 0 ] || exit 77\n"
	"at=$((block * 4096 + 1024))\n"
	"printf '0x0 +\\n0x0 0x%x +\\n0x%x 0x200 -\\n0x%x 0x%x +\\n' $at $at $((at + 512)) "
	"	$((size - at - 512)) >map\n"
	"nbdfuse nbd/img --command nbdkit -s --exit-with-parent file img --filter=ddrescue "
	"	ddrescue-mapfile=map &\n"
	"for i in 1 2 3 4 5 6 7 8 9 10; do [ -e nbd/img ] && break; sleep 0.5; done\n"
	"loop=$(losetup -f --show --direct-io=on nbd/img) || exit 77\n"
	"mount -o ro \"$loop\" m; mounted=$?\n"
	"losetup -d \"$loop\" # when it is unmounted\n"
	"[ $mounted = 0 ] || exit 77\n";

static int on_bad_sector(void *arg)
{
	struct scr_bad_range bad[4];
	struct scr_reader *r;
	const uint8_t *data;
	unsigned int nbad = 0;
	ssize_t n;
	int fd, ret = 0;

	(void)arg;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return 77;
	mkdir("src", 0755);
	make_real("src/f");
	if (system(bad_sector_script) != 0)
		return 77;
	fd = open("m/f", O_RDONLY);
	if (fd < 0 || scr_reader_new(NULL, &r) < 0)
		return 1;
	scr_reader_attach(r, fd, SCR_READ_CHECK);
	n = scr_reader_read(r, 0, 1 << 20, &data, bad, 4, &nbad);
	if (n != 1 << 20 || nbad != 1)
		ret = 2;
	else if (bad[0].offset != 50 * 4096 + 1024 || bad[0].length != 512)
		ret = 3;
	else if (bad[0].err != EIO && bad[0].err != ENODATA)
		ret = 4;
	for (size_t i = 0; ret == 0 && i < 1 << 20; i++)
		if (data[i] != (i / 512 == 50 * 8 + 2 ? 0 : pattern(i)))
			ret = 5;
	scr_reader_free(r);
	close(fd);
	if (system("umount m; umount nbd") != 0)
		ret = 6;
	return ret;
}

static void test_real_bad_sector(void **state)
{
	(void)state;
	test_on(on_bad_sector);
}

static int on_tmpfs(void *arg)
{
	struct scr_reader_counts c;
	struct scr_reader *r;
	int fd;

	(void)arg;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "m", "tmpfs", 0, NULL) < 0)
		return 77;
	make_real("m/f");
	fd = open("m/f", O_RDONLY);
	if (scr_reader_new(NULL, &r) < 0)
		return 1;
	read_real(r, fd, SCR_READ_CHECK);
	scr_reader_get_counts(r, &c);
	scr_reader_free(r);
	close(fd);
	return c.medium == 0 && c.cache == REAL_SIZE ? 0 : 2;
}

static void test_tmpfs_has_no_medium(void **state)
{
	(void)state;
	test_on(on_tmpfs);
}

#define R(f) cmocka_unit_test_setup_teardown(f, medium_setup, rig_teardown)
#define T(f) cmocka_unit_test_setup_teardown(f, sys_setup, sys_teardown)

static const struct CMUnitTest tests[] = {
	R(test_check_is_direct),
	R(test_direct_elsewhere),
	R(test_record_takes_the_cache),
	R(test_small_cached_file_needs_no_second_descriptor),
	R(test_without_direct),
	R(test_unknown_residency),
	R(test_word_taken_back),
	R(test_reread_is_direct),
	R(test_bad_sectors_directly),
	R(test_physical_sectors),
	R(test_large_sectors),
	R(test_everything),
	T(test_cache_is_left_alone),
	T(test_dirty_file_is_recorded_from_the_cache),
	T(test_ext4_reads_the_medium),
	T(test_xfs_reads_the_medium),
	T(test_real_bad_sector),
	T(test_tmpfs_has_no_medium),
};

SYS_MAIN(tests)
