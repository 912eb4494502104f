/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bitscrub.conf: opened, checked, and asked. */
#include <config.h>
#include "conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "usage.h"

#define INSTALLED SCR_SYSCONFDIR "/bitscrub.conf"

static int say(const char *file, const char *what)
{
	char *text = NULL;
	int r;

	if (asprintf(&text, "%s: %s", file, what) < 0)
		return usage_trouble("out of memory");
	r = usage_trouble(text);
	free(text);
	return r;
}

/* It names commands to run and places to write to: whoever can write to it is who runs us. */
static int check(const char *file, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return say(file, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return say(file, "no regular file");
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return say(file, "refused: it belongs to neither root nor you");
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return say(file, "refused: others can write to it (chmod go-w it)");
	return 0;
}

int conf_load(struct conf *c, const char *file, bool needed, const struct command *cmd)
{
	FILE *stream;
	int fd, r;

	*c = (struct conf){.file = file ? file : INSTALLED};
	fd = open(c->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* The installed one is not for a user who may not even read it: no state of theirs is in
	 * it. */
	if (fd < 0 && !file && !needed && (errno == ENOENT || (errno == EACCES && geteuid() != 0)))
		return 0;
	if (fd < 0)
		return say(c->file, strerror(errno));
	r = check(c->file, fd);
	stream = r ? NULL : fdopen(fd, "r");
	if (!stream) {
		close(fd);
		return r ? r : usage_trouble("out of memory");
	}
	r = conf_parse(c, stream, cmd);
	fclose(stream);
	return r;
}

void conf_free(struct conf *c)
{
	for (size_t i = 0; i < c->n; i++) {
		for (size_t e = 0; e < c->sections[i].n; e++)
			free(c->sections[i].entries[e].value);
		free(c->sections[i].entries);
		free(c->sections[i].target);
	}
	free(c->sections);
	*c = (struct conf){0};
}

const struct conf_section *conf_find(const struct conf *c, const char *target)
{
	for (size_t i = 1; i < c->n; i++)
		if (scr_same_target(c->sections[i].target, target))
			return &c->sections[i];
	return NULL;
}

const char *conf_value(const struct conf_section *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->entries[i].row->name, name))
			return s->entries[i].value;
	return NULL;
}

/* A flag has "no" or "yes"; so has an option whose argument may be left out. */
static int apply(struct options *opt, const struct conf_entry *e)
{
	bool no = !strcmp(e->value, "no"), yes = !strcmp(e->value, "yes");

	if (e->row->kind == KIND_FLAG && no)
		*(bool *)((char *)opt + e->row->field) = false;
	else if (e->row->kind == KIND_WAIT && no)
		opt->lib.wait = false;
	else
		return options_set(opt, e->row, e->row->kind == KIND_WAIT && yes ? NULL : e->value);
	return 0;
}

int conf_apply(const struct conf_section *s, const struct command *cmd, struct options *opt)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct conf_entry *e = &s->entries[i];
		int r = cmd->options & UINT64_C(1) << (e->row - option_rows) ? apply(opt, e) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}
