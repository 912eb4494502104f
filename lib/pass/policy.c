/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of a manifest: one table of keys, from which parsing, listing and use follow. */
#include <config.h>
#include "pass/policy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"

enum key_kind { KEY_GEOMETRY, KEY_ONE, KEY_LIST };

struct key {
	const char *name;
	enum key_kind kind;
	int (*check)(const char *value, struct scr_setting_error *err);
};

static int fail(struct scr_setting_error *err, const char *fmt, ...) SCR_PRINTF(2, 3);

static int fail(struct scr_setting_error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* A decimal number with an optional binary suffix. */
static int parse_number(const char *s, uint64_t *out)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	uint64_t v;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno)
		return -EINVAL;
	if (*end) {
		unit = strchr(units, *end);
		if (!unit || end[1])
			return -EINVAL;
		for (const char *u = units; u <= unit; u++) {
			if (v > UINT64_MAX >> 10)
				return -EINVAL;
			v <<= 10;
		}
	}
	*out = v;
	return 0;
}

static int check_use_ignore(const char *v, struct scr_setting_error *err)
{
	if (!strcmp(v, "use") || !strcmp(v, "ignore"))
		return 0;
	return fail(err, "'%s' is neither 'use' nor 'ignore'", v);
}

static int check_yes_no(const char *v, struct scr_setting_error *err)
{
	if (!strcmp(v, "yes") || !strcmp(v, "no"))
		return 0;
	return fail(err, "'%s' is neither 'yes' nor 'no'", v);
}

static int check_content(const char *v, struct scr_setting_error *err)
{
	if (!strcmp(v, "auto") || !strcmp(v, "fixed") || !strcmp(v, "changing"))
		return 0;
	return fail(err, "'%s' is neither 'auto', 'fixed' nor 'changing'", v);
}

static int check_small_number(const char *v, struct scr_setting_error *err)
{
	uint64_t n;

	if (parse_number(v, &n) == 0 && n <= 1000000)
		return 0;
	return fail(err, "'%s' is not a whole number from 0 to 1000000", v);
}

static int check_glob(const char *v, struct scr_setting_error *err)
{
	struct scr_filter *f = scr_filter_new();
	const char *why = "out of memory";
	int r = f ? scr_filter_add(f, v, &why) : -ENOMEM;

	scr_filter_free(f);
	return r == -EINVAL ? fail(err, "pattern '%s': %s", v, why) : r;
}

static int check_directory(const char *v, struct scr_setting_error *err)
{
	if (v[0] == '/')
		return 0;
	return fail(err, "'%s' is not an absolute path of a directory", v);
}

/* In the order in which they are shown. */
static const struct key keys[] = {
	{"block-size", KEY_GEOMETRY, NULL},
	{"parity", KEY_GEOMETRY, NULL},
	{"parity-unit", KEY_GEOMETRY, NULL},
	{"exclude", KEY_LIST, check_glob},
	{"frozen", KEY_LIST, check_glob},
	{"ctime", KEY_ONE, check_use_ignore},
	{"inode", KEY_ONE, check_use_ignore},
	{"mtime-window", KEY_ONE, check_small_number},
	{"stale-after", KEY_ONE, check_small_number},
	{"cross-mounts", KEY_ONE, check_yes_no},
	{"content", KEY_ONE, check_content},
	{"copy", KEY_LIST, check_directory},
};

void scr_settings_default(struct scr_settings *s)
{
	*s = (struct scr_settings){
		.geometry = {SCR_BLOCK_SIZE_DEFAULT, SCR_COLUMNS_DEFAULT, SCR_PARITY_UNIT_DEFAULT},
		.parity = true,
	};
}

void scr_settings_free(struct scr_settings *s)
{
	for (char **p = s->pairs; p && *p; p++)
		free(*p);
	free(s->pairs);
	s->pairs = NULL;
}

static bool pair_has_key(const char *pair, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(pair, name, n) && pair[n] == '=';
}

static void remove_pairs(struct scr_settings *s, const char *name)
{
	char **to = s->pairs;

	for (char **from = s->pairs; from && *from; from++) {
		if (pair_has_key(*from, name))
			free(*from);
		else
			*to++ = *from;
	}
	if (to)
		*to = NULL;
}

static int add_pair(struct scr_settings *s, const char *name, const char *value)
{
	size_t n = 0;
	char **pairs;
	char *pair;

	while (s->pairs && s->pairs[n])
		n++;
	pairs = realloc(s->pairs, (n + 2) * sizeof(*pairs));
	if (!pairs)
		return -ENOMEM;
	s->pairs = pairs;
	pairs[n] = NULL;
	if (asprintf(&pair, "%s=%s", name, value) < 0)
		return -ENOMEM;
	pairs[n] = pair;
	pairs[n + 1] = NULL;
	return 0;
}

static bool is_power_of_two(uint64_t v)
{
	return v && !(v & (v - 1));
}

static int apply_parity(struct scr_settings *s, const char *value, bool fixed,
			struct scr_setting_error *err)
{
	bool on = strcmp(value, "off") != 0;
	uint64_t n = s->geometry.columns;

	if (on && !strcmp(value, "on"))
		value = NULL;
	if (on && value && (parse_number(value, &n) < 0 || n < 2 || n > 256))
		return fail(err, "'%s' is neither 'off' nor a number of columns from 2 to 256", value);
	if (fixed && on && n != s->geometry.columns)
		return fail(err, "files are recorded in %u columns; that can't be changed any more",
			    s->geometry.columns);
	if (fixed && !on && s->parity)
		return fail(err, "parity can be switched on, not off, once files are recorded");
	s->geometry.columns = (uint32_t)n;
	s->parity = on;
	return 0;
}

static int apply_geometry(struct scr_settings *s, const char *key, const char *value, bool fixed,
			  struct scr_setting_error *err)
{
	bool block = !strcmp(key, "block-size");
	uint32_t *to = block ? &s->geometry.block_size : &s->geometry.parity_unit;
	uint64_t low = block ? SCR_BLOCK_SIZE_MIN : 64;
	uint64_t high = block ? SCR_BLOCK_SIZE_MAX : 4096;
	uint64_t v;

	if (!strcmp(key, "parity"))
		return apply_parity(s, value, fixed, err);
	if (parse_number(value, &v) < 0 || !is_power_of_two(v) || v < low || v > high)
		return fail(err, "'%s' is not a power of two from %" PRIu64 " to %" PRIu64, value,
			    low, high);
	if (fixed && v != *to)
		return fail(err, "files are recorded with %s=%u; that can't be changed any more",
			    key, *to);
	*to = (uint32_t)v;
	return 0;
}

static const struct key *find_key(const char *name, size_t len)
{
	for (size_t i = 0; i < SCR_ARRAY_SIZE(keys); i++)
		if (strlen(keys[i].name) == len && !memcmp(keys[i].name, name, len))
			return &keys[i];
	return NULL;
}

int scr_settings_apply(struct scr_settings *s, const char *pair, bool has_records,
		       struct scr_setting_error *err)
{
	const char *eq = strchr(pair, '=');
	bool append = eq && eq > pair && eq[-1] == '+';
	const struct key *k;
	int r;

	if (!eq)
		return fail(err, "'%s' is not KEY=VALUE", pair);
	k = find_key(pair, (size_t)(eq - pair) - append);
	if (!k)
		return fail(err, "there is no setting '%.*s'; see 'config' without settings for all",
			    (int)(eq - pair), pair);
	if (append && k->kind != KEY_LIST)
		return fail(err, "%s takes one value; write %s=VALUE", k->name, k->name);
	if (k->kind == KEY_GEOMETRY)
		return apply_geometry(s, k->name, eq + 1, has_records, err);
	if (!eq[1] && append)
		return fail(err, "%s: there is nothing to add", k->name);
	if (!eq[1]) {
		remove_pairs(s, k->name);
		return 0;
	}
	r = k->check(eq + 1, err);
	if (r < 0)
		return r;
	if (!append)
		remove_pairs(s, k->name);
	return add_pair(s, k->name, eq + 1);
}

/* The value of a key that has one, or NULL. */
static const char *value_of(const struct scr_settings *s, const char *name)
{
	for (char **p = s->pairs; p && *p; p++)
		if (pair_has_key(*p, name))
			return *p + strlen(name) + 1;
	return NULL;
}

static const char *default_of(const char *name, const struct scr_fs_info *fs)
{
	if (!strcmp(name, "ctime") || !strcmp(name, "inode"))
		return fs->times_weak ? "ignore" : "use";
	if (!strcmp(name, "mtime-window"))
		return "0";
	if (!strcmp(name, "stale-after"))
		return "30";
	if (!strcmp(name, "content"))
		return "auto";
	return "no";
}

static void each_of_key(const struct scr_settings *s, const struct key *k,
			const struct scr_fs_info *fs,
			void (*fn)(void *arg, const char *key, const char *value), void *arg)
{
	bool any = false;

	for (char **p = s->pairs; p && *p; p++) {
		if (pair_has_key(*p, k->name)) {
			fn(arg, k->name, *p + strlen(k->name) + 1);
			any = true;
		}
	}
	if (!any)
		fn(arg, k->name, k->kind == KEY_LIST ? "" : default_of(k->name, fs));
}

void scr_settings_each(const struct scr_settings *s, const struct scr_fs_info *fs,
		       void (*fn)(void *arg, const char *key, const char *value), void *arg)
{
	char number[3][16];

	snprintf(number[0], sizeof(number[0]), "%u", s->geometry.block_size);
	snprintf(number[1], sizeof(number[1]), s->parity ? "%u" : "off", s->geometry.columns);
	snprintf(number[2], sizeof(number[2]), "%u", s->geometry.parity_unit);
	for (size_t i = 0; i < SCR_ARRAY_SIZE(keys); i++) {
		if (keys[i].kind == KEY_GEOMETRY)
			fn(arg, keys[i].name, number[i]);
		else
			each_of_key(s, &keys[i], fs, fn, arg);
	}
}

static int fill_filter(struct scr_filter **f, const struct scr_settings *s, const char *name)
{
	*f = scr_filter_new();
	if (!*f)
		return -ENOMEM;
	for (char **p = s->pairs; p && *p; p++) {
		const char *why;
		int r;

		if (!pair_has_key(*p, name))
			continue;
		r = scr_filter_add(*f, *p + strlen(name) + 1, &why);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool flag_of(const struct scr_settings *s, const char *name, const char *yes,
		    const struct scr_fs_info *fs)
{
	const char *v = value_of(s, name);

	return !strcmp(v ? v : default_of(name, fs), yes);
}

static enum scr_device_content content_of(const struct scr_settings *s)
{
	const char *v = value_of(s, "content");

	if (v && !strcmp(v, "fixed"))
		return SCR_CONTENT_FIXED;
	return v && !strcmp(v, "changing") ? SCR_CONTENT_CHANGING : SCR_CONTENT_AUTO;
}

static int64_t number_of(const struct scr_settings *s, const char *name,
			 const struct scr_fs_info *fs)
{
	const char *v = value_of(s, name);
	uint64_t n = 0;

	parse_number(v ? v : default_of(name, fs), &n); /* was checked */
	return (int64_t)n;
}

/* More days than nanoseconds can count are for ever. */
static int64_t days_in_ns(int64_t days)
{
	const int64_t day = 86400 * SCR_NS_PER_S;

	return days > INT64_MAX / day ? INT64_MAX : days * day;
}

/* The values of all keys that are known; a later version may have others. */
static int check_pairs(const struct scr_settings *s, struct scr_setting_error *err)
{
	for (char **p = s->pairs; p && *p; p++) {
		const char *eq = strchr(*p, '=');
		const struct key *k = eq ? find_key(*p, (size_t)(eq - *p)) : NULL;
		struct scr_setting_error why;
		int r = k && k->check ? k->check(eq + 1, &why) : 0;

		if (r == -EINVAL)
			fail(err, "setting %.100s: %.300s", *p, why.text);
		if (r < 0)
			return r;
	}
	return 0;
}

int scr_policy_init(struct scr_policy *p, const struct scr_settings *s,
		    const struct scr_fs_info *fs, struct scr_setting_error *err)
{
	int r = check_pairs(s, err);

	*p = (struct scr_policy){.use_ctime = false};
	if (r < 0)
		return r;
	*p = (struct scr_policy){
		.use_ctime = flag_of(s, "ctime", "use", fs),
		.use_inode = flag_of(s, "inode", "use", fs),
		.cross_mounts = flag_of(s, "cross-mounts", "yes", fs),
		.content = content_of(s),
		.mtime_window_ns = number_of(s, "mtime-window", fs) * SCR_NS_PER_S,
		.stale_after_ns = days_in_ns(number_of(s, "stale-after", fs)),
	};
	r = fill_filter(&p->exclude, s, "exclude");
	if (r == 0)
		r = fill_filter(&p->frozen, s, "frozen");
	if (r < 0)
		scr_policy_free(p);
	return r;
}

void scr_policy_free(struct scr_policy *p)
{
	scr_filter_free(p->exclude);
	scr_filter_free(p->frozen);
	p->exclude = p->frozen = NULL;
}
