/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the state of a target belongs. */
#include <config.h>
#include "io/state_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"

#define ESCAPE_MAX 200

static bool escape_keeps(char c, bool first)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
		return true;
	return c == ':' || c == '_' || (c == '.' && !first);
}

/* Appends one character of the path; a whole escape or nothing. */
static int escape_char(struct scr_buf *out, char c)
{
	char hex[5];

	if (c == '/')
		return scr_buf_append(out, "-", 1);
	if (escape_keeps(c, out->len == 0))
		return scr_buf_append(out, &c, 1);
	snprintf(hex, sizeof(hex), "\\x%02x", (unsigned int)(unsigned char)c);
	return scr_buf_append(out, hex, 4);
}

/* The escaped @path, which has no '/' at its ends; *cut if it is longer than ESCAPE_MAX. */
static int escape_all(struct scr_buf *out, const char *path, size_t len, bool *cut)
{
	for (size_t i = 0; i < len; i++) {
		size_t before = out->len;
		int ret;

		if (path[i] == '/' && path[i + 1] == '/')
			continue;
		ret = escape_char(out, path[i]);
		if (ret < 0)
			return ret;
		if (out->len > ESCAPE_MAX) {
			out->len = before;
			*cut = true;
			return 0;
		}
	}
	return 0;
}

char *scr_state_escape(const char *absolute_path)
{
	struct scr_buf out = {0};
	const char *p = absolute_path + strspn(absolute_path, "/");
	size_t len = strlen(p);
	bool cut = false;
	char crc[10] = "";

	while (len > 0 && p[len - 1] == '/')
		len--;
	if (len == 0)
		return strdup("-");
	if (escape_all(&out, p, len, &cut) < 0)
		goto fail;
	if (cut)
		snprintf(crc, sizeof(crc), "-%08lx",
			 crc32(0, (const Bytef *)absolute_path, (uInt)strlen(absolute_path)));
	if (scr_buf_append(&out, crc, strlen(crc) + 1) < 0)
		goto fail;
	return (char *)out.data;
fail:
	scr_buf_free(&out);
	return NULL;
}

/* @path made absolute, without '/' at its end. */
static char *absolute(const char *path)
{
	char *cwd = NULL, *abs;
	size_t n;

	if (path[0] == '/') {
		abs = strdup(path);
	} else {
		cwd = getcwd(NULL, 0);
		abs = cwd ? scr_path_join(cwd, path) : NULL;
		free(cwd);
	}
	for (n = abs ? strlen(abs) : 0; n > 1 && abs[n - 1] == '/'; n--)
		abs[n - 1] = '\0';
	return abs;
}

/* Whether root must not keep state beside or in @target: -errno, 0 or 1. */
static int unsafe_for_root(const char *target, bool is_dir, struct scr_why *why)
{
	const char *slash = strrchr(target, '/');
	char *parent;
	struct stat st;
	int ret;

	if (stat(target, &st) < 0)
		return scr_why_errno(why, -errno, "look at", target);
	if (scr_stat_writable_by_others(&st))
		return 1;
	if (is_dir)
		return 0;
	parent = strndup(target, slash ? SCR_MAX((size_t)(slash - target), 1) : 0);
	if (!parent)
		return -ENOMEM;
	ret = stat(parent, &st) < 0 ? scr_why_errno(why, -errno, "look at", parent)
				    : scr_stat_writable_by_others(&st);
	free(parent);
	return ret;
}

static int place_by_target(const char *target, bool is_dir, const char *state_root,
			   struct scr_state_place *p)
{
	char *name = scr_state_escape(target);

	if (is_dir)
		p->in_target = scr_path_join(target, SCR_STATE_DIR_NAME);
	else if (asprintf(&p->in_target, "%s" SCR_STATE_SUFFIX, target) < 0)
		p->in_target = NULL;
	if (name)
		p->in_root = scr_path_join(state_root ? state_root : SCR_STATEDIR, name);
	free(name);
	return p->in_target && p->in_root ? 0 : -ENOMEM;
}

int scr_state_place(const char *target, bool target_is_dir, const char *given,
		    const char *state_root, struct scr_state_place *out, struct scr_why *why)
{
	struct scr_state_place p = {0};
	int ret;

	if (given) {
		p.given = absolute(given);
		ret = p.given ? 0 : -errno;
	} else {
		ret = place_by_target(target, target_is_dir, state_root, &p);
	}
	if (ret == 0 && !given && geteuid() == 0) {
		ret = unsafe_for_root(target, target_is_dir, why);
		p.use_root = ret > 0;
	}
	if (ret < 0) {
		scr_state_place_free(&p);
		return ret;
	}
	*out = p;
	return 0;
}

int scr_state_place_named(const char *name, const char *given, const char *state_root,
			  struct scr_state_place *out)
{
	struct scr_state_place p = {.use_root = !given};

	if (given)
		p.given = absolute(given);
	else
		p.in_root = scr_path_join(state_root ? state_root : SCR_STATEDIR, name);
	if (!p.given && !p.in_root)
		return -ENOMEM;
	*out = p;
	return 0;
}

void scr_state_place_free(struct scr_state_place *p)
{
	if (!p)
		return;
	free(p->in_target);
	free(p->in_root);
	free(p->given);
	*p = (struct scr_state_place){0};
}
