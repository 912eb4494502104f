/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replacing bytes of a file in place, and proving that they arrived. */
#include <config.h>
#include "io/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "io/reader.h"

#define UNIT_MIN 4096u
#define UNIT_MAX (64u << 10)
#define BUFFER (1u << 20)

struct scr_writer {
	const struct scr_writer_ops *ops;
	int fd;          /* ordinary */
	int direct;      /* O_DIRECT; -1: not possible here */
	bool block;      /* a block device: it has neither times nor another size */
	uint32_t unit;
	uint8_t *buf;    /* BUFFER bytes, aligned to UNIT_MAX */
};

/* ---- system calls ------------------------------------------------------------------------ */

static int system_open(void *arg SCR_UNUSED, int fd, int flags)
{
	char path[40];

	/* The very file that was looked at, whatever its name means by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags);
}

static ssize_t system_pwrite(void *arg SCR_UNUSED, int fd, const void *buf, size_t len,
			     off_t offset)
{
	return pwrite(fd, buf, len, offset);
}

static ssize_t system_pread(void *arg SCR_UNUSED, int fd, void *buf, size_t len, off_t offset)
{
	return pread(fd, buf, len, offset);
}

static int system_ftruncate(void *arg SCR_UNUSED, int fd, off_t size)
{
	return ftruncate(fd, size);
}

static int system_fsync(void *arg SCR_UNUSED, int fd)
{
	return fsync(fd);
}

static int system_futimens(void *arg SCR_UNUSED, int fd, const struct timespec times[2])
{
	return futimens(fd, times);
}

const struct scr_writer_ops scr_writer_ops_system = {
	.open = system_open,
	.pwrite = system_pwrite,
	.pread = system_pread,
	.ftruncate = system_ftruncate,
	.fsync = system_fsync,
	.futimens = system_futimens,
};

/* ---- opening ----------------------------------------------------------------------------- */

static bool is_block(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISBLK(st.st_mode);
}

uint32_t scr_writer_unit(int fd)
{
	struct scr_reader_direct direct = {0};
	unsigned int physical;
	struct statfs fs;
	uint64_t want = UNIT_MIN;
	uint32_t unit = UNIT_MIN;

	if (scr_reader_ops_system.probe(NULL, fd, &direct) == 0 && direct.possible)
		want = SCR_MAX(want, direct.align);
	if (fstatfs(fd, &fs) == 0 && fs.f_bsize > 0)
		want = SCR_MAX(want, (uint64_t)fs.f_bsize);
	/* A part of a physical sector would be read, and that may be what can't be. */
	if (is_block(fd) && ioctl(fd, BLKPBSZGET, &physical) == 0)
		want = SCR_MAX(want, physical);
	while (unit < want && unit < UNIT_MAX)
		unit *= 2;
	return unit;
}

const char *scr_writer_refusal(int fd, int err)
{
	struct statx stx;
	int read_only;

	if (is_block(fd) && ioctl(fd, BLKROGET, &read_only) == 0 && read_only)
		return "the device is read-only (blockdev --setrw, or its switch)";
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx) == 0) {
		if (stx.stx_attributes & STATX_ATTR_IMMUTABLE)
			return "the file is immutable (chattr -i)";
		if (stx.stx_attributes & STATX_ATTR_APPEND)
			return "the file can only be appended to (chattr -a)";
		if (stx.stx_attributes & STATX_ATTR_VERITY)
			return "fs-verity keeps the file as it is: restore it from a copy";
	}
	switch (err) {
	case 0:
		return NULL;
	case EROFS:
		return "the file system is mounted read-only";
	case EBUSY:
		return "the device is in use";
	case ETXTBSY:
		return "the file is being executed, or is a swap file in use";
	case EACCES:
	case EPERM:
		return "no permission to write the file";
	case EAGAIN:
		return "somebody else holds a lease on the file";
	case ENOENT:
		return "/proc is not mounted, so the file can't be opened once more";
	default:
		return "the file can't be opened for writing";
	}
}

static int open_both(struct scr_writer *w, int fd)
{
	const int flags = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	struct scr_reader_direct direct = {0};

	/* O_EXCL keeps others from mounting a device meanwhile. */
	w->block = is_block(fd);
	w->fd = w->ops->open(w->ops->arg, fd, flags | (w->block ? O_EXCL : 0));
	if (w->fd < 0)
		return -errno;
	if (scr_reader_ops_system.probe(NULL, fd, &direct) == 0 && direct.possible &&
	    direct.align <= w->unit)
		w->direct = w->ops->open(w->ops->arg, fd, flags | O_DIRECT);
	return 0;
}

int scr_writer_open(const struct scr_writer_ops *ops, int fd, struct scr_writer **out)
{
	struct scr_writer *w = calloc(1, sizeof(*w));
	int r = -ENOMEM;

	if (!w)
		return r;
	w->ops = ops ? ops : &scr_writer_ops_system;
	w->fd = w->direct = -1;
	w->unit = scr_writer_unit(fd);
	w->buf = aligned_alloc(UNIT_MAX, BUFFER);
	if (w->buf)
		r = open_both(w, fd);
	if (r < 0) {
		scr_writer_free(w);
		return r;
	}
	*out = w;
	return 0;
}

void scr_writer_free(struct scr_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	if (w->direct >= 0)
		close(w->direct);
	free(w->buf);
	free(w);
}

/* ---- writing ----------------------------------------------------------------------------- */

static int write_all(struct scr_writer *w, int fd, const uint8_t *p, size_t len, uint64_t offset)
{
	while (len > 0) {
		ssize_t n = w->ops->pwrite(w->ops->arg, fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* Writes the first @len bytes of the buffer, a multiple of the unit: directly if that goes. */
static int write_units(struct scr_writer *w, size_t len, uint64_t offset)
{
	if (w->direct >= 0) {
		int r = write_all(w, w->direct, w->buf, len, offset);

		if (r != -EINVAL)
			return r;
		/* It refuses after all (data=journal, compressed, ...). */
		close(w->direct);
		w->direct = -1;
	}
	return write_all(w, w->fd, w->buf, len, offset);
}

/* Whether something stands behind @end that nobody has read. */
static bool goes_on(const struct scr_writer *w, uint64_t end)
{
	struct stat st;

	return fstat(w->fd, &st) < 0 || (uint64_t)st.st_size > end;
}

/*
 * The last bytes of the file. Through the cache they make it no longer for a moment; but where the
 * rest of their block can't be read, only the whole unit can be written, if they do end the file.
 */
static int write_tail(struct scr_writer *w, uint64_t offset, const uint8_t *p, size_t len)
{
	int r;

	if (w->block) { /* its end is that of a sector */
		memcpy(w->buf, p, len);
		return write_units(w, len, offset);
	}
	r = write_all(w, w->fd, p, len, offset);
	if (r == 0 && w->ops->fsync(w->ops->arg, w->fd) < 0)
		r = -errno;
	if (r == 0 || !scr_errno_is_medium(-r) || goes_on(w, offset + len))
		return r;
	memcpy(w->buf, p, len);
	memset(w->buf + len, 0, w->unit - len);
	r = write_units(w, w->unit, offset);
	return r < 0 ? r : scr_writer_resize(w, offset + len);
}

int scr_writer_put(struct scr_writer *w, uint64_t offset, const uint8_t *p, size_t len)
{
	int r = 0;

	if (offset % w->unit)
		return -EINVAL;
	while (r == 0 && len >= w->unit) {
		size_t n = SCR_MIN(len - len % w->unit, (size_t)BUFFER);

		memcpy(w->buf, p, n);
		r = write_units(w, n, offset);
		p += n;
		len -= n;
		offset += n;
	}
	return r == 0 && len > 0 ? write_tail(w, offset, p, len) : r;
}

int scr_writer_resize(struct scr_writer *w, uint64_t size)
{
	if (w->block)
		return 0;
	return w->ops->ftruncate(w->ops->arg, w->fd, (off_t)size) < 0 ? -errno : 0;
}

int scr_writer_sync(struct scr_writer *w)
{
	return w->ops->fsync(w->ops->arg, w->fd) < 0 ? -errno : 0;
}

int scr_writer_set_mtime(struct scr_writer *w, int64_t mtime_ns)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};
	int64_t ns = mtime_ns % SCR_NS_PER_S;

	if (w->block)
		return 0;
	ns += ns < 0 ? SCR_NS_PER_S : 0;
	times[1].tv_sec = (time_t)((mtime_ns - ns) / SCR_NS_PER_S);
	times[1].tv_nsec = (long)ns;
	return w->ops->futimens(w->ops->arg, w->fd, times) < 0 ? -errno : 0;
}

/* ---- reading back ------------------------------------------------------------------------ */

/* Fills the buffer from @offset on, @len bytes at least (-EBADMSG if the file ends before). */
static int read_back(struct scr_writer *w, int fd, uint64_t offset, size_t len, size_t room)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = w->ops->pread(w->ops->arg, fd, w->buf + got, room - got,
					  (off_t)(offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		got += (size_t)n;
	}
	return 0;
}

/* The piece, of at most BUFFER bytes, that begins at a unit. */
static int compare_piece(struct scr_writer *w, uint64_t offset, const uint8_t *p, size_t len)
{
	size_t room = (len + w->unit - 1) / w->unit * w->unit;
	int r = -EINVAL;

	memset(w->buf, 0, room);
	if (w->direct >= 0)
		r = read_back(w, w->direct, offset, len, room);
	if (r == -EINVAL) {
		posix_fadvise(w->fd, (off_t)offset, (off_t)room, POSIX_FADV_DONTNEED);
		r = read_back(w, w->fd, offset, len, len);
	}
	if (r == 0 && memcmp(w->buf, p, len) != 0)
		r = -EBADMSG;
	return r;
}

int scr_writer_compare(struct scr_writer *w, uint64_t offset, const uint8_t *p, size_t len)
{
	int r = 0;

	if (offset % w->unit)
		return -EINVAL;
	while (r == 0 && len > 0) {
		size_t n = SCR_MIN(len, (size_t)BUFFER);

		r = compare_piece(w, offset, p, n);
		p += n;
		len -= n;
		offset += n;
	}
	return r;
}
