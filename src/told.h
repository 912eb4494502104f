/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who else is told of a pass, besides the terminal: syslog, a command, and Prometheus.
 *
 *	told_begin()                     --metrics=FILE can be written?
 *	told_target()                    a call on a target begins
 *	told_event() ...                 each event of it
 *	told_close()                     the call has ended, its lock is released: syslog, the
 *command told_measure()                   and, when its exit status stands, the counts told_end()
 *all targets are through: the file
 */
#ifndef TOLD_H
#define TOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <bitscrub.h>

#include "report.h"

struct metrics {
	const char *file;         /* NULL: not wanted */
	struct metrics_row *rows; /* one a target */
	size_t n;
	uint64_t *kinds; /* while open damage is counted: files by kind; else NULL */
};

struct told {
	const struct options *opt; /* of the present target */
	struct report json;        /* renders for the command */
	bool syslog;
	unsigned int logged; /* lines about damage of the present target */
	/* For the command, of the present target: */
	FILE *events; /* damage as JSON Lines, into text; NULL: none */
	char *text;
	size_t len;
	unsigned int kept;
	bool news; /* damage that no earlier pass knew */
	struct metrics metrics;
};

/* @opt: what holds for all targets. 0, or exit status bits after saying why. */
int told_begin(struct told *t, const struct options *opt, const struct command *cmd);
void told_target(struct told *t, const struct options *opt);
void told_event(struct told *t, const struct scr_event *ev);
/* Runs the command of --on-damage, if there is a reason; that ends early once *@stopped is set.
 * Returns NULL, or a sentence that says how it failed, to be freed. */
char *told_close(struct told *t, const char *target, const struct scr_summary *s,
		 const atomic_int *stopped);
/* Before the summary is told, once all that belongs into it is counted. */
void told_summary(struct told *t, const char *target, const struct scr_summary *s);
/* @status: NULL if there is none. 0 or -ENOMEM, not said. */
int told_measure(struct told *t, const char *target, const struct scr_summary *s,
		 const struct scr_status *status, const uint64_t kinds[SCR_DAMAGE_KINDS]);
int told_end(struct told *t);
void told_free(struct told *t);

/* told_command.c: runs @cmd by /bin/sh with @fd as its standard input. As told_close(). */
char *told_run(const char *cmd, const char *target, int exit, int fd, const atomic_int *stopped);

/* told_metrics.c. 0 or exit status bits, said; but metrics_add() as told_measure(). */
int metrics_begin(struct metrics *m, const char *file);
int metrics_add(struct metrics *m, const char *verb, const char *target,
		const struct scr_summary *s, const struct scr_status *status,
		const uint64_t kinds[SCR_DAMAGE_KINDS]);
int metrics_end(struct metrics *m);
void metrics_free(struct metrics *m);
/* For metrics_end() and tests. */
void metrics_write(const struct metrics *m, FILE *f);

/* told_temporary.c: a new file in the directory of @file, locked while it is open, which the collector
 * doesn't take for one of its own: those end in .prom. *@name is to be freed. -errno. */
int metrics_temporary(const char *file, char **name);
/* Removes those that killed processes of this user have left there. */
void metrics_remove_stale(const char *file);

/* told_syslog.c */
void syslog_begin(void);
void syslog_damage(const char *target, const struct scr_damage *d, unsigned int *logged);
void syslog_trouble(const char *target, const struct scr_trouble *t);
void syslog_summary(const char *verb, const char *target, const struct scr_summary *s,
		    unsigned int logged);

#endif
