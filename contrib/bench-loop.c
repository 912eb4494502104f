/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bench-loop THREADS DIR: the least that reading every file of a tree costs.
 * bench-loop THREADS FILE: the least that looking at every byte of a file costs.
 *
 * Lists DIR, then THREADS threads open, fstat, read and close its files, directory by directory, and
 * do nothing with what they read. Of FILE they map windows and load every byte, without any
 * arithmetic worth the name. The yardsticks of contrib/bench for small files, and for a large one in
 * the page cache.
 */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER (1u << 20)
#define BATCH 32u

struct dir {
	int fd;
	size_t first, count;   /* in names */
};

static struct dir *dirs;
static char **names;
static size_t dir_count, name_count;
static atomic_size_t next_batch;
static atomic_ullong bytes;

static void die(const char *what)
{
	fprintf(stderr, "bench-loop: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *grow(void *list, size_t count, size_t size)
{
	/* Doubled at powers of two. */
	if (count & (count - 1))
		return list;
	list = realloc(list, (count ? count * 2 : 1) * size);
	if (!list)
		die("realloc");
	return list;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_dir(int fd)
{
	DIR *d = fdopendir(dup(fd));
	size_t first = name_count;
	struct dirent *e;

	if (!d)
		die("fdopendir");
	while ((e = readdir(d))) {
		if (e->d_type == DT_REG) {
			names = grow(names, name_count, sizeof(*names));
			names[name_count++] = strdup(e->d_name);
		}
	}
	qsort(names + first, name_count - first, sizeof(*names), by_name);
	dirs = grow(dirs, dir_count, sizeof(*dirs));
	dirs[dir_count++] = (struct dir){fd, first, name_count - first};
	rewinddir(d);
	while ((e = readdir(d))) {
		int sub;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		sub = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0)
			die(e->d_name);
		list_dir(sub);
	}
	closedir(d);
}

static void read_file(const struct dir *d, const char *name, char *buf)
{
	int fd = openat(d->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		die(name);
	do {
		n = read(fd, buf, BUFFER);
		if (n < 0)
			die(name);
		bytes += (size_t)n;
	} while (n == BUFFER);
	close(fd);
}

static void *work(void *arg)
{
	char *buf = aligned_alloc(4096, BUFFER);
	size_t d = 0;

	if (!buf)
		die("buffer");
	for (;;) {
		size_t i = BATCH * next_batch++, end = i + BATCH;

		if (i >= name_count)
			break;
		for (; i < end && i < name_count; i++) {
			while (i >= dirs[d].first + dirs[d].count)
				d++;
			read_file(&dirs[d], names[i], buf);
		}
	}
	free(buf);
	return arg;
}

/* ---- one file ------------------------------------------------------------------------------ */

#define WINDOW (UINT64_C(16) << 20)

typedef uint64_t line __attribute__((vector_size(64), aligned(64)));

static int file;
static uint64_t size;
static atomic_uint_fast64_t sink; /* so that the loads are made */

#ifdef __x86_64__
/* Wider loads get further ahead of what they wait for. */
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static uint64_t
load(const void *p, size_t len)
{
	const line *at = p;
	line x = {0}, y = {0};
	size_t n = len / sizeof(line), i = 0;

	for (; i + 1 < n; i += 2) {
		x ^= at[i];
		y ^= at[i + 1];
	}
	if (i < n)
		x ^= at[i];
	x ^= y;
	return x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7];
}

static void *look(void *arg)
{
	for (;;) {
		uint64_t at = WINDOW * next_batch++;
		size_t len = (size_t)(size - at < WINDOW ? size - at : WINDOW);
		void *p;

		if (at >= size)
			return arg;
		p = mmap(NULL, len, PROT_READ, MAP_SHARED, file, (off_t)at);
		if (p == MAP_FAILED)
			die("mmap");
		sink ^= load(p, len);
		bytes += len;
		munmap(p, len);
	}
}

int main(int argc, char **argv)
{
	void *(*thread)(void *) = work;
	struct stat st;
	unsigned int threads = argc == 3 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	pthread_t ids[256];
	int fd;

	if (threads < 1 || threads > 256) {
		fprintf(stderr, "usage: bench-loop THREADS DIR|FILE\n");
		return 2;
	}
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		die(argv[2]);
	if (S_ISREG(st.st_mode)) {
		thread = look;
		file = fd;
		size = (uint64_t)st.st_size;
		name_count = 1;
	} else {
		list_dir(fd);
	}
	for (unsigned int i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, thread, NULL) != 0)
			die("thread");
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	printf("%zu files, %llu bytes\n", name_count, bytes);
	return 0;
}
