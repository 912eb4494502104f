/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A target that is a block device: one FILE record ".", whose times are those of its regions.
 *
 *	scr_device_open()            what it is; by scr_pass_begin()
 *	scr_device_guard_use()       whoever writes to it meanwhile makes differences prove nothing
 *	scr_device_guard_identity()  the device that the manifest is about
 *	scr_device_stamp()           of an extent, instead of mtime and ctime
 *	scr_device_judge()           rot or written, block by block
 */
#ifndef SCR_PASS_DEVICE_H
#define SCR_PASS_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "dev/device.h"
#include "dev/inuse.h"
#include "dev/region.h"
#include "pass/pass.h"

struct scr_work;
struct scr_worker;

/* A damaged range, for which an owner is sought at the end. */
struct scr_device_range {
	uint64_t offset, length;
};

struct scr_pass_device {
	struct scr_device d;
	struct scr_region *regions;
	size_t region_count;
	bool forced; /* in use, and read all the same */
	struct scr_use use;
	pthread_mutex_t lock; /* of what follows */
	bool disturbed;       /* came into use, or was written, since the pass began */
	int64_t looked_ns;    /* when that was looked at; monotonic */
	bool gone;
	bool any_good; /* a place that read well, last at: */
	uint64_t good_at;
	uint64_t in_use_blocks; /* that differ, under --force-mounted */
	uint64_t unsure_blocks; /* recorded anew where rot can't be told from writes */
	struct scr_device_range *ranges;
	size_t range_count, range_cap;
};

/* ---- stamps ------------------------------------------------------------------------------ */

/* struct scr_stamp.ino of an extent of a device: what its regions are; 0: nobody writes there. */
enum {
	SCR_STAMP_EVIDENCE = 1, /* file systems that show when they were written */
	SCR_STAMP_CHANGING = 2, /* may be written without a trace */
	SCR_STAMP_IN_USE = 4,   /* recorded while somebody could write */
	SCR_STAMP_DAMAGED = 8,  /* a superblock or table there was wrong */
	/* Of what is there now; never recorded: */
	SCR_STAMP_DIRTY = 16,    /* a file system that was not unmounted in order */
	SCR_STAMP_UNKNOWN = 32,  /* nothing that is known */
	SCR_STAMP_RECORDED = 15, /* what is recorded of these */
};

/*
 * The stamp of bytes [@offset, @offset + @length): the size of the device, the classes of the
 * regions there (ino), their evidence (mtime) and what they are (ctime: kind, place, type, UUID).
 */
struct scr_stamp scr_region_stamp(const struct scr_region *list, size_t count, uint64_t size,
				  enum scr_device_content content, uint64_t offset,
				  uint64_t length);

enum scr_device_judgement {
	SCR_JUDGED_ROT,     /* nobody wrote there since */
	SCR_JUDGED_ALTERED, /* what would tell is gone: the file system is not recognised any more
			     */
	SCR_JUDGED_WRITTEN,
	SCR_JUDGED_UNSURE, /* nothing can tell; taken as written */
};

/* What a difference is in bytes whose stamp is @block now, in an extent whose stamp is @extent now
 * and was @was when it was recorded. */
enum scr_device_judgement scr_stamp_judge(const struct scr_stamp *was,
					  const struct scr_stamp *extent,
					  const struct scr_stamp *block);

/* ---- the target -------------------------------------------------------------------------- */

/* Learns what the device open in p->rootfd is: p->device, p->fs. 0 or -errno (said). */
int scr_device_open(struct scr_pass *p);
void scr_device_close(struct scr_pass *p);
/* A descriptor of its own for the device, and what fstat(2) would say if it were a file. */
int scr_device_open_file(struct scr_pass *p, struct stat *st);
void scr_device_stat(const struct scr_pass *p, struct stat *st);
/* Whether it still has the size that it had when the pass began. */
bool scr_device_same_size(const struct scr_pass *p, int fd);

/* As scr_device_in_use(), but who holds it for a moment only is waited for. */
int scr_device_use(const struct scr_pass *p, struct scr_use *use);
/* Refuses an empty drive: all that is recorded of a medium would be missing. -ENOMEDIUM (said). */
int scr_device_guard_medium(struct scr_pass *p);
/* Refuses an empty drive, and a device that is in use: -EBUSY (said). --force-mounted (not if @strict) goes on, with a
 * warning. 0 for other targets. */
int scr_device_guard_use(struct scr_pass *p, bool strict);
/* Compares with what the manifest says, and notes the present identity in p->header. -EBADMSG
 * (said): another device. */
int scr_device_guard_identity(struct scr_pass *p, enum scr_access access);
/* Puts the present identity into p->header. 0 or -ENOMEM. */
int scr_device_note_identity(struct scr_pass *p);
/* What its identity says of it that lasts longest, or "": for undo entries. */
void scr_device_key(const struct scr_pass *p, char *out, size_t size);
/* Where its state belongs. 0 or -errno (said). */
int scr_device_place(struct scr_pass *p, struct scr_state_place *out);

/* A deep copy of a list of strings; NULL if out of memory. Frees one; NULL is none. */
char **scr_strings_copy(char *const *list);
void scr_strings_free(char **list);

/* Bytes where rot can't be told from writes. */
uint64_t scr_device_unsure_bytes(const struct scr_pass *p);

struct scr_stamp scr_device_stamp(const struct scr_pass *p, uint64_t offset, uint64_t length);
/* Of block @i of the extent @cut, recorded under @was. */
enum scr_device_judgement scr_device_judge(const struct scr_pass *p, const struct scr_cut *cut,
					   const struct scr_stamp *was, uint32_t i);

/* ---- checking ---------------------------------------------------------------------------- */

/* How the device is to be read, by its size and that of the record. 0 or -errno. */
int scr_device_decide(struct scr_worker *k, struct scr_work *w);
/* Compares the content of k->content with @base. As scr_extent_process(). */
int scr_device_check(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base);
/* Whether what could not be read of k->content is to be believed: 0, or -ENODEV (said once): the
 * device does not answer at all. */
int scr_device_believe(struct scr_worker *k, struct scr_work *w);

/* ---- telling ----------------------------------------------------------------------------- */

/* Notes the place of @d for scr_device_tell_owners(), and gives the name of the region there in
 * @region. NULL: there is nothing to say. */
const char *scr_device_note_damage(struct scr_pass *p, const struct scr_damage *d, char *region,
				   size_t size);
/* Whose the damaged bytes are, as far as mounted file systems tell, within a minute. */
void scr_device_tell_owners(struct scr_pass *p);
/* What can't be known of this device, at the end of a pass. */
void scr_device_tell_limits(struct scr_pass *p);

#endif
