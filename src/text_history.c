/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes that were, a line each. */
#include <config.h>
#include "report_text.h"

#include <stdio.h>
#include <string.h>

#include "options.h"
#include "quote.h"
#include "units.h"

static const char *how_far(const struct scr_pass_record *p)
{
	if (p->exit & SCR_EXIT_STOPPED)
		return "stopped";
	if (p->first)
		return p->complete ? "first" : "first, part";
	return p->complete ? "complete" : p->limited ? "limited" : "NOT complete";
}

/* What changed nothing is not worth a word. */
static void put_counts(const struct scr_pass_record *p)
{
	const char *comma = "  ";

	for (int v = 0; v < SCR_VERDICTS; v++) {
		if (!p->verdicts[v] || v == SCR_OK || v == SCR_TOUCHED)
			continue;
		printf("%s%llu %s", comma, (unsigned long long)p->verdicts[v],
		       scr_verdict_name((enum scr_verdict)v));
		comma = ", ";
	}
	if (p->transient) {
		printf("%s%llu transient", comma, (unsigned long long)p->transient);
		comma = ", ";
	}
	if (p->repaired)
		printf("%s%llu repaired", comma, (unsigned long long)p->repaired);
}

void text_pass(struct report *r, const char *target, const struct scr_pass_record *p)
{
	char date[UNITS_TEXT], took[UNITS_TEXT], size[UNITS_TEXT];

	if (r->opt->quiet)
		return;
	if (!r->any_pass) {
		quote_name(stdout, target, strlen(target));
		printf("\n  %-16s  %10s  %10s  %10s  %4s  %s\n", "started", "took", "files", "read",
		       "exit", "pass");
	}
	printf("  %-16s  %10s  ", units_date(date, p->start_ns),
	       units_duration(took, (double)p->duration_ns / 1e9));
	/* What a first pass recorded that was stopped is counted by the next. */
	if (p->files == 0 && (p->exit & SCR_EXIT_STOPPED))
		printf("%10s", "-");
	else
		printf("%10llu", (unsigned long long)p->files);
	printf("  %10s  %4d  %s", units_size(size, p->bytes_read), p->exit, how_far(p));
	put_counts(p);
	putchar('\n');
}
