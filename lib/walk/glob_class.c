/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* [...] in patterns: ranges, negation by '!' or '^', POSIX classes of ASCII. */
#include <config.h>
#include "walk/glob_internal.h"

#include <string.h>

#include "base/compiler.h"

static void set_add(struct scr_glob_set *s, unsigned int from, unsigned int to)
{
	for (unsigned int c = from; c <= to; c++)
		s->bits[c / 8] |= (uint8_t)(1u << (c % 8));
}

/* A POSIX class as pairs of first and last byte. */
struct posix_class {
	const char *name, *ranges;
};

static const struct posix_class posix_classes[] = {
	{"alnum", "09AZaz"},
	{"alpha", "AZaz"},
	{"blank", "  \t\t"},
	{"cntrl", "\x01\x1f\x7f\x7f"},
	{"digit", "09"},
	{"graph", "!~"},
	{"lower", "az"},
	{"print", " ~"},
	{"punct", "!/:@[`{~"},
	{"space", "\t\r  "},
	{"upper", "AZ"},
	{"xdigit", "09AFaf"},
};

/* Adds the class at @p, which is behind "[:". Returns the position behind ":]", or NULL. */
static const char *add_posix(struct scr_glob_set *set, const char *p)
{
	const char *end = strstr(p, ":]");

	if (!end)
		return NULL;
	for (size_t i = 0; i < SCR_ARRAY_SIZE(posix_classes); i++) {
		const struct posix_class *c = &posix_classes[i];

		if (strlen(c->name) != (size_t)(end - p) || strncmp(c->name, p, strlen(c->name)) != 0)
			continue;
		for (const char *r = c->ranges; *r; r += 2)
			set_add(set, (unsigned char)r[0], (unsigned char)r[1]);
		return end + 2;
	}
	return NULL;
}

/* The byte at @p, quoted or not; NULL at the end of the pattern. */
static const char *take_byte(const char *p, unsigned char *c)
{
	if (*p == '\\')
		p++;
	*c = (unsigned char)*p;
	return *p ? p + 1 : NULL;
}

/* One member of a class: a byte, a range or [:name:]. */
static const char *add_member(struct scr_glob_set *set, const char *p, const char **why)
{
	unsigned char from, to;

	if (p[0] == '[' && p[1] == ':') {
		p = add_posix(set, p + 2);
		if (!p)
			*why = "a class like [:name:] is not known";
		return p;
	}
	p = take_byte(p, &from);
	to = from;
	if (p && p[0] == '-' && p[1] && p[1] != ']')
		p = take_byte(p + 1, &to);
	if (!p)
		*why = "a '[' is not closed by ']'";
	else if (to < from)
		*why = "a range in [...] runs backwards";
	else
		set_add(set, from, to);
	return p && to >= from ? p : NULL;
}

const char *scr_glob_class(const char *p, struct scr_glob_set *set, const char **why)
{
	bool negated = p[1] == '!' || p[1] == '^', first = true;

	memset(set, 0, sizeof(*set));
	p += negated ? 2 : 1;
	while (*p != ']' || first) { /* a ']' that comes first is a member */
		first = false;
		p = add_member(set, p, why);
		if (!p)
			return NULL;
	}
	for (size_t i = 0; negated && i < sizeof(set->bits); i++)
		set->bits[i] = (uint8_t)~set->bits[i];
	set->bits['/' / 8] &= (uint8_t) ~(1u << ('/' % 8));
	return p + 1;
}
