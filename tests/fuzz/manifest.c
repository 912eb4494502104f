/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the records of a manifest, in a sound container.
 *
 * What the reader takes, the writer must take, and what it then writes is read as the same: written
 * twice, the stream is the same to the byte.
 */
#include <config.h>
#include "fuzz.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "manifest/codec.h"
#include "manifest/group.h"
#include "manifest/store.h"
#include "manifest/tally.h"

/* ---- right counts ------------------------------------------------------------------------- */

struct count {
	struct scr_codec codec;
	struct scr_header header;
	struct scr_tally tally;
	struct scr_stamp stamp;
	struct scr_extent scratch;
};

static void count_record(struct count *c, uint8_t type, const uint8_t *p, uint32_t len)
{
	struct scr_file_record f;
	struct scr_link_record l;

	if (type == SCR_TYPE_FILE && scr_decode_file(&c->codec, p, len, &f) == 0) {
		scr_tally_file(&c->tally, &f);
		c->stamp = f.stamp;
	} else if (type == SCR_TYPE_LINK && scr_decode_link(&c->codec, p, len, &l) == 0) {
		scr_tally_link(&c->tally);
	} else if ((type == SCR_TYPE_EXTENT || type == SCR_TYPE_HOLES) &&
		   scr_decode_extent(&c->codec, (enum scr_type)type, c->stamp.size, &c->stamp, p,
				     len, &c->scratch) == 0) {
		scr_tally_extent(&c->tally, &c->codec.geometry, &c->scratch);
	}
}

/* Puts the right trailer at @at, as the last record. */
static size_t put_trailer(struct count *c, uint8_t *p, size_t size, size_t max, size_t at)
{
	struct scr_trailer t = c->tally.sum;
	struct scr_buf b = {0};
	size_t begin = 0;

	t.generation = c->header.generation;
	t.body_crc = (uint32_t)crc32_z(0, p, at);
	if (scr_frame_begin(&b, SCR_TYPE_TRAILER, &begin) == 0 && scr_encode_trailer(&b, &t) == 0 &&
	    scr_frame_end(&b, begin) == 0 && at + b.len <= max) {
		memcpy(p + at, b.data, b.len);
		size = at + b.len;
	}
	scr_buf_free(&b);
	return size;
}

static size_t mend(uint8_t *p, size_t size, size_t max)
{
	struct count c = {.codec = {.identities = 0}};
	const uint8_t *payload;
	size_t pos = 0, at = 0;
	uint32_t len;
	uint8_t type;

	fuzz_mend_records(p, size);
	if (!fuzz_record(p, size, &pos, &type, &payload, &len) ||
	    scr_decode_header(payload, len, &c.header) < 0)
		return size;
	c.codec.geometry = c.header.settings.geometry;
	c.codec.identities = c.header.identity_count;
	c.codec.lax = c.header.compat || c.header.ro_compat;
	scr_tally_start(&c.tally, 0);
	for (at = pos; fuzz_record(p, size, &pos, &type, &payload, &len); at = pos) {
		if (type == SCR_TYPE_TRAILER)
			break;
		count_record(&c, type, payload, len);
	}
	size = put_trailer(&c, p, size, max, at);
	scr_tally_free(&c.tally);
	scr_extent_free(&c.scratch);
	scr_header_free(&c.header);
	return size;
}

const struct fuzz_format fuzz_format = {.name = "manifest", .records = true, .mend = mend};

/* ---- container ---------------------------------------------------------------------------- */

static uint64_t generation_of(const uint8_t *p, size_t size)
{
	struct scr_header h;
	const uint8_t *payload;
	size_t pos = 0;
	uint32_t len;
	uint8_t type;
	uint64_t generation = 42;

	if (fuzz_record(p, size, &pos, &type, &payload, &len) &&
	    scr_decode_header(payload, len, &h) == 0) {
		generation = h.generation;
		scr_header_free(&h);
	}
	return generation;
}

/* Where the last record begins: the trailer, if all is well. */
static size_t last_record(const uint8_t *p, size_t size)
{
	const uint8_t *payload;
	size_t pos = 0, at = 0, last = 0;
	uint32_t len;
	uint8_t type;

	for (; fuzz_record(p, size, &pos, &type, &payload, &len); at = pos)
		last = at;
	return last;
}

static int contain(unsigned int which, const uint8_t *p, size_t size)
{
	static uint8_t group[SCR_GROUP_STRIDE];
	struct scr_group_head h = {.writing = 7, .generation = generation_of(p, size)};
	size_t trailer = last_record(p, size);
	int fd = fuzz_file(which, "", 0);

	for (size_t at = 0; at < size; at += h.used) {
		size_t n;

		h.used = (uint32_t)(size - at < SCR_GROUP_DATA ? size - at : SCR_GROUP_DATA);
		h.last = at + h.used == size;
		h.trailer = h.last ? trailer : 0;
		memcpy(group + SCR_GROUP_HEAD, p + at, h.used);
		scr_group_seal(scr_kernels_reference(), &h, group);
		n = scr_group_size(h.used);
		FUZZ_ASSERT(write(fd, group, n) == (ssize_t)n);
		h.number++;
	}
	return fd;
}

/* ---- reading and writing ------------------------------------------------------------------ */

static int copy_extents(struct scr_mreader *r, struct scr_mwriter *w, struct scr_extent *e)
{
	int ret;

	while ((ret = scr_mreader_extent(r, e)) > 0)
		FUZZ_ASSERT(!w || scr_mwriter_extent(w, e) == 0);
	return ret;
}

/* All that is read goes to @w, unless NULL. 0, or what the reader failed with. */
static int copy_records(struct scr_mreader *r, struct scr_mwriter *w)
{
	struct scr_extent e = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	struct scr_unseen_record u;
	int ret;

	while ((ret = scr_mreader_unseen(r, &u)) > 0)
		FUZZ_ASSERT(!w || scr_mwriter_unseen(w, &u) == 0);
	if (ret < 0)
		return ret;
	while ((ret = scr_mreader_next(r, &f, &l, NULL)) > 0) {
		if (ret == SCR_RECORD_FILE && w)
			FUZZ_ASSERT(scr_mwriter_file(w, &f) == 0);
		if (ret == SCR_RECORD_LINK && w)
			FUZZ_ASSERT(scr_mwriter_link(w, &l) == 0);
		ret = copy_extents(r, w, &e);
		if (ret < 0)
			break;
	}
	scr_extent_free(&e);
	return ret;
}

/* Writes what is in @r, which was found sound, to file @which. */
static int rewrite(struct scr_mreader *r, unsigned int which)
{
	struct scr_mwriter *w;
	int fd = fuzz_file(which, "", 0);

	FUZZ_ASSERT(scr_mwriter_new(fd, scr_kernels_reference(), scr_mreader_header(r), 0, &w) ==
		    0);
	FUZZ_ASSERT(copy_records(r, w) == 0);
	FUZZ_ASSERT(scr_mwriter_finish(w, scr_mreader_trailer(r), NULL) == 0);
	scr_mwriter_free(w);
	return fd;
}

/* The same but for the number of the writing, which is in the heads. */
static void assert_same(const uint8_t *a, const uint8_t *b, size_t size)
{
	for (size_t at = 0; at < size; at += SCR_GROUP_STRIDE) {
		size_t n = size - at < SCR_GROUP_STRIDE ? size - at : SCR_GROUP_STRIDE;

		FUZZ_ASSERT(memcmp(a + at + SCR_GROUP_HEAD, b + at + SCR_GROUP_HEAD,
				   n - 2 * SCR_GROUP_HEAD) == 0);
	}
}

static uint8_t *content(int fd, size_t *size)
{
	off_t end = lseek(fd, 0, SEEK_END);
	uint8_t *p = malloc((size_t)end + 1);

	FUZZ_ASSERT(p && pread(fd, p, (size_t)end, 0) == end);
	*size = (size_t)end;
	return p;
}

static struct scr_mreader *reopen(int fd)
{
	struct scr_mreader *r;
	const char *why;

	FUZZ_ASSERT(scr_mreader_open(fd, scr_kernels_reference(), &r, &why) == 0);
	FUZZ_ASSERT(scr_mreader_check(r) == 0);
	return r;
}

static void check_round_trip(struct scr_mreader *r)
{
	size_t first_size, second_size;
	uint8_t *first, *second;
	struct scr_mreader *again;
	int fd = rewrite(r, 1);

	first = content(fd, &first_size);
	again = reopen(fd);
	second = content(rewrite(again, 0), &second_size);
	FUZZ_ASSERT(first_size == second_size);
	assert_same(first, second, first_size);
	scr_mreader_free(again);
	free(first);
	free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	struct scr_mreader *r;
	const char *why = NULL;
	int ret = scr_mreader_open(contain(0, p, size), scr_kernels_reference(), &r, &why);

	if (ret < 0) {
		FUZZ_ASSERT(why && (ret == -EBADMSG || ret == -EPROTONOSUPPORT));
		return 0;
	}
	ret = copy_records(r, NULL);
	FUZZ_ASSERT(ret == 0 || ret == -EBADMSG);
	/* However it is read, the verdict is the same. */
	FUZZ_ASSERT(scr_mreader_check(r) == ret);
	if (ret == 0)
		check_round_trip(r);
	scr_mreader_free(r);
	return 0;
}
