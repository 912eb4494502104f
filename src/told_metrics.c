/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* --metrics: counts in the text format that Prometheus' node exporter collects from files. */
#include <config.h>
#include "told.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "quote.h"
#include "usage.h"

struct metrics_row {
	char *label; /* target="...",verb="run" */
	bool known;  /* there is a status */
	struct scr_summary sum;
	struct scr_status status;
	uint64_t kinds[SCR_DAMAGE_KINDS];
	double end; /* seconds since the epoch */
};

static int say(const char *file, const char *what)
{
	char *name = quote_name_dup(file, strlen(file)), *text = NULL;
	int r;

	if (!name || asprintf(&text, "--metrics: cannot write %s: %s", name, what) < 0)
		r = usage_trouble("--metrics: out of memory");
	else
		r = usage_trouble(text);
	free(name);
	free(text);
	return r;
}

/* Before hours of reading: whether this can end well. */
int metrics_begin(struct metrics *m, const char *file)
{
	struct stat st;
	char *name;
	int fd;

	m->file = file;
	if (stat(file, &st) == 0 && !S_ISREG(st.st_mode))
		return say(file, "it is there and no regular file");
	metrics_remove_stale(file);
	fd = metrics_temporary(file, &name);
	if (fd < 0)
		return say(file, strerror(-fd));
	unlink(name);
	close(fd);
	free(name);
	return 0;
}

/* Label values are UTF-8 with three escapes. */
static char *make_label(const char *verb, const char *target)
{
	char *utf8, *label = NULL;
	size_t len;
	int exact;
	FILE *f;

	utf8 = quote_json(target, strlen(target), &exact);
	f = utf8 ? open_memstream(&label, &len) : NULL;
	if (!f) {
		free(utf8);
		return NULL;
	}
	fputs("target=\"", f);
	for (const char *s = utf8; *s; s++) {
		if (*s == '\n')
			fputs("\\n", f);
		else if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else
			putc(*s, f);
	}
	fprintf(f, "\",verb=\"%s\"", verb);
	fclose(f);
	free(utf8);
	return label;
}

/* The row for @label: a target that is named twice has one. NULL if out of memory. */
static struct metrics_row *row_for(struct metrics *m, char *label)
{
	struct metrics_row *rows;

	for (size_t i = 0; i < m->n; i++) {
		if (strcmp(m->rows[i].label, label))
			continue;
		free(label);
		return &m->rows[i];
	}
	rows = realloc(m->rows, (m->n + 1) * sizeof(*rows));
	if (!rows) {
		free(label);
		return NULL;
	}
	m->rows = rows;
	rows[m->n] = (struct metrics_row){.label = label};
	return &rows[m->n++];
}

int metrics_add(struct metrics *m, const char *verb, const char *target,
		const struct scr_summary *s, const struct scr_status *status,
		const uint64_t kinds[SCR_DAMAGE_KINDS])
{
	char *label = make_label(verb, target);
	struct metrics_row *row = label ? row_for(m, label) : NULL;
	struct timespec now;

	if (!row)
		return -ENOMEM;
	clock_gettime(CLOCK_REALTIME, &now);
	row->sum = *s;
	row->end = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	row->known = status != NULL;
	if (status)
		row->status = *status;
	memcpy(row->kinds, kinds, sizeof(row->kinds));
	return 0;
}

/* ---- rendering --------------------------------------------------------------------------- */

static void head(FILE *f, const char *name, const char *help)
{
	fprintf(f, "# HELP bitscrub_%s %s\n# TYPE bitscrub_%s gauge\n", name, help, name);
}

static void value(FILE *f, const char *name, const struct metrics_row *r, double v)
{
	fprintf(f, "bitscrub_%s{%s} %.15g\n", name, r->label, v);
}

static double seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

/* One row of the table below. */
struct series {
	const char *name, *help;
	bool needs_status; /* without one, 0 would be an all-clear that nobody has found */
	double (*get)(const struct metrics_row *r);
};

#define GET(id, expression)                                                                        \
	static double get_##id(const struct metrics_row *r)                                        \
	{                                                                                          \
		return expression;                                                                 \
	}
GET(end, r->end)
GET(duration, r->sum.seconds)
GET(read, (double)r->sum.bytes_read)
GET(files, (double)r->sum.files)
GET(bytes, (double)r->sum.bytes)
GET(transient, (double)r->sum.transient)
GET(trouble, (double)r->sum.trouble)
GET(repaired, (double)r->sum.repaired)
GET(parity, (double)r->sum.parity_damaged)
GET(skipped, (double)r->sum.verdicts[SCR_SKIPPED])
GET(exit, (double)r->sum.exit)
GET(complete, (double)r->sum.complete)
GET(blocks, (double)r->sum.blocks_damaged)
GET(last_complete, seconds(r->status.last_complete_ns))
GET(oldest, seconds(r->status.oldest_check_ns))
GET(covered, (double)(r->status.bytes - (r->status.bytes_never_checked < r->status.bytes
						 ? r->status.bytes_never_checked
						 : r->status.bytes)))
GET(never, (double)r->status.bytes_never_checked)
#undef GET

static const struct series table[] = {
	{"pass_timestamp_seconds", "When the last pass ended, in seconds since the epoch.", false,
	 get_end},
	{"pass_duration_seconds", "How long the last pass took.", false, get_duration},
	{"pass_read_bytes", "Bytes that the last pass read.", false, get_read},
	{"pass_complete", "1 if the last pass looked at everything.", false, get_complete},
	{"pass_exit_status",
	 "Exit status for this target: a sum of 1 repaired, 4 damage, 8 trouble, 32 stopped.",
	 false, get_exit},
	{"pass_trouble", "What could not be read, written or checked in the last pass.", false,
	 get_trouble},
	{"pass_transient",
	 "Blocks that read wrong once and right the second time in the last pass.", false,
	 get_transient},
	{"pass_repaired", "What was repaired in the last pass.", false, get_repaired},
	{"pass_skipped_files", "Files that the last pass could not check.", false, get_skipped},
	{"pass_damaged_parity_extents", "Extents whose parity the last pass left damaged.", false,
	 get_parity},
	{"files", "Files in the target.", true, get_files},
	{"bytes", "Bytes in the target.", true, get_bytes},
	{"damaged_blocks", "Blocks with open damage.", true, get_blocks},
	{"last_complete_pass_timestamp_seconds",
	 "When the last complete pass began, in seconds since the epoch; 0 if there was none.",
	 true, get_last_complete},
	{"oldest_check_timestamp_seconds",
	 "When what was not checked for the longest time was checked, in seconds since the epoch; "
	 "0 if nothing was.",
	 true, get_oldest},
	{"checked_bytes", "Recorded bytes that were checked at least once.", true, get_covered},
	{"never_checked_bytes", "Recorded bytes that were never checked.", true, get_never},
};

static void write_kinds(const struct metrics *m, FILE *f)
{
	bool any = false;

	for (size_t i = 0; i < m->n; i++) {
		if (!m->rows[i].known)
			continue;
		if (!any)
			head(f, "damaged_files",
			     "Files with open damage, by the kind of the damage.");
		any = true;
		for (int k = 0; k < SCR_DAMAGE_PARITY; k++)
			fprintf(f, "bitscrub_damaged_files{%s,kind=\"%s\"} %llu\n",
				m->rows[i].label, scr_damage_kind_name((enum scr_damage_kind)k),
				(unsigned long long)m->rows[i].kinds[k]);
	}
}

void metrics_write(const struct metrics *m, FILE *f)
{
	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++) {
		bool any = false;

		for (size_t i = 0; i < m->n; i++) {
			if (table[t].needs_status && !m->rows[i].known)
				continue;
			if (!any)
				head(f, table[t].name, table[t].help);
			any = true;
			value(f, table[t].name, &m->rows[i], table[t].get(&m->rows[i]));
		}
	}
	write_kinds(m, f);
}

/* Written, readable for the collector, on the medium: 0 or -errno. @fd stays open, and locked. */
static int fill(const struct metrics *m, int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3), r = 0;
	FILE *f;

	if (copy < 0)
		return -errno;
	f = fdopen(copy, "w");
	if (!f) {
		close(copy);
		return -ENOMEM;
	}
	metrics_write(m, f);
	/* An error before the last buffer shows in ferror() alone. */
	if (fflush(f) != 0 || fchmod(fd, 0644) < 0 || fsync(fd) < 0)
		r = -errno;
	else if (ferror(f))
		r = -EIO;
	if (fclose(f) != 0 && r == 0)
		r = -errno;
	return r;
}

int metrics_end(struct metrics *m)
{
	char *name;
	int fd = metrics_temporary(m->file, &name), r;

	if (fd < 0)
		return say(m->file, strerror(-fd));
	r = fill(m, fd);
	if (r == 0 && rename(name, m->file) < 0)
		r = -errno;
	if (r < 0)
		unlink(name);
	close(fd);
	free(name);
	return r < 0 ? say(m->file, strerror(-r)) : 0;
}

void metrics_free(struct metrics *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->rows[i].label);
	free(m->rows);
	*m = (struct metrics){0};
}
