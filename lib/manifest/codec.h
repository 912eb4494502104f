/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Payloads of records to structs and back: pure, and total on hostile input.
 *
 * Encoders append to a buffer and trust their input, which the *_valid() functions judge; they
 * return 0 or -ENOMEM. Decoders return 0, -EBADMSG or -ENOMEM, and give nothing that *_valid()
 * would refuse.
 */
#ifndef SCR_MANIFEST_CODEC_H
#define SCR_MANIFEST_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "manifest/cursor.h"
#include "manifest/format.h"
#include "manifest/record.h"

/* What a payload alone does not say. */
struct scr_codec {
	struct scr_geometry geometry;
	uint32_t identities; /* how many there are; UINT32_MAX: not known */
	bool lax;            /* payloads may have fields of a later version at their end */
};

/* ---- frames (frame.c) ------------------------------------------------------------------- */

/* Begins a record at the end of @b; *at is for scr_frame_end(). Returns 0 or -ENOMEM. */
int scr_frame_begin(struct scr_buf *b, enum scr_type type, size_t *at);
/* Fills in the length and appends the CRC. Returns 0, -ENOMEM, -EMSGSIZE (too long). */
int scr_frame_end(struct scr_buf *b, size_t at);
/* The payload length in a record's first SCR_RECORD_HEAD bytes; -EBADMSG. */
int scr_frame_length(const uint8_t *head, uint32_t *len);
/* Whether the whole record at @p with @len bytes of payload has the right CRC. */
bool scr_frame_sound(const uint8_t *p, uint32_t len);
/* 0, or -EBADMSG if something is left behind a payload that must not be there. */
int scr_payload_end(const struct scr_codec *codec, const struct scr_cursor *c);

/* ---- parts (codec_part.c) --------------------------------------------------------------- */

void scr_put_stamp(uint8_t **p, const struct scr_stamp *s);
struct scr_stamp scr_take_stamp(struct scr_cursor *c);
void scr_put_check(uint8_t **p, struct scr_check k);
struct scr_check scr_take_check(struct scr_cursor *c);
void scr_put_damage(uint8_t **p, const struct scr_damage_record *d);
struct scr_damage_record scr_take_damage(struct scr_cursor *c);
bool scr_file_damage_valid(const struct scr_damage_record *d);
/* For an entry of an extent; order is not looked at. */
bool scr_block_damage_valid(const struct scr_cut *cut, const struct scr_damage_record *d);

/* ---- records ---------------------------------------------------------------------------- */

bool scr_header_valid(const struct scr_header *h);
int scr_encode_header(struct scr_buf *b, const struct scr_header *h);
/* -EPROTONOSUPPORT: a newer version or unknown incompat features. */
int scr_decode_header(const uint8_t *p, size_t len, struct scr_header *out);

bool scr_file_valid(const struct scr_codec *codec, const struct scr_file_record *f);
int scr_encode_file(struct scr_buf *b, const struct scr_file_record *f);
int scr_decode_file(const struct scr_codec *codec, const uint8_t *p, size_t len,
		    struct scr_file_record *out);

bool scr_link_valid(const struct scr_codec *codec, const struct scr_link_record *l);
int scr_encode_link(struct scr_buf *b, const struct scr_link_record *l);
int scr_decode_link(const struct scr_codec *codec, const uint8_t *p, size_t len,
		    struct scr_link_record *out);

bool scr_unseen_valid(const struct scr_unseen_record *u);
int scr_encode_unseen(struct scr_buf *b, const struct scr_unseen_record *u);
int scr_decode_unseen(const struct scr_codec *codec, const uint8_t *p, size_t len,
		      struct scr_unseen_record *out);

/* @size is that of the file. */
bool scr_extent_valid(const struct scr_codec *codec, uint64_t size, const struct scr_extent *e);
/* The type of record that @e becomes. */
enum scr_type scr_extent_type(const struct scr_extent *e);
/* @file: the stamp of the FILE record; NULL: the extent's own is always stored. */
int scr_encode_extent(struct scr_buf *b, const struct scr_extent *e, const struct scr_stamp *file);
/*
 * Into @e, which is zero or was filled before; its arrays are reused. After a failure it can only
 * be freed or filled again. @size: of the file; @file as above.
 */
int scr_decode_extent(const struct scr_codec *codec, enum scr_type type, uint64_t size,
		      const struct scr_stamp *file, const uint8_t *p, size_t len,
		      struct scr_extent *e);

int scr_encode_trailer(struct scr_buf *b, const struct scr_trailer *t);
int scr_decode_trailer(const struct scr_codec *codec, const uint8_t *p, size_t len,
		       struct scr_trailer *out);

/* ---- runs of holes (run.c) --------------------------------------------------------------- */

/* Makes @e, whole or a part of extents [index, index + run) of a file of @size bytes, stand for
 * [@start, @end), which lies inside of it. */
void scr_extent_narrow(struct scr_extent *e, const struct scr_geometry *g, uint64_t size,
		       uint64_t start, uint64_t end);
/* Bytes of @run extents from @index on. */
uint64_t scr_run_length(uint64_t size, uint64_t index, uint64_t run);

#endif
