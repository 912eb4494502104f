/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who else is told of a pass: hands events on, and keeps what the command will want to know. */
#include <config.h>
#include "told.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command.h"
#include "options.h"

/* A disk that dies has millions; who needs all of them asks 'list'. */
#define KEPT_MAX 1000

int told_begin(struct told *t, const struct options *opt, const struct command *cmd)
{
	t->opt = opt;
	report_init(&t->json, NULL, cmd, opt);
	t->syslog = opt->syslog;
	if (t->syslog)
		syslog_begin();
	return opt->metrics ? metrics_begin(&t->metrics, opt->metrics) : 0;
}

static void forget(struct told *t)
{
	if (t->events)
		fclose(t->events);
	free(t->text);
	t->events = NULL;
	t->text = NULL;
	t->len = 0;
	t->kept = 0;
	t->news = false;
	t->logged = 0;
}

void told_target(struct told *t, const struct options *opt)
{
	forget(t);
	t->opt = opt;
	t->json.opt = opt;
}

static void keep(struct told *t, const char *target, const struct scr_damage *d)
{
	if (!d->known && !d->repaired)
		t->news = true;
	if (t->kept++ >= KEPT_MAX)
		return;
	if (!t->events)
		t->events = open_memstream(&t->text, &t->len);
	if (!t->events)
		return;
	t->json.out = t->events;
	report_json_ops.damage(&t->json, target, d);
}

void told_event(struct told *t, const struct scr_event *ev)
{
	if (t->metrics.kinds) {
		if (ev->type == SCR_EV_LIST && ev->u.list->damage_kind < SCR_DAMAGE_KINDS)
			t->metrics.kinds[ev->u.list->damage_kind]++;
		return;
	}
	if (ev->type == SCR_EV_DAMAGE) {
		if (t->syslog)
			syslog_damage(ev->target, ev->u.damage, &t->logged);
		if (t->opt->on_damage)
			keep(t, ev->target, ev->u.damage);
	} else if (ev->type == SCR_EV_TROUBLE && t->syslog) {
		syslog_trouble(ev->target, ev->u.trouble);
	}
}

/* The summary, then the damage: a file without a name, so that it does not matter whether and how
 * slowly the command reads. */
static int make_input(struct told *t, const char *target, const struct scr_summary *s)
{
	int fd = memfd_create("on-damage", MFD_CLOEXEC), copy;
	FILE *f;

	if (fd < 0)
		return -errno;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	f = copy < 0 ? NULL : fdopen(copy, "w");
	if (!f) {
		close(fd);
		if (copy >= 0)
			close(copy);
		return -ENOMEM;
	}
	t->json.out = f;
	report_json_ops.summary(&t->json, target, s);
	if (t->events && fflush(t->events) == 0)
		fwrite(t->text, 1, t->len, f);
	if (fclose(f) != 0 || lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		return -EIO;
	}
	return fd;
}

char *told_close(struct told *t, const char *target, const struct scr_summary *s,
		 const atomic_int *stopped)
{
	bool reason = (t->news && (s->exit & SCR_EXIT_DAMAGE)) || (s->exit & SCR_EXIT_TROUBLE);
	char *failure;
	int fd;

	if (!t->opt->on_damage || !reason)
		return NULL;
	fd = make_input(t, target, s);
	if (fd < 0)
		return strdup("--on-damage: cannot make the input of the command");
	failure = told_run(t->opt->on_damage, target, s->exit, fd, stopped);
	close(fd);
	return failure;
}

void told_summary(struct told *t, const char *target, const struct scr_summary *s)
{
	if (t->syslog)
		syslog_summary(t->json.cmd->name, target, s, t->logged);
}

int told_measure(struct told *t, const char *target, const struct scr_summary *s,
		 const struct scr_status *status, const uint64_t kinds[SCR_DAMAGE_KINDS])
{
	return metrics_add(&t->metrics, t->json.cmd->name, target, s, status, kinds);
}

int told_end(struct told *t)
{
	return t->metrics.file ? metrics_end(&t->metrics) : 0;
}

void told_free(struct told *t)
{
	forget(t);
	metrics_free(&t->metrics);
}
