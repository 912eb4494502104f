/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a 64-bit ones' complement sum to the 16 bits of RFC 1071. */
#include <config.h>
#include "kernels/kernel.h"

/*
 * 2^16 is 1 modulo 65535, so the four 16-bit digits of the sum may simply be added up, and the
 * carry again. A sum that is not 0 never folds to 0 but to 65535: adding positive digits never
 * gives 0.
 *
 * Which byte of a word is the upper one makes no difference until here: adding byte-swapped words
 * gives the byte-swapped sum (RFC 1071, section 2 (B)), so only the result is put in network order.
 */
uint16_t scr_inet_fold(uint64_t sum)
{
	uint16_t folded;

	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	folded = (uint16_t)sum;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	folded = __builtin_bswap16(folded);
#endif
	return (uint16_t)~folded;
}
