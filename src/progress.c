/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How far a pass is, as one line. */
#include <config.h>
#include "progress.h"

#include <langinfo.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "quote.h"
#include "units.h"

#define BAR_CELLS 10
#define BAR_FROM 72  /* a narrower terminal has no room for a bar */
#define MARGIN 4     /* columns left free: for the ^C that a terminal echoes without being asked */

/* A busy machine lets nobody wait that long. */
#define STALL_NS INT64_C(3000000000)

int64_t progress_stood(int64_t last_ns, int64_t now_ns)
{
	return now_ns - last_ns > STALL_NS ? now_ns - last_ns : 0;
}

double progress_rate(struct progress_rate *r, const struct scr_progress *p, int64_t now_ns)
{
	int64_t ns;

	if (r->started_ns != p->started_ns || p->bytes_done < r->first_bytes) {
		*r = (struct progress_rate){ p->started_ns, now_ns, p->bytes_done, now_ns };
		return 0;
	}
	r->first_ns += progress_stood(r->last_ns, now_ns);
	r->last_ns = now_ns;
	ns = now_ns - r->first_ns;
	return ns > 0 ? (double)(p->bytes_done - r->first_bytes) * 1e9 / (double)ns : 0;
}

static double share(const struct scr_progress *p)
{
	double s = p->bytes_total ? (double)p->bytes_done / (double)p->bytes_total : 0;

	return s > 1 ? 1 : s;
}

static void put_bar(FILE *f, double s)
{
	int full = (int)(s * BAR_CELLS);

	putc('[', f);
	for (int i = 0; i < BAR_CELLS; i++)
		putc(i < full ? '#' : '.', f);
	fputs("] ", f);
}

/* "1.6 of 5.6 GiB", "900 MiB of 5.6 GiB". */
static void put_part(FILE *f, uint64_t part, uint64_t all)
{
	char done[UNITS_TEXT], total[UNITS_TEXT];
	char *unit = strchr(units_size(done, part), ' ');

	if (!strcmp(unit, strchr(units_size(total, all), ' ')))
		*unit = '\0';
	fprintf(f, "%s of %s", done, total);
}

static void put_amounts(FILE *f, const struct scr_progress *p)
{
	if (p->bytes_total) {
		/* Rounded down: 100 % is said when it is done. */
		fprintf(f, "%d %% ", (int)(share(p) * 100));
		put_part(f, p->bytes_done, p->bytes_total);
	} else if (p->files_done) {
		fprintf(f, "%s, %llu files", p->phase, (unsigned long long)p->files_done);
	} else {
		fputs(p->phase, f);
	}
}

static void put_rate(FILE *f, const struct scr_progress *p, double rate)
{
	char text[UNITS_TEXT];

	if (rate < 1)
		return;
	fprintf(f, ", %s/s", units_size(text, (uint64_t)rate));
	if (p->bytes_total > p->bytes_done)
		fprintf(f, ", %s left",
			units_clock(text, (double)(p->bytes_total - p->bytes_done) / rate));
}

static void put_all(FILE *f, const struct scr_progress *p, double rate)
{
	if (!p->phase) {
		fputs("idle", f);
		return;
	}
	put_amounts(f, p);
	put_rate(f, p, rate);
	if (p->damaged)
		fprintf(f, ", %llu damaged", (unsigned long long)p->damaged);
}

void progress_tell(FILE *f, const struct scr_progress *p, double rate)
{
	put_all(f, p, rate);
	if (p->path[0]) {
		fputs(", ", f);
		quote_name(f, p->path, strnlen(p->path, sizeof(p->path)));
	}
}

/* Columns of the character at @s, as this locale's terminal shows it; a terminal that is not in
 * UTF-8 is taken to show each byte. */
static unsigned int columns(const char *s, size_t len, size_t *bytes)
{
	bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	uint32_t c;
	int w;

	*bytes = utf8 ? quote_utf8(s, len, &c) : 0;
	if (*bytes == 0) {
		*bytes = 1;
		return 1;
	}
	w = wcwidth((wchar_t)c);
	return w < 0 ? 1 : (unsigned int)w;
}

static unsigned int total_columns(const char *s, size_t len)
{
	unsigned int sum = 0;

	for (size_t i = 0, n; i < len; i += n)
		sum += columns(s + i, len - i, &n);
	return sum;
}

/* Cuts the text in place to what fits. */
static void cut(char *s, unsigned int width)
{
	size_t len = strlen(s), n;
	unsigned int w;

	for (size_t i = 0; i < len; i += n) {
		w = columns(s + i, len - i, &n);
		if (w > width) {
			s[i] = '\0';
			return;
		}
		width -= w;
	}
}

/* Of a name that is too long its end tells more than its beginning. */
static const char *tail(const char *s, unsigned int width)
{
	size_t len = strlen(s), i = 0, n;

	for (unsigned int w = total_columns(s, len); w > width; i += n)
		w -= columns(s + i, len - i, &n);
	return s + i;
}

static void put_path(FILE *f, const struct scr_progress *p, unsigned int room)
{
	char *name;

	if (!p->path[0] || room < 12)
		return;
	name = quote_name_dup(p->path, strnlen(p->path, sizeof(p->path)));
	if (!name)
		return;
	room -= 2;
	if (total_columns(name, strlen(name)) <= room)
		fprintf(f, ", %s", name);
	else
		fprintf(f, ", ...%s", tail(name, room - 3));
	free(name);
}

char *progress_line(const struct scr_progress *p, double rate, unsigned int width)
{
	char *line = NULL;
	size_t size;
	FILE *f = open_memstream(&line, &size);

	if (!f)
		return NULL;
	if (width >= BAR_FROM && p->bytes_total)
		put_bar(f, share(p));
	put_all(f, p, rate);
	fflush(f);
	width -= width > MARGIN ? MARGIN : width;
	if (size < width)
		put_path(f, p, width - (unsigned int)size);
	if (fclose(f) != 0) {
		free(line);
		return NULL;
	}
	cut(line, width);
	return line;
}
