/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether two contents of a block differ by one bit, known from their checksums alone. */
#ifndef SCR_FOLD_BITFLIP_H
#define SCR_FOLD_BITFLIP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True if checksums @crc_was, @inet_was and @crc_now, @inet_now of two contents of @len bytes are
 * those of contents that differ in exactly one bit; *@byte and *@bit (0: the lowest) say which.
 */
bool scr_bitflip_find(uint32_t crc_was, uint16_t inet_was, uint32_t crc_now, uint16_t inet_now,
		      uint32_t len, uint32_t *byte, unsigned int *bit);

#endif
