/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event stream: one event at a time, counted as it is told. */
#include <config.h>
#include "pass/device.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scr_name scr_pass_name(const struct scr_pass *p, const char *path, size_t len)
{
	if (!path)
		return (struct scr_name){NULL, 0};
	if (p->leaf && len == 1 && path[0] == '.')
		return (struct scr_name){p->leaf, strlen(p->leaf)};
	return (struct scr_name){path, len};
}

/* The caller holds ctx->lock. */
static void deliver(struct scr_pass *p, struct scr_event *ev)
{
	ev->target = p->target;
	if (p->ctx->sink)
		p->ctx->sink(p->ctx->sink_arg, ev);
}

void scr_emit_damage(struct scr_pass *p, const struct scr_damage *d)
{
	struct scr_damage named = *d;
	char region[256];
	struct scr_event ev = {.type = SCR_EV_DAMAGE, .u.damage = &named};

	named.name = scr_pass_name(p, d->name.path, d->name.len);
	named.device = p->device != NULL;
	if (p->device)
		named.region = scr_device_note_damage(p, d, region, sizeof(region));
	p->ctx->damaged++;
	pthread_mutex_lock(&p->ctx->lock);
	deliver(p, &ev);
	pthread_mutex_unlock(&p->ctx->lock);
}

void scr_emit_owner(struct scr_pass *p, const struct scr_owner_event *e)
{
	struct scr_event ev = {.type = SCR_EV_OWNER, .u.owner = e};

	pthread_mutex_lock(&p->ctx->lock);
	deliver(p, &ev);
	pthread_mutex_unlock(&p->ctx->lock);
}

void scr_emit_repair(struct scr_pass *p, const struct scr_repair_event *e)
{
	struct scr_repair_event named = *e;
	struct scr_event ev = {.type = SCR_EV_REPAIR, .u.repair = &named};

	named.name = scr_pass_name(p, e->name.path, e->name.len);
	pthread_mutex_lock(&p->ctx->lock);
	deliver(p, &ev);
	pthread_mutex_unlock(&p->ctx->lock);
}

void scr_emit_file(struct scr_pass *p, const struct scr_file_event *f)
{
	struct scr_file_event named = *f;
	struct scr_event ev = {.type = SCR_EV_FILE, .u.file = &named};

	named.name = scr_pass_name(p, f->name.path, f->name.len);
	pthread_mutex_lock(&p->ctx->lock);
	p->sum.verdicts[f->verdict]++;
	if (p->ctx->opt.verbose_files || f->bit_flip)
		deliver(p, &ev);
	pthread_mutex_unlock(&p->ctx->lock);
}

/* Tells @t, whose message is yet to be made. */
static void vtrouble(struct scr_pass *p, struct scr_trouble t, const char *fmt, va_list ap)
	SCR_PRINTF(3, 0);

static void vtrouble(struct scr_pass *p, struct scr_trouble t, const char *fmt, va_list ap)
{
	char message[8192];
	struct scr_event ev = {.type = SCR_EV_TROUBLE, .u.trouble = &t};

	t.name = scr_pass_name(p, t.name.path, t.name.len);
	t.message = message;
	vsnprintf(message, sizeof(message), fmt, ap);
	pthread_mutex_lock(&p->ctx->lock);
	p->sum.trouble += !t.warning;
	if (!t.warning)
		p->told = t.err;
	deliver(p, &ev);
	pthread_mutex_unlock(&p->ctx->lock);
}

void scr_trouble(struct scr_pass *p, const char *path, size_t len, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vtrouble(p, (struct scr_trouble){.name = {path, len}, .err = err}, fmt, ap);
	va_end(ap);
}

void scr_warn(struct scr_pass *p, const char *path, size_t len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vtrouble(p, (struct scr_trouble){.name = {path, len}, .warning = true}, fmt, ap);
	va_end(ap);
}

int scr_usage(struct scr_pass *p, const char *path, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vtrouble(p,
		 (struct scr_trouble){.name = {path, path ? strlen(path) : 0},
				      .warning = true,
				      .usage = true},
		 fmt, ap);
	va_end(ap);
	p->sum.exit |= SCR_EXIT_USAGE;
	return -EINVAL;
}

void scr_note(struct scr_pass *p, const char *fmt, ...)
{
	char message[8192];
	struct scr_event ev = {.type = SCR_EV_NOTE, .u.note = message};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&p->ctx->lock);
	deliver(p, &ev);
	pthread_mutex_unlock(&p->ctx->lock);
}
