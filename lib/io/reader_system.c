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

/*
 * What statx says about direct reads of this very file (Linux 6.1): 1, 0 if it says nothing, or -1
 * if they would go through the cache after all (data=journal, encryption, inline data, ...).
 */
static int told_of(const struct statx *stx, uint32_t *align)
{
#ifdef STATX_DIOALIGN
	if (!(stx->stx_mask & STATX_DIOALIGN))
		return 0;
	*align = SCR_MAX(stx->stx_dio_offset_align, stx->stx_dio_mem_align);
	return stx->stx_dio_offset_align ? 1 : -1;
#else
	(void)stx, (void)align;
	return 0;
#endif
}

#ifdef STATX_DIOALIGN
#define PROBE_MASK (STATX_TYPE | STATX_DIOALIGN)
#else
#define PROBE_MASK STATX_TYPE
#endif

/* The type of the file system that @stx is on: it is asked once for all files in a row on one. */
static int learn_fs(int fd, const struct statx *stx, struct scr_reader_direct *out)
{
	uint64_t dev = (uint64_t)stx->stx_dev_major << 32 | stx->stx_dev_minor;
	struct statfs fs;

	if (out->fs_known && out->fs_dev == dev)
		return 0;
	out->fs_known = false;
	if (fstatfs(fd, &fs) < 0)
		return -1;
	out->fs_known = true;
	out->fs_dev = dev;
	out->fs_type = fs.f_type;
	return 0;
}

static void probe_device(int fd, struct scr_reader_direct *out)
{
	unsigned int physical;
	int sector;

	out->possible = out->medium = true;
	out->align = SCR_READER_PAGE;
	if (ioctl(fd, BLKSSZGET, &sector) == 0 && sector >= (int)SCR_SECTOR)
		out->align = (uint32_t)sector;
	if (ioctl(fd, BLKPBSZGET, &physical) == 0 && physical >= SCR_SECTOR &&
	    physical <= SCR_READER_PAGE && (physical & (physical - 1)) == 0)
		out->sector = physical;
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
	uint32_t align = 0;
	struct statx stx;
	int told;

	out->possible = out->medium = false;
	out->align = SCR_READER_PAGE;
	if (statx(fd, "", AT_EMPTY_PATH, PROBE_MASK, &stx) < 0)
		return -1;
	if (S_ISBLK(stx.stx_mode)) {
		probe_device(fd, out);
		return 0;
	}
	if (learn_fs(fd, &stx, out) < 0)
		return -1;
	told = told_of(&stx, &align);
	/* These have nothing but the cache. */
	if (told < 0 || out->fs_type == TMPFS_MAGIC || out->fs_type == RAMFS_MAGIC)
		return 0;
	out->possible = true;
	out->medium = reads_medium(out->fs_type, told > 0);
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

static int system_turn_direct(void *arg SCR_UNUSED, int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : fcntl(fd, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT);
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

/* Whether nothing of the range is in the cache (0), all (1), or a part or nobody knows (-1). */
static int ask_cachestat(int fd, off_t offset, size_t len)
{
	const int64_t page = sysconf(_SC_PAGESIZE);
	const int64_t pages = (offset + (int64_t)len + page - 1) / page - offset / page;
	struct cache_range range = {(uint64_t)offset, len};
	struct cache_stat stat;

	if (syscall(SYS_cachestat, fd, &range, &stat, 0) < 0)
		return -1;
	return stat.cached == 0 ? 0 : (int64_t)stat.cached == pages ? 1 : -1;
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

/*
 * First the quick answers, and the usual ones: nothing of it is in the cache, or all. "All" also
 * saves pages that were written in part: mincore(2) does not count them before all of them was read.
 * mincore(2) calls everything resident for those who may not write the file: it is not asked then.
 */
static int system_resident(void *arg SCR_UNUSED, int fd, off_t offset, size_t len, uint8_t *vec)
{
	int quick = ask_cachestat(fd, offset, len);
	struct stat st;

	if (quick >= 0) {
		memset(vec, quick, (len + SCR_READER_PAGE - 1) / SCR_READER_PAGE);
		return 0;
	}
	if (fstat(fd, &st) < 0)
		return -1;
	if (geteuid() != 0 && st.st_uid != geteuid()) {
		errno = EPERM;
		return -1;
	}
	return ask_mincore(fd, offset, len, vec);
}

static void *system_map(void *arg SCR_UNUSED, int fd, off_t offset, size_t len)
{
	void *map;

	if (ask_cachestat(fd, offset, len) != 1)
		return NULL;
	/* Not MAP_POPULATE: going from page to page, it takes twice the time of the faults, which
	 * map 64 KiB each, or 2 MiB. */
	map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, offset);
	return map == MAP_FAILED ? NULL : map;
}

static int system_unmap(void *arg SCR_UNUSED, void *map, size_t len)
{
	return munmap(map, len);
}

const struct scr_reader_ops scr_reader_ops_system = {
	.pread = system_pread,
	.lseek = system_lseek,
	.fstat = system_fstat,
	.fadvise = system_fadvise,
	.probe = system_probe,
	.open_direct = system_open_direct,
	.close_direct = system_close_direct,
	.turn_direct = system_turn_direct,
	.resident = system_resident,
	.map = system_map,
	.unmap = system_unmap,
};
