/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The records of a manifest and of a journal, as structs. bitscrub-manifest(5) is normative. */
#ifndef SCR_MANIFEST_RECORD_H
#define SCR_MANIFEST_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "fold/geometry.h"

/* Both checksums of one block. inet is a number: its big-endian bytes stand in a packet. */
struct scr_check {
	uint32_t crc;
	uint16_t inet;
};

/* The state of the file under which content was recorded. */
struct scr_stamp {
	uint64_t size, ino;
	int64_t mtime_ns, ctime_ns;
};

/* A file system that holds recorded files. Strings are owned; empty where not known. */
struct scr_identity {
	char *type, *uuid, *subvol;
	uint64_t fsid;
};

/* What is kept of one damaged run inside a block, or of a file as a whole (block == NO_BLOCK32). */
#define SCR_NO_BLOCK32 UINT32_MAX

enum scr_damage_record_kind { /* on disk */
	SCR_REC_ROT = 1,
	SCR_REC_ALTERED = 2,
	SCR_REC_UNREADABLE = 3,
	SCR_REC_MISSING = 4, /* frozen files that are gone: file-level only */
};

enum {
	SCR_DAMAGE_CARRIED = 1, /* flags of struct scr_damage_record */
};

struct scr_damage_record {
	uint32_t block;          /* in the extent */
	uint8_t kind, flags;
	struct scr_check seen;   /* of the content that was seen; 0 if unreadable */
	uint32_t seen_length;    /* bytes of the block that were there; file-level: 0 */
	uint32_t start, length;  /* unreadable: the bad bytes inside of the block; else the block */
	uint64_t size_seen;      /* file-level: the size that was seen */
	int64_t first_ns, last_ns;
};

enum { /* flags of struct scr_file_record */
	SCR_FILE_UNDER_REPAIR = 1,
};

/* Metadata of one recorded file. Pointers refer to memory of whoever decoded or made it. */
struct scr_file_record {
	struct scr_stamp stamp;
	uint32_t fs;             /* index into the header's identities */
	uint32_t mode, uid, gid, nlink;
	uint32_t flags;
	int64_t recorded_ns;     /* first recorded */
	int64_t skipped_since_ns; /* no pass could check it since; 0 */
	const char *path;
	uint32_t path_len;
	struct scr_damage_record damage; /* file-level; kind 0: none */
};

/* A further path of an inode. The owner's FILE record comes earlier in walk order. */
struct scr_link_record {
	uint64_t ino;
	uint32_t fs;
	const char *path, *owner;
	uint32_t path_len, owner_len;
};

/* A path that could not be looked at, or a directory that could not be listed, because of a medium
 * error, and that has no FILE record which could say so. */
struct scr_unseen_record {
	const char *path;        /* "." is the target itself */
	uint32_t path_len;
	bool is_dir;
	int64_t first_ns, last_ns; /* when it was first and last tried in vain */
};

enum { /* flags of struct scr_extent */
	SCR_EXTENT_RACY = 1,
	SCR_EXTENT_UNRECORDED = 2,  /* could never be read: no checks */
	SCR_EXTENT_PARITY_ZERO = 4, /* parity is on, all zero, takes no bytes */
};

/*
 * One extent, or a run of extents that are whole holes (run > 1; then all are cut.length long
 * except that the last one may end the file; checks are those of zeros and not stored).
 * Arrays are owned by the struct that holds them: scr_extent_free().
 */
struct scr_extent {
	struct scr_cut cut;      /* of the first extent of a run */
	uint64_t run;            /* 1, or the number of whole-hole extents */
	uint64_t run_length;     /* bytes of the run */
	bool hole;               /* the whole extent (or run) is a hole */
	uint32_t flags;
	struct scr_stamp stamp;
	int64_t recorded_ns, checked_ns;
	uint32_t parity_segment; /* 0: none */
	uint32_t parity_length;
	uint64_t parity_offset;
	uint64_t reserved;
	struct scr_check *checks;        /* cut.blocks; NULL if unrecorded or hole */
	struct scr_check *parity_checks; /* cut.parity_blocks if there is parity, else NULL */
	uint8_t *holes;                  /* bit i (LSB first): block i is a hole; NULL: none */
	struct scr_damage_record *damage;
	uint32_t damage_count;
};

void scr_extent_free(struct scr_extent *e); /* frees the arrays, zeroes the struct */
/* A deep copy. Returns 0 or -ENOMEM. */
int scr_extent_copy(struct scr_extent *dst, const struct scr_extent *src);

struct scr_settings {
	struct scr_geometry geometry;
	bool parity;
	/* All others as "key=value" strings, owned, in the order given; NULL-terminated. */
	char **pairs;
};

enum scr_target_kind { SCR_TARGET_DIR = 1, SCR_TARGET_FILE = 2, SCR_TARGET_DEVICE = 3 };

#define SCR_FORMAT_VERSION 1
#define SCR_PATH_LIMIT 65535u /* bytes of a recorded path */

/*
 * As read. Unknown incompat bits never get here; who writes refuses a manifest with ro_compat bits.
 * The writer ignores version, masks and parities: it knows version 1, no feature, and one parity.
 */
struct scr_header {
	uint32_t version, compat, ro_compat, incompat;
	uint64_t generation;
	int64_t created_ns, published_ns;
	enum scr_target_kind kind;
	uint32_t parities;       /* 1: one XOR parity */
	struct scr_settings settings;
	char *target;            /* absolute path when published, owned */
	struct scr_identity *identities;
	uint32_t identity_count;
	/* What tells a block device from others, "key=value", owned, NULL-terminated; NULL: none. */
	char **device;
};

void scr_header_free(struct scr_header *h);
/* A deep copy. Returns 0 or -ENOMEM. */
int scr_header_copy(struct scr_header *dst, const struct scr_header *src);

#define SCR_TRAILER_BUCKETS 16

struct scr_parity_use { /* one parity segment */
	uint32_t segment;
	uint64_t live;           /* bytes that records refer to */
};

/* Counts; the writer fills them in. */
struct scr_trailer {
	uint64_t generation;
	uint64_t files, links, extents, blocks, bytes, hole_bytes;
	uint64_t files_damaged;  /* with damage anywhere, and UNSEEN records */
	uint64_t blocks_damaged, bytes_damaged, extents_unrecorded;
	uint64_t parity_bytes;
	int64_t oldest_check_ns, newest_check_ns;
	uint64_t bytes_never_checked;
	uint64_t age_bytes[SCR_TRAILER_BUCKETS]; /* bucket i: below 2^i days; last: the rest */
	/* Of the pass that published; set by the pass before scr_mwriter_finish(). */
	int64_t pass_start_ns, pass_ns, last_complete_ns;
	uint64_t pass_bytes;
	/* How fast passes get on: bytes that they read since then; 0: not known. */
	int64_t window_start_ns;
	uint64_t window_bytes;
	uint32_t pass_exit;
	uint32_t unseen;         /* UNSEEN records */
	struct scr_parity_use *segments;
	uint32_t segment_count;
	uint32_t body_crc;       /* of all bytes before the trailer record */
};

void scr_trailer_free(struct scr_trailer *t);

#endif
