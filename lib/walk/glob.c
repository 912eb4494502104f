/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One compiled pattern.
 *
 * Matching keeps two places to go back to: the last '*' and the last "**". That is enough. Of a '*'
 * followed by another one in the same component, the shortest match is as good as any, because the
 * second takes whatever is left; what a '*' took has no bearing on the components behind, because
 * it never takes a '/'; and behind a "**" anything before it may stay as it matched first. So the
 * cost is a small power of the lengths, never exponential.
 */
#include <config.h>
#include "walk/glob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "walk/glob_internal.h"

static struct scr_glob_token *add(struct scr_glob *g, enum scr_glob_op op, char byte)
{
	struct scr_glob_token *t = &g->tokens[g->count++];

	*t = (struct scr_glob_token){.op = (uint8_t)op, .byte = (uint8_t)byte};
	return t;
}

/* Stars at @p. "**" is special only if it is a component by itself, as in gitignore(5). */
static const char *add_stars(struct scr_glob *g, const char *start, const char *p)
{
	const char *end = p + strspn(p, "*");
	bool alone = end - p == 2 && (p == start || p[-1] == '/');
	bool last = !end[0] || (end[0] == '/' && !end[1]);

	if (alone && !last && *end == '/') {
		add(g, SCR_GLOB_DIRS, 0);
		return end + 1;
	}
	add(g, alone && last && p > start ? SCR_GLOB_REST : SCR_GLOB_STAR, 0);
	return end;
}

static const char *add_class(struct scr_glob *g, const char *p, const char **why)
{
	struct scr_glob_set set, *sets;

	p = scr_glob_class(p, &set, why);
	if (!p)
		return NULL;
	sets = reallocarray(g->sets, g->set_count + 1, sizeof(*sets));
	if (!sets) {
		*why = NULL;
		return NULL;
	}
	g->sets = sets;
	sets[g->set_count] = set;
	add(g, SCR_GLOB_CLASS, 0)->set = (uint16_t)g->set_count++;
	return p;
}

static const char *add_next(struct scr_glob *g, const char *start, const char *p, const char **why)
{
	switch (*p) {
	case '*':
		return add_stars(g, start, p);
	case '?':
		add(g, SCR_GLOB_ANY, 0);
		return p + 1;
	case '[':
		return add_class(g, p, why);
	case '\\':
		if (!*++p) {
			*why = "a backslash at the end quotes nothing";
			return NULL;
		}
		break;
	default:
		break;
	}
	add(g, SCR_GLOB_BYTE, *p);
	return p + 1;
}

/* Patterns that could never match, or that mean something else in gitignore(5). */
static const char *objection(const char *pattern)
{
	const char *p = pattern;

	if (strlen(p) > 4096)
		return "it is longer than 4096 bytes";
	if (*p == '!')
		return "negation by '!' is not supported; quote it as '\\!' if a name begins with it";
	p += *p == '/';
	if (!*p)
		return "it is empty";
	for (;;) {
		size_t n = strcspn(p, "/");

		if (n == 0 && *p)
			return "it has an empty component, which no path has";
		if ((n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return "it has a component '.' or '..', which no path has";
		p += n;
		if (!*p++)
			return NULL;
		if (!*p)
			return NULL;
	}
}

static int compile(struct scr_glob *g, const char *pattern, const char **why)
{
	const char *start = pattern + (*pattern == '/'), *p = start;
	const char *slash = strchr(start, '/');

	g->anchored = start != pattern || (slash && slash[1]);
	while (*p) {
		if (p[0] == '/' && !p[1]) {
			g->dirs_only = true;
			break;
		}
		p = add_next(g, start, p, why);
		if (!p)
			return *why ? -EINVAL : -ENOMEM;
	}
	return 0;
}

int scr_glob_new(const char *pattern, struct scr_glob **out, const char **why)
{
	struct scr_glob *g;
	int ret;

	*why = objection(pattern);
	if (*why)
		return -EINVAL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->tokens = calloc(strlen(pattern) + 1, sizeof(*g->tokens));
	ret = g->tokens ? compile(g, pattern, why) : -ENOMEM;
	if (ret < 0) {
		scr_glob_free(g);
		return ret;
	}
	*out = g;
	return 0;
}

/* Whether token @t matches the one byte @c. */
static bool takes(const struct scr_glob *g, const struct scr_glob_token *t, unsigned char c)
{
	switch (t->op) {
	case SCR_GLOB_BYTE:
		return t->byte == c;
	case SCR_GLOB_ANY:
		return c != '/';
	case SCR_GLOB_CLASS:
		return scr_glob_set_has(&g->sets[t->set], c);
	default:
		return false;
	}
}

/* Where matching goes on if what was tried behind a star fails. */
struct retry {
	const char *at;   /* NULL: there is none */
	size_t token;     /* behind the star */
};

/* The star takes one byte more. */
static bool retry_star(struct retry *r, const char *end)
{
	if (!r->at || r->at == end || *r->at == '/')
		return false;
	r->at++;
	return true;
}

/* "**" takes one component more. */
static bool retry_dirs(struct retry *r, const char *end)
{
	const char *slash = r->at ? memchr(r->at, '/', (size_t)(end - r->at)) : NULL;

	if (!slash)
		return false;
	r->at = slash + 1;
	return true;
}

static bool match(const struct scr_glob *g, const char *p, const char *end)
{
	struct retry star = {NULL, 0}, dirs = {NULL, 0};
	size_t i = 0;

	for (;;) {
		const struct scr_glob_token *t = &g->tokens[i];

		if (i == g->count && p == end)
			return true;
		if (i < g->count && t->op == SCR_GLOB_STAR) {
			star = (struct retry){p, ++i};
			continue;
		}
		if (i < g->count && t->op == SCR_GLOB_DIRS) {
			dirs = (struct retry){p, ++i};
			star.at = NULL;
			continue;
		}
		if (i < g->count && t->op == SCR_GLOB_REST && p < end)
			return true;
		if (i < g->count && p < end && takes(g, t, (unsigned char)*p)) {
			i++;
			p++;
			continue;
		}
		if (retry_star(&star, end)) {
			p = star.at;
			i = star.token;
		} else if (retry_dirs(&dirs, end)) {
			p = dirs.at;
			i = dirs.token;
			star.at = NULL;
		} else {
			return false;
		}
	}
}

bool scr_glob_match(const struct scr_glob *g, const char *path, size_t len, bool is_dir)
{
	const char *name;

	if (g->dirs_only && !is_dir)
		return false;
	if (g->anchored)
		return match(g, path, path + len);
	name = memrchr(path, '/', len);
	return match(g, name ? name + 1 : path, path + len);
}

void scr_glob_free(struct scr_glob *g)
{
	if (!g)
		return;
	free(g->tokens);
	free(g->sets);
	free(g);
}
