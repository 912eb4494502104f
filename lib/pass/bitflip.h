/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether two pairs of checksums can stem from one flipped bit. */
#ifndef SCR_PASS_BITFLIP_H
#define SCR_PASS_BITFLIP_H

#include <stdbool.h>
#include <stdint.h>

#include "manifest/record.h"

/*
 * Whether contents of @len bytes with checksums @was and @is can differ in exactly one bit: their
 * CRC difference is the syndrome of a single bit, and the Internet checksums differ by that bit's
 * weight. Two equal contents don't. O(len). *bit, if not NULL, receives its number: byte * 8 + bit,
 * 0 being the lowest bit of the first byte.
 *
 * All syndromes of blocks up to 1 MiB are distinct, since the polynomial is primitive.
 */
bool scr_is_bit_flip(struct scr_check was, struct scr_check is, uint32_t len, uint64_t *bit);

#endif
