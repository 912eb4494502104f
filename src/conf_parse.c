/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bitscrub.conf: the lines. */
#include <config.h>
#include "conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "nearest.h"
#include "usage.h"

struct parser {
	struct conf *conf;
	const struct command *cmd; /* for messages */
	unsigned int line;
};

/* What a key of the file can't be, although it is an option of the verbs that read it. */
enum {
	/* of one command, not of a target */
	OPTS_COMMAND = OPT_HELP | OPT_QUIET | OPT_JSON | OPT_VERBOSE | OPT_ALL | OPT_CONFIG |
		       OPT_HISTORY | OPT_MANIFEST | OPT_EXISTING,
	/* for the one time when somebody has looked */
	OPTS_GUARDS = OPT_ALLOW_MISSING | OPT_ALLOW_MOVED | OPT_FROM_PREVIOUS,
	/* one file, one log, one process, whatever the number of targets */
	OPTS_DEFAULTS_ONLY = OPT_METRICS | OPT_SYSLOG | OPT_NICE,
	OPTS_PATHS = OPT_STATE | OPT_METRICS,
};

static int wrong(const struct parser *p, const char *what, const char *word)
{
	return usage_error(p->cmd, "%s:%u: %s'%s'", p->conf->file, p->line, what, word);
}

/* The verbs that have --all, which are those that read options from here. */
static uint64_t known_options(void)
{
	uint64_t set = 0;

	for (const struct command *c = commands; c->name; c++)
		if (c->options & OPT_ALL)
			set |= c->options;
	return set;
}

static char *trim(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n > 0 && isspace((unsigned char)s[n - 1]))
		n--;
	s[n] = '\0';
	return s;
}

static struct conf_section *add_section(struct conf *c, const char *target, unsigned int line)
{
	struct conf_section *list = realloc(c->sections, (c->n + 1) * sizeof(*list));
	char *copy = target ? strdup(target) : NULL;

	if (list)
		c->sections = list;
	if (!list || (target && !copy)) {
		free(copy);
		return NULL;
	}
	list[c->n] = (struct conf_section){.target = copy, .line = line};
	return &list[c->n++];
}

/* How a device may be called instead of by its path. */
static bool is_tag(const char *s)
{
	static const char *const tags[] = {"UUID=", "LABEL=", "PARTUUID=", "PARTLABEL="};

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (!strncmp(s, tags[i], strlen(tags[i])) && s[strlen(tags[i])])
			return true;
	return false;
}

static void drop_last_slashes(char *s)
{
	size_t n = strlen(s);

	while (n > 1 && s[n - 1] == '/')
		s[--n] = '\0';
}

static int head(struct parser *p, char *line, struct conf_section **now)
{
	size_t n = strlen(line);

	if (n < 3 || line[n - 1] != ']')
		return wrong(p, "a section is [TARGET] or [defaults], not ", line);
	line[n - 1] = '\0';
	line++;
	if (!strcmp(line, "defaults")) {
		if (p->conf->sections[0].line)
			return wrong(p, "there is a second section ", line);
		*now = &p->conf->sections[0];
		(*now)->line = p->line;
		return 0;
	}
	if (line[0] != '/' && !is_tag(line))
		return wrong(p, "a target is an absolute path, not ", line);
	if (line[0] == '/') /* LABEL=/ is a usual label, and another than LABEL= */
		drop_last_slashes(line);
	for (size_t i = 1; i < p->conf->n; i++)
		if (!strcmp(p->conf->sections[i].target, line))
			return wrong(p, "there is a section already for ", line);
	*now = add_section(p->conf, line, p->line);
	return *now ? 0 : usage_trouble("out of memory");
}

static int unknown_key(struct parser *p, const char *key, uint64_t known)
{
	struct nearest near = nearest_start(key, strlen(key));

	for (int i = 0; i < OPTIONS; i++)
		if (known & UINT64_C(1) << i)
			nearest_try(&near, option_rows[i].name);
	if (near.word)
		return usage_error(p->cmd, "%s:%u: unknown key '%s'; did you mean '%s'?",
				   p->conf->file, p->line, key, near.word);
	return wrong(p, "unknown key ", key);
}

/* The row of @key, or NULL after *r was set to what the message returned. */
static const struct option_row *find_key(struct parser *p, const struct conf_section *s,
					 const char *key, int *r)
{
	const uint64_t known =
		known_options() & ~(uint64_t)(OPTS_COMMAND | OPTS_GUARDS | OPTS_SETTINGS);
	const struct option_row *row = NULL;
	uint64_t bit = 0;

	for (int i = 0; i < OPTIONS && !row; i++) {
		bit = UINT64_C(1) << i;
		if (!strcmp(option_rows[i].name, key))
			row = &option_rows[i];
	}
	if (!row || (!(bit & known) && !(bit & (OPTS_COMMAND | OPTS_GUARDS | OPTS_SETTINGS))))
		*r = unknown_key(p, key, known);
	else if (bit & OPTS_SETTINGS)
		*r = wrong(p, "a setting is kept with the target, see 'init' and 'config': ", key);
	else if (bit & OPTS_GUARDS)
		*r = wrong(p, "a guard is overridden on the command line, once, not here: ", key);
	else if (bit & OPTS_COMMAND)
		*r = wrong(p, "an option of the command line only: ", key);
	else if ((bit & OPTS_DEFAULTS_ONLY) && s->target)
		*r = wrong(p, "it is for all targets, and belongs to [defaults]: ", key);
	else if ((bit & OPT_STATE) && !s->target)
		*r = wrong(p, "each target has its own, so it can't be in [defaults]: ", key);
	else
		return row;
	return NULL;
}

static bool is_word(const char *value)
{
	return !strcmp(value, "yes") || !strcmp(value, "no");
}

static int check_value(struct parser *p, const struct option_row *row, const char *value)
{
	struct options scratch = {0};
	int r;

	if (row->kind == KIND_FLAG && !is_word(value))
		return usage_error(p->cmd, "%s:%u: %s is yes or no, not '%s'", p->conf->file,
				   p->line, row->name, value);
	if (row->kind == KIND_FLAG || (row->kind == KIND_WAIT && is_word(value)))
		return 0;
	if (!*value)
		return wrong(p, "a value is missing for ", row->name);
	if (UINT64_C(1) << (row - option_rows) & OPTS_PATHS && value[0] != '/')
		return usage_error(p->cmd, "%s:%u: %s is an absolute path, not '%s'", p->conf->file,
				   p->line, row->name, value);
	r = options_set(&scratch, row, value);
	options_free(&scratch);
	if (r == -ENOMEM)
		return usage_trouble("out of memory");
	if (r < 0)
		return usage_error(p->cmd, "%s:%u: %s: '%s' is no %s", p->conf->file, p->line,
				   row->name, value, options_expected(row));
	return 0;
}

static bool repeatable(const struct option_row *row)
{
	return row->kind == KIND_LIST_SETTING || row->kind == KIND_KERNEL;
}

static int add_entry(struct parser *p, struct conf_section *s, const struct option_row *row,
		     const char *value)
{
	struct conf_entry *list;
	char *copy;

	if (!repeatable(row) && conf_value(s, row->name))
		return wrong(p, "set twice: ", row->name);
	list = realloc(s->entries, (s->n + 1) * sizeof(*list));
	copy = strdup(value);
	if (list)
		s->entries = list;
	if (!list || !copy) {
		free(copy);
		return usage_trouble("out of memory");
	}
	list[s->n++] = (struct conf_entry){row, copy, p->line};
	return 0;
}

static int entry(struct parser *p, char *line, struct conf_section *s)
{
	char *equals = strchr(line, '=');
	const struct option_row *row;
	char *value = NULL;
	int r = 0;

	if (equals) {
		*equals = '\0';
		value = trim(equals + 1);
	}
	line = trim(line);
	if (!s)
		return wrong(p, "a section, [TARGET] or [defaults], comes before ", line);
	row = find_key(p, s, line, &r);
	if (!row)
		return r;
	if (!value && row->kind != KIND_FLAG && row->kind != KIND_WAIT)
		return wrong(p, "a value is missing for ", row->name);
	r = check_value(p, row, value ? value : "yes");
	return r ? r : add_entry(p, s, row, value ? value : "yes");
}

int conf_parse(struct conf *c, FILE *stream, const struct command *cmd)
{
	struct parser p = {.conf = c, .cmd = cmd};
	struct conf_section *now = NULL; /* valid until one is added, and then it is that one */
	char *line = NULL, *text;
	size_t size = 0;
	ssize_t n;
	int r = add_section(c, NULL, 0) ? 0 : usage_trouble("out of memory");

	while (r == 0 && (n = getline(&line, &size, stream)) >= 0) {
		p.line++;
		if (memchr(line, '\0', (size_t)n)) {
			r = wrong(&p, "a NUL byte after ", line);
			break;
		}
		text = trim(line);
		if (!*text || *text == '#' || *text == ';')
			continue;
		r = *text == '[' ? head(&p, text, &now) : entry(&p, text, now);
	}
	/* Out of memory too: a part of it must not pass for all. */
	if (r == 0 && !feof(stream))
		r = usage_trouble("cannot read bitscrub.conf");
	free(line);
	return r;
}
