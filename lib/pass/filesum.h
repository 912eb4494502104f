/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CRC-32 of a whole file from those of its blocks, without reading it. */
#ifndef SCR_PASS_FILESUM_H
#define SCR_PASS_FILESUM_H

#include "manifest/record.h"

/* Zero-initialised: nothing yet. */
struct scr_filesum {
	uint32_t crc;
	uint64_t length;  /* bytes that crc stands for; stops growing at the first gap */
	bool gap;
};

/* Appends extent @e (in order). An unrecorded or missing extent makes a gap. */
void scr_filesum_add(struct scr_filesum *s, const struct scr_extent *e);

#endif
