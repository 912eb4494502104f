/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fold: XOR of the columns of an extent, piece by piece, and back. */
#include <config.h>
#include "fold/fold.h"

#include <string.h>

#include "base/compiler.h"

void scr_fold_start(struct scr_fold *f, const struct scr_kernels *k, uint32_t column, uint8_t *sum)
{
	*f = (struct scr_fold){.xor_ = k->xor_, .sum = sum, .column = column};
	memset(sum, 0, column);
}

uint8_t *scr_fold_target(const struct scr_fold *f, uint32_t offset, uint32_t *len)
{
	uint32_t start = offset % f->column;

	*len = f->column - start;
	return f->sum + start;
}

void scr_fold_add(struct scr_fold *f, uint32_t offset, const uint8_t *p, size_t len)
{
	while (len > 0) {
		uint32_t room;
		uint8_t *dst = scr_fold_target(f, offset, &room);
		size_t n = SCR_MIN(len, room);

		f->xor_->fn.xor_(dst, &p, 1, n);
		offset += (uint32_t)n;
		p += n;
		len -= n;
	}
}

void scr_fold_add_column(struct scr_fold *f, uint32_t start, const uint8_t *p, uint32_t len)
{
	f->xor_->fn.xor_(f->sum + start, &p, 1, len);
}

uint32_t scr_fold_columns(const struct scr_cut *cut)
{
	return cut->length / cut->column + (cut->length % cut->column != 0);
}

/* How many bytes column @i has. */
static uint32_t column_length(const struct scr_cut *cut, uint32_t i)
{
	return SCR_MIN(cut->column, cut->length - i * cut->column);
}

void scr_fold_rebuild(const struct scr_kernels *k, const struct scr_cut *cut, uint8_t *data,
		      uint8_t *parity, uint32_t column, uint32_t start, uint32_t len)
{
	uint32_t columns = scr_fold_columns(cut);
	uint8_t *dst = parity + start;

	if (column < columns) {
		uint32_t have = column_length(cut, column);

		if (start >= have)
			return;
		len = SCR_MIN(len, have - start);
		dst = data + (size_t)column * cut->column + start;
		memcpy(dst, parity + start, len);
	} else {
		memset(dst, 0, len);
	}
	for (uint32_t i = 0; i < columns; i++) {
		const uint8_t *src = data + (size_t)i * cut->column + start;
		uint32_t have = column_length(cut, i);

		if (i != column && start < have)
			k->xor_->fn.xor_(dst, &src, 1, SCR_MIN(len, have - start));
	}
}
