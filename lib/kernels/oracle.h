/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The definitions of the three computations, byte by byte: slow, obvious, and sharing nothing with
 * the kernels. Self-test and tests compare against these. */
#ifndef SCR_KERNELS_ORACLE_H
#define SCR_KERNELS_ORACLE_H

#include <stddef.h>
#include <stdint.h>

/* The plain sum of the 16-bit words in network order, added to @sum; an odd last byte is an upper
 * half. This is the number that RFC 1071 folds and complements. */
uint64_t scr_oracle_inet(uint64_t sum, const uint8_t *p, size_t len);

/* What scr_inet_fold() must make of a sum of host-order words that equals that one. */
uint16_t scr_oracle_inet_fold(uint64_t sum);

/* CRC-32 with zlib's conventions, bit by bit. */
uint32_t scr_oracle_crc32(uint32_t crc, const uint8_t *p, size_t len);

void scr_oracle_xor(uint8_t *dst, const uint8_t *const *src, unsigned int nsrc, size_t len);

#endif
