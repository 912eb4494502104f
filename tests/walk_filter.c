/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Patterns: a table of what matches, a slow oracle on random ones, and what is refused. */
#include <config.h>
#include "sys_util.h"

#include <stdbool.h>
#include <time.h>

#include "base/compiler.h"
#include "walk/filter.h"

struct row {
	const char *pattern, *path;
	bool is_dir, matches;
};

static const struct row rows[] = {
	/* without a '/': any depth, the last component alone */
	{"a", "a", false, true},
	{"a", "b/a", false, true},
	{"a", "a/b", false, false},
	{"a", "ab", false, false},
	{"*.o", "x.o", false, true},
	{"*.o", "d/e/x.o", false, true},
	{"*.o", "x.o/y", false, false},
	{"*", "a", false, true},
	{"*", ".hidden", false, true},
	{"?", "ab", false, false},
	{"?b", "d/ab", false, true},
	{"**", "d/ab", false, true},
	/* anchored */
	{"/a", "a", false, true},
	{"/a", "b/a", false, false},
	{"/*.o", "x.o", false, true},
	{"/*.o", "d/x.o", false, false},
	{"a/b", "a/b", false, true},
	{"a/b", "c/a/b", false, false},
	{"a/*", "a/b", false, true},
	{"a/*", "a/b/c", false, false},
	{"a/?/c", "a/b/c", false, true},
	{"a?b", "a/b", false, false},
	{"a*b/c", "axxb/c", false, true},
	{"a*b/c", "ax/b/c", false, false},
	/* '**' */
	{"**/a", "a", false, true},
	{"**/a", "b/c/a", false, true},
	{"**/a", "b/ca", false, false},
	{"a/**", "a/b", false, true},
	{"a/**", "a/b/c", false, true},
	{"a/**", "a", true, false},
	{"a/**/b", "a/b", false, true},
	{"a/**/b", "a/x/b", false, true},
	{"a/**/b", "a/x/y/b", false, true},
	{"a/**/b", "a/xb", false, false},
	{"a/**/b", "ab", false, false},
	{"**/a/**/b", "x/a/y/b", false, true},
	{"**/a*/b?/**", "x/ay/bz/w/v", false, true},
	{"**/*a/b", "x/a/ya/b", false, true},
	{"a**b", "axxb", false, true},
	{"x/a**b", "x/a/b", false, false},
	{"/**", "a", false, true},
	/* directories only */
	{"d/", "d", true, true},
	{"d/", "d", false, false},
	{"d/", "e/d", true, true},
	{"/d/", "e/d", true, false},
	{"d/e/", "d/e", true, true},
	{"a/**/", "a/x/y", true, true},
	{"a/**/", "a/x/y", false, false},
	/* classes and quoting */
	{"[abc]", "b", false, true},
	{"[abc]", "d", false, false},
	{"[a-c]x", "bx", false, true},
	{"[!a-c]", "b", false, false},
	{"[^a-c]", "z", false, true},
	{"[]x]", "]", false, true},
	{"[!]x]", "]", false, false},
	{"[a-]", "-", false, true},
	{"[\\]]", "]", false, true},
	{"[[:digit:]]*", "7up", false, true},
	{"[[:upper:][:digit:]]", "q", false, false},
	{"[[:space:]]", "\t", false, true},
	{"x/[!a]b", "x//b", false, false},
	{"a[!x]b/c", "a/b/c", false, false},
	{"[\x80-\xff]", "\xc3", false, true},
	{"\\*", "*", false, true},
	{"\\*", "a", false, false},
	{"\\!x", "!x", false, true},
	{"\\[a]", "[a]", false, true},
	{"#x", "#x", false, true},
	{" ", " ", false, true},
};

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < SCR_ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		struct scr_filter *f = scr_filter_new();
		const char *why = NULL;

		assert_non_null(f);
		assert_true(scr_filter_empty(f));
		assert_int_equal(scr_filter_add(f, r->pattern, &why), 0);
		assert_false(scr_filter_empty(f));
		if (scr_filter_match(f, r->path, strlen(r->path), r->is_dir) != r->matches)
			fail_msg("\"%s\" and \"%s\": not %d", r->pattern, r->path, r->matches);
		scr_filter_free(f);
	}
}

static void test_refused(void **state)
{
	static const char *const refused[] = {"", "/", "!a", "[a", "[", "[]", "[!]", "[a-", "a\\",
					      "[z-a]", "[[:none:]]", "a//b", "//", "./a", "a/..",
					      "a/./b", "[[:alpha", "[\\"};
	struct scr_filter *f = scr_filter_new();

	(void)state;
	for (size_t i = 0; i < SCR_ARRAY_SIZE(refused); i++) {
		const char *why = NULL;

		if (scr_filter_add(f, refused[i], &why) != -EINVAL)
			fail_msg("\"%s\" is taken", refused[i]);
		assert_non_null(why);
	}
	assert_true(scr_filter_empty(f));
	scr_filter_free(f);
	scr_filter_free(NULL);
}

static void test_covers(void **state)
{
	struct scr_filter *f = scr_filter_new();
	const char *why;

	(void)state;
	assert_false(scr_filter_covers(f, "a", 1));
	assert_int_equal(scr_filter_add(f, "d/", &why), 0);
	assert_int_equal(scr_filter_add(f, "/top/*.raw", &why), 0);
	assert_true(scr_filter_covers(f, "x/d/y", 5));
	assert_true(scr_filter_covers(f, "d/y/z", 5));
	assert_false(scr_filter_covers(f, "x/d", 3)); /* a file of that name */
	assert_true(scr_filter_covers(f, "top/a.raw", 9));
	assert_true(scr_filter_covers(f, "top/a.raw/b", 11));
	assert_false(scr_filter_covers(f, "a/top/a.raw", 11));
	scr_filter_free(f);
}

/* Tries everything: exponential and obvious. Classes are left out. */
static bool oracle(const char *p, const char *s, bool at_start)
{
	if (at_start && strncmp(p, "**/", 3) == 0) {
		const char *slash = strchr(s, '/');

		return oracle(p + 3, s, true) || (slash && oracle(p, slash + 1, true));
	}
	if (at_start && strcmp(p, "**") == 0)
		return *s;
	if (*p == '*')
		return oracle(p + 1, s, false) || (*s && *s != '/' && oracle(p, s + 1, false));
	if (!*p || !*s)
		return !*p && !*s;
	return (*p == *s || (*p == '?' && *s != '/')) && oracle(p + 1, s + 1, *p == '/');
}

static void random_string(char *out, const char *alphabet, unsigned int *seed)
{
	size_t n = 1 + (size_t)rand_r(seed) % 9;

	for (size_t i = 0; i < n; i++)
		out[i] = alphabet[(size_t)rand_r(seed) % strlen(alphabet)];
	out[n] = '\0';
}

static bool well_formed(const char *s)
{
	size_t n = strlen(s);

	return s[0] != '/' && s[n - 1] != '/' && !strstr(s, "//");
}

static void test_against_oracle(void **state)
{
	unsigned int seed = 7, done = 0, matched = 0;

	(void)state;
	while (done < 200000) {
		char pattern[32], path[16];
		struct scr_filter *f;
		const char *why;
		bool want;

		random_string(pattern + 1, "ab/?**", &seed);
		random_string(path, "aab/", &seed);
		pattern[0] = '/';
		/* A run of stars is one star; the oracle need not know. */
		if (!well_formed(pattern + 1) || !well_formed(path) || strstr(pattern, "***"))
			continue;
		/* Alone it means one '*': all at the top. */
		if (strcmp(pattern, "/**") == 0)
			continue;
		f = scr_filter_new();
		assert_int_equal(scr_filter_add(f, pattern, &why), 0);
		want = oracle(pattern + 1, path, true);
		if (scr_filter_match(f, path, strlen(path), false) != want)
			fail_msg("\"%s\" and \"%s\": not %d", pattern, path, want);
		matched += want;
		done++;
		scr_filter_free(f);
	}
	assert_in_range(matched, done / 100, done / 2);
}

static void test_no_catastrophe(void **state)
{
	struct scr_filter *f = scr_filter_new();
	char pattern[201], path[4001];
	struct timespec from, to;
	const char *why;

	(void)state;
	for (size_t i = 0; i < 200; i++)
		pattern[i] = i % 2 ? '*' : 'a';
	memcpy(pattern, "x/**/", 5);
	pattern[199] = 'b';
	pattern[200] = '\0';
	memset(path, 'a', sizeof(path));
	for (size_t i = 1; i < 4000; i += 200)
		path[i] = '/';
	path[0] = 'x';
	path[4000] = '\0';
	assert_int_equal(scr_filter_add(f, pattern, &why), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	assert_false(scr_filter_match(f, path, 4000, false));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	assert_true(to.tv_sec - from.tv_sec <= 1);
	scr_filter_free(f);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_table),
	cmocka_unit_test(test_refused),
	cmocka_unit_test(test_covers),
	cmocka_unit_test(test_against_oracle),
	cmocka_unit_test(test_no_catastrophe),
};

SYS_MAIN(tests)
