/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hands each event to the renderer that was asked for. */
#include <config.h>
#include "report.h"

#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "console.h"
#include "options.h"
#include "quote.h"

void report_init(struct report *r, struct console *console, const struct command *cmd,
		 const struct options *opt)
{
	*r = (struct report){ .console = console, .cmd = cmd, .opt = opt, .out = stdout };
	r->ops = opt->json ? &report_json_ops : &report_text_ops;
}

static void note(struct report *r, const char *target, const char *text)
{
	if (r->opt->quiet)
		return;
	console_err(r->console);
	if (target && r->many) {
		quote_name(stderr, target, strlen(target));
		fputs(": ", stderr);
	}
	quote_text(stderr, text, strlen(text));
	putc('\n', stderr);
	console_done(r->console);
}

/* A mail begins with the verdict, which is known last. Whoever reads along on a terminal has asked
 * for nothing but damage; JSON is for programs; repair tells of each step. */
static bool holds_back(const struct report *r)
{
	return r->opt->quiet && !r->opt->json &&
	       (!strcmp(r->cmd->name, "run") || !strcmp(r->cmd->name, "verify"));
}

/* Renderers print to stdout. Under the console's lock that may be another stream for a while: no
 * renderer has to know. */
static void begin_found(struct report *r)
{
	console_out(r->console);
	if (!holds_back(r))
		return;
	if (!r->held)
		r->held = open_memstream(&r->held_text, &r->held_len);
	if (!r->held)
		return;
	r->shown = stdout;
	stdout = r->held;
}

static void end_found(struct report *r)
{
	if (r->shown)
		stdout = r->shown;
	r->shown = NULL;
	console_flush(r->console);
}

void report_release(struct report *r)
{
	if (r->held && fclose(r->held) == 0)
		fwrite(r->held_text, 1, r->held_len, stdout);
	free(r->held_text);
	r->held = NULL;
	r->held_text = NULL;
	r->held_len = 0;
}

void report_event(void *arg, const struct scr_event *ev)
{
	struct report *r = arg;

	switch (ev->type) {
	case SCR_EV_DAMAGE:
		begin_found(r);
		r->ops->damage(r, ev->target, ev->u.damage);
		end_found(r);
		break;
	case SCR_EV_FILE:
		console_out(r->console);
		r->ops->file(r, ev->target, ev->u.file);
		console_done(r->console);
		break;
	case SCR_EV_LIST:
		console_out(r->console);
		r->ops->list(r, ev->target, ev->u.list);
		console_done(r->console);
		break;
	case SCR_EV_TROUBLE:
		r->ops->trouble(r, ev->target, ev->u.trouble);
		break;
	case SCR_EV_NOTE:
		note(r, ev->target, ev->u.note);
		break;
	case SCR_EV_REPAIR:
		begin_found(r);
		r->ops->repair(r, ev->target, ev->u.repair);
		end_found(r);
		break;
	case SCR_EV_OWNER:
		begin_found(r);
		r->ops->owner(r, ev->target, ev->u.owner);
		end_found(r);
		break;
	case SCR_EV_SUMMARY:
		break; /* the call returns it too: report_end() */
	}
}

static int64_t stood(const struct report *r)
{
	return r->stood_ns ? *r->stood_ns : 0;
}

double report_seconds(const struct report *r, const struct scr_summary *s)
{
	double awake = s->seconds - (double)(stood(r) - r->stood_before) / 1e9;

	return awake > 0 ? awake : s->seconds;
}

static void forget_known(struct report *r)
{
	tdestroy(r->known, free);
	r->known = NULL;
	r->known_count = 0;
	r->any_pass = false;
	r->new_count = r->repair_count = 0;
	r->stood_before = stood(r);
}

void report_end(struct report *r, const char *target, const struct scr_summary *s)
{
	console_out(r->console);
	r->ops->summary(r, target, s);
	report_release(r); /* what no closing block asked for */
	console_flush(r->console);
	forget_known(r);
}

void report_status(struct report *r, const char *target, const struct scr_status *s)
{
	console_out(r->console);
	r->ops->status(r, target, s);
	console_flush(r->console);
}

void report_pass(struct report *r, const char *target, const struct scr_pass_record *p)
{
	console_out(r->console);
	r->ops->pass(r, target, p);
	console_done(r->console);
	r->any_pass = true;
}

void report_setting(struct report *r, const char *target, const char *key, const char *value)
{
	console_out(r->console);
	r->ops->setting(r, target, key, value);
	console_done(r->console);
}

/* FNV-1a. Two names of one hash would be counted as one, which a count in a mail survives. */
static uint64_t hash(const struct scr_name *name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < name->len; i++)
		h = (h ^ (unsigned char)name->path[i]) * UINT64_C(0x100000001b3);
	return h;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

bool report_known_is_new(struct report *r, const struct scr_name *name)
{
	uint64_t *key = malloc(sizeof(*key));
	uint64_t **slot;

	if (!key)
		return true;
	*key = hash(name);
	slot = tsearch(key, &r->known, compare);
	if (slot && *slot == key) {
		r->known_count++;
		return true;
	}
	free(key);
	return slot == NULL;
}
