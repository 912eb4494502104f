/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes bitscrub.conf: what is taken is the same when it is written and read again, and can be
 * used by every verb; what is not is refused in one message that names the line. */
#include <config.h>
#include "fuzz.h"

#include <bitscrub.h>
#include <stdarg.h>
#include <string.h>

#include "base/compiler.h"
#include "command.h"
#include "conf.h"
#include "usage.h"

const struct fuzz_format fuzz_format = {.name = "conf"};

/* The table of verbs wants their functions, and the parser somebody to complain to. */
#define COMMAND(verb, ...)                                                                         \
	int cmd_##verb(struct job *job SCR_UNUSED, char **args SCR_UNUSED, size_t n SCR_UNUSED)    \
	{                                                                                          \
		return 0;                                                                          \
	}
#include "commands.def"
#undef COMMAND

static char message[1u << 17];
static unsigned int messages;

int usage_error(const struct command *cmd SCR_UNUSED, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	messages++;
	return SCR_EXIT_USAGE;
}

int usage_trouble(const char *text)
{
	snprintf(message, sizeof(message), "%s", text);
	messages++;
	return SCR_EXIT_TROUBLE;
}

static int parse(struct conf *c, const void *text, size_t size)
{
	/* fmemopen() takes no empty file. */
	FILE *f = size ? fmemopen((void *)(uintptr_t)text, size, "r") : fopen("/dev/null", "r");
	int r;

	FUZZ_ASSERT(f);
	*c = (struct conf){.file = "F"};
	message[0] = '\0';
	messages = 0;
	r = conf_parse(c, f, &commands[0]);
	fclose(f);
	return r;
}

static unsigned int count_lines(const uint8_t *p, size_t size)
{
	unsigned int n = size > 0;

	for (size_t i = 0; i + 1 < size; i++)
		n += p[i] == '\n';
	return n;
}

static void check_refused(int r, unsigned int lines)
{
	unsigned int line;

	FUZZ_ASSERT(r == SCR_EXIT_USAGE && messages == 1);
	FUZZ_ASSERT(sscanf(message, "F:%u: ", &line) == 1);
	FUZZ_ASSERT(line >= 1 && line <= lines);
}

static void check_section(const struct conf *c, size_t i)
{
	const struct conf_section *s = &c->sections[i];

	FUZZ_ASSERT((i == 0) == !s->target);
	FUZZ_ASSERT(!s->target || s->target[0] == '/' || strchr(s->target, '='));
	for (size_t j = 1; j < i; j++)
		FUZZ_ASSERT(strcmp(c->sections[j].target, s->target));
	for (size_t e = 0; e < s->n; e++)
		FUZZ_ASSERT(s->entries[e].row && s->entries[e].value && s->entries[e].line);
}

/* Every verb can use it. */
static void check_use(const struct conf *c)
{
	for (const struct command *cmd = commands; cmd->name; cmd++) {
		struct options opt = {0};

		for (size_t i = 0; i < c->n; i++)
			FUZZ_ASSERT(conf_apply(&c->sections[i], cmd, &opt) == 0);
		options_finish(&opt);
		options_free(&opt);
	}
}

static char *write_again(const struct conf *c, size_t *size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, size);

	FUZZ_ASSERT(f);
	for (size_t i = 0; i < c->n; i++) {
		const struct conf_section *s = &c->sections[i];

		fprintf(f, "[%s]\n", s->target ? s->target : "defaults");
		for (size_t e = 0; e < s->n; e++)
			fprintf(f, "%s=%s\n", s->entries[e].row->name, s->entries[e].value);
	}
	fclose(f);
	return text;
}

static void check_same(const struct conf *a, const struct conf *b)
{
	FUZZ_ASSERT(a->n == b->n);
	for (size_t i = 0; i < a->n; i++) {
		const struct conf_section *x = &a->sections[i], *y = &b->sections[i];

		FUZZ_ASSERT(x->n == y->n && (i == 0 || !strcmp(x->target, y->target)));
		for (size_t e = 0; e < x->n; e++)
			FUZZ_ASSERT(x->entries[e].row == y->entries[e].row &&
				    !strcmp(x->entries[e].value, y->entries[e].value));
	}
}

static void check_taken(const struct conf *c)
{
	struct conf again;
	size_t size;
	char *text;

	FUZZ_ASSERT(messages == 0 && c->n >= 1);
	for (size_t i = 0; i < c->n; i++)
		check_section(c, i);
	check_use(c);
	text = write_again(c, &size);
	FUZZ_ASSERT(parse(&again, text, size) == 0);
	check_same(c, &again);
	conf_free(&again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	struct conf c;
	int r = parse(&c, p, size);

	if (r)
		check_refused(r, count_lines(p, size));
	else
		check_taken(&c);
	conf_free(&c);
	return 0;
}
