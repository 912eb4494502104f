/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes patterns against a matcher that tries everything.
 *
 * Input: whether the path is a directory (1 byte), the pattern, a NUL, the path.
 */
#include <config.h>
#include "fuzz.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "walk/filter.h"
#include "walk/glob.h"

#define LENGTH_MAX 48

const struct fuzz_format fuzz_format = {.name = "glob"};

/* ---- classes, looked into at each byte ------------------------------------------------------ */

static bool is_named(const char *name, size_t len, int c)
{
	static const struct {
		const char *name;
		int (*is)(int c);
	} classes[] = {
		{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
		{"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
		{"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strlen(classes[i].name) == len && !memcmp(classes[i].name, name, len))
			return classes[i].is(c);
	return false;
}

static unsigned char unquoted(const char **p)
{
	if (**p == '\\')
		++*p;
	return (unsigned char)*(*p)++;
}

/* Whether @c is in the class at *@p, which is a '['; *@p then stands behind it. */
static bool in_class(const char **p, unsigned char c)
{
	bool no = (*p)[1] == '!' || (*p)[1] == '^', first = true, found = false;
	const char *q = *p + (no ? 2 : 1);

	for (; *q != ']' || first; first = false) {
		unsigned char from, to;

		if (q[0] == '[' && q[1] == ':') {
			const char *end = strstr(q, ":]");

			found |= is_named(q + 2, (size_t)(end - q - 2), c);
			q = end + 2;
			continue;
		}
		from = to = unquoted(&q);
		if (q[0] == '-' && q[1] != ']') {
			q++;
			to = unquoted(&q);
		}
		found |= c >= from && c <= to;
	}
	*p = q + 1;
	return found != no && c != '/';
}

/* ---- the slow matcher ----------------------------------------------------------------------- */

/* What was found out already: pattern position, path position. */
struct slow {
	const char *pattern, *pattern_end, *path, *path_end;
	signed char known[LENGTH_MAX + 1][LENGTH_MAX + 1]; /* 1 yes, -1 no */
};

static bool matches(struct slow *m, const char *p, const char *s);

static bool stars(struct slow *m, const char *p, const char *s)
{
	const char *end = p + strspn(p, "*");
	bool alone = end - p == 2 && (p == m->pattern || p[-1] == '/');

	if (alone && end != m->pattern_end && *end == '/') {
		if (matches(m, end + 1, s))
			return true;
		for (; s != m->path_end; s++)
			if (*s == '/' && matches(m, end + 1, s + 1))
				return true;
		return false;
	}
	if (alone && end == m->pattern_end && p != m->pattern)
		return s != m->path_end;
	for (;; s++) {
		if (matches(m, end, s))
			return true;
		if (s == m->path_end || *s == '/')
			return false;
	}
}

static bool one(struct slow *m, const char *p, const char *s)
{
	unsigned char c = (unsigned char)*s;

	if (s == m->path_end)
		return false;
	if (*p == '?')
		return c != '/' && matches(m, p + 1, s + 1);
	if (*p == '[')
		return in_class(&p, c) && matches(m, p, s + 1);
	return unquoted(&p) == c && matches(m, p, s + 1);
}

static bool matches(struct slow *m, const char *p, const char *s)
{
	signed char *known = &m->known[p - m->pattern][s - m->path];

	if (p == m->pattern_end)
		return s == m->path_end;
	if (*known == 0)
		*known = (*p == '*' ? stars(m, p, s) : one(m, p, s)) ? 1 : -1;
	return *known > 0;
}

static bool slow_match(const char *pattern, const char *path, size_t len, bool is_dir)
{
	struct slow m = {.path = path, .path_end = path + len};
	size_t n = strlen(pattern);
	const char *slash;

	if (pattern[n - 1] == '/') {
		if (!is_dir)
			return false;
		n--;
	}
	slash = memchr(pattern, '/', n);
	m.pattern = pattern + (slash == pattern);
	m.pattern_end = pattern + n;
	if (!slash) {
		slash = memrchr(path, '/', len);
		m.path = slash ? slash + 1 : path;
	}
	return matches(&m, m.pattern, m.path);
}

/* ---- filters -------------------------------------------------------------------------------- */

static void check_filter(const char *pattern, const char *path, size_t len, bool matches_itself)
{
	struct scr_filter *f = scr_filter_new();
	bool covered = false;
	const char *why;

	FUZZ_ASSERT(f && scr_filter_add(f, pattern, &why) == 0);
	FUZZ_ASSERT(scr_filter_match(f, path, len, false) == matches_itself);
	for (size_t i = 1; i < len; i++)
		if (path[i] == '/')
			covered |= slow_match(pattern, path, i, true);
	FUZZ_ASSERT(scr_filter_covers(f, path, len) == (covered || matches_itself));
	scr_filter_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	char text[2 * LENGTH_MAX + 2], *path;
	bool is_dir = size && p[0] & 1;
	struct scr_glob *g;
	const char *why = NULL;
	size_t len;

	if (size < 2 || size - 1 > 2 * LENGTH_MAX)
		return 0;
	memcpy(text, p + 1, size - 1);
	text[size - 1] = '\0';
	len = strlen(text);
	if (scr_glob_new(text, &g, &why) < 0) {
		FUZZ_ASSERT(why);
		return 0;
	}
	path = text + len + 1;
	if (len < size - 1 && len <= LENGTH_MAX && strlen(path) <= LENGTH_MAX &&
	    scr_path_valid(path, strlen(path))) {
		FUZZ_ASSERT(scr_glob_match(g, path, strlen(path), is_dir) ==
			    slow_match(text, path, strlen(path), is_dir));
		check_filter(text, path, strlen(path), slow_match(text, path, strlen(path), false));
	}
	scr_glob_free(g);
	return 0;
}
