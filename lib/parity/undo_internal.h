/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The records of an undo entry, between its codec and its files. */
#ifndef SCR_PARITY_UNDO_INTERNAL_H
#define SCR_PARITY_UNDO_INTERNAL_H

#include "manifest/codec.h"
#include "parity/undo.h"

/* Encoders append one whole record to @b. 0 or -errno. */
int scr_undo_encode_head(struct scr_buf *b, const struct scr_undo_entry *e);
int scr_undo_encode_range(struct scr_buf *b, const struct scr_undo_range *r);
/* @crc: of all that stands before the first state. */
int scr_undo_encode_mark(struct scr_buf *b, const struct scr_undo_mark *m, uint32_t crc);

/* Decoders of payloads: 0, -EBADMSG, -EPROTONOSUPPORT (head), -ENOMEM. The head makes room for its
 * ranges; e->count of them. */
int scr_undo_decode_head(const uint8_t *p, size_t len, struct scr_undo_entry *e);
/* @at: of the payload in the file. */
int scr_undo_decode_range(const uint8_t *p, size_t len, uint64_t at, struct scr_undo_range *r);
/* @crc: what the payload must say; NULL: not looked at. */
int scr_undo_decode_mark(const uint8_t *p, size_t len, const uint32_t *crc,
			 struct scr_undo_mark *m);
#define SCR_UNDO_RANGE_FIXED 32u /* bytes of a range's payload before its old bytes */
#define SCR_UNDO_MARK_SIZE 48u   /* bytes of a state's payload */

/* Whether head and ranges fit together: order, bounds, sums. */
bool scr_undo_entry_valid(const struct scr_undo_entry *e);

/* Reads the records of the file in @fd. As scr_undo_load(). */
int scr_undo_parse(int fd, bool all, struct scr_undo_entry *e);

#endif
