/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fold: XOR of the columns of an extent, piece by piece, and back.
 *
 * Columns and parity XOR to zero, so one rule serves all: what is missing in one column, or in the
 * parity, is the XOR of all the others at the same positions. A last column that is shorter counts
 * as filled up with zeros.
 *
 *	scr_fold_start(&f, kernels, cut.column, parity);
 *	for each piece: scr_fold_add(&f, offset in the extent, bytes, length);
 *
 * leaves the parity in @parity. Going on with scr_fold_add_column(&f, 0, parity as read, c) leaves
 * the syndrome: zero where all is sound, the exact error where one column is wrong, and the bytes
 * themselves where one column was left out (read as zeros).
 */
#ifndef SCR_FOLD_FOLD_H
#define SCR_FOLD_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "fold/geometry.h"
#include "kernels/kernel.h"

struct scr_fold {
	const struct scr_kernel *xor_;
	uint8_t *sum;    /* column bytes, the caller's */
	uint32_t column; /* c */
};

/* Begins a fold of columns of @column bytes into @sum, which is set to zeros. */
void scr_fold_start(struct scr_fold *f, const struct scr_kernels *k, uint32_t column,
		    uint8_t *sum);

/*
 * Where byte @offset of the extent folds to, and in *len how many bytes from there on lie in a row:
 * the destination of a fused kernel.
 */
uint8_t *scr_fold_target(const struct scr_fold *f, uint32_t offset, uint32_t *len);

/* Folds @len bytes that stand at @offset of the extent; pieces may come in any order. */
void scr_fold_add(struct scr_fold *f, uint32_t offset, const uint8_t *p, size_t len);

/* Folds @len bytes that stand at position @start of a column, or of the parity. */
void scr_fold_add_column(struct scr_fold *f, uint32_t start, const uint8_t *p, uint32_t len);

/*
 * Rebuilds bytes @start to @start + @len of column @column of an extent that is all in memory, from
 * the other columns and @parity. @column == the number of columns rebuilds the parity itself.
 * In a short last column only the bytes that exist are written.
 */
void scr_fold_rebuild(const struct scr_kernels *k, const struct scr_cut *cut, uint8_t *data,
		      uint8_t *parity, uint32_t column, uint32_t start, uint32_t len);

/* ceil(R/c): how many columns hold data. */
uint32_t scr_fold_columns(const struct scr_cut *cut);

#endif
