/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the command line asked for, and the table of options that it is parsed by. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bitscrub.h>

/* Owned, NULL-terminated when not empty; @v of no strings is NULL. */
struct strings {
	char **v;
	size_t n;
};

struct options {
	struct scr_options lib; /* settings and kernels are filled in by options_parse() */
	bool quiet, json, verbose, long_list, classic, help, version;
	bool all, syslog, history;
	bool conf_state; /* lib.state_dir is that of bitscrub.conf, which will name it again */
	const char *format, *config, *metrics, *on_damage;
	struct strings settings, kernels;
};

enum option_kind {
	KIND_FLAG,         /* bool: set */
	KIND_STRING,       /* const char *: the argument */
	KIND_NUMBER,       /* unsigned int, at least 1 */
	KIND_SETTING,      /* struct strings: adds "name=argument" */
	KIND_LIST_SETTING, /* the same of one that may be given several times: "name+=argument" */
	KIND_SIZE_SETTING, /* the same, the argument in bytes after K M G T */
	KIND_PARITY_OFF,   /* adds "parity=off" */
	KIND_KERNEL,       /* struct strings: adds the argument */
	KIND_SIZE,         /* uint64_t: bytes, at least 1 */
	KIND_DURATION,     /* int64_t: nanoseconds, at least a second */
	KIND_PORTION,      /* uint32_t: millionths, more than none and at most all */
	KIND_ONLY,         /* struct scr_options: sets only_new, only_damaged */
	KIND_WAIT,         /* struct scr_options: sets wait; the argument may be left out */
};

struct option_row {
	const char *name;
	int letter;       /* 0: none */
	const char *arg;  /* NULL: takes none */
	enum option_kind kind;
	size_t field;     /* offset in struct options */
	const char *help;
};

enum {
#define OPTION(id, ...) OPTION_##id,
#include "options.def"
#undef OPTION
	OPTIONS
};

/* The set of options that a verb takes is an OR of these. */
enum {
#define OPTION(id, ...) OPT_##id = UINT64_C(1) << OPTION_##id,
#include "options.def"
#undef OPTION
	OPTS_COMMON = OPT_QUIET | OPT_JSON | OPT_HELP,
	OPTS_STATE = OPT_STATE | OPT_CONFIG,
	OPTS_TOLD = OPT_METRICS | OPT_SYSLOG | OPT_ON_DAMAGE,
	OPTS_SETTINGS = OPT_BLOCK_SIZE | OPT_PARITY | OPT_NO_PARITY | OPT_PARITY_UNIT |
			OPT_EXCLUDE | OPT_CROSS_MOUNTS,
	OPTS_LIMITS = OPT_MAX_TIME | OPT_MAX_BYTES | OPT_PORTION | OPT_OLDER_THAN | OPT_ONLY,
	OPTS_GENTLE = OPT_RATE | OPT_NICE,
};

extern const struct option_row option_rows[OPTIONS];

struct command;

/* Parses the options of @cmd; argv[0] is the verb. Operands are moved behind the options and
 * @operand is the index of the first. Returns 0, or an exit status after it has said on stderr what
 * is wrong. @opt is to be freed in either case. */
int options_parse(const struct command *cmd, int argc, char **argv, struct options *opt,
		  int *operand);
/* The same over options that are set already, from elsewhere: those of @argv win. */
int options_parse_over(const struct command *cmd, int argc, char **argv, struct options *opt,
		       int *operand);
/* Sets one option; @arg is kept, not copied, for strings. 0, -EINVAL: @arg is not what
 * options_expected() says; -ENOMEM. */
int options_set(struct options *opt, const struct option_row *row, const char *arg);
/* "number from 1 to 65536" or the like. */
const char *options_expected(const struct option_row *row);
/* Hands over to opt->lib what options_set() gathered elsewhere. */
void options_finish(struct options *opt);
void options_free(struct options *opt);

#endif
