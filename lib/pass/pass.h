/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every verb shares: the target, its state, its manifest, and the talk about them.
 *
 *	scr_pass_begin(p, ctx, verb, target)        resolve the target
 *	scr_pass_open_state(p, access)              state directory, lock, manifest, journal
 *	... the verb ...
 *	return scr_pass_end(p, r, out)              exit status, summary event, everything closed
 */
#ifndef SCR_PASS_PASS_H
#define SCR_PASS_PASS_H

#include <errno.h>

#include "dev/identity.h"
#include "io/state.h"
#include "manifest/store.h"
#include "parity/segments.h"
#include "pass/content.h"
#include "pass/ctx.h"
#include "pass/policy.h"
#include "select/select.h"

struct scr_pass {
	struct scr_ctx *ctx;
	const char *target;       /* as the user named it */
	struct scr_summary sum;   /* counters under ctx->lock once threads run */
	int64_t start_ns;         /* monotonic */
	int64_t start_wall_ns;

	char *path;               /* absolute, without symlinks */
	enum scr_target_kind kind;
	int rootfd;               /* the directory; of a single file its parent; the device */
	const char *leaf;         /* of a single file, in path; else NULL */
	dev_t root_dev;
	struct scr_fs_info fs;
	struct scr_pass_device *device; /* see device.h; NULL: no block device */
	int64_t clock_skew_ns;    /* the file system's clock less ours */
	int64_t boot_ns;          /* when the system was started, by our clock */

	struct scr_state_place place;
	struct scr_state state;
	bool locked;
	bool busy;                /* a pass holds the lock: what it is writing is not looked at */
	int manifest_fd, journal_fd;
	struct scr_mreader *old;
	struct scr_segments *segments; /* parity; NULL: none is stored or looked at */
	struct scr_journal *journal; /* left by an earlier pass; NULL: none */
	struct scr_header header;    /* working copy; what publishing writes */
	struct scr_policy policy;
	struct scr_selection *selection;
	struct scr_ways ways;        /* to content that is in the cache */
	unsigned int diagnoses, holders; /* made so far: bounded; under ctx->diagnose_lock */
	bool reading;                /* the verb writes nothing */
	bool manifest_repaired;      /* said, and on disk again after publishing */
	int told;                    /* the error that was told last, positive; under ctx->lock */
	bool published;
	bool historic;               /* run: it came as far as reading, so it goes into the history */
	struct scr_trailer trailer;  /* of what is published now */
	struct scr_limit *limit;     /* what of it this pass looks at; NULL: at everything */
	struct scr_repair_held *held; /* files under repair; see repair.h */
};

/* How a verb wants its state. */
enum scr_access {
	SCR_ACCESS_READ,       /* shared lock, wait or refuse: verify, export */
	SCR_ACCESS_PEEK,       /* never wait: status, list, config without pairs */
	SCR_ACCESS_WRITE,      /* exclusive lock; there must be a manifest */
};

/* Resolves @target and chooses kernels (not for PEEK verbs: @kernels false). */
int scr_pass_begin(struct scr_pass *p, struct scr_ctx *ctx, const char *verb, const char *target,
		   bool kernels);
/* Opens state directory, lock, manifest and journal. -ENOENT (not said yet) where the target has no
 * state at all, else -errno, said. */
int scr_pass_open_state(struct scr_pass *p, enum scr_access access);
/* The header and policy of a new manifest, from the options. 0, -EINVAL (said), -errno. */
int scr_pass_prepare_new(struct scr_pass *p);
/* Puts the settings of the options into p->header, of a manifest without records. 0 or -errno (said). */
int scr_pass_apply_options(struct scr_pass *p);
/* Then: creates the state directory, locks it, and publishes an empty manifest with the settings of the
 * options; the target has no state. */
int scr_pass_create_state(struct scr_pass *p);
/* (Re)opens manifest and what depends on it, after publishing too. */
int scr_pass_load(struct scr_pass *p, enum scr_access access, const char *name);
void scr_pass_unload(struct scr_pass *p);
/* Loads what has just been published in place of what was there before. 0 or -errno (said). */
int scr_pass_reload(struct scr_pass *p);
/* Opens recorded @path below the target, as scr_open_beneath() does; a single file and a device under
 * ".". *st is what the pass judges it by. */
int scr_pass_open_file(struct scr_pass *p, const char *path, size_t len, struct stat *st);
/* What is open in @fd now, seen alike. 0 or -errno. */
int scr_pass_stat_file(const struct scr_pass *p, int fd, struct stat *st);
/* An unnamed temporary file in the state directory, of a writing verb. For scr_journal_open(). */
int scr_pass_state_tmpfile(void *arg);
/* Says, once, what the manifest's own protection had to mend in what was read of it so far. */
void scr_pass_tell_repairs(struct scr_pass *p);
/* Says that there is no manifest, and what to type. Returns -ENOENT. */
int scr_pass_no_manifest(struct scr_pass *p);
/* The exit status by what has been counted so far. */
int scr_pass_exit_bits(const struct scr_pass *p);
/* Computes the exit status, delivers the summary, frees everything. Returns @r. */
int scr_pass_end(struct scr_pass *p, int r, struct scr_summary *out);

const struct scr_kernels *scr_pass_kernels(struct scr_pass *p);
/* An unnamed temporary file of a reading verb: in $TMPDIR or /tmp. For scr_journal_open(). */
int scr_pass_tmpfile(void *arg);

/* The index of file system @fs in the header's identities, added if it is new; or -errno. */
int scr_pass_identity(struct scr_pass *p, const struct scr_fs_info *fs);

/* ---- talk: one event at a time, from any thread ------------------------------------------ */

void scr_emit_damage(struct scr_pass *p, const struct scr_damage *d);
void scr_emit_owner(struct scr_pass *p, const struct scr_owner_event *e);
void scr_emit_repair(struct scr_pass *p, const struct scr_repair_event *e);
/* Counts @v and tells, if the user asked for every file. */
void scr_emit_file(struct scr_pass *p, const struct scr_file_event *f);
/* Trouble (bit 8) about @path (NULL: the target); @err positive errno or 0. */
void scr_trouble(struct scr_pass *p, const char *path, size_t len, int err, const char *fmt, ...)
	SCR_PRINTF(5, 6);
/* The same, said even when quiet, but no trouble by itself. */
void scr_warn(struct scr_pass *p, const char *path, size_t len, const char *fmt, ...)
	SCR_PRINTF(4, 5);
/* What was asked for makes no sense: exit 16. Returns -EINVAL. */
int scr_usage(struct scr_pass *p, const char *path, const char *fmt, ...) SCR_PRINTF(3, 4);
void scr_note(struct scr_pass *p, const char *fmt, ...) SCR_PRINTF(2, 3);

/* What a path is called in reports: a single file's record "." by the file's name. */
struct scr_name scr_pass_name(const struct scr_pass *p, const char *path, size_t len);

static inline bool scr_pass_stopped(const struct scr_pass *p)
{
	return p->ctx->stop != 0;
}

/* Whether @r says that the user stopped it. A system call that fails with EINTR is trouble. */
static inline bool scr_pass_interrupted(const struct scr_pass *p, int r)
{
	return r == -EINTR && scr_pass_stopped(p);
}

#endif
