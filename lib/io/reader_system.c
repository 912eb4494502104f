/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader's ops by system calls: what can be read directly, and what is in the cache. */
#include <config.h>
#include "io/reader_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/compiler.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#ifndef F2FS_SUPER_MAGIC
#define F2FS_SUPER_MAGIC 0xF2F52010
#endif

static ssize_t system_pread(void *arg SCR_UNUSED, int fd, void *buf, size_t len, off_t offset)
{
	return pread(fd, buf, len, offset);
}

static off_t system_lseek(void *arg SCR_UNUSED, int fd, off_t offset, int whence)
{
	return lseek(fd, offset, whence);
}

static int system_fstat(void *arg SCR_UNUSED, int fd, struct stat *st)
{
	return fstat(fd, st);
}

static int system_fadvise(void *arg SCR_UNUSED, int fd, off_t offset, off_t len, int advice)
{
	return posix_fadvise(fd, offset, len, advice);
}

/* What statx says about direct reads of this very file (Linux 6.1): 1, 0 if it says nothing, or -1
 * if they would go through the cache after all (data=journal, encryption, inline data, ...). */
static int probe_statx(int fd, uint32_t *align)
{
#ifdef STATX_DIOALIGN
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &stx) < 0 ||
	    !(stx.stx_mask & STATX_DIOALIGN))
		return 0;
	*align = SCR_MAX(stx.stx_dio_offset_align, stx.stx_dio_mem_align);
	return stx.stx_dio_offset_align ? 1 : -1;
#else
	(void)fd, (void)align;
	return 0;
#endif
}

static void probe_device(int fd, struct scr_reader_direct *out)
{
	int sector;

	*out = (struct scr_reader_direct){true, true, SCR_READER_PAGE};
	if (ioctl(fd, BLKSSZGET, &sector) == 0 && sector >= (int)SCR_SECTOR)
		out->align = (uint32_t)sector;
}

/*
 * Which file systems read from the medium when they are told to. Others take the flag and read from
 * wherever they like: from other computers, from layers below, from compressed extents in the
 * cache. ext4 and f2fs quietly use the cache for some files, so there the word of statx is needed.
 */
static bool reads_medium(long type, bool told)
{
	switch ((unsigned long)type) {
	case XFS_SUPER_MAGIC:
		return true;
	case EXT4_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
		return told;
	default:
		return false;
	}
}

static int system_probe(void *arg SCR_UNUSED, int fd, struct scr_reader_direct *out)
{
	struct statfs fs;
	struct stat st;
	uint32_t align = 0;
	int told;

	*out = (struct scr_reader_direct){.possible = false, .align = SCR_READER_PAGE};
	if (fstat(fd, &st) < 0)
		return -1;
	if (S_ISBLK(st.st_mode)) {
		probe_device(fd, out);
		return 0;
	}
	if (fstatfs(fd, &fs) < 0)
		return -1;
	told = probe_statx(fd, &align);
	/* These have nothing but the cache. */
	if (told < 0 || fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
		return 0;
	out->possible = true;
	out->medium = reads_medium(fs.f_type, told > 0);
	if (told > 0)
		out->align = SCR_MAX(align, SCR_SECTOR);
	return 0;
}

static int system_open_direct(void *arg SCR_UNUSED, int fd)
{
	const int flags = O_RDONLY | O_DIRECT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	char path[40];
	int direct;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	direct = open(path, flags | O_NOATIME);
	if (direct < 0 && errno == EPERM)
		direct = open(path, flags);
	return direct;
}

static int system_close_direct(void *arg SCR_UNUSED, int fd)
{
	return close(fd);
}

/* cachestat(2) of Linux 6.5, which headers in use don't have yet. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

struct cache_range {
	uint64_t off, len;
};

struct cache_stat {
	uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

/* Pages of the range in the cache, or -1. */
static int64_t cached_pages(int fd, off_t offset, size_t len)
{
	struct cache_range range = {(uint64_t)offset, len};
	struct cache_stat stat;

	return syscall(SYS_cachestat, fd, &range, &stat, 0) == 0 ? (int64_t)stat.cached : -1;
}

/*
 * The quick answers, and the usual ones: nothing of it is in the cache, or all. "All" also saves
 * pages that were written in part: mincore(2) does not count them before all of them was read.
 */
static bool ask_cachestat(int fd, const struct stat *st, off_t offset, size_t len, uint8_t *vec)
{
	const int64_t page = sysconf(_SC_PAGESIZE), cached = cached_pages(fd, offset, len);
	int64_t end = offset + (int64_t)len;

	if (S_ISREG(st->st_mode))
		end = SCR_MIN(end, (int64_t)st->st_size);
	if (cached < 0 || (cached > 0 && cached != (end + page - 1) / page - offset / page))
		return false;
	memset(vec, cached != 0, (len + SCR_READER_PAGE - 1) / SCR_READER_PAGE);
	return true;
}

static int ask_mincore(int fd, off_t offset, size_t len, uint8_t *vec)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t slack = (size_t)offset % page;
	unsigned char pages[(SCR_READER_BUFFER + 4 * SCR_READER_ALIGN_MAX) / SCR_READER_PAGE];
	void *map;
	int ret;

	if ((len + slack + page - 1) / page > sizeof(pages)) {
		errno = EINVAL;
		return -1;
	}
	map = mmap(NULL, len + slack, PROT_READ, MAP_SHARED, fd, offset - (off_t)slack);
	if (map == MAP_FAILED)
		return -1;
	ret = mincore(map, len + slack, pages);
	munmap(map, len + slack);
	for (size_t i = 0; ret == 0 && i * SCR_READER_PAGE < len; i++)
		vec[i] = pages[(slack + i * SCR_READER_PAGE) / page] & 1;
	return ret;
}

/* mincore(2) calls everything resident for those who may not write the file: it is not asked. */
static int system_resident(void *arg SCR_UNUSED, int fd, off_t offset, size_t len, uint8_t *vec)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	if (geteuid() != 0 && st.st_uid != geteuid()) {
		errno = EPERM;
		return -1;
	}
	if (ask_cachestat(fd, &st, offset, len, vec))
		return 0;
	return ask_mincore(fd, offset, len, vec);
}

const struct scr_reader_ops scr_reader_ops_system = {
	.pread = system_pread,
	.lseek = system_lseek,
	.fstat = system_fstat,
	.fadvise = system_fadvise,
	.probe = system_probe,
	.open_direct = system_open_direct,
	.close_direct = system_close_direct,
	.resident = system_resident,
};
