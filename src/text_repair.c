/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What repair did, and what it left, for people. */
#include <config.h>
#include "report_text.h"

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "options.h"
#include "quote.h"
#include "units.h"

/* What follows the place; %s of the first is filled with "" or "would be ". */
static const char *done_text(enum scr_repair_how how)
{
	static const char *const texts[SCR_REPAIR_HOWS] = {
		[SCR_REPAIR_PARITY] = "repaired from parity",
		[SCR_REPAIR_FROM] = "repaired from the copy",
		[SCR_REPAIR_DUPLICATE] = "repaired from another block with the same content",
		[SCR_REPAIR_CACHE] = "repaired from the page cache",
		[SCR_REPAIR_CHECKSUM] = "repaired by checksum alone",
		[SCR_REPAIR_SIZE] = "given its recorded size again",
		[SCR_REPAIR_REBUILT] = "damaged parity made anew",
		[SCR_REPAIR_SOUND] = "sound again",
		[SCR_REPAIR_FINISHED] = "a repair that was cut short is completed",
		[SCR_REPAIR_TAKEN_BACK] = "a repair or undo that was cut short is taken back",
		[SCR_REPAIR_UNDONE] = "undone",
		[SCR_REPAIR_KEPT] = "stays repaired",
	};

	return texts[how];
}

static void put_place(const struct scr_repair_event *e)
{
	unsigned long long first = e->block, last = e->block + e->blocks - 1;

	if (e->block != SCR_NO_BLOCK && e->blocks > 1)
		printf(": blocks %llu to %llu", first, last);
	else if (e->block != SCR_NO_BLOCK)
		printf(": block %llu", first);
	if (e->length)
		printf("%s %llu bytes at offset %llu", e->block == SCR_NO_BLOCK ? ":" : ",",
		       (unsigned long long)e->length, (unsigned long long)e->offset);
}

void text_repair(struct report *r, const char *target, const struct scr_repair_event *e)
{
	bool not = e->how == SCR_REPAIR_NOT;

	/* A mail about damage says that it was put right; who asked for a repair waits for what wasn't. */
	if (r->opt->quiet && !not && e->how != SCR_REPAIR_KEPT &&
	    (strcmp(r->cmd->name, "run") || r->repair_count++ >= TEXT_LINES_MAX))
		return;
	text_names(target, &e->name);
	if (not)
		text_alarm(r, r->opt->lib.undo ? "NOT undone" : "NOT repaired");
	else
		printf("%s%s", e->dry_run ? "would be " : "", done_text(e->how));
	put_place(e);
	if (e->why) {
		fputs(": ", stdout);
		quote_text(stdout, e->why, strlen(e->why));
	}
	putchar('\n');
}

static void put_blocks(uint64_t n, const char *what)
{
	printf("%llu block%s %s", (unsigned long long)n, n == 1 ? "" : "s", what);
}

void text_repair_totals(struct report *r, const char *target, const struct scr_summary *s)
{
	if (r->opt->lib.undo)
		return;
	quote_name(stdout, target, strlen(target));
	fputs(": ", stdout);
	put_blocks(s->repaired, "repaired");
	fputs(", read back and found right\n", stdout);
}
