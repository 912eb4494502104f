/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CRC-32 of a whole file from those of its blocks (zlib's crc32_combine). */
#include <config.h>
#include "pass/filesum.h"

#include <zlib.h>

#include "pass/content.h"

void scr_filesum_add(struct scr_filesum *s, const struct scr_extent *e)
{
	/* All blocks but the last have one length: its operator is computed once. */
	uint32_t last = e->cut.blocks - 1, tail;

	if (s->gap || e->cut.offset != s->length || (e->flags & SCR_EXTENT_UNRECORDED)) {
		s->gap = true;
		return;
	}
	if (e->hole) {
		s->crc = (uint32_t)crc32_combine(s->crc, scr_check_zeros(e->run_length).crc,
						 (z_off_t)e->run_length);
		s->length += e->run_length;
		return;
	}
	if (last > 0) {
		z_crc_t op = (z_crc_t)crc32_combine_gen((z_off_t)e->cut.block);

		for (uint32_t i = 0; i < last; i++)
			s->crc = (uint32_t)crc32_combine_op(s->crc, e->checks[i].crc, op);
	}
	tail = scr_block_length(&e->cut, last);
	s->crc = (uint32_t)crc32_combine(s->crc, e->checks[last].crc, (z_off_t)tail);
	s->length += e->cut.length;
}
