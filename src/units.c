/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes and times as people write and read them. */
#include <config.h>
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

int units_parse_size(const char *s, uint64_t *bytes)
{
	static const char letters[] = "KMGT";
	unsigned long long n;
	const char *letter;
	unsigned int shift = 0;
	char *end;

	if (!isdigit((unsigned char)s[0]))
		return -EINVAL;
	errno = 0;
	n = strtoull(s, &end, 10);
	if (errno)
		return -EINVAL;
	letter = *end ? strchr(letters, toupper((unsigned char)*end)) : NULL;
	if (letter) {
		shift = 10 * (unsigned int)(letter - letters + 1);
		end++;
		if (!strcasecmp(end, "iB"))
			end += 2;
	}
	if (*end || n > UINT64_MAX >> shift)
		return -EINVAL;
	*bytes = (uint64_t)n << shift;
	return 0;
}

/* Seconds of the unit @c, or 0. */
static int64_t unit_seconds(char c)
{
	switch (tolower((unsigned char)c)) {
	case 's':
	case '\0':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 3600;
	case 'd':
		return 86400;
	case 'w':
		return 7 * 86400;
	default:
		return 0;
	}
}

int units_parse_duration(const char *s, int64_t *ns)
{
	unsigned long long n;
	int64_t unit;
	char *end;

	if (!isdigit((unsigned char)s[0]))
		return -EINVAL;
	errno = 0;
	n = strtoull(s, &end, 10);
	unit = unit_seconds(*end);
	if (errno || !unit || (*end && end[1]) || n == 0 ||
	    n > (unsigned long long)(INT64_MAX / 4 / NS_PER_S / unit))
		return -EINVAL;
	*ns = (int64_t)n * unit * NS_PER_S;
	return 0;
}

int units_parse_percent(const char *s, uint32_t *millionths)
{
	uint32_t n = 0, scale = 10000;
	bool point = false;

	if (!isdigit((unsigned char)s[0]))
		return -EINVAL;
	for (; isdigit((unsigned char)*s) || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		if (!point && n > 100 * 10000)
			return -EINVAL;
		if (point)
			scale /= 10;
		n = point ? n + (uint32_t)(*s - '0') * scale :
			    n * 10 + (uint32_t)(*s - '0') * 10000;
	}
	if (strcmp(s, "%") != 0 || n == 0 || n > 100 * 10000)
		return -EINVAL;
	*millionths = n;
	return 0;
}

char *units_size(char text[UNITS_TEXT], uint64_t bytes)
{
	static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)bytes / 1024;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(text, UNITS_TEXT, "%u byte%s", (unsigned int)bytes, bytes == 1 ? "" : "s");
		return text;
	}
	/* What would be printed as 1024 belongs to the next unit. */
	for (; v >= 1023.5; i++)
		v /= 1024;
	snprintf(text, UNITS_TEXT, v < 9.95 ? "%.1f %s" : "%.0f %s", v, names[i]);
	return text;
}

static void two_units(char *text, uint64_t n, unsigned int per, const char *big, const char *small)
{
	snprintf(text, UNITS_TEXT, "%llu %s %u %s", (unsigned long long)(n / per), big,
		 (unsigned int)(n % per), small);
}

/* Seconds that are no time at all, or too many to count, become ones that can be printed. */
static double sane(double seconds)
{
	if (!(seconds > 0))
		return 0;
	return seconds < 1e12 ? seconds : 1e12;
}

char *units_duration(char text[UNITS_TEXT], double seconds)
{
	uint64_t n;

	seconds = sane(seconds);
	n = (uint64_t)(seconds + 0.5);
	if (seconds < 0.995)
		snprintf(text, UNITS_TEXT, "%.2f s", seconds);
	else if (seconds < 9.95)
		snprintf(text, UNITS_TEXT, "%.1f s", seconds);
	else if (n < 60)
		snprintf(text, UNITS_TEXT, "%u s", (unsigned int)n);
	else if (n < 3600)
		two_units(text, n, 60, "min", "s");
	else if (n < 86400)
		two_units(text, n / 60, 60, "h", "min");
	else
		two_units(text, n / 3600, 24, "d", "h");
	return text;
}

char *units_clock(char text[UNITS_TEXT], double seconds)
{
	uint64_t n = (uint64_t)(sane(seconds) + 0.5);
	unsigned int s = n % 60, m = n / 60 % 60;

	if (n < 3600)
		snprintf(text, UNITS_TEXT, "%u:%02u", m, s);
	else
		snprintf(text, UNITS_TEXT, "%llu:%02u:%02u", (unsigned long long)(n / 3600), m, s);
	return text;
}

static time_t whole_seconds(int64_t ns)
{
	return (time_t)(ns / NS_PER_S - (ns % NS_PER_S < 0));
}

char *units_date(char text[UNITS_TEXT], int64_t ns)
{
	time_t t = whole_seconds(ns);
	struct tm tm;

	if (ns == 0 || !localtime_r(&t, &tm) || !strftime(text, UNITS_TEXT, "%Y-%m-%d %H:%M", &tm))
		snprintf(text, UNITS_TEXT, "never");
	return text;
}

char *units_iso(char text[UNITS_TEXT], int64_t ns)
{
	time_t t = whole_seconds(ns);
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(text, UNITS_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm))
		snprintf(text, UNITS_TEXT, "1970-01-01T00:00:00Z");
	return text;
}

char *units_age(char text[UNITS_TEXT], int64_t ns, int64_t now_ns)
{
	/* Unsigned: a manifest may hold any time, further from now than a signed number can say. */
	uint64_t days = ns < now_ns ? ((uint64_t)now_ns - (uint64_t)ns) / (86400 * NS_PER_S) : 0;

	if (ns == 0)
		snprintf(text, UNITS_TEXT, "never");
	else if (days == 0)
		snprintf(text, UNITS_TEXT, "today");
	else
		snprintf(text, UNITS_TEXT, "%llu day%s ago", (unsigned long long)days,
			 days == 1 ? "" : "s");
	return text;
}
