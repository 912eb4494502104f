/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All three at once by calling the chosen kernels in turn.
 *
 * Three passes over a block cost three times its way from the L2 cache. So the block is cut into
 * pieces that stay in L1 together with their part of the parity: only the first of the three then
 * waits for memory.
 */
#include <config.h>
#include "kernels/rows.h"

#define PIECE 8192U /* source and parity of a piece fill a half of a 32 KiB L1 */

static void separate(const struct scr_kernels *k, uint64_t *sum, uint32_t *crc, uint8_t *dst,
		     const uint8_t *src, size_t len)
{
	while (len) {
		size_t n = len < PIECE ? len : PIECE;

		*sum = k->inet->fn.inet(*sum, src, n);
		*crc = k->crc32->fn.crc32(*crc, src, n);
		if (dst) {
			k->xor_->fn.xor_(dst, &src, 1, n);
			dst += n;
		}
		src += n;
		len -= n;
	}
}

const struct scr_kernel scr_fused_separate = {"separate", SCR_FUSED, 0, {.fused = separate}};
