/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the options of a verb by the table. */
#include <config.h>
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "nearest.h"
#include "units.h"
#include "usage.h"

const struct option_row option_rows[OPTIONS] = {
#define OPTION(id, name, letter, arg, kind, member, help) \
	[OPTION_##id] = { name, letter, arg, KIND_##kind, offsetof(struct options, member), help },
#include "options.def"
#undef OPTION
};

/* getopt's return value for row i when it has no letter. */
#define LONG_ONLY 256

/* Adds "@name=@value", or @value alone if @name is NULL. */
static int add(struct strings *s, const char *name, const char *value)
{
	char **v = realloc(s->v, (s->n + 2) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	s->v = v;
	v[s->n] = NULL;
	if (asprintf(&v[s->n], "%s%s%s", name ? name : "", name ? "=" : "", value) < 0) {
		v[s->n] = NULL;
		return -ENOMEM;
	}
	v[++s->n] = NULL;
	return 0;
}

static int add_size(struct strings *s, const char *name, const char *arg)
{
	char bytes[24];
	uint64_t size;

	if (units_parse_size(arg, &size) < 0)
		return -EINVAL;
	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)size);
	return add(s, name, bytes);
}

static int add_to_list(struct strings *s, const char *name, const char *arg)
{
	char key[32];

	snprintf(key, sizeof(key), "%s+", name);
	return add(s, key, arg);
}

static int parse_number(const char *arg, unsigned int *out)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (arg[0] < '0' || arg[0] > '9' || *end || errno || n < 1 || n > 65536)
		return -EINVAL;
	*out = (unsigned int)n;
	return 0;
}

static int parse_size(const char *arg, uint64_t *out)
{
	uint64_t size;

	if (units_parse_size(arg, &size) < 0 || size == 0)
		return -EINVAL;
	*out = size;
	return 0;
}

/* "new", "damaged", or both with a comma. */
static int parse_only(const char *arg, struct scr_options *lib)
{
	do {
		size_t len = strcspn(arg, ",");

		if (len == 3 && !strncmp(arg, "new", len))
			lib->only_new = true;
		else if (len == 7 && !strncmp(arg, "damaged", len))
			lib->only_damaged = true;
		else
			return -EINVAL;
		arg += len;
	} while (*arg++);
	return 0;
}

static int parse_wait(const char *arg, struct scr_options *lib)
{
	lib->wait = true;
	lib->wait_ns = 0;
	return arg ? units_parse_duration(arg, &lib->wait_ns) : 0;
}

int options_set(struct options *opt, const struct option_row *row, const char *arg)
{
	void *field = (char *)opt + row->field;

	switch (row->kind) {
	case KIND_FLAG:
		*(bool *)field = true;
		return 0;
	case KIND_STRING:
		/* A script whose variable is not set: better no pass than one that tells nobody. */
		if (!*arg)
			return -EINVAL;
		*(const char **)field = arg;
		return 0;
	case KIND_NUMBER:
		return parse_number(arg, field);
	case KIND_SETTING:
		return add(field, row->name, arg);
	case KIND_LIST_SETTING:
		return add_to_list(field, row->name, arg);
	case KIND_SIZE_SETTING:
		return add_size(field, row->name, arg);
	case KIND_PARITY_OFF:
		return add(field, "parity", "off");
	case KIND_KERNEL:
		return add(field, NULL, arg);
	case KIND_SIZE:
		return parse_size(arg, field);
	case KIND_DURATION:
		return units_parse_duration(arg, field);
	case KIND_PORTION:
		return units_parse_percent(arg, field);
	case KIND_ONLY:
		return parse_only(arg, field);
	case KIND_WAIT:
		return parse_wait(arg, field);
	}
	return -EINVAL;
}

static int argument_of(const struct option_row *row)
{
	if (!row->arg)
		return no_argument;
	return row->kind == KIND_WAIT ? optional_argument : required_argument;
}

/* The letters and long options that @set has, in getopt's form. */
static void getopt_tables(uint64_t set, char *letters, struct option *longs)
{
	*letters++ = ':'; /* tell a missing argument from an unknown option */
	for (int i = 0; i < OPTIONS; i++) {
		const struct option_row *row = &option_rows[i];

		if (!(set & UINT64_C(1) << i))
			continue;
		*longs++ = (struct option){ row->name, argument_of(row), NULL, LONG_ONLY + i };
		if (!row->letter)
			continue;
		*letters++ = (char)row->letter;
		if (row->arg)
			*letters++ = ':';
	}
	*letters = '\0';
	*longs = (struct option){ 0 };
}

static int row_of(int value)
{
	if (value >= LONG_ONLY)
		return value - LONG_ONLY;
	for (int i = 0; i < OPTIONS; i++)
		if (option_rows[i].letter == value)
			return i;
	return -1;
}

/* A long option that getopt didn't take: the nearest one that this verb has, or one of another. */
static int unknown_long(const struct command *cmd, const char *word)
{
	size_t len = strcspn(word, "=");
	struct nearest near = nearest_start(word + 2, len - 2);

	for (int i = 0; i < OPTIONS; i++) {
		const char *name = option_rows[i].name;

		if (strlen(name) == len - 2 && !strncmp(name, word + 2, len - 2))
			return usage_error(cmd, "'%s' takes no option %.*s%s", cmd->name, (int)len,
					   word, cmd->options & UINT64_C(1) << i ? " with an argument" : "");
		if (cmd->options & UINT64_C(1) << i)
			nearest_try(&near, name);
	}
	if (near.word)
		return usage_error(cmd, "unknown option %.*s; did you mean --%s?", (int)len, word,
				   near.word);
	return usage_error(cmd, "unknown option %.*s", (int)len, word);
}

static int bad_option(const struct command *cmd, char *word, int value)
{
	if (value == ':')
		return usage_error(cmd, "option %s needs an argument", word);
	if (optopt && optopt < LONG_ONLY && row_of(optopt) >= 0)
		return usage_error(cmd, "'%s' takes no option -%c", cmd->name, optopt);
	if (optopt && optopt < LONG_ONLY)
		return usage_error(cmd, "unknown option -%c", optopt);
	return unknown_long(cmd, word);
}

/* What parsing accepts, for who wrote something else. */
static const char *const forms[] = {
	[KIND_STRING] = "value",
	[KIND_NUMBER] = "number from 1 to 65536",
	[KIND_SIZE_SETTING] = "size such as 4096, 64K or 1M",
	[KIND_SIZE] = "size such as 4096, 100M or 2T",
	[KIND_DURATION] = "time such as 90s, 45m, 2h, 30d or 4w",
	[KIND_PORTION] = "portion such as 5% or 0.5%",
	[KIND_ONLY] = "kind: 'new', 'damaged', or 'new,damaged'",
	[KIND_WAIT] = "time such as 90 (seconds), 45m or 2h",
};

/* Whether @word, which getopt took for an abbreviation of @row, is the name of an option that the verb
 * does not take: "repair --all" must not mean --allow-moved. */
static bool is_another(const struct option_row *row, const char *word)
{
	if (strncmp(word, "--", 2) != 0 || !strcmp(word + 2, row->name))
		return false;
	for (int i = 0; i < OPTIONS; i++)
		if (!strcmp(option_rows[i].name, word + 2))
			return strncmp(row->name, word + 2, strlen(word + 2)) == 0;
	return false;
}

static int parse_one(const struct command *cmd, struct options *opt, int value, char *word)
{
	const struct option_row *row;
	int r;

	if (value == '?' || value == ':')
		return bad_option(cmd, word, value);
	row = &option_rows[row_of(value)];
	if (is_another(row, word))
		return unknown_long(cmd, word);
	r = options_set(opt, row, optarg);
	if (r == -ENOMEM)
		return usage_trouble("out of memory");
	if (r < 0)
		return usage_error(cmd, "--%s: '%s' is no %s", row->name, optarg,
				   options_expected(row));
	return 0;
}

void options_finish(struct options *opt)
{
	opt->lib.settings = (const char *const *)opt->settings.v;
	opt->lib.kernels = (const char *const *)opt->kernels.v;
	opt->lib.verbose = opt->verbose;
	opt->lib.verbose_files = opt->verbose;
}

const char *options_expected(const struct option_row *row)
{
	return forms[row->kind];
}

int options_parse_over(const struct command *cmd, int argc, char **argv, struct options *opt,
		       int *operand)
{
	char letters[2 * OPTIONS + 2];
	struct option longs[OPTIONS + 1];
	int value, r;

	getopt_tables(cmd->options, letters, longs);
	opterr = 0;
	optind = 0; /* the GNU way to begin anew */
	for (;;) {
		/* getopt moves words about as it goes: this is the one it looks at next, and the
		 * one that it looked at is before optind after it. */
		value = getopt_long(argc, argv, letters, longs, NULL);
		if (value < 0)
			break;
		r = parse_one(cmd, opt, value, argv[optind - 1]);
		if (r)
			return r;
	}
	options_finish(opt);
	*operand = optind;
	return 0;
}

int options_parse(const struct command *cmd, int argc, char **argv, struct options *opt,
		  int *operand)
{
	*opt = (struct options){ 0 };
	return options_parse_over(cmd, argc, argv, opt, operand);
}

static void free_strings(struct strings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct strings){ 0 };
}

void options_free(struct options *opt)
{
	free_strings(&opt->settings);
	free_strings(&opt->kernels);
}
