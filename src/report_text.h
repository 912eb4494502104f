/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the text renderer share. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "report.h"

/* Under -q, lines about damage that was told before, and of run as many about new damage: the rest is
 * in the list. */
#define TEXT_LINES_MAX 20

/* The word on stdout, red where there are colours. */
void text_alarm(const struct report *r, const char *word);

/* "scrub VERB [--state DIR] TARGET" on stdout, as it can be typed: with the program by the path that
 * it was called by, because another one may be found under its name. @words: verb and options. */
void text_command(const struct report *r, const char *words, const char *target);

/* "TARGET: PATH: ", without PATH where the target itself is meant. */
void text_names(const char *target, const struct scr_name *name);

/* text_repair.c */
void text_repair(struct report *r, const char *target, const struct scr_repair_event *e);
void text_repair_totals(struct report *r, const char *target, const struct scr_summary *s);
/* text_close.c */
void text_summary(struct report *r, const char *target, const struct scr_summary *s);
/* text_history.c */
void text_pass(struct report *r, const char *target, const struct scr_pass_record *p);
/* text_status.c */
void text_status(struct report *r, const char *target, const struct scr_status *s);

#endif
