/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading the content of one file, through an ops table that tests replace.
 *
 *	open (walk/resolve.h gives the descriptor)
 *	scr_reader_attach(r, fd, ...)
 *	for each extent: scr_reader_hole(), scr_reader_read() of about 1 MiB at a time
 *	scr_reader_detach()
 *
 * One reader a thread; it owns one aligned buffer.
 */
#ifndef SCR_IO_READER_H
#define SCR_IO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* How a file can be read past the cache. */
struct scr_reader_direct {
	bool possible;
	bool medium;        /* such reads come from the medium for certain */
	uint32_t align;     /* of offset, length and buffer; a power of two, at least 512 */
	uint32_t sector;    /* physical sector, a power of two; 0: not known */
	/* Kept by probe() from one file to the next: what it learned of that file's file system. */
	bool fs_known;
	uint64_t fs_dev;
	long fs_type;
};

/* What scr_reader_ops.resident counts in, whatever the size of a page. */
#define SCR_READER_PAGE 4096u

/*
 * Every system call that touches the content of a file. Default: scr_reader_ops_system. All return
 * as the system calls of their names: -1 and errno. Those of the second group may be NULL: then
 * every read is an ordinary one of unknown origin, and nothing is dropped from the cache.
 */
struct scr_reader_ops {
	ssize_t (*pread)(void *arg, int fd, void *buf, size_t len, off_t offset);
	off_t (*lseek)(void *arg, int fd, off_t offset, int whence); /* SEEK_DATA, SEEK_HOLE */
	int (*fstat)(void *arg, int fd, struct stat *st);
	int (*fadvise)(void *arg, int fd, off_t offset, off_t len, int advice);

	/* @out holds what the same reader learned of the file before, or zeros. */
	int (*probe)(void *arg, int fd, struct scr_reader_direct *out);
	/* One more descriptor of the same file, for direct reads by the same pread. */
	int (*open_direct)(void *arg, int fd);
	int (*close_direct)(void *arg, int fd);
	/* Makes reads of the descriptor itself direct, or ordinary again; may be NULL. */
	int (*turn_direct)(void *arg, int fd, bool on);
	/* Sets vec[i] to whether piece i of SCR_READER_PAGE bytes from @offset (a multiple of it)
	 * is in the page cache. */
	int (*resident)(void *arg, int fd, off_t offset, size_t len, uint8_t *vec);
	/* Maps a range of the file for reading, offset a multiple of the page, if all of it is in the
	 * page cache now; NULL if not, or if that can't be known. */
	void *(*map)(void *arg, int fd, off_t offset, size_t len);
	int (*unmap)(void *arg, void *map, size_t len);
	void *arg;
};

extern const struct scr_reader_ops scr_reader_ops_system;

/* In each mode what was not in the cache before is not left in it, and what was is never evicted
 * (except by scr_reader_reread() where there are no direct reads). */
enum scr_reader_mode {
	SCR_READ_RECORD, /* content that is being recorded: from the cache where it is in it, because
			  * that is what its writer wrote; else directly */
	SCR_READ_CHECK,  /* content that is being checked: directly where possible */
	SCR_READ_CACHED, /* checked through the cache, as the user asked */
};

/* Bytes by where they came from: directly from where that means the medium; from the cache; all
 * others. */
struct scr_reader_counts {
	uint64_t total, medium, unknown, cache;
};

struct scr_reader;

#define SCR_READER_BUFFER (1u << 20)

/* A reader with a buffer for SCR_READER_BUFFER bytes. 0 or -ENOMEM. */
int scr_reader_new(const struct scr_reader_ops *ops, struct scr_reader **out);
void scr_reader_free(struct scr_reader *r);
/* Gives back what is behind the first @keep bytes of the buffer until it is needed again. */
void scr_reader_slim(struct scr_reader *r, size_t keep);

/* Reads @fd (not owned; other readers may use it too) from now on. */
void scr_reader_attach(struct scr_reader *r, int fd, enum scr_reader_mode mode);
/* The same, where the caller has just had @st from fstat() of @fd. */
void scr_reader_attach_known(struct scr_reader *r, int fd, enum scr_reader_mode mode,
			     const struct stat *st);
/* Then: nobody else reads @fd while this reader is attached, so that it may be turned itself. */
void scr_reader_own(struct scr_reader *r);
void scr_reader_detach(struct scr_reader *r);

/*
 * The part of [offset, offset+len) that begins at @offset and is all hole, in bytes; 0 if there
 * is data at @offset or the file system can't tell. A hole is never assumed: errors count as data.
 */
uint64_t scr_reader_hole(struct scr_reader *r, uint64_t offset, uint64_t len);

/* What scr_reader_read() could not read. */
struct scr_bad_range {
	uint64_t offset, length;
	int err;                 /* positive errno */
};

/*
 * Reads up to @len (at most SCR_READER_BUFFER) bytes at @offset. *data receives the buffer, valid
 * until the next call. Interrupted and short reads are gone on with.
 * Returns the number of bytes that exist there, less than @len only at the end of the file; bytes
 * that could not be read for a medium error are 0 and lie in @bad (sorted, @*nbad of at most
 * @maxbad ranges, exact to the sector; if there are more, the last range covers the rest).
 * Another error than a medium error: -errno.
 */
ssize_t scr_reader_read(struct scr_reader *r, uint64_t offset, size_t len, const uint8_t **data,
			struct scr_bad_range *bad, unsigned int maxbad, unsigned int *nbad);

/* The same, certainly not from what an earlier read left in memory, as far as the system allows. */
ssize_t scr_reader_reread(struct scr_reader *r, uint64_t offset, size_t len, const uint8_t **data,
			  struct scr_bad_range *bad, unsigned int maxbad, unsigned int *nbad);

/*
 * Maps [offset, offset+len) where it is to be read from the cache (not for SCR_READ_CHECK) and all
 * of it lies there. @offset is a multiple of 64 KiB. Returns the bytes, or NULL: then they are to
 * be read. They may be looked at within scr_guarded() only. One mapping at a time.
 */
const uint8_t *scr_reader_map(struct scr_reader *r, uint64_t offset, size_t len);
void scr_reader_unmap(struct scr_reader *r);
/* Counts @len bytes that were mapped, and used to the end, as read from the cache. */
void scr_reader_count_mapped(struct scr_reader *r, uint64_t len);

/*
 * Calls @fn(@arg). Returns 0, or -EFAULT if a page of a mapped file could not be had: the file
 * became shorter, or its medium failed. @fn was then left where it was: it must hold nothing (no
 * lock, no memory) that would be lost. Needs scr_guard_install(), else the process ends there.
 */
int scr_guarded(void (*fn)(void *arg), void *arg);
/* Lets this process survive SIGBUS within scr_guarded(), and only there. 0 or -errno. */
int scr_guard_install(void);

void scr_reader_get_counts(const struct scr_reader *r, struct scr_reader_counts *out);

/* Whether positive errno @err speaks of the medium: EIO, EILSEQ, EUCLEAN, EBADMSG, ENODATA,
 * EREMOTEIO, ... All others are trouble. */
bool scr_errno_is_medium(int err);

#endif
