/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes paths, their order, and how names are quoted.
 *
 * Input: the length of the first of two names (1 byte), both names.
 */
#include <config.h>
#include "fuzz.h"

#include <string.h>

#include "base/path.h"
#include "base/statename.h"
#include "quote.h"

const struct fuzz_format fuzz_format = {.name = "names"};

struct name {
	const char *p;
	size_t len;
};

/* ---- paths ---------------------------------------------------------------------------------- */

/* Takes the first component off. */
static struct name next_component(struct name *n)
{
	const char *slash = memchr(n->p, '/', n->len);
	struct name c = {n->p, slash ? (size_t)(slash - n->p) : n->len};
	size_t taken = c.len + (slash != NULL);

	n->p += taken;
	n->len -= taken;
	return c;
}

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

/* Of valid paths: component by component. */
static int slow_cmp(struct name a, struct name b)
{
	while (a.len && b.len) {
		struct name x = next_component(&a), y = next_component(&b);
		int c = memcmp(x.p, y.p, x.len < y.len ? x.len : y.len);

		if (c || x.len != y.len)
			return c ? sign(c) : x.len < y.len ? -1 : 1;
	}
	return (a.len > 0) - (b.len > 0);
}

static bool slow_valid(struct name n)
{
	bool ends_well = n.len > 0 && n.p[n.len - 1] != '/';

	if (n.len == 1 && n.p[0] == '.')
		return true;
	while (n.len) {
		struct name c = next_component(&n);

		if (c.len == 0 || memchr(c.p, 0, c.len) || (c.len == 1 && c.p[0] == '.') ||
		    (c.len == 2 && c.p[0] == '.' && c.p[1] == '.'))
			return false;
	}
	return ends_well;
}

static bool slow_covers(struct name dir, struct name n)
{
	if (dir.len == 1 && dir.p[0] == '.')
		return true;
	while (dir.len) {
		struct name a = next_component(&dir), b;

		if (!n.len)
			return false;
		b = next_component(&n);
		if (a.len != b.len || memcmp(a.p, b.p, a.len) != 0)
			return false;
	}
	return true;
}

static void check_paths(struct name a, struct name b)
{
	bool valid_a = scr_path_valid(a.p, a.len), valid_b = scr_path_valid(b.p, b.len);
	int c = scr_path_cmp(a.p, a.len, b.p, b.len);

	FUZZ_ASSERT(valid_a == slow_valid(a) && valid_b == slow_valid(b));
	FUZZ_ASSERT(sign(c) == -sign(scr_path_cmp(b.p, b.len, a.p, a.len)));
	FUZZ_ASSERT((c == 0) == (a.len == b.len && memcmp(a.p, b.p, a.len) == 0));
	if (!valid_a || !valid_b)
		return;
	FUZZ_ASSERT(sign(c) == slow_cmp(a, b));
	FUZZ_ASSERT(scr_path_covers(a.p, a.len, b.p, b.len) == slow_covers(a, b));
}

/* ---- quoting -------------------------------------------------------------------------------- */

static size_t take_escape(const char *q, char *out)
{
	static const char letters[] = "abtnvfr", codes[] = "\a\b\t\n\v\f\r";
	const char *l = strchr(letters, q[1]);

	if (l) {
		*out = codes[l - letters];
		return 2;
	}
	*out = (char)((q[1] - '0') << 6 | (q[2] - '0') << 3 | (q[3] - '0'));
	return 4;
}

/* As a shell reads a word. Returns its length. */
static size_t unquote(const char *q, char *out)
{
	size_t n = 0;

	while (*q) {
		bool dollar = q[0] == '$' && q[1] == '\'';

		if (*q == '\\') {
			out[n++] = q[1];
			q += 2;
		} else if (*q != '\'' && !dollar) {
			out[n++] = *q++;
		} else {
			for (q += dollar ? 2 : 1; *q != '\'';) {
				FUZZ_ASSERT(*q);
				if (dollar && *q == '\\')
					q += take_escape(q, &out[n++]);
				else
					out[n++] = *q++;
			}
			q++;
		}
	}
	return n;
}

/* Valid UTF-8 without any control character. */
static void assert_harmless(const char *s)
{
	for (size_t len = strlen(s), n; len; s += n, len -= n) {
		uint32_t c = 0;

		n = quote_utf8(s, len, &c);
		FUZZ_ASSERT(n && c >= 0x20 && (c < 0x7f || c > 0x9f));
		FUZZ_ASSERT(c < 0x202a || c > 0x202e);
	}
}

static void check_quoted(struct name a)
{
	char *q = quote_name_dup(a.p, a.len), *back = malloc(a.len + 1), *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	FUZZ_ASSERT(q && back && f);
	assert_harmless(q);
	FUZZ_ASSERT(strlen(q) >= 1 && strlen(q) <= 9 * a.len + 2);
	FUZZ_ASSERT(unquote(q, back) == a.len && memcmp(back, a.p, a.len) == 0);
	quote_text(f, a.p, a.len);
	FUZZ_ASSERT(fclose(f) == 0);
	assert_harmless(text);
	free(text);
	free(back);
	free(q);
}

static void check_json(struct name a)
{
	int exact = -1;
	char *j = quote_json(a.p, a.len, &exact);
	uint32_t c;

	FUZZ_ASSERT(j);
	if (!memchr(a.p, 0, a.len)) {
		FUZZ_ASSERT(exact == (strlen(j) == a.len && memcmp(j, a.p, a.len) == 0));
		for (size_t at = 0, n; j[at]; at += n) {
			n = quote_utf8(j + at, strlen(j + at), &c);
			FUZZ_ASSERT(n);
		}
	}
	free(j);
}

static void check_percent(struct name a)
{
	char *q = quote_percent(a.p, a.len);
	size_t n = 0;

	FUZZ_ASSERT(q);
	for (const char *s = q; *s; n++) {
		unsigned int c = (unsigned char)*s;

		if (*s == '%')
			FUZZ_ASSERT(sscanf(s + 1, "%2X", &c) == 1);
		FUZZ_ASSERT(n < a.len && c == (unsigned char)a.p[n]);
		s += *s == '%' ? 3 : 1;
	}
	FUZZ_ASSERT(n == a.len);
	free(q);
}

static void check_state_name(struct name a)
{
	char *s = strndup(a.p, a.len);

	FUZZ_ASSERT(s);
	(void)scr_state_name_fits(s);
	for (int level = SCR_STATE_NONE; level <= SCR_STATE_UNDO; level++)
		if (scr_state_name_level((enum scr_state_level)level, s) != SCR_STATE_NONE)
			FUZZ_ASSERT(scr_state_name_defined((enum scr_state_level)level, s, true));
	FUZZ_ASSERT(!scr_state_name_temporary(s) || strstr(s, SCR_TEMPORARY_SUFFIX));
	free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	struct name a, b;

	if (size < 1)
		return 0;
	a.p = (const char *)p + 1;
	a.len = p[0] < size - 1 ? p[0] : size - 1;
	b.p = a.p + a.len;
	b.len = size - 1 - a.len;
	check_paths(a, b);
	check_quoted(a);
	check_json(a);
	check_percent(a);
	check_state_name(a);
	return 0;
}
