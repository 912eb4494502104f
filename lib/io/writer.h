/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replacing bytes of a file in place, and proving that they arrived.
 *
 *	scr_writer_open(ops, fd, &w)          once more, for writing
 *	scr_writer_put() ... scr_writer_resize()
 *	scr_writer_sync()
 *	scr_writer_compare() ...              read back past the cache
 *	scr_writer_set_mtime(), scr_writer_sync()
 *
 * Whole units go directly to the medium where that is possible: through the cache, a page that is
 * written in part is read first, and that fails where a sector can't be read.
 */
#ifndef SCR_IO_WRITER_H
#define SCR_IO_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The system calls that change a file or read it back; tests replace them. All return as those do:
 * -1 and errno. */
struct scr_writer_ops {
	int (*open)(void *arg, int fd, int flags); /* the file of @fd once more */
	ssize_t (*pwrite)(void *arg, int fd, const void *buf, size_t len, off_t offset);
	ssize_t (*pread)(void *arg, int fd, void *buf, size_t len, off_t offset);
	int (*ftruncate)(void *arg, int fd, off_t size);
	int (*fsync)(void *arg, int fd);
	int (*futimens)(void *arg, int fd, const struct timespec times[2]);
	void *arg;
};

extern const struct scr_writer_ops scr_writer_ops_system;

struct scr_writer;

/* Opens the file of @fd for writing, a block device for itself alone (-EBUSY: it is in use; its size
 * and times are never set). 0 or -errno; see scr_writer_refusal(). */
int scr_writer_open(const struct scr_writer_ops *ops, int fd, struct scr_writer **out);
void scr_writer_free(struct scr_writer *w);

/* Why the regular file in @fd must not or can't be written, a static sentence; @err: of
 * scr_writer_open(), positive, or 0 to ask before. NULL: nothing speaks against it. */
const char *scr_writer_refusal(int fd, int err);

/* What @fd is written in: max(4096, logical sector, file system block), a power of two, at most
 * 64 KiB; of a block device by its physical sectors. */
uint32_t scr_writer_unit(int fd);

/*
 * Writes @len bytes at @offset, a multiple of the unit. @len is one too, or they end the file: then
 * the rest of the unit may stand behind its end until scr_writer_resize(). 0 or -errno.
 */
int scr_writer_put(struct scr_writer *w, uint64_t offset, const uint8_t *p, size_t len);
int scr_writer_resize(struct scr_writer *w, uint64_t size);
int scr_writer_sync(struct scr_writer *w);
/* Whether the medium holds @p there: 0; -EBADMSG: something else; -errno. After a sync. */
int scr_writer_compare(struct scr_writer *w, uint64_t offset, const uint8_t *p, size_t len);
int scr_writer_set_mtime(struct scr_writer *w, int64_t mtime_ns);

#endif
