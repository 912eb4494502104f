/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known about a target, for people. */
#include <config.h>
#include "report_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "options.h"
#include "quote.h"
#include "units.h"

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static void put_state(const struct scr_status *s)
{
	char date[UNITS_TEXT];

	fputs("  state        ", stdout);
	quote_name(stdout, s->state, strlen(s->state));
	printf(", generation %" PRIu64 ", written %s\n", s->generation,
	       units_date(date, s->published_ns));
}

/* What a person tells disks apart by, and whether rot can be told from writes. */
static void put_device(const struct scr_status *s)
{
	static const char *const keys[] = { "model", "serial", "wwn", "dm-uuid", "md-uuid", "pttype",
					    "ptuuid", "partuuid", "type", "uuid", "label",
					    "backing" };
	char size[UNITS_TEXT];
	const char *comma = "";

	fputs("  device       ", stdout);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		for (char *const *d = s->device; *d; d++) {
			size_t n = strlen(keys[i]);

			if (strncmp(*d, keys[i], n) != 0 || (*d)[n] != '=')
				continue;
			printf("%s%s ", comma, keys[i]);
			quote_text(stdout, *d + n + 1, strlen(*d + n + 1));
			comma = ", ";
		}
	}
	puts(*comma ? "" : "nothing lasting is known of it");
	if (s->unsure_bytes)
		printf("  unsure       rot can't be told from writes in %s of it\n",
		       units_size(size, s->unsure_bytes));
}

static const char *noun(const struct scr_status *s)
{
	return s->device ? "device" : "file";
}

static void put_recorded(const struct scr_status *s)
{
	char bytes[UNITS_TEXT], block[UNITS_TEXT];

	printf("  recorded     %" PRIu64 " %s%s, %s in %" PRIu64 " block%s of %s", s->files,
	       noun(s), s->files == 1 ? "" : "s", units_size(bytes, s->bytes), s->blocks,
	       s->blocks == 1 ? "" : "s", units_size(block, s->block_size));
	if (s->links)
		printf(", %" PRIu64 " more hard links", s->links);
	putchar('\n');
	if (s->extents_unrecorded)
		printf("  unrecorded   %" PRIu64 " extents that could never be read\n",
		       s->extents_unrecorded);
}

static void put_checked(const struct scr_status *s)
{
	char oldest[UNITS_TEXT], newest[UNITS_TEXT], never[UNITS_TEXT];
	int64_t now = now_ns();

	if (!s->newest_check_ns) {
		puts("  checked      never");
		return;
	}
	printf("  checked      oldest %s, ", units_age(oldest, s->oldest_check_ns, now));
	if (s->median_days >= 1)
		printf("half of it within %.0f days, ", s->median_days + 0.5);
	printf("newest %s", units_age(newest, s->newest_check_ns, now));
	if (s->bytes_never_checked)
		printf("; never: %s", units_size(never, s->bytes_never_checked));
	putchar('\n');
}

#define BAR_CELLS 20

/* A part of all as a bar; something is never nothing. */
static void put_bar(uint64_t part, uint64_t all)
{
	char bar[BAR_CELLS + 1] = "";
	size_t n = (size_t)((double)part * BAR_CELLS / (double)all + 0.5);

	memset(bar, '#', n ? n : 1);
	printf("  %-*s", BAR_CELLS, bar);
}

/* What of @part of @all is coverage: 100 is said when it is all. */
static int whole_percent(uint64_t part, uint64_t all)
{
	return part == all ? 100 : (int)((double)part * 100 / (double)all);
}

/* The buckets that hold something, and how much is covered up to each, as of the last writing of the
 * manifest. */
static void put_ages(const struct scr_status *s)
{
	uint64_t all = s->bytes_never_checked, sum = 0;
	const char *label = "  ages         ";
	char size[UNITS_TEXT];

	for (int i = 0; i < SCR_AGE_BUCKETS; i++)
		all += s->age_bytes[i];
	for (int i = 0; i < SCR_AGE_BUCKETS; i++) {
		sum += s->age_bytes[i];
		if (!s->age_bytes[i])
			continue;
		if (i < SCR_AGE_BUCKETS - 1)
			printf("%sbelow %5u day%s", label, 1u << i, i ? "s" : " ");
		else
			printf("%sabove that       ", label);
		put_bar(s->age_bytes[i], all);
		printf(" %s, %d %% up to here\n", units_size(size, s->age_bytes[i]),
		       whole_percent(sum, all));
		label = "               ";
	}
}

static void put_rate(const struct scr_status *s)
{
	if (s->cycle_days <= 0)
		return;
	if (s->cycle_days < 1.5)
		puts("  rate         at this rate everything is checked every day");
	else
		printf("  rate         at this rate everything is checked every %.0f days\n",
		       s->cycle_days);
}

static void put_damage(const struct report *r, const struct scr_status *s)
{
	char size[UNITS_TEXT];

	fputs("  damage       ", stdout);
	if (!s->files_damaged && !s->blocks_damaged) {
		puts("none known");
		return;
	}
	text_alarm(r, "OPEN");
	printf(": %" PRIu64 " block%s (%s) in %" PRIu64 " %s%s\n", s->blocks_damaged,
	       s->blocks_damaged == 1 ? "" : "s", units_size(size, s->bytes_damaged),
	       s->files_damaged, noun(s), s->files_damaged == 1 ? "" : "s");
}

static void put_parity(const struct scr_status *s)
{
	char size[UNITS_TEXT];

	if (!s->parity)
		puts("  parity       off");
	else
		printf("  parity       one byte for %u of data: %s%s\n", s->columns,
		       units_size(size, s->parity_bytes),
		       s->state_beside_data
			       ? ", beside the data (repairs rot and bad sectors, not a lost disk)"
			       : "");
	if (s->state_free)
		printf("  free         %s where the state is\n", units_size(size, s->state_free));
}

static void put_passes(const struct scr_status *s)
{
	char date[UNITS_TEXT], time[UNITS_TEXT], size[UNITS_TEXT];

	if (s->last_pass_start_ns)
		printf("  last pass    %s, %s in %s, exit status %d\n",
		       units_date(date, s->last_pass_start_ns), units_size(size, s->last_pass_bytes),
		       units_duration(time, (double)s->last_pass_ns / 1e9), s->last_pass_exit);
	if (s->last_complete_ns != s->last_pass_start_ns)
		printf("  complete     the last pass that was complete: %s\n",
		       units_date(date, s->last_complete_ns));
	if (s->pass_running && s->running_pid)
		printf("  running      a pass, process %d; this is what was last written\n",
		       s->running_pid);
	else if (s->pass_running)
		puts("  running      a pass; this is what was last written");
	else if (s->journal_records)
		printf("  unfinished   a pass was stopped after %" PRIu64
		       " extents; the next goes on there\n",
		       s->journal_records);
}

static void put_undo(const struct scr_status *s)
{
	char size[UNITS_TEXT], from[UNITS_TEXT], to[UNITS_TEXT];

	if (s->undo_done)
		printf("  undo         %" PRIu32 " repair%s can be undone, %s; from %s to %s\n",
		       s->undo_done, s->undo_done == 1 ? "" : "s", units_size(size, s->undo_bytes),
		       units_date(from, s->undo_oldest_ns), units_date(to, s->undo_newest_ns));
	if (s->undo_open)
		printf("  under repair %" PRIu32 " repair%s cut short; the next pass or repair completes it\n",
		       s->undo_open, s->undo_open == 1 ? " was" : "s were");
	if (s->undo_damaged)
		printf("  undo log     %" PRIu32 " entries can't be read\n", s->undo_damaged);
}

static void put_next(const struct report *r, const char *target, const struct scr_status *s)
{
	fputs("Next: ", stdout);
	text_command(r, s->files_damaged || s->blocks_damaged ? "repair" : "run", target);
	putchar('\n');
}

void text_status(struct report *r, const char *target, const struct scr_status *s)
{
	bool damaged = s->files_damaged || s->blocks_damaged;

	if (r->opt->quiet && !damaged)
		return;
	quote_name(stdout, target, strlen(target));
	putchar('\n');
	put_state(s);
	if (s->device)
		put_device(s);
	put_recorded(s);
	put_checked(s);
	put_ages(s);
	put_rate(s);
	put_damage(r, s);
	put_parity(s);
	put_passes(s);
	put_undo(s);
	if (!r->opt->lib.manifest && !s->pass_running)
		put_next(r, target, s);
}
