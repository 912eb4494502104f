/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the container of a manifest: heads, checks and parity over its own bytes. */
#include <config.h>
#include "fuzz.h"

#include <errno.h>
#include <zlib.h>

#include "base/endian.h"
#include "manifest/group.h"
#include "manifest/store.h"

/* Right CRCs in what may be heads; their fields are what is to be fuzzed. */
static size_t mend(uint8_t *p, size_t size, size_t max)
{
	(void)max;
	size = size / SCR_GROUP_UNIT * SCR_GROUP_UNIT;
	for (size_t at = 0; at < size; at += SCR_GROUP_UNIT)
		if (at == 0 || at + SCR_GROUP_UNIT == size)
			scr_put_le32(p + at + SCR_HEAD_CRC,
				     (uint32_t)crc32_z(0, p + at, SCR_HEAD_CRC));
	return size;
}

const struct fuzz_format fuzz_format = {.name = "group", .mend = mend};

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	struct scr_mreader_damage d;
	struct scr_mreader *r;
	const char *why = NULL;
	int ret = scr_mreader_open(fuzz_file(0, p, size), scr_kernels_reference(), &r, &why);

	if (ret < 0) {
		FUZZ_ASSERT(why && (ret == -EBADMSG || ret == -EPROTONOSUPPORT));
		return 0;
	}
	ret = scr_mreader_check(r);
	FUZZ_ASSERT(ret == 0 || ret == -EBADMSG);
	scr_mreader_get_damage(r, &d);
	FUZZ_ASSERT(d.groups_repaired <= size / SCR_GROUP_UNIT && d.blocks_repaired <= size);
	FUZZ_ASSERT(d.groups_repaired == 0 || d.first_offset < size);
	scr_mreader_free(r);
	return 0;
}
