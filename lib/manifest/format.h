/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The numbers of bitscrub-manifest(5), which is normative: layout of container and records. */
#ifndef SCR_MANIFEST_FORMAT_H
#define SCR_MANIFEST_FORMAT_H

#include <stdint.h>

/* Container. Everything lies on multiples of the unit, so that a bad sector hits one block. */
#define SCR_GROUP_UNIT 4096u
#define SCR_GROUP_HEAD SCR_GROUP_UNIT
#define SCR_GROUP_DATA (1u << 20)
#define SCR_GROUP_PARITY (SCR_GROUP_DATA / 16)
#define SCR_GROUP_STRIDE (2 * SCR_GROUP_HEAD + SCR_GROUP_DATA + SCR_GROUP_PARITY)
#define SCR_GROUP_BLOCKS ((SCR_GROUP_DATA + SCR_GROUP_PARITY) / SCR_GROUP_UNIT)
#define SCR_GROUP_MAGIC "BSG1"
#define SCR_GROUP_LAST 1u   /* flag */
#define SCR_GROUP_LIMIT (UINT64_C(1) << 24) /* groups of one manifest; not of the format */

enum { /* where the fields of a head are */
	SCR_HEAD_LENGTH = 4,
	SCR_HEAD_NUMBER = 8,
	SCR_HEAD_WRITING = 16,
	SCR_HEAD_GENERATION = 24,
	SCR_HEAD_USED = 32,
	SCR_HEAD_DATA = 36,
	SCR_HEAD_PARITY = 40,
	SCR_HEAD_FLAGS = 44,
	SCR_HEAD_BLOCK = 48,
	SCR_HEAD_DATA_BLOCKS = 52,
	SCR_HEAD_PARITY_BLOCKS = 56,
	SCR_HEAD_TRAILER = 64,
	SCR_HEAD_CHECKS = 96,
	SCR_HEAD_CRC = SCR_GROUP_HEAD - 4,
};

/* Records: type, zeros, length | payload | CRC-32. */
#define SCR_RECORD_HEAD 8u
#define SCR_RECORD_CRC 4u
#define SCR_RECORD_FRAME (SCR_RECORD_HEAD + SCR_RECORD_CRC)
#define SCR_PAYLOAD_LIMIT (8u << 20)
#define SCR_MAGIC "bitscrub"
#define SCR_MAGIC_LENGTH 8u

enum scr_type {
	SCR_TYPE_HEADER = 'H',
	SCR_TYPE_FILE = 'F',
	SCR_TYPE_LINK = 'L',
	SCR_TYPE_UNSEEN = 'X',
	SCR_TYPE_EXTENT = 'E',
	SCR_TYPE_HOLES = 'Z',
	SCR_TYPE_TRAILER = 'T',
	SCR_TYPE_JOURNAL = 'J',
	SCR_TYPE_UPDATE = 'U',
	SCR_TYPE_UNDO = 'N',  /* of undo entries: head, */
	SCR_TYPE_RANGE = 'R', /* range, */
	SCR_TYPE_STATE = 'S', /* state */
	SCR_TYPE_PASS = 'P',  /* of the history */
};

/* Fixed parts of payloads, in bytes. */
enum {
	SCR_CHECK_SIZE = 6,
	SCR_STAMP_SIZE = 32,
	SCR_DAMAGE_SIZE = 56,
	SCR_HEADER_SIZE = 104,
	SCR_IDENTITY_SIZE = 24,
	SCR_FILE_SIZE = 88,
	SCR_EXTENT_SIZE_FIXED = 44,
	SCR_RUN_SIZE = 8,
	SCR_PLACE_SIZE = 16,
	SCR_LINK_SIZE = 32,
	SCR_UNSEEN_SIZE = 32,
	SCR_TRAILER_SIZE = 312,
	SCR_SEGMENT_SIZE = 12,
	SCR_JOURNAL_SIZE = 56,
	SCR_UPDATE_SIZE = 16,
};

/* Flags of an extent that only say what follows; the lower ones are those of struct scr_extent. */
enum {
	SCR_EXTENT_FLAGS = 7,
	SCR_EXTENT_HAS_STAMP = 1 << 8,
	SCR_EXTENT_HAS_PARITY = 1 << 9,
	SCR_EXTENT_HAS_HOLES = 1 << 10,
};

enum { /* of an UPDATE */
	SCR_UPDATE_DONE = 1,
};

enum { /* of an UNSEEN record */
	SCR_UNSEEN_DIRECTORY = 1,
};

#endif
