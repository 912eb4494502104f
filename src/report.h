/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rendering of what the library tells: one stream of events, two renderers. */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <bitscrub.h>

struct command;
struct console;
struct options;
struct report;

/* Any pointer may be NULL: then there is nothing to say. Called with the console taken for stdout,
 * but for trouble and note. */
struct report_ops {
	void (*damage)(struct report *r, const char *target, const struct scr_damage *d);
	void (*file)(struct report *r, const char *target, const struct scr_file_event *f);
	void (*trouble)(struct report *r, const char *target, const struct scr_trouble *t);
	void (*list)(struct report *r, const char *target, const struct scr_list_entry *e);
	void (*repair)(struct report *r, const char *target, const struct scr_repair_event *e);
	void (*owner)(struct report *r, const char *target, const struct scr_owner_event *e);
	void (*summary)(struct report *r, const char *target, const struct scr_summary *s);
	void (*status)(struct report *r, const char *target, const struct scr_status *s);
	void (*pass)(struct report *r, const char *target, const struct scr_pass_record *p);
	void (*setting)(struct report *r, const char *target, const char *key, const char *value);
};

extern const struct report_ops report_text_ops, report_json_ops;

struct report {
	const struct report_ops *ops;
	struct console *console;
	const struct options *opt;
	const struct command *cmd;
	FILE *out;          /* where JSON goes: stdout, but for --on-damage */
	bool many;          /* several targets: talk has to name the one it is about */
	const _Atomic int64_t *stood_ns; /* time in which the process was stopped; may be NULL */
	/* Of the present target: */
	int64_t stood_before; /* the same, before it */
	bool any_pass;      /* of its history was told */
	void *known;        /* tsearch tree of names whose known damage was told or counted */
	size_t known_count;
	size_t new_count;   /* lines about damage that is new, told or not */
	size_t repair_count; /* the same about what was put right */
	/* Under -q what is found is held back until the verdict can stand above it: */
	FILE *held, *shown; /* a stream into held_text, and stdout meanwhile */
	char *held_text;
	size_t held_len;
};

void report_init(struct report *r, struct console *console, const struct command *cmd,
		 const struct options *opt);
/* The event sink: arg is the report. */
void report_event(void *arg, const struct scr_event *ev);
/* Ends a target: its summary, after whatever else was said of it. */
void report_end(struct report *r, const char *target, const struct scr_summary *s);

/* How long the present target was worked on, without the time in which the process was stopped. */
double report_seconds(const struct report *r, const struct scr_summary *s);

/* Prints what was held back, to stdout. */
void report_release(struct report *r);

void report_status(struct report *r, const char *target, const struct scr_status *s);
void report_pass(struct report *r, const char *target, const struct scr_pass_record *p);
void report_setting(struct report *r, const char *target, const char *key, const char *value);

/* Whether known damage of this name has not been seen before in this target; counts it. */
bool report_known_is_new(struct report *r, const struct scr_name *name);

#endif
