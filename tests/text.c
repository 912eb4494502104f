/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the command makes of names, sizes, times and mistyped words. */
#include <config.h>

#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nearest.h"
#include "progress.h"
#include "quote.h"
#include "units.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void check_name(const char *name, size_t len, const char *want)
{
	char *got = quote_name_dup(name, len);

	assert_string_equal(got, want);
	free(got);
}

static void test_names(void **state)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{ "plain-name_1.txt", "plain-name_1.txt" },
		{ "dir/a+b,c%d@e:f=g^h", "dir/a+b,c%d@e:f=g^h" },
		{ "", "''" },
		{ "two words", "'two words'" },
		{ "it's", "'it'\\''s'" },
		{ "~root", "'~root'" },
		{ "#c", "'#c'" },
		{ "$HOME`id`", "'$HOME`id`'" },
		{ "a\nb", "'a'$'\\n''b'" },
		{ "\n", "''$'\\n'" },
		{ "a\n\tb", "'a'$'\\n\\t''b'" },
		{ "\033[2J", "''$'\\033''[2J'" },
		{ "del\177", "'del'$'\\177'" },
		{ "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9" },
		{ "\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "\xff", "''$'\\377'" },
		{ "a\xc3", "'a'$'\\303'" },                     /* cut short */
		{ "\xc0\xaf", "''$'\\300\\257'" },              /* overlong '/' */
		{ "\xed\xa0\x80", "''$'\\355\\240\\200'" },     /* surrogate */
		{ "\xf4\x90\x80\x80", "''$'\\364\\220\\200\\200'" }, /* beyond the last */
		{ "\xc2\x9b" "31m", "''$'\\302\\233''31m'" },   /* CSI as a C1 control */
		{ "a\xe2\x80\xae" "b", "'a'$'\\342\\200\\256''b'" }, /* right to left */
		{ "\xef\xbb\xbf", "''$'\\357\\273\\277'" },     /* byte order mark */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		check_name(rows[i].name, strlen(rows[i].name), rows[i].want);
}

/* The shell itself is the oracle: what it makes of a quoted name are the bytes of the name. */
static void test_names_come_back(void **state)
{
	char name[8], *quoted, *command, back[16];
	size_t n;
	FILE *f;

	(void)state;
	for (unsigned int c = 1; c < 256; c++) {
		size_t len = (size_t)snprintf(name, sizeof(name), "%c%c%cx%c", c, c < 128 ? 'a' : 0xc3,
					      256 - c, c);

		quoted = quote_name_dup(name, len);
		assert_true(asprintf(&command, "bash -c \"$(cat <<'EOF'\nprintf %%s %s\nEOF\n)\"", quoted) > 0);
		f = popen(command, "r");
		n = fread(back, 1, sizeof(back), f);
		assert_int_equal(pclose(f), 0);
		assert_int_equal(n, len);
		assert_memory_equal(back, name, len);
		for (const char *p = quoted; *p; p++)
			assert_false((unsigned char)*p < ' ' || *p == 0x7f);
		free(quoted);
		free(command);
	}
}

static void test_text(void **state)
{
	static const char message[] = "cannot open a\nb\033[31m: it's \xff\xc3\xa9";
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	quote_text(f, message, strlen(message));
	fclose(f);
	assert_string_equal(text, "cannot open a\\nb\\033[31m: it's \\377\xc3\xa9");
	free(text);
}

static void test_json(void **state)
{
	int exact;
	char *text = quote_json("\xc3\xa9", 2, &exact);

	(void)state;
	assert_string_equal(text, "\xc3\xa9");
	assert_int_equal(exact, 1);
	free(text);
	text = quote_json("a\xff\xc3" "b", 4, &exact);
	assert_string_equal(text, "a\xef\xbf\xbd\xef\xbf\xbd" "b");
	assert_int_equal(exact, 0);
	free(text);
	text = quote_percent("d/a b%\xff~", 8);
	assert_string_equal(text, "d/a%20b%25%FF~");
	free(text);
}

static void test_parse_size(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{ "0", 0 },
		{ "4096", 4096 },
		{ "64K", 65536 },
		{ "64k", 65536 },
		{ "1M", 1 << 20 },
		{ "3MiB", 3 << 20 },
		{ "2G", UINT64_C(2) << 30 },
		{ "1T", UINT64_C(1) << 40 },
		{ "16777215T", UINT64_C(16777215) << 40 },
		{ "18446744073709551615", UINT64_MAX },
	};
	static const char *const bad[] = { "", "K", "-1", "+1", " 1", "1 ", "1KB", "1P", "0x10", "1.5M",
					   "16777216T", "18446744073709551616" };
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(units_parse_size(good[i].text, &bytes), 0);
		assert_int_equal(bytes, good[i].bytes);
	}
	bytes = 77;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(units_parse_size(bad[i], &bytes), -EINVAL);
	assert_int_equal(bytes, 77);
}

static void test_sizes(void **state)
{
	char t[UNITS_TEXT];

	(void)state;
	assert_string_equal(units_size(t, 0), "0 bytes");
	assert_string_equal(units_size(t, 1), "1 byte");
	assert_string_equal(units_size(t, 1023), "1023 bytes");
	assert_string_equal(units_size(t, 1024), "1.0 KiB");
	assert_string_equal(units_size(t, 65536), "64 KiB");
	assert_string_equal(units_size(t, 1048575), "1.0 MiB");
	assert_string_equal(units_size(t, UINT64_C(6012954214)), "5.6 GiB");
	assert_string_equal(units_size(t, UINT64_MAX), "16 EiB");
}

static void test_durations(void **state)
{
	char t[UNITS_TEXT];

	(void)state;
	assert_string_equal(units_duration(t, 0), "0.00 s");
	assert_string_equal(units_duration(t, -1), "0.00 s");
	assert_string_equal(units_duration(t, 0.994), "0.99 s");
	assert_string_equal(units_duration(t, 0.996), "1.0 s");
	assert_string_equal(units_duration(t, 9.94), "9.9 s");
	assert_string_equal(units_duration(t, 9.96), "10 s");
	assert_string_equal(units_duration(t, 59.6), "1 min 0 s");
	assert_string_equal(units_duration(t, 3723), "1 h 2 min");
	assert_string_equal(units_duration(t, 90000), "1 d 1 h");
	assert_string_equal(units_clock(t, 5), "0:05");
	assert_string_equal(units_clock(t, 3599.4), "59:59");
	assert_string_equal(units_clock(t, 3600), "1:00:00");
	assert_non_null(units_clock(t, 1.0 / 0.0));
}

static void test_dates(void **state)
{
	const int64_t day = INT64_C(86400000000000);
	char t[UNITS_TEXT];

	(void)state;
	assert_string_equal(units_iso(t, INT64_C(1736000000999999999)), "2025-01-04T14:13:20Z");
	assert_string_equal(units_iso(t, -1), "1969-12-31T23:59:59Z");
	assert_string_equal(units_date(t, INT64_C(1736000000000000000)), "2025-01-04 14:13");
	assert_string_equal(units_date(t, 0), "never");
	assert_string_equal(units_age(t, 10 * day, 10 * day + 5), "today");
	assert_string_equal(units_age(t, 10 * day, 11 * day), "1 day ago");
	assert_string_equal(units_age(t, 10 * day, 22 * day + day / 2), "12 days ago");
	assert_string_equal(units_age(t, 10 * day, 9 * day), "today");
	assert_string_equal(units_age(t, 0, day), "never");
}

static const char *nearest(const char *typed)
{
	static const char *const words[] = { "init", "run", "verify", "status", "list", "help" };
	struct nearest n = nearest_start(typed, strlen(typed));

	for (size_t i = 0; i < COUNT(words); i++)
		nearest_try(&n, words[i]);
	return n.word;
}

static void test_nearest(void **state)
{
	(void)state;
	assert_int_equal(nearest_distance("abc", 3, "abc", 3), 0);
	assert_int_equal(nearest_distance("abc", 3, "acb", 3), 1);
	assert_int_equal(nearest_distance("", 0, "abc", 3), 3);
	assert_int_equal(nearest_distance("kitten", 6, "sitting", 7), 3);
	assert_string_equal(nearest("rnu"), "run");
	assert_string_equal(nearest("stat"), "status");
	assert_string_equal(nearest("verfy"), "verify");
	assert_string_equal(nearest("lsit"), "list");
	assert_null(nearest("/srv/data"));
	assert_null(nearest("x"));
	assert_null(nearest("a-very-long-word-that-is-no-verb-at-all"));
}

static struct scr_progress half_way(void)
{
	struct scr_progress p = { .phase = "reading", .files_done = 3, .files_total = 9,
				  .bytes_done = UINT64_C(1) << 30, .bytes_total = UINT64_C(2) << 30,
				  .started_ns = 5 };

	strcpy(p.path, "photos/\033[2J/a very long name that ends in the-end.jpg");
	return p;
}

static void check_line(const struct scr_progress *p, double rate, unsigned int width,
		       const char *want)
{
	char *line = progress_line(p, rate, width);

	assert_string_equal(line, want);
	free(line);
}

static void test_progress(void **state)
{
	struct scr_progress p = half_way();

	(void)state;
	check_line(&p, 1 << 20, 200,
		   "[#####.....] 50 % 1.0 of 2.0 GiB, 1.0 MiB/s, 17:04 left, "
		   "'photos/'$'\\033''[2J/a very long name that ends in the-end.jpg'");
	check_line(&p, 1 << 20, 80,
		   "[#####.....] 50 % 1.0 of 2.0 GiB, 1.0 MiB/s, 17:04 left, ... in the-end.jpg'");
	p.damaged = 3;
	check_line(&p, 1 << 20, 60, "50 % 1.0 of 2.0 GiB, 1.0 MiB/s, 17:04 left, 3 damaged");
	check_line(&p, 0, 24, "50 % 1.0 of 2.0 GiB,");
	check_line(&p, 0, 1, "");
	check_line(&p, 0, 0, "");
	p.bytes_total = 0;
	p.path[0] = '\0';
	check_line(&p, 0, 80, "reading, 3 files, 3 damaged");
	p.phase = NULL;
	check_line(&p, 0, 80, "idle");
}

#define FOUR_WIDE "\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
#define SIX_WIDE "\xe6\x97\xa5\xe6\x9c\xac" FOUR_WIDE

/* Wide characters take two columns; what is shown never passes the width. */
static void test_progress_wide(void **state)
{
	struct scr_progress p = half_way();

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	strcpy(p.path, SIX_WIDE);
	check_line(&p, 0, 37, "50 % 1.0 of 2.0 GiB, " SIX_WIDE);
	check_line(&p, 0, 36, "50 % 1.0 of 2.0 GiB, ..." FOUR_WIDE);
	check_line(&p, 0, 34, "50 % 1.0 of 2.0 GiB");
	setlocale(LC_CTYPE, "C");
}

static void test_parse_durations(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} good[] = {
		{ "90", 90 }, { "90s", 90 }, { "45m", 2700 }, { "2h", 7200 }, { "30d", 2592000 },
		{ "4w", 2419200 }, { "1W", 604800 },
	};
	static const char *const bad[] = { "", "0", "0d", "h", "-1h", " 1h", "1.5h", "1y", "1hh", "1h30m",
					   "99999999999999999999", "9999999999w" };
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(units_parse_duration(good[i].text, &ns), 0);
		assert_int_equal(ns, good[i].seconds * 1000000000);
	}
	ns = 7;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(units_parse_duration(bad[i], &ns), -EINVAL);
	assert_int_equal(ns, 7);
}

static void test_parse_percents(void **state)
{
	static const struct {
		const char *text;
		uint32_t millionths;
	} good[] = {
		{ "5%", 50000 }, { "0.5%", 5000 }, { "100%", 1000000 }, { "12.25%", 122500 },
		{ "0.0001%", 1 }, { "33.33333%", 333333 },
	};
	static const char *const bad[] = { "", "%", "5", "0%", "0.00001%", "101%", "100.1%", "-5%", "5%%",
					   "1..5%", "5 %", "99999999999%" };
	uint32_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(units_parse_percent(good[i].text, &n), 0);
		assert_int_equal(n, good[i].millionths);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(units_parse_percent(bad[i], &n), -EINVAL);
}

static void test_rate(void **state)
{
	struct progress_rate r = { 0 };
	struct scr_progress p = half_way();

	(void)state;
	/* What was done before this pass was first seen doesn't count. */
	assert_true(progress_rate(&r, &p, 1000000000) == 0);
	p.bytes_done += 5000;
	assert_true(progress_rate(&r, &p, 3000000000) == 2500);
	/* It was stopped for an hour: as if that had not been. */
	assert_true(progress_rate(&r, &p, 3603000000000) == 2500);
	p.bytes_done += 5000;
	assert_true(progress_rate(&r, &p, 3605000000000) == 2500);
	assert_true(progress_stood(1000000000, 2500000000) == 0);
	assert_true(progress_stood(1000000000, 9000000000) == 8000000000);
	/* A new phase begins anew. */
	p.started_ns = 77;
	assert_true(progress_rate(&r, &p, 3606000000000) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_come_back),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_parse_size),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_progress_wide),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_parse_durations),
		cmocka_unit_test(test_parse_percents),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
