/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of kernels: forced, masked, cycled, measured; and kernels that are wrong on purpose.
 */
#include <config.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "kernels/rows.h"
#include "select/internal.h"
#include "sim.h"

struct log {
	unsigned int warnings, lines;
	char text[8192];
};

static void take_line(void *arg, int warning, const char *line)
{
	struct log *l = arg;
	size_t len = strlen(l->text);

	l->warnings += warning != 0;
	l->lines++;
	snprintf(l->text + len, sizeof(l->text) - len, "%s\n", line);
}

static struct scr_select_env real_env(void)
{
	struct scr_select_env env = {.cpu = scr_cpu_features(), .clock = &scr_clock_system};

	env.rows = scr_kernel_table(&env.nrows);
	return env;
}

static int select_force(const char *a, const char *b, struct log *l, struct scr_selection **s)
{
	const char *const force[] = {a, b, NULL};
	const struct scr_select_options opt = {.force = force, .log = take_line, .log_arg = l};

	memset(l, 0, sizeof(*l));
	return scr_select(&opt, s);
}

static void test_default(void **state)
{
	struct log l = {0};
	const struct scr_select_options opt = {.log = take_line, .log_arg = &l};
	const struct scr_kernels *k;
	struct scr_selection *s;

	(void)state;
	assert_int_equal(scr_select(&opt, &s), 0);
	k = scr_selection_next(s);
	assert_ptr_equal(k, scr_selection_next(s));
	assert_int_equal(l.warnings, 0);
	assert_non_null(strstr(l.text, "xor: measuring speed"));
	assert_non_null(strstr(l.text, "   8regs            : "));
	assert_non_null(strstr(l.text, "xor: using function: "));
	assert_true(k->inet->class == SCR_INET && k->crc32->class == SCR_CRC32);
	assert_true(k->xor_->class == SCR_XOR && k->fused->class == SCR_FUSED);
	scr_selection_free(s);
	assert_int_equal(scr_select(NULL, &s), 0);
	scr_selection_free(s);
	scr_selection_free(NULL);
}

static void test_force(void **state)
{
	const struct scr_kernels *k;
	struct scr_selection *s;
	struct log l;

	(void)state;
	assert_int_equal(select_force("inet=parallel", "fused=separate", &l, &s), 0);
	k = scr_selection_next(s);
	assert_string_equal(k->inet->name, "parallel");
	assert_string_equal(k->fused->name, "separate");
	assert_null(strstr(l.text, "inet: measuring"));
	assert_non_null(strstr(l.text, "xor: measuring"));
	scr_selection_free(s);
}

static void test_force_wrong(void **state)
{
	static const char *const bad[] = {"inet=nosuch", "nosuch=serial", "inet",      "",
					  "cycles",      "without=",      "inet=",     "=serial",
					  "without=mmx", "without=sse2,", "ine=serial"};
	struct scr_selection *s = NULL;
	struct log l;
	size_t i;

	(void)state;
	for (i = 0; i < SCR_ARRAY_SIZE(bad); i++) {
		assert_int_equal(select_force(bad[i], NULL, &l, &s), -EINVAL);
		assert_int_equal(l.warnings, 1);
		assert_null(s);
	}
}

/* Each feature masked in turn: nothing that needs it is a candidate. */
static void test_mask(void **state)
{
	struct scr_select_env env = real_env();
	unsigned int bit;
	int c;
	size_t i;

	(void)state;
	for (bit = 0; bit < SCR_CPU_BITS; bit++) {
		char name[64];
		struct scr_selection *s;
		struct log l;

		snprintf(name, sizeof(name), "without=%s", scr_cpu_name(bit));
		assert_int_equal(select_force(name, "cycle", &l, &s), 0);
		for (c = 0; c < SCR_KERNEL_CLASSES; c++) {
			for (i = 0; i < s->cand[c].n; i++)
				assert_false(s->cand[c].row[i]->needs & UINT64_C(1) << bit);
		}
		scr_selection_free(s);
	}
	assert_true(env.nrows > 0);
}

static void test_no_features(void **state)
{
	struct scr_select_env env = real_env();
	struct scr_selection *s;

	(void)state;
	env.cpu = 0;
	assert_int_equal(scr_select_in(&env, NULL, &s), 0);
	assert_int_equal(scr_selection_next(s)->inet->needs, 0);
	assert_int_equal(scr_selection_next(s)->crc32->needs, 0);
	assert_int_equal(s->cand[SCR_INET].n, 4);
	assert_int_equal(s->cand[SCR_CRC32].n, 2);
	assert_int_equal(s->cand[SCR_XOR].n, 4);
	assert_int_equal(s->cand[SCR_FUSED].n, 1);
	scr_selection_free(s);
}

/* Every row that can run here comes up, and under "separate", which uses the other three. */
static void test_cycle(void **state)
{
	const struct scr_kernel *const *row;
	struct scr_selection *s;
	struct log l;
	size_t n, i, j, turns;

	(void)state;
	row = scr_kernel_table(&n);
	assert_int_equal(select_force("cycle", NULL, &l, &s), 0);
	turns = s->nturns;
	for (i = 0; i < n; i++) {
		unsigned int seen = 0;

		if (row[i]->needs & ~scr_cpu_features())
			continue;
		for (j = 0; j < turns; j++) {
			struct scr_kernels k = *scr_selection_next(s);

			seen += *scr_kernels_slot(&k, row[i]->class) == row[i] &&
				(row[i]->class == SCR_FUSED || k.fused == &scr_fused_separate);
		}
		assert_true(seen > 0);
	}
	scr_selection_free(s);
}

/* Kernels that are wrong where kernels tend to be: in the last byte, in a carry, on a second
 * source, one byte too far. */
static uint64_t inet_no_tail(uint64_t sum, const uint8_t *p, size_t len)
{
	return scr_inet_serial.fn.inet(sum, p, len & ~(size_t)1);
}

static uint64_t inet_no_carry(uint64_t sum, const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&v, p, 8);
		sum += v;
	}
	v = 0;
	memcpy(&v, p, len);
	return sum + v;
}

static uint32_t crc32_wrong_start(uint32_t crc, const uint8_t *p, size_t len)
{
	(void)crc;
	return scr_crc32_zlib.fn.crc32(0, p, len);
}

static void xor_one_source(uint8_t *dst, const uint8_t *const *src, unsigned int nsrc, size_t len)
{
	scr_xor_8regs.fn.xor_(dst, src, SCR_MIN(nsrc, 1), len);
}

static void xor_too_far(uint8_t *dst, const uint8_t *const *src, unsigned int nsrc, size_t len)
{
	scr_xor_8regs.fn.xor_(dst, src, nsrc, len);
	dst[len] ^= 1;
}

static void fused_no_parity(const struct scr_kernels *k, uint64_t *sum, uint32_t *crc, uint8_t *dst,
			    const uint8_t *src, size_t len)
{
	(void)dst;
	scr_fused_separate.fn.fused(k, sum, crc, NULL, src, len);
}

static const struct scr_kernel wrong_rows[] = {
	{"no_tail", SCR_INET, 0, {.inet = inet_no_tail}},
	{"no_carry", SCR_INET, 0, {.inet = inet_no_carry}},
	{"wrong_start", SCR_CRC32, 0, {.crc32 = crc32_wrong_start}},
	{"one_source", SCR_XOR, 0, {.xor_ = xor_one_source}},
	{"too_far", SCR_XOR, 0, {.xor_ = xor_too_far}},
	{"no_parity", SCR_FUSED, 0, {.fused = fused_no_parity}},
};

static void test_wrong_kernels(void **state)
{
	const struct scr_kernels *ref = scr_kernels_reference();
	const struct scr_kernel *rows[SCR_ARRAY_SIZE(wrong_rows) + 4];
	struct scr_select_env env = {.rows = rows, .clock = &scr_clock_system};
	struct log l = {0};
	const struct scr_select_options opt = {.log = take_line, .log_arg = &l};
	struct scr_selection *s;
	size_t i;

	(void)state;
	for (i = 0; i < SCR_ARRAY_SIZE(wrong_rows); i++) {
		assert_int_equal(scr_kernel_selftest(&wrong_rows[i]), -EBADMSG);
		rows[env.nrows++] = &wrong_rows[i];
	}
	assert_int_equal(scr_select_in(&env, &opt, &s), -EBADMSG);
	rows[env.nrows++] = ref->inet;
	rows[env.nrows++] = ref->crc32;
	rows[env.nrows++] = ref->xor_;
	rows[env.nrows++] = ref->fused;
	l = (struct log){0};
	assert_int_equal(scr_select_in(&env, &opt, &s), 0);
	assert_int_equal(l.warnings, SCR_ARRAY_SIZE(wrong_rows));
	assert_non_null(strstr(l.text, "inet: kernel no_carry failed its self-test, not used\n"));
	assert_memory_equal(scr_selection_next(s), ref, sizeof(*ref));
	scr_selection_free(s);
}

/* Right kernels whose speed is that of a simulated clock. */
static struct sim world;

static uint64_t sim_inet(uint64_t sum, const uint8_t *p, size_t len, int64_t ps_per_byte)
{
	world.now_ps += (int64_t)len * ps_per_byte;
	return scr_inet_serial.fn.inet(sum, p, len);
}

static uint64_t inet_slow(uint64_t sum, const uint8_t *p, size_t len)
{
	return sim_inet(sum, p, len, 112);
}

static uint64_t inet_fast(uint64_t sum, const uint8_t *p, size_t len)
{
	return sim_inet(sum, p, len, 100);
}

static uint64_t inet_equal(uint64_t sum, const uint8_t *p, size_t len)
{
	return sim_inet(sum, p, len, 98);
}

static void test_simulated(void **state)
{
	static const struct scr_kernel slow = {"slow", SCR_INET, 0, {.inet = inet_slow}},
				       fast = {"fast", SCR_INET, 0, {.inet = inet_fast}},
				       equal = {"equal", SCR_INET, 0, {.inet = inet_equal}};
	const struct scr_kernel *const rows[] = {
		&slow, &fast, &equal, &scr_crc32_slice8, &scr_xor_8regs, &scr_fused_separate};
	const char *const force[] = {"crc32=slice8", "xor=8regs", "fused=separate", NULL};
	const struct scr_select_options opt = {.force = force};
	struct scr_clock clock = sim_clock(&world);
	struct scr_select_env env = {.rows = rows, .nrows = SCR_ARRAY_SIZE(rows), .clock = &clock};
	struct scr_selection *s;

	(void)state;
	world = (struct sim){.step_ps = 1000000, .lucky_subject = -1, .rng = 1};
	assert_int_equal(scr_select_in(&env, &opt, &s), 0);
	assert_string_equal(scr_selection_next(s)->inet->name, "fast");
	scr_selection_free(s);
}

static int64_t time_of_select(const struct scr_select_options *opt)
{
	int64_t best = INT64_MAX;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		int64_t t = scr_clock_monotonic(&scr_clock_system);
		struct scr_selection *s;

		assert_int_equal(scr_select(opt, &s), 0);
		t = scr_clock_monotonic(&scr_clock_system) - t;
		scr_selection_free(s);
		best = SCR_MIN(best, t);
	}
	return best;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define INSTRUMENTED 1
#endif
#endif
#ifndef INSTRUMENTED
#define INSTRUMENTED 0
#endif

/* Self-tests and calibration together. The budget is for a CPU: who runs this in an emulator sets
 * BITSCRUB_TEST_SLOW, and where a block takes the serial kernel longer than a microsecond, nothing
 * is said either. (No skip(): cmocka 1.1.5 writes that as "not ok".) */
static void test_start_up_time(void **state)
{
	static uint8_t block[4096];
	int64_t t = scr_clock_monotonic(&scr_clock_system);
	unsigned int i;
	uint64_t sum = 0;

	(void)state;
	for (i = 0; i < 1000; i++)
		sum = scr_inet_serial.fn.inet(sum, block, sizeof(block));
	t = scr_clock_monotonic(&scr_clock_system) - t;
	if (INSTRUMENTED || t > 1000000 || sum || getenv("BITSCRUB_TEST_SLOW"))
		return;
	assert_in_range(time_of_select(NULL), 0, 8000000);
}

static void test_names(void **state)
{
	uint64_t bits = 7;
	unsigned int i;

	(void)state;
	assert_int_equal(scr_cpu_parse("avx2,asimd", &bits), 0);
	assert_int_equal(bits, SCR_CPU_AVX2 | SCR_CPU_NEON);
	assert_int_equal(scr_cpu_parse("avx2,,asimd", &bits), -EINVAL);
	assert_int_equal(bits, SCR_CPU_AVX2 | SCR_CPU_NEON);
	for (i = 0; i < SCR_CPU_BITS; i++)
		assert_int_equal(scr_cpu_by_name(scr_cpu_name(i), strlen(scr_cpu_name(i))),
				 1U << i);
	assert_null(scr_cpu_name(SCR_CPU_BITS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),       cmocka_unit_test(test_force),
		cmocka_unit_test(test_force_wrong),   cmocka_unit_test(test_mask),
		cmocka_unit_test(test_no_features),   cmocka_unit_test(test_cycle),
		cmocka_unit_test(test_wrong_kernels), cmocka_unit_test(test_simulated),
		cmocka_unit_test(test_start_up_time), cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
