/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* --syslog: what a mail would say, a line each. */
#include <config.h>
#include "told.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "quote.h"
#include "units.h"

/* Of damage, a target. A log is for finding out that something is wrong, not for keeping lists. */
#define LINES_MAX 100

void syslog_begin(void)
{
	openlog(program_invocation_short_name, LOG_PID, LOG_DAEMON);
}

/* Hands the line that was written to @f, which is closed, to syslog. */
static void send_line(int priority, FILE *f, char **line)
{
	if (f && fclose(f) == 0)
		syslog(priority, "%s", *line);
	free(*line);
}

static void put_names(FILE *f, const char *target, const struct scr_name *name)
{
	if (target) {
		quote_name(f, target, strlen(target));
		fputs(": ", f);
	}
	if (!name->path || (name->len == 1 && name->path[0] == '.'))
		return;
	quote_name(f, name->path, name->len);
	fputs(": ", f);
}

void syslog_damage(const char *target, const struct scr_damage *d, unsigned int *logged)
{
	char *line = NULL, date[UNITS_TEXT];
	size_t len;
	FILE *f;

	if ((*logged)++ >= LINES_MAX)
		return;
	f = open_memstream(&line, &len);
	if (!f)
		return;
	put_names(f, target, &d->name);
	fputs(scr_damage_kind_name(d->kind), f);
	if (d->block != SCR_NO_BLOCK && d->kind != SCR_DAMAGE_MANIFEST)
		fprintf(f, ": %llu bytes at offset %llu", (unsigned long long)d->length,
			(unsigned long long)d->offset);
	if (d->repaired)
		fputs(", rebuilt", f);
	if (d->known)
		fprintf(f, ", known since %s", units_date(date, d->since));
	send_line(d->repaired ? LOG_WARNING : LOG_ERR, f, &line);
}

void syslog_trouble(const char *target, const struct scr_trouble *t)
{
	const char *why = t->err ? strerror(t->err) : NULL;
	char *line = NULL;
	size_t len;
	FILE *f = open_memstream(&line, &len);

	if (!f)
		return;
	put_names(f, target, &t->name);
	quote_text(f, t->message, strlen(t->message));
	if (why && !strstr(t->message, why))
		fprintf(f, ": %s", why);
	send_line(LOG_WARNING, f, &line);
}

static const char *outcome(const struct scr_summary *s)
{
	if (s->exit & SCR_EXIT_DAMAGE)
		return "DAMAGE";
	if (s->exit & SCR_EXIT_TROUBLE)
		return "trouble";
	if (s->exit & SCR_EXIT_STOPPED)
		return "stopped";
	if (s->exit & SCR_EXIT_USAGE)
		return "nothing done";
	return s->complete ? "sound" : "not complete";
}

void syslog_summary(const char *verb, const char *target, const struct scr_summary *s,
		    unsigned int logged)
{
	char *line = NULL;
	size_t len;
	FILE *f = open_memstream(&line, &len);

	if (!f)
		return;
	put_names(f, target, &(struct scr_name){NULL, 0});
	fprintf(f,
		"%s: %s; files %llu, damaged files %llu, damaged blocks %llu, troubles %llu, exit "
		"status %d",
		verb, outcome(s), (unsigned long long)s->files,
		(unsigned long long)s->files_damaged, (unsigned long long)s->blocks_damaged,
		(unsigned long long)s->trouble, s->exit);
	if (logged > LINES_MAX)
		fprintf(f, "; %u more lines about damage left out", logged - LINES_MAX);
	send_line(s->exit & SCR_EXIT_DAMAGE    ? LOG_ERR
		  : s->exit & SCR_EXIT_TROUBLE ? LOG_WARNING
					       : LOG_INFO,
		  f, &line);
}
