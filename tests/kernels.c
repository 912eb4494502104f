/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every row of the kernel table against the byte-wise definitions. A new row needs no code here. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "cpu/cpu.h"
#include "kernels/kernel.h"
#include "kernels/oracle.h"
#include "select/select.h"

#define ROUNDS 600
#define AREA (1U << 16)
#define MAX_SOURCES 9U

/* AREA bytes between two pages that may not be touched. */
struct guarded {
	uint8_t *map, *p;
	size_t page;
};

static uint64_t rng_state = 88172645463325252U;

static uint64_t rng(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state;
}

static void guarded_init(struct guarded *g)
{
	g->page = (size_t)sysconf(_SC_PAGESIZE);
	g->map = mmap(NULL, AREA + 2 * g->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	assert_ptr_not_equal(g->map, MAP_FAILED);
	g->p = g->map + g->page;
	assert_int_equal(mprotect(g->map, g->page, PROT_NONE), 0);
	assert_int_equal(mprotect(g->p + AREA, g->page, PROT_NONE), 0);
}

static void guarded_free(struct guarded *g)
{
	munmap(g->map, AREA + 2 * g->page);
}

/* Random bytes; now and then one value throughout, where carries are at their worst. */
static void fill(uint8_t *p, size_t len)
{
	static const uint8_t plain[] = {0x00, 0xff, 0x80, 0x7f};
	uint64_t kind = rng() % 8;
	size_t i;

	if (kind < sizeof(plain)) {
		memset(p, plain[kind], len);
		return;
	}
	for (i = 0; i < len; i++)
		p[i] = (uint8_t)(rng() >> 24);
}

/* Mostly short lengths, where the tails are, and some that turn every loop many times. */
static size_t random_len(void)
{
	static const size_t limit[] = {17, 140, 700, 5000, AREA - 64};

	return rng() % limit[rng() % 5];
}

/* Round by round: flush against the guard page behind, against the one before, anywhere. */
static uint8_t *place(const struct guarded *g, size_t len, unsigned int round)
{
	if (round % 3 == 0)
		return g->p + AREA - len;
	if (round % 3 == 1)
		return g->p;
	return g->p + rng() % (AREA - len + 1);
}

/* The sum of the first @split bytes folded as network words, to compare a start value with. */
static void check_inet(const struct scr_kernel *k, const uint8_t *p, size_t len)
{
	size_t split = len ? rng() % (len + 1) & ~(size_t)1 : 0;
	uint64_t sum = k->fn.inet(k->fn.inet(0, p, split), p + split, len - split);
	uint64_t start = rng() >> rng() % 64;
	uint64_t want = scr_oracle_inet(0, p, len);

	assert_int_equal(scr_inet_fold(sum), scr_oracle_inet_fold(want));
	assert_int_equal(scr_inet_fold(k->fn.inet(0, p, len)), scr_oracle_inet_fold(want));
	/* A start value counts modulo 65535, and 0 stays 0 only together with all-zero data. */
	assert_int_equal(k->fn.inet(start, p, len) % 65535,
			 (start % 65535 + k->fn.inet(0, p, len) % 65535) % 65535);
	assert_int_equal(k->fn.inet(0, p, len) == 0, want == 0);
	assert_int_equal(k->fn.inet(start, p, len) == 0, start == 0 && want == 0);
}

static void check_crc32(const struct scr_kernel *k, const uint8_t *p, size_t len)
{
	size_t split = rng() % (len + 1);
	uint32_t start = rng() % 4 ? (uint32_t)rng() : 0;
	uint32_t want = scr_oracle_crc32(start, p, len);

	assert_int_equal(k->fn.crc32(start, p, len), want);
	assert_int_equal(k->fn.crc32(k->fn.crc32(start, p, split), p + split, len - split), want);
	if (len)
		assert_int_equal((uint32_t)crc32_z(start, p, len), want);
}

static void test_inet(void **state)
{
	const struct scr_kernel *k = *state;
	struct guarded g;
	unsigned int i;

	guarded_init(&g);
	for (i = 0; i < ROUNDS; i++) {
		size_t len = random_len();
		uint8_t *p = place(&g, len, i);

		fill(p, len);
		check_inet(k, p, len);
	}
	guarded_free(&g);
}

static void test_crc32(void **state)
{
	const struct scr_kernel *k = *state;
	struct guarded g;
	unsigned int i;

	guarded_init(&g);
	for (i = 0; i < ROUNDS; i++) {
		size_t len = random_len();
		uint8_t *p = place(&g, len, i);

		fill(p, len);
		check_crc32(k, p, len);
	}
	guarded_free(&g);
}

/* The whole area around dst must be as it was. */
static void check_xor(const struct scr_kernel *k, const struct guarded *dst, uint8_t *want,
		      const uint8_t *const *src, unsigned int nsrc, size_t len, unsigned int round)
{
	uint8_t *d = place(dst, len, round);

	memcpy(want, dst->p, AREA);
	scr_oracle_xor(want + (d - dst->p), src, nsrc, len);
	k->fn.xor_(d, src, nsrc, len);
	assert_memory_equal(dst->p, want, AREA);
}

static void test_xor(void **state)
{
	const struct scr_kernel *k = *state;
	struct guarded s[MAX_SOURCES], dst;
	const uint8_t *src[MAX_SOURCES];
	uint8_t *want = test_malloc(AREA);
	unsigned int i, j;

	guarded_init(&dst);
	fill(dst.p, AREA);
	for (j = 0; j < MAX_SOURCES; j++)
		guarded_init(&s[j]);
	for (i = 0; i < ROUNDS; i++) {
		size_t len = random_len();
		unsigned int nsrc = (unsigned int)(rng() % (MAX_SOURCES + 1));

		for (j = 0; j < nsrc; j++) {
			src[j] = place(&s[j], len, i / 3 + j);
			fill(s[j].p + (src[j] - s[j].p), len);
		}
		if (nsrc > 1 && i % 5 == 0)
			src[1] = src[0];
		check_xor(k, &dst, want, src, nsrc, len, i);
	}
	for (j = 0; j < MAX_SOURCES; j++)
		guarded_free(&s[j]);
	guarded_free(&dst);
	test_free(want);
}

static void check_fused(const struct scr_kernel *k, const struct guarded *dst, uint8_t *want,
			const uint8_t *p, size_t len, unsigned int round)
{
	const struct scr_kernels *ref = scr_kernels_reference();
	uint8_t *d = round % 4 ? place(dst, len, round / 4) : NULL;
	size_t split = rng() % (len + 1) & ~(size_t)1;
	uint32_t start = (uint32_t)rng(), crc = start;
	uint64_t sum = 0;

	memcpy(want, dst->p, AREA);
	if (d)
		scr_oracle_xor(want + (d - dst->p), &p, 1, len);
	k->fn.fused(ref, &sum, &crc, d, p, split);
	k->fn.fused(ref, &sum, &crc, d ? d + split : NULL, p + split, len - split);
	assert_int_equal(scr_inet_fold(sum), scr_oracle_inet_fold(scr_oracle_inet(0, p, len)));
	assert_int_equal(sum == 0, scr_oracle_inet(0, p, len) == 0);
	assert_int_equal(crc, scr_oracle_crc32(start, p, len));
	assert_memory_equal(dst->p, want, AREA);
}

static void test_fused(void **state)
{
	const struct scr_kernel *k = *state;
	struct guarded src, dst;
	uint8_t *want = test_malloc(AREA);
	unsigned int i;

	guarded_init(&src);
	guarded_init(&dst);
	fill(dst.p, AREA);
	for (i = 0; i < ROUNDS; i++) {
		size_t len = random_len();
		uint8_t *p = place(&src, len, i);

		fill(p, len);
		check_fused(k, &dst, want, p, len, i);
	}
	guarded_free(&src);
	guarded_free(&dst);
	test_free(want);
}

/* 9 MiB of one value: 32-bit accumulators of 16-bit words overflow here if nobody widens them, eight
 * wide ones together after 2 to 4 MiB. */
static void long_of(const struct scr_kernel *k, int value)
{
	const size_t len = 9U << 20;
	uint8_t *p = test_malloc(len), *dst = test_calloc(1, len);
	const uint8_t *src = p;
	uint64_t sum = 0, want;
	uint32_t crc = 0;

	memset(p, value, len);
	want = scr_oracle_inet(0, p, len);
	if (k->class == SCR_INET)
		assert_int_equal(scr_inet_fold(k->fn.inet(0, p, len)), scr_oracle_inet_fold(want));
	if (k->class == SCR_CRC32)
		assert_int_equal(k->fn.crc32(0, p, len), (uint32_t)crc32_z(0, p, len));
	if (k->class == SCR_XOR) {
		k->fn.xor_(dst, &src, 1, len);
		assert_memory_equal(dst, p, len);
	}
	if (k->class == SCR_FUSED) {
		k->fn.fused(scr_kernels_reference(), &sum, &crc, dst, p, len);
		assert_int_equal(scr_inet_fold(sum), scr_oracle_inet_fold(want));
		assert_int_equal(crc, (uint32_t)crc32_z(0, p, len));
		assert_memory_equal(dst, p, len);
	}
	test_free(p);
	test_free(dst);
}

static void test_long(void **state)
{
	const struct scr_kernel *k = *state;

	long_of(k, 0x00);
	long_of(k, 0xff);
	long_of(k, 0x80);
	long_of(k, 0x7f);
}

static void test_selftest(void **state)
{
	assert_int_equal(scr_kernel_selftest(*state), 0);
}

/* cmocka 1.1.5 writes "not ok # SKIP" for skip(), which is a failure in TAP; so a row that can't
 * run here passes, and its name says so. */
static void test_nothing(void **state)
{
	(void)state;
}

static void add(struct CMUnitTest *t, const struct scr_kernel *k, const char *what,
		CMUnitTestFunction fn)
{
	char *name = malloc(80);

	if (!name)
		abort();
	snprintf(name, 80, "%s %s: %s", scr_kernel_class_name(k->class), k->name, what);
	*t = (struct CMUnitTest){
		.name = name, .test_func = fn, .initial_state = (void *)(uintptr_t)k};
}

static void add_row(struct CMUnitTest *t, const struct scr_kernel *k)
{
	static const CMUnitTestFunction by_class[] = {
		[SCR_INET] = test_inet,
		[SCR_CRC32] = test_crc32,
		[SCR_XOR] = test_xor,
		[SCR_FUSED] = test_fused,
	};
	bool here = !(k->needs & ~scr_cpu_features());

	add(&t[0], k, here ? "random pieces" : "not on this CPU",
	    here ? by_class[k->class] : test_nothing);
	add(&t[1], k, here ? "long runs of one value" : "not on this CPU",
	    here ? test_long : test_nothing);
	add(&t[2], k, here ? "self-test" : "not on this CPU", here ? test_selftest : test_nothing);
}

int main(void)
{
	size_t n, i;
	const struct scr_kernel *const *row = scr_kernel_table(&n);
	struct CMUnitTest *tests = calloc(3 * n, sizeof(*tests));
	int failed;

	if (!tests)
		return 99;
	for (i = 0; i < n; i++) {
		add_row(&tests[3 * i], row[i]);
	}
	failed = _cmocka_run_group_tests("kernels", tests, 3 * n, NULL, NULL);
	for (i = 0; i < 3 * n; i++)
		free((char *)(uintptr_t)tests[i].name);
	free(tests);
	return failed;
}
