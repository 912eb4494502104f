/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one place that turns names, which are bytes, into text. */
#include <config.h>
#include "quote.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t quote_utf8(const char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)s;
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	uint32_t c;

	if (n == 0 || n > len || p[0] > 0xf4)
		return 0;
	c = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*cp = c;
	return n;
}

/* Characters that a terminal acts on or that nobody can see, so that two names look alike. */
static bool hidden(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x00, 0x1f },       { 0x7f, 0x9f },     /* C0, DEL and C1 controls */
		{ 0xad, 0xad },                           /* soft hyphen */
		{ 0x61c, 0x61c },     { 0x180e, 0x180e }, /* Arabic mark, Mongolian separator */
		{ 0x200b, 0x200f },   { 0x2028, 0x202e }, /* zero width, lines, direction */
		{ 0x2060, 0x206f },   { 0xfeff, 0xfeff }, /* invisible operators, isolates, BOM */
		{ 0xfff9, 0xfffb },   { 0xe0000, 0xe007f }, /* interlinear, tags */
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return (c & 0xfffe) == 0xfffe; /* no characters at all */
}

/* Length of the next piece of @s, and whether it may be shown as it is. */
static size_t next_piece(const char *s, size_t len, bool *shown)
{
	uint32_t c;
	size_t n = quote_utf8(s, len, &c);

	*shown = n && !hidden(c);
	return n ? n : 1;
}

static void put_escape(FILE *f, const char *s, size_t n)
{
	static const char codes[] = "\a\b\t\n\v\f\r";
	static const char letters[] = "abtnvfr";

	for (size_t i = 0; i < n; i++) {
		const char *code = s[i] ? strchr(codes, s[i]) : NULL;

		if (code)
			fprintf(f, "\\%c", letters[code - codes]);
		else
			fprintf(f, "\\%03o", (unsigned char)s[i]);
	}
}

/* Whether a shell would take the word as it stands, wherever it stands. */
static bool plain(const char *s, size_t len)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "%+,-./:=@_^";
	bool shown;

	if (len == 0)
		return false;
	for (size_t i = 0; i < len;) {
		size_t n = next_piece(s + i, len - i, &shown);

		if (!shown || (n == 1 && !memchr(safe, s[i], sizeof(safe) - 1)))
			return false;
		i += n;
	}
	return true;
}

void quote_name(FILE *f, const char *s, size_t len)
{
	bool escaped = false, shown;

	if (plain(s, len)) {
		fwrite(s, 1, len, f);
		return;
	}
	putc('\'', f);
	for (size_t i = 0, n; i < len; i += n) {
		n = next_piece(s + i, len - i, &shown);
		if (!shown && !escaped)
			fputs("'$'", f);
		else if (shown && escaped)
			fputs("''", f);
		escaped = !shown;
		if (!shown)
			put_escape(f, s + i, n);
		else if (s[i] == '\'')
			fputs("'\\''", f);
		else
			fwrite(s + i, 1, n, f);
	}
	putc('\'', f);
}

char *quote_name_dup(const char *s, size_t len)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	quote_name(f, s, len);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

void quote_text(FILE *f, const char *s, size_t len)
{
	bool shown;

	for (size_t i = 0, n; i < len; i += n) {
		n = next_piece(s + i, len - i, &shown);
		if (shown)
			fwrite(s + i, 1, n, f);
		else
			put_escape(f, s + i, n);
	}
}

char *quote_json(const char *s, size_t len, int *exact)
{
	char *text = malloc(3 * len + 1), *p = text;
	uint32_t c;

	if (!text)
		return NULL;
	*exact = 1;
	for (size_t i = 0, n; i < len; i += n) {
		n = quote_utf8(s + i, len - i, &c);
		if (n) {
			p = mempcpy(p, s + i, n);
			continue;
		}
		p = mempcpy(p, "\xef\xbf\xbd", 3);
		*exact = 0;
		n = 1;
	}
	*p = '\0';
	return text;
}

char *quote_percent(const char *s, size_t len)
{
	static const char kept[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "-._~/";
	char *text = malloc(3 * len + 1), *p = text;

	if (!text)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (memchr(kept, s[i], sizeof(kept) - 1))
			*p++ = s[i];
		else
			p += sprintf(p, "%%%02X", (unsigned char)s[i]);
	}
	*p = '\0';
	return text;
}
