/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public API of libbitscrub: what the scrub command is made of.
 *
 * A context holds options and receives events; each verb is one call on one target. Damage is a
 * result and comes as events and counters; a failure is an error: calls return 0 or -errno, and
 * before they return -errno an SCR_EV_TROUBLE event has named the thing and what to do. Every call
 * ends with its exit status bits in scr_summary.exit, also when it fails.
 *
 * Names are byte strings without NUL, relative to the target ("." for a target that is one file).
 * Times are nanoseconds since the epoch. Sizes are bytes. Events are delivered one at a time, from
 * any thread of the pass; what they point to is valid during the callback only.
 */
#ifndef BITSCRUB_H
#define BITSCRUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bitscrub-bench.h>

#define SCR_API __attribute__((visibility("default")))

/* Exit status bits, those of fsck(8). */
enum {
	SCR_EXIT_REPAIRED = 1,
	SCR_EXIT_DAMAGE = 4,
	SCR_EXIT_TROUBLE = 8,
	SCR_EXIT_USAGE = 16,
	SCR_EXIT_STOPPED = 32,
};

enum scr_verdict {
	SCR_OK,
	SCR_NEW,
	SCR_CHANGED,
	SCR_TOUCHED,
	SCR_MOVED,
	SCR_REMOVED,
	SCR_EXCLUDED,
	SCR_SKIPPED,
	SCR_ROT,
	SCR_ALTERED,
	SCR_UNREADABLE,
	SCR_MISSING,
	SCR_VERDICTS
};

/* "ok", "new", ...; a static string. */
SCR_API const char *scr_verdict_name(enum scr_verdict v);

enum scr_damage_kind {
	SCR_DAMAGE_ROT,
	SCR_DAMAGE_ALTERED,
	SCR_DAMAGE_UNREADABLE,
	SCR_DAMAGE_MISSING,
	SCR_DAMAGE_CHANGED, /* verify only */
	SCR_DAMAGE_PARITY,
	SCR_DAMAGE_MANIFEST,
	SCR_DAMAGE_KINDS
};

SCR_API const char *scr_damage_kind_name(enum scr_damage_kind k);

/* A path that an event is about; NULL path: the target as a whole. */
struct scr_name {
	const char *path;
	size_t len;
};

#define SCR_NO_BLOCK UINT64_MAX

enum scr_repairable {
	SCR_REPAIRABLE_UNKNOWN,
	SCR_REPAIRABLE_YES,  /* parity and checksums give exactly one content back */
	SCR_REPAIRABLE_NO,
};

/* A run of damaged blocks, or damage of a file as a whole (block == SCR_NO_BLOCK). */
struct scr_damage {
	struct scr_name name;
	enum scr_damage_kind kind;
	uint64_t block;          /* first block, counted from the start of the file */
	uint64_t blocks;         /* how many */
	uint64_t offset, length; /* bytes, exact to what is known */
	int64_t size_was;        /* recorded size if the size differs, else -1 */
	int64_t size_now;        /* present size if it differs, else -1 */
	int64_t since;           /* first seen, if known before this pass; else 0 */
	bool carried;            /* the file was edited, the damage is still in it */
	bool known;              /* was reported by an earlier pass */
	bool repaired;           /* parity over sound data, written anew by run */
	bool inconsistent;       /* parity: all blocks check, and yet they don't fold to it */
	bool metadata_changed;   /* mode, owner, links or path moved ctime since */
	int err;                 /* errno of the read for unreadable, else 0 */
	/* What happened to it, as far as parity and checksums tell. */
	enum scr_repairable repairable;
	const char *why_not;     /* a sentence, if it is not repairable; else NULL */
	const char *pattern;     /* bitflip, bits, zeroed, 0xff, sector, page, garbage,
				  * misdirected; NULL: not known */
	uint64_t bits_flipped;   /* bits and bytes that differ from what was recorded; */
	uint64_t bytes_differ;   /* 0: not known */
	uint64_t differ_first, differ_last; /* offsets in the file, if bytes_differ */
	uint8_t byte_was, byte_now;         /* the right and the present value, if one differs */
	bool device;             /* of a device, which has no modification time */
	const char *region;      /* of a device: what lies there, for people; NULL */
	struct scr_name holds;   /* misdirected: the recorded block whose content is here */
	uint64_t holds_block;
};

struct scr_file_event {
	struct scr_name name;
	enum scr_verdict verdict;
	struct scr_name from;  /* moved: the old path; else path == NULL */
	bool bit_flip;         /* changed, and looks like one flipped bit */
};

/* How a block was put right, and what else repair has to say of a file. */
enum scr_repair_how {
	SCR_REPAIR_NOT,       /* left as it is; why tells the reason */
	SCR_REPAIR_PARITY,    /* from the parity of its extent */
	SCR_REPAIR_FROM,      /* from the directory of options.from_dir */
	SCR_REPAIR_DUPLICATE, /* from another recorded block, of this file or another, with the same content */
	SCR_REPAIR_CACHE,     /* from the page cache */
	SCR_REPAIR_CHECKSUM,  /* by its checksums alone: no other source vouches for it */
	SCR_REPAIR_SIZE,      /* the file has its recorded size again */
	SCR_REPAIR_REBUILT,   /* damaged parity over sound data was made anew */
	SCR_REPAIR_SOUND,     /* known damage that is not there any more */
	SCR_REPAIR_FINISHED,  /* a repair that had been cut short was completed */
	SCR_REPAIR_TAKEN_BACK, /* or taken back */
	SCR_REPAIR_UNDONE,    /* the bytes from before the repair are back */
	SCR_REPAIR_KEPT,      /* undo: they could not be read then, so the repaired ones stay */
	SCR_REPAIR_HOWS
};

/* "parity", "from", ...; a static string. */
SCR_API const char *scr_repair_how_name(enum scr_repair_how how);

/* A run of blocks (block == SCR_NO_BLOCK: bytes, or the file as a whole) and what became of it. */
struct scr_repair_event {
	struct scr_name name;
	enum scr_repair_how how;
	uint64_t block, blocks;
	uint64_t offset, length;
	const char *why;       /* a sentence for people; NULL: none */
	bool dry_run;          /* it would be so */
};

/* Whose damaged bytes of a device are. */
enum scr_owned_by {
	SCR_OWNED_BY_FILE,
	SCR_OWNED_BY_NONE,     /* free space */
	SCR_OWNED_BY_METADATA, /* of the file system */
	SCR_OWNED_UNKNOWN,
};

struct scr_owner_event {
	enum scr_owned_by kind;
	uint64_t offset, length;  /* on the device */
	const char *mountpoint;   /* where the file system was asked */
	struct scr_name name;     /* below it; NULL: not known */
	uint64_t file_offset;     /* FILE: of the first of the bytes */
};

/* "file", "free", "metadata", "unknown"; a static string. */
SCR_API const char *scr_owned_by_name(enum scr_owned_by kind);

/* Something that could not be read, written or checked for another reason than a medium error. */
struct scr_trouble {
	struct scr_name name;
	int err;               /* errno, or 0 */
	const char *message;   /* a sentence without newline; may contain raw bytes of names */
	bool warning;          /* said even under -q, but does not by itself set bit 8 */
	bool usage;            /* what was asked for makes no sense: bit 16; a warning otherwise */
};

/* One recorded file, for list. */
struct scr_list_entry {
	struct scr_name name;
	struct scr_name link_owner; /* a LINK record: the path that owns the extents; else NULL */
	uint64_t size, blocks, ino;
	int64_t mtime_ns, ctime_ns, recorded_ns, checked_ns; /* checked: the oldest extent; 0 never */
	uint32_t mode, uid, gid, nlink;
	uint64_t damaged_blocks;    /* open damage; file-level damage counts one */
	int64_t damaged_since;      /* 0: none */
	enum scr_damage_kind damage_kind;
	bool unrecorded;            /* some extents could never be read */
	bool unseen;                /* no record: it could not even be looked at or listed; of the rest
				     * only damage_kind, damaged_since and the type in mode say
				     * something (0: not known) */
	uint32_t crc32;             /* of the whole file; valid if !unrecorded */
};

struct scr_summary {
	const char *verb, *target;
	bool complete;          /* every file was looked at, nothing stopped the pass */
	const char *limited;    /* the option for which it is not: "max-time", "max-bytes", "portion",
				 * "older-than", "only"; NULL: none */
	uint64_t bytes_left;    /* that it did not look at then */
	int64_t oldest_check_ns; /* then: of what is recorded; 0: nothing is */
	bool first;             /* recorded, nothing was compared */
	uint64_t files, bytes, blocks;        /* in the target: paths; bytes of inodes; blocks */
	uint64_t verdicts[SCR_VERDICTS];      /* paths by verdict */
	uint64_t transient, repaired;
	uint64_t parity_damaged;              /* extents whose parity is damaged or inconsistent */
	uint64_t blocks_damaged;              /* open at the end, known before or not */
	uint64_t files_damaged;
	uint64_t bytes_read, bytes_from_medium, bytes_unknown, bytes_from_cache;
	uint64_t trouble;                     /* events that set bit 8 */
	double seconds;
	int exit;                             /* SCR_EXIT_* bits */
	/* Of a device: "KEY=VALUE" of what it is, NULL-terminated, valid until the next call; else NULL. */
	char *const *device;
	uint64_t blocks_in_use;               /* that differ while others may write it */
	uint64_t blocks_unsure;               /* changed, and nothing tells whether by a write */
	const char *kernel[4];                /* inet, crc32, xor, fused */
};

enum scr_event_type {
	SCR_EV_DAMAGE,
	SCR_EV_FILE,    /* only with options.verbose_files */
	SCR_EV_TROUBLE,
	SCR_EV_NOTE,    /* talk for stderr: kernel choice, what was left out; .note */
	SCR_EV_LIST,
	SCR_EV_REPAIR,
	SCR_EV_OWNER,
	SCR_EV_SUMMARY, /* last, exactly one per target */
};

struct scr_event {
	enum scr_event_type type;
	const char *target;
	union {
		const struct scr_damage *damage;
		const struct scr_file_event *file;
		const struct scr_trouble *trouble;
		const char *note;
		const struct scr_list_entry *list;
		const struct scr_repair_event *repair;
		const struct scr_owner_event *owner;
		const struct scr_summary *summary;
	} u;
};

typedef void scr_event_fn(void *arg, const struct scr_event *ev);

struct scr_options {
	const char *state_dir;        /* --state, or NULL */
	const char *manifest;         /* -m, or NULL: verify, status, list, export only */
	unsigned int threads;         /* computing threads; 0: one a processor */
	unsigned int reads_in_flight; /* reads at a time, at most 256; 0: as the medium wants */
	bool existing;                /* run: refuse where there is no manifest */
	bool allow_missing;           /* go on though too much is gone or newly empty */
	bool allow_moved;
	bool from_previous;           /* run: go on from manifest.1 */
	bool cross_mounts;            /* for a first run and init: stored as a setting */
	bool force_mounted;           /* run, verify: a device that is in use too */
	const char *map;              /* run, verify: where the file system of the device is mounted */
	bool wait;                    /* wait for the lock ... */
	int64_t wait_ns;              /* ... so long; 0: for ever */
	/* run: look at a part only, new data first, then what was checked longest ago. 0: no limit. */
	int64_t max_time_ns;
	uint64_t max_bytes;
	uint32_t portion;             /* millionths of all bytes */
	int64_t older_than_ns;        /* unchanged data only if its last check is longer ago */
	bool only_new, only_damaged;  /* nothing else than these */
	uint64_t rate;                /* read at most so many bytes a second; 0: any number */
	bool nice;                    /* let everybody else go first: CPU and disk */
	bool verbose_files;           /* SCR_EV_FILE for every file */
	bool verbose;                 /* SCR_EV_NOTE for the choice of kernels */
	bool cached;                  /* check through the page cache */
	bool damaged_only;            /* list: only files with open damage */
	bool repair;                  /* run: then repair what is rot or unreadable */
	bool undo;                    /* repair: put back what stood there before */
	bool purge;                   /* with undo: drop the undo log instead */
	bool dry_run;                 /* repair: say what would be done, write nothing */
	bool force;                   /* repair: altered files that are named; many files at once */
	const char *from_dir;         /* repair: a copy of the target, or NULL */
	/* "KEY=VALUE", NULL-terminated, or NULL: settings for init and a first run (block-size=,
	 * parity=, exclude=, ...). */
	const char *const *settings;
	const char *const *kernels;   /* "CLASS=NAME" or "cycle", NULL-terminated, or NULL */
};

struct scr_ctx;

/* A context with these options (copied shallowly: strings must outlive it) and event sink.
 * NULL if out of memory. */
SCR_API struct scr_ctx *scr_new(const struct scr_options *opt, scr_event_fn *sink, void *arg);
SCR_API void scr_free(struct scr_ctx *ctx);
/* Other options for the calls to come (copied as by scr_new()); not while one is running. */
SCR_API void scr_set_options(struct scr_ctx *ctx, const struct scr_options *opt);

/* Asks the running call to stop as soon as it can; async-signal-safe. */
SCR_API void scr_stop(struct scr_ctx *ctx);

struct scr_progress {
	const char *phase;             /* "planning", "reading", "publishing"; NULL: idle */
	uint64_t files_done, files_total;
	uint64_t bytes_done, bytes_total; /* total 0: not known yet */
	uint64_t damaged;              /* runs of blocks found so far */
	int64_t started_ns;            /* monotonic; when the phase began */
	char path[256];                /* current path, cut, NUL-terminated, raw bytes */
};

/* What the running call is doing; any thread, any time. */
SCR_API void scr_get_progress(struct scr_ctx *ctx, struct scr_progress *out);

/* The verbs. @paths: recorded paths or directories, relative to the target or absolute below it;
 * npaths == 0: all. */
SCR_API int scr_init(struct scr_ctx *ctx, const char *target, struct scr_summary *out);
SCR_API int scr_run(struct scr_ctx *ctx, const char *target, struct scr_summary *out);
SCR_API int scr_verify(struct scr_ctx *ctx, const char *target, const char *const *paths,
		       size_t npaths, struct scr_summary *out);
SCR_API int scr_accept(struct scr_ctx *ctx, const char *target, const char *const *paths,
		       size_t npaths, struct scr_summary *out);
/* Puts damaged blocks back; npaths == 0: those with open damage; else @paths are checked whole
 * first. SCR_EV_REPAIR for every run of blocks. */
SCR_API int scr_repair(struct scr_ctx *ctx, const char *target, const char *const *paths,
		       size_t npaths, struct scr_summary *out);
/* SCR_EV_LIST for every recorded file (files with open damage only, if so asked). */
SCR_API int scr_list(struct scr_ctx *ctx, const char *target, const char *const *paths,
		     size_t npaths, struct scr_summary *out);

#define SCR_AGE_BUCKETS 16

/* What status reads from header and trailer (and a journal, where one was left). */
struct scr_status {
	char target[4096];             /* as recorded */
	char state[4096];              /* where the state is */
	uint64_t generation;
	int64_t created_ns, published_ns;
	uint32_t block_size, columns, parity_unit;
	bool parity;                   /* switched on */
	uint64_t files, links, bytes, extents, blocks, hole_bytes;
	uint64_t files_damaged;        /* with the unseen places */
	uint64_t unseen;               /* paths without a record that could not be looked at */
	uint64_t blocks_damaged, bytes_damaged, extents_unrecorded;
	uint64_t parity_bytes;         /* that records refer to */
	uint64_t parity_stored;        /* that the segments take */
	uint64_t state_free;           /* bytes free where the state is; 0: not known */
	bool state_beside_data;        /* on one file system with the data: no help against its loss */
	int64_t oldest_check_ns, newest_check_ns; /* 0: nothing checked */
	uint64_t bytes_never_checked;
	double cycle_days;             /* until everything is checked, at the rate of late; 0: not known */
	double median_days;            /* age of the last check that half of the bytes are not above, when
					* published, interpolated; below 0: nothing checked */
	/* Bytes by age of last check when published: bucket i counts ages below 2^i days, the last
	 * one the rest. */
	uint64_t age_bytes[SCR_AGE_BUCKETS];
	int64_t last_pass_start_ns, last_pass_ns, last_complete_ns; /* start, duration, start */
	uint64_t last_pass_bytes;
	int last_pass_exit;
	bool pass_running;
	int running_pid;               /* 0: not known */
	uint64_t journal_records;      /* left by a pass that was stopped */
	uint32_t undo_open;            /* repairs cut short: the files are under repair */
	uint32_t undo_done, undo_damaged; /* that can be undone; that can't be read */
	/* Of a device: as recorded; see scr_summary.device. Else NULL. */
	char *const *device;
	uint64_t unsure_bytes;         /* where rot can't be told from writes */
	uint64_t undo_bytes;           /* that the undo log takes */
	int64_t undo_oldest_ns, undo_newest_ns; /* 0: none */
};

SCR_API int scr_get_status(struct scr_ctx *ctx, const char *target, struct scr_status *out,
			   struct scr_summary *sum);

/* One pass that was, for the history; counters as in struct scr_summary, then. */
struct scr_pass_record {
	int64_t start_ns, duration_ns;
	uint64_t generation;           /* of the manifest after it */
	uint64_t files, bytes, bytes_read;
	uint64_t verdicts[SCR_VERDICTS];
	uint64_t transient, repaired, blocks_damaged, files_damaged, trouble;
	int exit;
	bool complete, first;
	bool limited;                  /* it ended at a limit that the user had set */
};

/* Calls @fn for each of the last passes of run, 100 at most, oldest first. */
typedef void scr_pass_fn(void *arg, const struct scr_pass_record *r);
SCR_API int scr_get_history(struct scr_ctx *ctx, const char *target, scr_pass_fn *fn, void *arg,
			    struct scr_summary *sum);

/* Calls @fn for each setting, "key", "value"; repeatable keys once a value. */
typedef void scr_setting_fn(void *arg, const char *key, const char *value);
SCR_API int scr_config_get(struct scr_ctx *ctx, const char *target, scr_setting_fn *fn, void *arg,
			   struct scr_summary *out);
/* Sets "KEY=VALUE" (and "KEY=" to unset a repeatable one, "KEY+=VALUE" to add to it). */
SCR_API int scr_config_set(struct scr_ctx *ctx, const char *target, const char *const *pairs,
			   struct scr_summary *out);

/* Writes an export to @write, which returns 0 or -errno. @format: "sfv", "json" or
 * "ddrescue" (a device or single file). */
typedef int scr_write_fn(void *arg, const void *data, size_t len);
SCR_API int scr_export(struct scr_ctx *ctx, const char *target, const char *format,
		       scr_write_fn *write, void *arg, struct scr_summary *out);

/* Whether two arguments for a target stand for the same file, directory or device, now: by whatever
 * paths, or UUID=... and the like. */
SCR_API bool scr_same_target(const char *a, const char *b);

SCR_API const char *scr_version(void);

#endif
