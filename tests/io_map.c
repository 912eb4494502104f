/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading where the page cache has it, and what happens when it goes away meanwhile. */
#include <config.h>
#include "sys_util.h"

#include <pthread.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "io/reader.h"
#include "pass/content.h"

#define MIB (1u << 20)
#define SIZE (20 * MIB)

static uint8_t content_at(uint64_t i)
{
	return (uint8_t)(i * 7 + (i >> 9) + (i >> 17));
}

/* A file of SIZE bytes, all of it in the cache. */
static int make_file(void)
{
	uint8_t *p = malloc(SIZE);
	int fd;

	assert_non_null(p);
	for (uint64_t i = 0; i < SIZE; i++)
		p[i] = content_at(i);
	fd = open("f", O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, SIZE), SIZE);
	assert_int_equal(fdatasync(fd), 0);
	free(p);
	return fd;
}

static struct scr_reader *open_reader(int fd, enum scr_reader_mode mode)
{
	struct scr_reader *r;

	assert_int_equal(scr_reader_new(NULL, &r), 0);
	scr_reader_attach(r, fd, mode);
	return r;
}

static void test_only_what_is_cached(void **state)
{
	int fd = make_file();
	struct scr_reader *r = open_reader(fd, SCR_READ_CACHED);
	const uint8_t *p = scr_reader_map(r, 65536, 3 * MIB);
	struct scr_reader_counts n;
	uint8_t some[65536];

	(void)state;
	SKIP_UNLESS(p, "this kernel does not tell what is in the cache");
	for (uint32_t i = 0; i < 3 * MIB; i += 997)
		assert_int_equal(p[i], content_at(65536 + i));
	scr_reader_unmap(r);
	scr_reader_count_mapped(r, 3 * MIB);
	scr_reader_get_counts(r, &n);
	assert_int_equal(n.total, 3 * MIB);
	assert_int_equal(n.cache, 3 * MIB);
	/* What was not looked at to its end does not count. */
	assert_non_null(scr_reader_map(r, 0, MIB));
	scr_reader_unmap(r);
	scr_reader_get_counts(r, &n);
	assert_int_equal(n.total, 3 * MIB);
	/* Recording reads the cache too; checking never does. */
	scr_reader_attach(r, fd, SCR_READ_RECORD);
	assert_non_null(scr_reader_map(r, 0, MIB));
	scr_reader_attach(r, fd, SCR_READ_CHECK); /* ends the mapping */
	assert_null(scr_reader_map(r, 0, MIB));
	/* Nor what is behind the end. */
	scr_reader_attach(r, fd, SCR_READ_CACHED);
	assert_null(scr_reader_map(r, 16 * MIB, 5 * MIB));
	/* A part is missing: nothing is brought into the cache. */
	assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
	SKIP_UNLESS(!scr_reader_map(r, 0, SIZE), "this kernel keeps the file in memory");
	assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0);
	assert_int_equal(pread(fd, some, sizeof(some), 3 * MIB), sizeof(some));
	assert_non_null(scr_reader_map(r, 3 * MIB, sizeof(some)));
	scr_reader_unmap(r);
	assert_null(scr_reader_map(r, 2 * MIB, 2 * MIB));
	assert_null(scr_reader_map(r, 10 * MIB, MIB));
	scr_reader_free(r);
	close(fd);
}

struct area {
	const volatile uint8_t *p;
	size_t len;
	uint64_t sum;
};

static void sum_up(void *arg)
{
	struct area *a = arg;

	a->sum = 0;
	for (size_t i = 0; i < a->len; i += 512)
		a->sum += a->p[i];
}

static void test_truncated(void **state)
{
	int fd = make_file();
	struct area a = {.len = SIZE};
	void *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	uint64_t before;

	(void)state;
	assert_true(map != MAP_FAILED);
	a.p = map;
	assert_int_equal(scr_guard_install(), 0);
	assert_int_equal(scr_guarded(sum_up, &a), 0);
	before = a.sum;
	assert_int_equal(ftruncate(fd, 7 * MIB), 0);
	for (int i = 0; i < 100; i++) /* the signal does not stay blocked */
		assert_int_equal(scr_guarded(sum_up, &a), -EFAULT);
	a.len = 7 * MIB;
	assert_int_equal(scr_guarded(sum_up, &a), 0);
	assert_true(a.sum > 0 && a.sum < before);
	munmap(map, SIZE);
	close(fd);
}

static void *sum_often(void *arg)
{
	struct area *a = arg;
	long faults = 0;

	for (int i = 0; i < 200; i++)
		faults += scr_guarded(sum_up, a) != 0;
	return (void *)faults;
}

/* Each thread has its own fault: those of others leave it alone. */
static void test_threads(void **state)
{
	int fd = make_file();
	void *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0), *sound, *cut;
	struct area whole = {.p = map, .len = SIZE}, half = {.p = map, .len = SIZE / 2};
	pthread_t a, b;

	(void)state;
	assert_true(map != MAP_FAILED);
	assert_int_equal(ftruncate(fd, SIZE / 2), 0);
	assert_int_equal(scr_guard_install(), 0);
	assert_int_equal(pthread_create(&a, NULL, sum_often, &half), 0);
	assert_int_equal(pthread_create(&b, NULL, sum_often, &whole), 0);
	pthread_join(a, &sound);
	pthread_join(b, &cut);
	assert_int_equal((long)sound, 0);
	assert_int_equal((long)cut, 200);
	munmap(map, SIZE);
	close(fd);
}

/* Outside of a guarded call it ends the process, as it would have. */
static void test_not_ours(void **state)
{
	int fd = make_file(), status;
	volatile uint8_t *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	pid_t pid;

	(void)state;
	assert_int_equal(ftruncate(fd, 0), 0);
	pid = fork();
	if (pid == 0) {
		scr_guard_install();
		_exit(map[4096]);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	close(fd);
}

/* ---- an extent whose mapping fails is read instead --------------------------------------- */

#define BAD (5 * MIB + 1024)

/* Maps another file, which is empty: as if no page of it could be read. */
static void *map_nothing(void *arg, int fd, off_t offset, size_t len)
{
	void *map = mmap(NULL, len, PROT_READ, MAP_SHARED, *(int *)arg, offset);

	(void)fd;
	return map == MAP_FAILED ? NULL : map;
}

static int unmap(void *arg, void *map, size_t len)
{
	(void)arg;
	return munmap(map, len);
}

static ssize_t bad_pread(void *arg, int fd, void *buf, size_t len, off_t offset)
{
	(void)arg;
	if (offset < BAD + 512 && offset + (off_t)len > BAD) {
		errno = EIO;
		return -1;
	}
	return pread(fd, buf, len, offset);
}

static off_t plain_lseek(void *arg, int fd, off_t offset, int whence)
{
	(void)arg;
	return lseek(fd, offset, whence);
}

static int plain_fstat(void *arg, int fd, struct stat *st)
{
	(void)arg;
	return fstat(fd, st);
}

static int plain_fadvise(void *arg, int fd, off_t offset, off_t len, int advice)
{
	(void)arg;
	return posix_fadvise(fd, offset, len, advice);
}

static void test_read_instead(void **state)
{
	const struct scr_geometry g = {SCR_BLOCK_SIZE_DEFAULT, SCR_COLUMNS_DEFAULT,
				       SCR_PARITY_UNIT_DEFAULT};
	struct scr_cut cut = scr_cut_extent(&g, SIZE, 0);
	int fd = make_file(), empty = open("empty", O_RDWR | O_CREAT, 0600);
	struct scr_reader_ops ops = {.pread = bad_pread,
				     .lseek = plain_lseek,
				     .fstat = plain_fstat,
				     .fadvise = plain_fadvise,
				     .map = map_nothing,
				     .unmap = unmap,
				     .arg = &empty};
	struct scr_content sound = {0}, bad = {0};
	struct scr_content_reader cr = {.kernels = scr_kernels_reference(), .fold = true};
	atomic_int stop = 0;

	(void)state;
	assert_int_equal(scr_guard_install(), 0);
	cr.stop = &stop;
	cr.reader = open_reader(fd, SCR_READ_CHECK);
	assert_int_equal(scr_content_read(&cr, &cut, &sound), 0);
	assert_true(sound.folded);
	scr_reader_free(cr.reader);
	assert_int_equal(scr_reader_new(&ops, &cr.reader), 0);
	scr_reader_attach(cr.reader, fd, SCR_READ_CACHED);
	assert_int_equal(scr_content_read(&cr, &cut, &bad), 0);
	assert_int_equal(bad.present, SIZE);
	assert_int_equal(bad.bad_count, 1);
	assert_int_equal(bad.bad[0].block, BAD / 65536);
	assert_int_equal(bad.bad[0].start, BAD % 65536);
	assert_int_equal(bad.bad[0].length, 512);
	assert_int_equal(bad.bad[0].err, EIO);
	assert_false(bad.folded);
	for (uint32_t i = 0; i < cut.blocks; i++)
		if (i != BAD / 65536)
			assert_true(scr_check_equal(sound.checks[i], bad.checks[i]));
	scr_content_free(&bad);
	/* The same by the cache, whole: equal in all, the fold too. */
	scr_reader_free(cr.reader);
	cr.reader = open_reader(fd, SCR_READ_CACHED);
	assert_int_equal(scr_content_read(&cr, &cut, &bad), 0);
	assert_true(bad.folded);
	assert_memory_equal(bad.fold, sound.fold, cut.column);
	for (uint32_t i = 0; i < cut.blocks; i++)
		assert_true(scr_check_equal(sound.checks[i], bad.checks[i]));
	scr_content_free(&sound);
	scr_content_free(&bad);
	scr_reader_free(cr.reader);
	close(empty);
	close(fd);
}

/* Maps, and then the file is cut. */
static void *map_and_cut(void *arg, int fd, off_t offset, size_t len)
{
	void *map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, offset);

	(void)arg;
	assert_int_equal(ftruncate(fd, 7 * MIB + 5), 0);
	return map == MAP_FAILED ? NULL : map;
}

/* What the tests of both ways begin with: a reader of a new file, and how it is cut. */
struct tried {
	struct scr_cut cut;
	struct scr_content_reader cr;
	struct scr_content c;
	atomic_int stop;
	int fd;
};

static void try_begin(struct tried *t)
{
	const struct scr_geometry g = {SCR_BLOCK_SIZE_DEFAULT, SCR_COLUMNS_DEFAULT,
				       SCR_PARITY_UNIT_DEFAULT};

	*t = (struct tried){.cut = scr_cut_extent(&g, SIZE, 0), .fd = make_file()};
	assert_int_equal(scr_guard_install(), 0);
	t->cr.kernels = scr_kernels_reference();
	t->cr.stop = &t->stop;
	t->cr.reader = open_reader(t->fd, SCR_READ_CACHED);
}

static void try_end(struct tried *t)
{
	scr_content_free(&t->c);
	scr_reader_free(t->cr.reader);
	close(t->fd);
}

/* Both ways are tried, mapping first; then it is the quicker one, and now and then the other. */
static void test_quicker_way(void **state)
{
	const uint64_t much = UINT64_C(64) << 20;
	const struct {
		uint64_t bytes[SCR_WAYS], ns[SCR_WAYS];
		unsigned int threads[SCR_WAYS];
		enum scr_way way;
	} cases[] = {
		{{0, 0}, {0, 0}, {0, 0}, SCR_WAY_MAPPED},
		{{much, 0}, {1, 0}, {1, 1}, SCR_WAY_MAPPED},
		{{0, much}, {0, 1}, {1, 1}, SCR_WAY_READ},
		{{much, much}, {100, 200}, {1, 1}, SCR_WAY_READ},
		{{much, much}, {200, 100}, {1, 1}, SCR_WAY_MAPPED},
		{{much * 4, much}, {300, 100}, {0, 0}, SCR_WAY_READ},
		/* More threads copy than compute. */
		{{much, much}, {150, 100}, {2, 1}, SCR_WAY_READ},
		{{much, much}, {250, 100}, {2, 1}, SCR_WAY_MAPPED},
		/* The slower one's turn. */
		{{much, much * 15}, {200, 100}, {1, 1}, SCR_WAY_MAPPED},
		{{much, much * 17}, {200, 100}, {1, 1}, SCR_WAY_READ},
		{{much * 17, much}, {100, 100}, {1, 1}, SCR_WAY_MAPPED},
	};
	struct tried t;

	(void)state;
	try_begin(&t);
	for (size_t i = 0; i < SCR_ARRAY_SIZE(cases); i++) {
		struct scr_ways w = {.tries = {2, 2}};

		for (int way = 0; way < SCR_WAYS; way++) {
			w.bytes[way] = cases[i].bytes[way];
			w.ns[way] = cases[i].ns[way];
			w.threads[way] = cases[i].threads[way];
		}
		t.cr.ways = &w;
		assert_int_equal(scr_content_read(&t.cr, &t.cut, &t.c), 0);
		assert_int_equal(t.c.present, SIZE);
		for (int way = 0; way < SCR_WAYS; way++)
			assert_int_equal(w.bytes[way] - cases[i].bytes[way],
					 way == (int)cases[i].way ? t.cut.length : 0);
		assert_true(w.ns[cases[i].way] > cases[i].ns[cases[i].way]);
	}
	try_end(&t);
}

/* What the first two tries cost is not counted: nothing is in a cache then. */
static void test_cold_tries(void **state)
{
	struct scr_ways w = {0};
	struct tried t;

	(void)state;
	try_begin(&t);
	t.cr.ways = &w;
	for (unsigned int i = 1; i <= 3; i++) {
		assert_int_equal(scr_content_read(&t.cr, &t.cut, &t.c), 0);
		assert_int_equal(w.tries[SCR_WAY_MAPPED], i);
		assert_int_equal(w.bytes[SCR_WAY_MAPPED], i <= 2 ? 0 : t.cut.length);
	}
	assert_int_equal(w.tries[SCR_WAY_READ], 0);
	try_end(&t);
}

/* What is left of a file that became shorter is told as it is when it is read. */
static void test_cut_meanwhile(void **state)
{
	const struct scr_geometry g = {SCR_BLOCK_SIZE_DEFAULT, SCR_COLUMNS_DEFAULT,
				       SCR_PARITY_UNIT_DEFAULT};
	struct scr_cut cut = scr_cut_extent(&g, SIZE, 0);
	struct scr_reader_ops ops = scr_reader_ops_system;
	struct scr_content_reader cr = {.kernels = scr_kernels_reference(), .fold = true};
	struct scr_content c = {0};
	atomic_int stop = 0;
	int fd = make_file();

	(void)state;
	ops.map = map_and_cut;
	assert_int_equal(scr_guard_install(), 0);
	assert_int_equal(scr_reader_new(&ops, &cr.reader), 0);
	scr_reader_attach(cr.reader, fd, SCR_READ_CACHED);
	cr.stop = &stop;
	assert_int_equal(scr_content_read(&cr, &cut, &c), 0);
	assert_int_equal(c.present, 7 * MIB + 5);
	assert_int_equal(c.bad_count, 0);
	assert_false(c.folded);
	scr_content_free(&c);
	scr_reader_free(cr.reader);
	close(fd);
}

/* ---- more threads read than compute ------------------------------------------------------ */

static atomic_int computing, most, calls;

static void count_fused(const struct scr_kernels *k, uint64_t *sum, uint32_t *crc, uint8_t *dst,
			const uint8_t *src, size_t len)
{
	int now = ++computing, was = most;

	(void)k, (void)sum, (void)crc, (void)dst, (void)src, (void)len;
	while (now > was && !atomic_compare_exchange_weak(&most, &was, now))
		;
	usleep(200);
	calls++;
	computing--;
}

static const struct scr_kernel counting = {
	.name = "counting", .class = SCR_FUSED, .fn.fused = count_fused};

struct gated {
	int fd;
	sem_t *gate;
	enum scr_reader_mode mode;
};

static void *read_gated(void *arg)
{
	const struct scr_geometry g = {SCR_BLOCK_SIZE_MAX, SCR_COLUMNS_DEFAULT,
				       SCR_PARITY_UNIT_DEFAULT};
	struct scr_cut cut = scr_cut_extent(&g, SIZE, 0);
	struct gated *t = arg;
	struct scr_kernels kernels = *scr_kernels_reference();
	struct scr_content c = {0};
	atomic_int stop = 0;
	struct scr_content_reader cr = {.kernels = &kernels, .gate = t->gate, .stop = &stop};

	kernels.fused = &counting;
	cr.reader = open_reader(t->fd, t->mode);
	assert_int_equal(scr_content_read(&cr, &cut, &c), 0);
	scr_reader_free(cr.reader);
	scr_content_free(&c);
	return NULL;
}

static void test_gate(void **state)
{
	const enum scr_reader_mode modes[] = {SCR_READ_CHECK, SCR_READ_CACHED};
	int fd = make_file();
	pthread_t id[8];
	sem_t gate;

	(void)state;
	assert_int_equal(scr_guard_install(), 0);
	assert_int_equal(sem_init(&gate, 0, 2), 0);
	for (int m = 0; m < 2; m++) {
		struct gated t = {fd, &gate, modes[m]};

		most = calls = 0;
		for (int i = 0; i < 8; i++)
			assert_int_equal(pthread_create(&id[i], NULL, read_gated, &t), 0);
		for (int i = 0; i < 8; i++)
			pthread_join(id[i], NULL);
		assert_int_equal(calls, 8 * (SIZE / MIB));
		assert_int_equal(most, 2);
		assert_int_equal(computing, 0);
	}
	sem_destroy(&gate);
	close(fd);
}

#define T(f) cmocka_unit_test_setup_teardown(f, sys_setup, sys_teardown)

static const struct CMUnitTest tests[] = {
	T(test_only_what_is_cached),
	T(test_truncated),
	T(test_threads),
	T(test_not_ours),
	T(test_read_instead),
	T(test_quicker_way),
	T(test_cold_tries),
	T(test_cut_meanwhile),
	T(test_gate),
};

SYS_MAIN(tests)
