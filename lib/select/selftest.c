/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Self-test of a kernel: check values from the literature, then a block that differs from word to
 * word against the byte-wise definitions. Some ten microseconds each; a scrubber whose own checksum
 * is wrong would report rot that is not there. */
#include <config.h>
#include "select/select.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"
#include "kernels/oracle.h"

#define BLOCK 2307U /* every unrolled loop turns at least once, and every tail has work */
#define OFFSET 3U   /* no alignment */
#define SPLIT 1030U /* even, as a continued sum needs */
#define SOURCES 6U  /* one round of four and one of two */

#define AROUND 64U /* bytes behind, which must stay as they are */

struct data {
	uint8_t src[SOURCES][OFFSET + BLOCK];
	uint8_t dst[OFFSET + BLOCK + AROUND], want[OFFSET + BLOCK + AROUND];
};

static void fill(uint8_t *p, size_t len, uint64_t seed)
{
	while (len--) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		*p++ = (uint8_t)(seed >> 56);
	}
}

/* RFC 1071, section 3: the words 0001 f203 f4f5 f6f7 sum to ddf2. Then the edges of folding: all
 * zero, and 65535 times ones, which has the largest carries. */
static bool test_inet(const struct scr_kernel *k, const struct data *d)
{
	static const uint8_t rfc[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
	static const uint8_t zeros[640];
	const uint8_t *p = d->src[0] + OFFSET;
	uint8_t ones[640];
	uint64_t sum;

	memset(ones, 0xff, sizeof(ones));
	sum = k->fn.inet(k->fn.inet(0, p, SPLIT), p + SPLIT, BLOCK - SPLIT);
	return scr_inet_fold(k->fn.inet(0, rfc, sizeof(rfc))) == (uint16_t)~0xddf2 &&
	       k->fn.inet(0, zeros, sizeof(zeros)) == 0 &&
	       scr_inet_fold(k->fn.inet(0, ones, sizeof(ones))) == 0 &&
	       scr_inet_fold(sum) == scr_oracle_inet_fold(scr_oracle_inet(0, p, BLOCK));
}

/* The check value of every CRC catalogue, CRC-32/ISO-HDLC: "123456789" gives cbf43926. */
static bool test_crc32(const struct scr_kernel *k, const struct data *d)
{
	static const char digits[] = "123456789";
	const uint8_t *p = d->src[0] + OFFSET;
	uint32_t crc = k->fn.crc32(k->fn.crc32(0, p, SPLIT), p + SPLIT, BLOCK - SPLIT);

	return k->fn.crc32(0, (const uint8_t *)digits, 9) == 0xcbf43926 &&
	       crc == scr_oracle_crc32(0, p, BLOCK);
}

static bool test_xor(const struct scr_kernel *k, struct data *d)
{
	const uint8_t *src[SOURCES];
	unsigned int i, n;

	for (i = 0; i < SOURCES; i++)
		src[i] = d->src[i] + OFFSET;
	for (n = 1; n <= SOURCES; n++) {
		k->fn.xor_(d->dst + OFFSET, src, n, BLOCK);
		scr_oracle_xor(d->want + OFFSET, src, n, BLOCK);
		if (memcmp(d->dst, d->want, sizeof(d->dst)) != 0)
			return false; /* at once: a second mistake may undo the first */
	}
	return true;
}

static bool test_fused(const struct scr_kernel *k, struct data *d)
{
	const struct scr_kernels *ref = scr_kernels_reference();
	const uint8_t *p = d->src[0] + OFFSET;
	uint64_t sum = 0;
	uint32_t crc = 0;

	k->fn.fused(ref, &sum, &crc, d->dst + OFFSET, p, SPLIT);
	k->fn.fused(ref, &sum, &crc, d->dst + OFFSET + SPLIT, p + SPLIT, BLOCK - SPLIT);
	scr_oracle_xor(d->want + OFFSET, &p, 1, BLOCK);
	return scr_inet_fold(sum) == scr_oracle_inet_fold(scr_oracle_inet(0, p, BLOCK)) &&
	       crc == scr_oracle_crc32(0, p, BLOCK) && memcmp(d->dst, d->want, sizeof(d->dst)) == 0;
}

int scr_kernel_selftest(const struct scr_kernel *k)
{
	struct data d;
	unsigned int i;
	bool ok = false;

	for (i = 0; i < SOURCES; i++)
		fill(d.src[i], sizeof(d.src[i]), i);
	fill(d.dst, sizeof(d.dst), SOURCES);
	memcpy(d.want, d.dst, sizeof(d.want));
	switch (k->class) {
	case SCR_INET:
		ok = test_inet(k, &d);
		break;
	case SCR_CRC32:
		ok = test_crc32(k, &d);
		break;
	case SCR_XOR:
		ok = test_xor(k, &d);
		break;
	case SCR_FUSED:
		ok = test_fused(k, &d);
		break;
	case SCR_KERNEL_CLASSES:
		break;
	}
	return ok ? 0 : -EBADMSG;
}
