/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What fuzz targets share: changes of whole records, and CRCs put right. */
#include <config.h>
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/endian.h"
#include "manifest/format.h"

#define PLACES_MAX 256

void fuzz_mend_records(uint8_t *p, size_t size)
{
	for (size_t at = 0; size - at >= SCR_RECORD_FRAME;) {
		size_t most = size - at - SCR_RECORD_FRAME;
		uint32_t len = scr_get_le32(p + at + 4);

		if (len > most) {
			len = (uint32_t)most;
			scr_put_le32(p + at + 4, len);
		}
		memset(p + at + 1, 0, 3);
		scr_put_le32(p + at + SCR_RECORD_HEAD + len,
			     (uint32_t)crc32_z(0, p + at, SCR_RECORD_HEAD + len));
		at += len + SCR_RECORD_FRAME;
	}
}

int fuzz_record(const uint8_t *p, size_t size, size_t *pos, uint8_t *type, const uint8_t **payload,
		uint32_t *len)
{
	size_t at = *pos;

	if (size - at < SCR_RECORD_FRAME)
		return 0;
	*len = scr_get_le32(p + at + 4);
	if (*len > size - at - SCR_RECORD_FRAME)
		return 0;
	*type = p[at];
	*payload = p + at + SCR_RECORD_HEAD;
	*pos = at + *len + SCR_RECORD_FRAME;
	return 1;
}

int fuzz_file(unsigned int which, const void *p, size_t size)
{
	static int fds[2] = {-1, -1};
	int fd = fds[which];

	if (fd < 0)
		fd = fds[which] = memfd_create("fuzz", MFD_CLOEXEC);
	FUZZ_ASSERT(fd >= 0);
	FUZZ_ASSERT(ftruncate(fd, 0) == 0);
	FUZZ_ASSERT(pwrite(fd, p, size, 0) == (ssize_t)size);
	FUZZ_ASSERT(lseek(fd, (off_t)size, SEEK_SET) == (off_t)size);
	return fd;
}

/* ---- changes ------------------------------------------------------------------------------ */

/* Where records begin; place[n] is the end of the last. */
static size_t find_records(const uint8_t *p, size_t size, size_t *place)
{
	const uint8_t *payload;
	size_t n = 0, at = 0;
	uint32_t len;
	uint8_t type;

	do
		place[n] = at;
	while (fuzz_record(p, size, &at, &type, &payload, &len) && ++n < PLACES_MAX);
	return n;
}

/* Replaces @was bytes at @at by the @len bytes @with, if there is room. */
static size_t splice(uint8_t *p, size_t size, size_t max, size_t at, size_t was,
		     const uint8_t *with, size_t len)
{
	if (size - was + len > max)
		return size;
	memmove(p + at + len, p + at + was, size - at - was);
	if (len > 0)
		memcpy(p + at, with, len);
	return size - was + len;
}

/* Changes the payload of the record at @at, which may become longer. */
static size_t change_payload(uint8_t *p, size_t size, size_t max, size_t at)
{
	uint32_t len = scr_get_le32(p + at + 4);
	size_t room = len + 64, now;
	uint8_t *copy = malloc(room);

	FUZZ_ASSERT(copy);
	memcpy(copy, p + at + SCR_RECORD_HEAD, len);
	now = LLVMFuzzerMutate(copy, len, room);
	if (size - len + now <= max) {
		size = splice(p, size, max, at + SCR_RECORD_HEAD, len, copy, now);
		scr_put_le32(p + at + 4, (uint32_t)now);
	}
	free(copy);
	return size;
}

/* Changes one record, removes it, or puts a copy of it elsewhere. */
static size_t change_records(uint8_t *p, size_t size, size_t max, unsigned int seed)
{
	size_t place[PLACES_MAX + 1], n = find_records(p, size, place), i, to, len;
	uint8_t *copy;

	if (n == 0)
		return LLVMFuzzerMutate(p, size, max);
	i = seed / 16 % n;
	to = seed / 4096 % (n + 1);
	len = place[i + 1] - place[i];
	switch (seed % 16) {
	case 0:
		return splice(p, size, max, place[i], len, NULL, 0);
	case 1:
	case 2:
		copy = malloc(len);
		FUZZ_ASSERT(copy);
		memcpy(copy, p + place[i], len);
		size = splice(p, size, max, place[to], 0, copy, len);
		free(copy);
		return size;
	case 3:
		return LLVMFuzzerMutate(p, size, max);
	default:
		return change_payload(p, size, max, place[i]);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t size, size_t max, unsigned int seed)
{
	size_t prefix = fuzz_format.prefix;

	if (!fuzz_format.records || size <= prefix || max <= prefix || seed % 64 == 0)
		size = LLVMFuzzerMutate(p, size, max);
	else
		size = prefix + change_records(p + prefix, size - prefix, max - prefix, seed / 64);
	/* Now and then wrong checks must be seen, too. */
	if (fuzz_format.mend && size > prefix && seed / 7 % 16 != 0)
		size = fuzz_format.mend(p, size, max);
	return size;
}
