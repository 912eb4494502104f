/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* THE CONTRACT of a kernel: pure functions over bytes, one const descriptor each.
 *
 * Every kernel function takes any alignment and any length (0 included), never reads or writes a
 * byte outside of what it is given, keeps no state and does no I/O. Two kernels of a class give
 * results that are equal after folding, so that a manifest does not depend on the machine.
 */
#ifndef SCR_KERNELS_KERNEL_H
#define SCR_KERNELS_KERNEL_H

#include <stddef.h>
#include <stdint.h>

enum scr_kernel_class {
	SCR_INET,  /* Internet checksum, RFC 1071 */
	SCR_CRC32, /* CRC-32 as in zlib: polynomial 0x04c11db7, reflected */
	SCR_XOR,   /* dst ^= sources */
	SCR_FUSED, /* all three from one load */
	SCR_KERNEL_CLASSES
};

/*
 * Ones' complement sum of the 16-bit words at @p, added to @sum (0 to start).
 *
 * Words are taken in the byte order of the host; an odd last byte is the word's first byte in
 * memory, the second counts as 0. The result is some 64-bit number that is congruent to the exact
 * sum modulo 65535 and is 0 only if @sum and all data are 0: scr_inet_fold() makes the one
 * comparable value of it. @len must be even in all calls of one sum but the last.
 */
typedef uint64_t scr_inet_fn(uint64_t sum, const uint8_t *p, size_t len);

/* CRC-32 of @p continued from @crc, with zlib's conventions: 0 to start, no final step. */
typedef uint32_t scr_crc32_fn(uint32_t crc, const uint8_t *p, size_t len);

/* dst[i] ^= src[0][i] ^ ... ^ src[nsrc-1][i]. Sources may be equal to each other, not overlap dst.
 */
typedef void scr_xor_fn(uint8_t *dst, const uint8_t *const *src, unsigned int nsrc, size_t len);

struct scr_kernels;

/*
 * All three at once: @sum and @crc continued over @src as above, and dst ^= src unless @dst is
 * NULL. @k holds the chosen kernels of the other classes, for the row that calls them in turn.
 */
typedef void scr_fused_fn(const struct scr_kernels *k, uint64_t *sum, uint32_t *crc, uint8_t *dst,
			  const uint8_t *src, size_t len);

struct scr_kernel {
	const char *name; /* as the field calls it; unique in its class */
	enum scr_kernel_class class;
	uint64_t needs; /* SCR_CPU_* bits that must all be there */
	union {
		scr_inet_fn *inet;
		scr_crc32_fn *crc32;
		scr_xor_fn *xor_;
		scr_fused_fn *fused;
	} fn;
};

/* One chosen kernel of each class. */
struct scr_kernels {
	const struct scr_kernel *inet, *crc32, *xor_, *fused;
};

/* All rows in table order (the default order of merit); *n receives their number. */
const struct scr_kernel *const *scr_kernel_table(size_t *n);

/* The slow, portable kernels that everything else is measured against: serial, zlib, 8regs,
 * separate. */
const struct scr_kernels *scr_kernels_reference(void);

/* "inet", "crc32", "xor", "fused": as users write and read it. */
const char *scr_kernel_class_name(enum scr_kernel_class class);

/* Where @k keeps its kernel of @class. */
const struct scr_kernel **scr_kernels_slot(struct scr_kernels *k, enum scr_kernel_class class);

/* The Internet checksum of @sum as it would stand in a packet: the 16-bit number whose big-endian
 * bytes RFC 1071 prescribes, complemented. All-zero data gives 0xffff, other multiples of 65535
 * give 0x0000. */
uint16_t scr_inet_fold(uint64_t sum);

#endif
