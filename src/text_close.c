/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The closing block: the totals again, and the next command to type. */
#include <config.h>
#include "report_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "console.h"
#include "options.h"
#include "quote.h"
#include "units.h"

static void put_option(const char *option, const char *value)
{
	printf(" %s ", option);
	quote_name(stdout, value, strlen(value));
}

void text_command(const struct report *r, const char *words, const char *target)
{
	quote_name(stdout, program_invocation_name, strlen(program_invocation_name));
	printf(" %s", words);
	if (r->opt->config)
		put_option("--config", r->opt->config);
	if (r->opt->lib.state_dir && !r->opt->conf_state)
		put_option("--state", r->opt->lib.state_dir);
	if (r->opt->lib.manifest)
		put_option("-m", r->opt->lib.manifest);
	fputs(target[0] == '-' ? " -- " : " ", stdout);
	quote_name(stdout, target, strlen(target));
}

static bool is_verb(const struct report *r, const char *verb)
{
	return !strcmp(r->cmd->name, verb);
}

static void put_verdicts(const struct scr_summary *s)
{
	const char *comma = s->files ? ": " : "";

	for (int v = 0; v < SCR_VERDICTS; v++) {
		if (!s->verdicts[v])
			continue;
		printf("%s%llu %s", comma, (unsigned long long)s->verdicts[v],
		       scr_verdict_name((enum scr_verdict)v));
		comma = ", ";
	}
	if (s->transient)
		printf("%s%llu transient", comma, (unsigned long long)s->transient);
	if (s->repaired)
		printf("%s%llu repaired", s->transient ? ", " : comma,
		       (unsigned long long)s->repaired);
}

/* Rounded, but neither 100 of what is only nearly all nor 0 of something. */
static int percent(uint64_t part, uint64_t all)
{
	int p = (int)((double)part * 100 / (double)all + 0.5);

	return p < 1 ? 1 : p > 99 ? 99 : p;
}

static void put_source(uint64_t part, uint64_t all, const char *source, const char **comma)
{
	if (part == 0)
		return;
	if (part == all)
		printf("%sall %s", *comma, source);
	else
		printf("%s%d %% %s", *comma, percent(part, all), source);
	*comma = ", ";
}

static void put_reading(const struct report *r, const struct scr_summary *s)
{
	char size[UNITS_TEXT], time[UNITS_TEXT], rate[UNITS_TEXT];
	double seconds = report_seconds(r, s);
	const char *comma = "; ";

	printf("  read %s in %s", units_size(size, s->bytes_read), units_duration(time, seconds));
	if (seconds > 0.1 && s->bytes_read)
		printf(", %s/s", units_size(rate, (uint64_t)((double)s->bytes_read / seconds)));
	put_source(s->bytes_from_medium, s->bytes_read, "from the medium", &comma);
	put_source(s->bytes_from_cache, s->bytes_read, "from the cache", &comma);
	put_source(s->bytes_unknown, s->bytes_read, "from medium or cache, not known which", &comma);
	putchar('\n');
}

static const char *headline(const struct report *r, const struct scr_summary *s)
{
	if (s->exit & SCR_EXIT_STOPPED)
		return "stopped; what was done is kept";
	if (s->first)
		return s->complete ? "first pass: recorded, nothing was compared" :
				     "first pass, not complete: recorded, nothing was compared";
	if (is_verb(r, "verify"))
		return s->complete ? "compared with the manifest" :
				     "compared with the manifest, not completely";
	if (s->limited)
		return "a part of a pass";
	return s->complete ? "pass complete" : "pass NOT complete";
}

static uint64_t compared(const struct scr_summary *s)
{
	return s->verdicts[SCR_OK] + s->verdicts[SCR_TOUCHED] + s->verdicts[SCR_MOVED];
}

static void put_count(uint64_t n, const char *one)
{
	printf("%llu %s%s", (unsigned long long)n, one, n == 1 ? "" : "s");
}

static void put_damage(const struct report *r, const char *target, const struct scr_summary *s)
{
	quote_name(stdout, target, strlen(target));
	fputs(": ", stdout);
	text_alarm(r, "DAMAGE");
	if (s->blocks_damaged) {
		fputs(": ", stdout);
		put_count(s->blocks_damaged, "block");
	}
	if (s->files_damaged) {
		fputs(s->blocks_damaged ? " in " : ": ", stdout);
		put_count(s->files_damaged, s->device ? "device" : "file");
	}
	if (r->opt->quiet && is_verb(r, "run") && r->new_count == 0)
		fputs(", none of it new", stdout);
	putchar('\n');
}

/* A tool may have written it: only its owner knows which content is right. */
static void put_paths(const struct scr_summary *s)
{
	fputs(s->device ? " .\n" : " PATH...\n", stdout);
}

static void next_after_alteration(const struct report *r, const char *target,
				  const struct scr_summary *s)
{
	text_command(r, "list --damaged", target);
	fputs("\n      then, where the present content is right:\n      ", stdout);
	text_command(r, "accept", target);
	put_paths(s);
	fputs("      and where the recorded one is:\n      ", stdout);
	text_command(r, "repair --force", target);
	put_paths(s);
}

static void next_after_failed_repair(const struct report *r, const char *target,
				     const struct scr_summary *s)
{
	text_command(r, "list --damaged", target);
	printf("\n      then restore %s from a backup, or take %s from a copy of the target:\n      ",
	       s->device ? "it" : "these files", s->device ? "it" : "them");
	text_command(r, s->device ? "repair --from COPY" : "repair --from DIR", target);
	printf("\n      or, if %s present content is right:\n      ", s->device ? "its" : "their");
	text_command(r, "accept", target);
	put_paths(s);
}

/* verify keeps no list of what it found; repair finds it again where it is told to look. A manifest
 * alone repairs nothing. */
static void next_after_difference(const struct report *r, const char *target,
				  const struct scr_summary *s)
{
	fputs("Next: ", stdout);
	if (!r->opt->lib.manifest) {
		text_command(r, "repair", target);
		put_paths(s);
		fputs("      then ", stdout);
	}
	printf("restore what is %s from a good copy, then: ",
	       r->opt->lib.manifest ? "named above" : "left");
	text_command(r, "verify", target);
	putchar('\n');
}

/* What to do about damage. */
static void next_after_damage(const struct report *r, const char *target,
			      const struct scr_summary *s)
{
	if (is_verb(r, "verify")) {
		next_after_difference(r, target, s);
		return;
	}
	fputs("Next: ", stdout);
	if (is_verb(r, "repair")) {
		next_after_failed_repair(r, target, s);
	} else if (s->verdicts[SCR_ALTERED] && !s->verdicts[SCR_ROT] &&
		   !s->verdicts[SCR_UNREADABLE]) {
		next_after_alteration(r, target, s);
	} else {
		text_command(r, "repair", target);
		fputs("\n      then restore what is left from a backup; or, if the present content is right:\n      ",
		      stdout);
		text_command(r, "accept", target);
		put_paths(s);
	}
}

static void next_after_success(const struct report *r, const char *target,
			       const struct scr_summary *s)
{
	fputs("Next: ", stdout);
	if (is_verb(r, "verify")) {
		text_command(r, "verify", target);
		fputs("   (again, from time to time)\n", stdout);
		return;
	}
	text_command(r, "run", target);
	if (s->exit & SCR_EXIT_STOPPED)
		fputs("   (goes on from here)\n", stdout);
	else if (is_verb(r, "accept"))
		putchar('\n');
	else if (s->first)
		fputs("   (checks what was recorded)\n", stdout);
	else
		fputs("   (from cron: run -q --existing)\n", stdout);
}

static bool did_nothing(const struct scr_summary *s)
{
	for (int v = 0; v < SCR_VERDICTS; v++)
		if (s->verdicts[v])
			return false;
	return !s->complete && !s->limited && s->bytes_read == 0;
}

/* What the limits left out, and since when. */
static void put_left(const struct scr_summary *s)
{
	char size[UNITS_TEXT], age[UNITS_TEXT];
	struct timespec now;

	if (!s->limited)
		return;
	printf("  left by --%s: %s", s->limited, units_size(size, s->bytes_left));
	clock_gettime(CLOCK_REALTIME, &now);
	if (s->oldest_check_ns)
		printf("; the oldest check was %s",
		       units_age(age, s->oldest_check_ns, now.tv_sec * INT64_C(1000000000)));
	putchar('\n');
}

static void put_totals(const struct report *r, const char *target, const struct scr_summary *s)
{
	char size[UNITS_TEXT];

	quote_name(stdout, target, strlen(target));
	printf(": %s\n", headline(r, s));
	if (did_nothing(s))
		return;
	fputs("  ", stdout);
	/* A pass that was stopped doesn't know what all of it is. */
	if (s->files || !(s->exit & SCR_EXIT_STOPPED)) {
		put_count(s->files, s->device ? "device" : "file");
		printf(", %s", units_size(size, s->bytes));
	}
	put_verdicts(s);
	putchar('\n');
	if (s->bytes_read)
		put_reading(r, s);
	put_left(s);
	if (s->trouble) {
		fputs("  ", stdout);
		put_count(s->trouble, "trouble");
		puts(", told above");
	}
}

static void put_accepted(const char *target, const struct scr_summary *s)
{
	quote_name(stdout, target, strlen(target));
	fputs(": accepted ", stdout);
	put_count(s->verdicts[SCR_CHANGED], s->device ? "device" : "file");
	putchar('\n');
}

/* What was counted and not told: files with known damage, places with new. */
static void put_rest(const struct report *r, const char *target)
{
	size_t known = r->known_count > TEXT_LINES_MAX ? r->known_count - TEXT_LINES_MAX : 0;
	size_t new = is_verb(r, "run") && r->new_count > TEXT_LINES_MAX ?
			     r->new_count - TEXT_LINES_MAX : 0;

	if (known + new == 0)
		return;
	printf("and %zu more: ", known + new);
	text_command(r, "list --damaged", target);
	putchar('\n');
}

static void init_done(const struct report *r, const char *target)
{
	quote_name(stdout, target, strlen(target));
	fputs(": manifest created, nothing was read\nNext: ", stdout);
	text_command(r, "run", target);
	putchar('\n');
}

static bool sound(const struct scr_summary *s)
{
	return s->complete && !s->first && compared(s) > 0 &&
	       !(s->exit & (SCR_EXIT_DAMAGE | SCR_EXIT_TROUBLE | SCR_EXIT_STOPPED));
}

/* A mail: the verdict, what it is about, what to type; or nothing. */
static void close_quietly(struct report *r, const char *target, const struct scr_summary *s)
{
	bool damaged = s->exit & SCR_EXIT_DAMAGE;

	if (damaged) {
		put_damage(r, target, s);
	} else if ((s->exit & SCR_EXIT_REPAIRED) && r->held) {
		quote_name(stdout, target, strlen(target));
		fputs(": repaired; no damage is open\n", stdout);
	}
	report_release(r);
	put_rest(r, target);
	if (damaged)
		next_after_damage(r, target, s);
}

static void close_pass(struct report *r, const char *target, const struct scr_summary *s)
{
	bool damaged = s->exit & SCR_EXIT_DAMAGE;

	if (r->opt->quiet) {
		close_quietly(r, target, s);
		return;
	}
	if (is_verb(r, "accept") && !(s->exit & SCR_EXIT_USAGE))
		put_accepted(target, s);
	else if (!did_nothing(s) || (s->exit & SCR_EXIT_STOPPED))
		put_totals(r, target, s);
	if (damaged) {
		put_damage(r, target, s);
		next_after_damage(r, target, s);
		return;
	}
	if (sound(s))
		puts("No damage.");
	/* Trouble has been told with what to do about it, which then comes first. */
	if (!(s->exit & (SCR_EXIT_TROUBLE | SCR_EXIT_USAGE)))
		next_after_success(r, target, s);
}

static void close_repair(struct report *r, const char *target, const struct scr_summary *s)
{
	if (s->exit & SCR_EXIT_USAGE)
		return;
	if (!r->opt->quiet && !r->opt->lib.dry_run && s->repaired)
		text_repair_totals(r, target, s);
	if (s->exit & SCR_EXIT_DAMAGE) {
		put_damage(r, target, s);
		if (!r->opt->lib.dry_run && !r->opt->lib.undo)
			next_after_damage(r, target, s);
	} else if (!r->opt->quiet && !(s->exit & SCR_EXIT_TROUBLE)) {
		fputs("Next: ", stdout);
		text_command(r, "run", target);
		putchar('\n');
	}
}

void text_summary(struct report *r, const char *target, const struct scr_summary *s)
{
	if (is_verb(r, "repair")) {
		close_repair(r, target, s);
	} else if (is_verb(r, "init")) {
		if (!s->exit && !r->opt->quiet)
			init_done(r, target);
	} else if (is_verb(r, "run") || is_verb(r, "verify") || is_verb(r, "accept")) {
		close_pass(r, target, s);
	}
}
