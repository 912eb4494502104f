/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internet checksum with add-with-carry chains: serial, parallel, and both with prefetch.
 *
 * The plain loop of RFC 1071 adds 16-bit words into a wider number and folds the carries at the
 * end. Because 2^64 - 1 is a multiple of 2^16 - 1, words of 64 bits may be added instead, if a
 * carry out of bit 63 is added back in at bit 0. That is what an add-with-carry instruction is for:
 * each addition takes the carry of the one before, so eight words cost eight additions and one more
 * for the last carry.
 *
 * serial is that chain: each addition waits for the one before, so one word a cycle at best however
 * many adders the CPU has. parallel runs two chains with a sum each; the carry is put away at the
 * end of each chain, so that the two depend on nothing of each other and overlap. These two, and
 * both of them with a prefetch five cache lines ahead, are the four variants that linux-kernel
 * compared in October 2013 ("x86: Run checksumming in parallel accross multiple alu's").
 */
#include <config.h>
#include "kernels/rows.h"

#include "kernels/inet.h"

#define CHAIN 64U /* bytes of one chain: eight words */
#define PREFETCH_AHEAD (5 * CHAIN)

#if ARCH_X86

/* What one chain reads, for the compiler to know. */
struct line {
	uint8_t byte[CHAIN];
};

/* C has no way to say "keep the carry flag": compilers of today spill it between additions. */
SCR_INLINE uint64_t chain(uint64_t sum, const uint8_t *p)
{
	__asm__("addq 0*8(%1), %0\n\t"
		"adcq 1*8(%1), %0\n\t"
		"adcq 2*8(%1), %0\n\t"
		"adcq 3*8(%1), %0\n\t"
		"adcq 4*8(%1), %0\n\t"
		"adcq 5*8(%1), %0\n\t"
		"adcq 6*8(%1), %0\n\t"
		"adcq 7*8(%1), %0\n\t"
		"adcq $0, %0"
		: "+r"(sum)
		: "r"(p), "m"(*(const struct line *)p)
		: "cc");
	return sum;
}

#else

/* The same in C, for every other machine. */
SCR_INLINE uint64_t chain(uint64_t sum, const uint8_t *p)
{
	unsigned int i;

	for (i = 0; i < CHAIN; i += 8)
		sum = scr_scalar(scr_inet_add(sum, scr_load64(p + i)));
	return sum;
}

#endif

/* A prefetch is a hint: an address beyond the data, or beyond all memory, does no harm. */
SCR_INLINE void hint(const uint8_t *p, int prefetch)
{
	if (prefetch)
		__builtin_prefetch((const void *)((uintptr_t)p + PREFETCH_AHEAD));
}

SCR_INLINE uint64_t one_chain(uint64_t sum, const uint8_t *p, size_t len, int prefetch)
{
	for (; len >= CHAIN; p += CHAIN, len -= CHAIN) {
		hint(p, prefetch);
		sum = chain(sum, p);
	}
	return scr_inet_tail(sum, p, len);
}

SCR_INLINE uint64_t two_chains(uint64_t sum, const uint8_t *p, size_t len, int prefetch)
{
	uint64_t other = 0;

	for (; len >= 2 * CHAIN; p += 2 * CHAIN, len -= 2 * CHAIN) {
		hint(p, prefetch);
		hint(p + CHAIN, prefetch);
		sum = chain(sum, p);
		other = chain(other, p + CHAIN);
	}
	return one_chain(scr_inet_add(sum, other), p, len, 0);
}

static uint64_t serial(uint64_t sum, const uint8_t *p, size_t len)
{
	return one_chain(sum, p, len, 0);
}

static uint64_t prefetch(uint64_t sum, const uint8_t *p, size_t len)
{
	return one_chain(sum, p, len, 1);
}

static uint64_t parallel(uint64_t sum, const uint8_t *p, size_t len)
{
	return two_chains(sum, p, len, 0);
}

static uint64_t parallel_prefetch(uint64_t sum, const uint8_t *p, size_t len)
{
	return two_chains(sum, p, len, 1);
}

const struct scr_kernel scr_inet_serial = {"serial", SCR_INET, 0, {.inet = serial}};
const struct scr_kernel scr_inet_prefetch = {"prefetch", SCR_INET, 0, {.inet = prefetch}};
const struct scr_kernel scr_inet_parallel = {"parallel", SCR_INET, 0, {.inet = parallel}};
const struct scr_kernel scr_inet_parallel_prefetch = {
	"parallel_prefetch", SCR_INET, 0, {.inet = parallel_prefetch}};
