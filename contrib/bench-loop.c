/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The yardstick for small files: bench-loop THREADS DIR opens, stats, reads and closes each regular
 * file below DIR, and does nothing else. Directories are handed out to the threads one by one.
 */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_MAX 256
#define BUFFER (1u << 20)

/* Directories that are still to be read; a thread that reads one may add to them. */
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	char **dirs;
	size_t count, cap;
	unsigned int busy;
	unsigned long long files, bytes;
};

static void die(const char *what, const char *name)
{
	fprintf(stderr, "bench-loop: %s %s: %s\n", what, name, strerror(errno));
	exit(1);
}

/* Takes over @name. */
static void push(struct queue *q, char *name)
{
	pthread_mutex_lock(&q->lock);
	if (q->count == q->cap) {
		q->cap = q->cap ? 2 * q->cap : 64;
		q->dirs = realloc(q->dirs, q->cap * sizeof(*q->dirs));
		if (!q->dirs)
			die("cannot queue", name);
	}
	q->dirs[q->count++] = name;
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

/* NULL when there is nothing left and nobody who could add to it. */
static char *pop(struct queue *q)
{
	char *name = NULL;

	pthread_mutex_lock(&q->lock);
	while (q->count == 0 && q->busy > 0)
		pthread_cond_wait(&q->changed, &q->lock);
	if (q->count > 0) {
		name = q->dirs[--q->count];
		q->busy++;
	}
	pthread_mutex_unlock(&q->lock);
	return name;
}

static void done(struct queue *q, unsigned long long files, unsigned long long bytes)
{
	pthread_mutex_lock(&q->lock);
	q->files += files;
	q->bytes += bytes;
	if (--q->busy == 0 && q->count == 0)
		pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

static unsigned long long read_file(int dir, const char *name, char *buf)
{
	unsigned long long bytes = 0;
	struct stat st;
	ssize_t n;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 || fstat(fd, &st) < 0)
		die("cannot open", name);
	while (bytes < (unsigned long long)st.st_size && (n = read(fd, buf, BUFFER)) > 0)
		bytes += (unsigned long long)n;
	close(fd);
	return bytes;
}

static void read_dir(struct queue *q, const char *name, char *buf)
{
	unsigned long long files = 0, bytes = 0;
	DIR *d = opendir(name);
	struct dirent *e;

	if (!d)
		die("cannot open", name);
	while ((e = readdir(d))) {
		char *below;

		if (e->d_type == DT_REG) {
			bytes += read_file(dirfd(d), e->d_name, buf);
			files++;
		} else if (e->d_type == DT_DIR && strcmp(e->d_name, ".") &&
			   strcmp(e->d_name, "..")) {
			if (asprintf(&below, "%s/%s", name, e->d_name) < 0)
				die("cannot queue", e->d_name);
			push(q, below);
		}
	}
	closedir(d);
	done(q, files, bytes);
}

static void *thread_main(void *arg)
{
	struct queue *q = arg;
	char *name, *buf = malloc(BUFFER);

	if (!buf)
		die("cannot start", "a thread");
	while ((name = pop(q))) {
		read_dir(q, name, buf);
		free(name);
	}
	free(buf);
	return NULL;
}

int main(int argc, char **argv)
{
	struct queue q = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	unsigned long threads = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	pthread_t ids[THREADS_MAX];

	if (threads < 1 || threads > THREADS_MAX) {
		fprintf(stderr, "usage: bench-loop THREADS DIR\n");
		return 2;
	}
	push(&q, strdup(argv[2]));
	for (unsigned long i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, thread_main, &q))
			die("cannot start", "a thread");
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	free(q.dirs);
	printf("%llu files, %llu bytes\n", q.files, q.bytes);
	return 0;
}
