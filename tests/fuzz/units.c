/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes sizes and times as people write and read them.
 *
 * Input: two numbers of 8 bytes, then a size, a time or a share as text.
 */
#include <config.h>
#include "fuzz.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/endian.h"
#include "units.h"

const struct fuzz_format fuzz_format = {.name = "units"};

/* The same in arithmetic that is wide enough. */
static int slow_size(const char *s, uint64_t *out)
{
	static const char letters[] = "kmgt";
	unsigned __int128 v = 0;
	const char *letter;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	for (; isdigit((unsigned char)*s); s++) {
		v = v * 10 + (unsigned int)(*s - '0');
		if (v > UINT64_MAX)
			return -EINVAL;
	}
	letter = *s ? strchr(letters, tolower((unsigned char)*s)) : NULL;
	if (letter) {
		for (const char *l = letters; l <= letter; l++)
			v *= 1024;
		s++;
		if (strcasecmp(s, "ib") == 0)
			s += 2;
	}
	if (*s || v > UINT64_MAX)
		return -EINVAL;
	*out = (uint64_t)v;
	return 0;
}

/* A number of at most 64 bits and what is behind it; false if there is none. */
static bool take_number(const char **s, uint64_t *n)
{
	unsigned __int128 v = 0;

	if (!isdigit((unsigned char)**s))
		return false;
	for (; isdigit((unsigned char)**s); ++*s)
		if (v <= UINT64_MAX)
			v = v * 10 + (unsigned int)(**s - '0');
	*n = (uint64_t)v;
	return v <= UINT64_MAX;
}

static int slow_duration(const char *s, int64_t *ns)
{
	static const char letters[] = "smhdw";
	static const int64_t seconds[] = {1, 60, 3600, 86400, 604800};
	const int64_t most = INT64_MAX / 4 / 1000000000;
	const char *letter = letters;
	uint64_t n;

	if (!take_number(&s, &n) || n == 0)
		return -EINVAL;
	if (*s)
		letter = strchr(letters, tolower((unsigned char)*s++));
	if (!letter || *s || n > (uint64_t)(most / seconds[letter - letters]))
		return -EINVAL;
	*ns = (int64_t)n * seconds[letter - letters] * 1000000000;
	return 0;
}

/* Up to the fourth digit behind the point; the others are dropped. */
static int slow_percent(const char *s, uint32_t *millionths)
{
	uint64_t n;

	if (!take_number(&s, &n) || n > 100)
		return -EINVAL;
	n *= 10000;
	if (*s == '.') {
		s++;
		for (unsigned int scale = 1000; isdigit((unsigned char)*s); s++, scale /= 10)
			n += scale * (unsigned int)(*s - '0');
	}
	if (strcmp(s, "%") != 0 || n == 0 || n > 1000000)
		return -EINVAL;
	*millionths = (uint32_t)n;
	return 0;
}

static void check_parse(const char *text)
{
	uint64_t is = 1, want = 1;
	int64_t ns = 1, ns_want = 1;
	uint32_t share = 1, share_want = 1;
	int r = units_parse_size(text, &is);

	FUZZ_ASSERT(r == slow_size(text, &want) && is == want);
	r = units_parse_duration(text, &ns);
	FUZZ_ASSERT(r == slow_duration(text, &ns_want) && ns == ns_want);
	r = units_parse_percent(text, &share);
	FUZZ_ASSERT(r == slow_percent(text, &share_want) && share == share_want);
}

/* What is shown is within its precision of what it was made of. */
static void check_size(uint64_t bytes)
{
	static const char units[] = "bKMGTPE";
	char text[UNITS_TEXT], unit;
	double v;

	units_size(text, bytes);
	FUZZ_ASSERT(strlen(text) < UNITS_TEXT && sscanf(text, "%lf %c", &v, &unit) == 2);
	v = ldexp(v, 10 * (int)(strchr(units, unit) - units));
	FUZZ_ASSERT(fabs(v - (double)bytes) <= 0.051 * (double)bytes);
}

static void check_iso(int64_t ns)
{
	int64_t seconds = ns / 1000000000 - (ns % 1000000000 < 0);
	struct tm tm = {0};
	char text[UNITS_TEXT];
	const char *end;

	units_iso(text, ns);
	end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	FUZZ_ASSERT(end && !*end && timegm(&tm) == seconds);
}

static void check_age(int64_t ns, int64_t now)
{
	__int128 days = ((__int128)now - ns) / ((__int128)86400 * 1000000000);
	char text[UNITS_TEXT];
	long long n = 0;

	units_age(text, ns, now);
	FUZZ_ASSERT(strlen(text) < UNITS_TEXT - 1);
	if (ns == 0)
		FUZZ_ASSERT(strcmp(text, "never") == 0);
	else if (days <= 0)
		FUZZ_ASSERT(strcmp(text, "today") == 0);
	else
		FUZZ_ASSERT(sscanf(text, "%lld day", &n) == 1 && n == (long long)days);
}

static void check_seconds(uint64_t bits)
{
	char text[UNITS_TEXT];
	double seconds;

	memcpy(&seconds, &bits, sizeof(seconds));
	FUZZ_ASSERT(strlen(units_duration(text, seconds)) < UNITS_TEXT - 1);
	FUZZ_ASSERT(strlen(units_clock(text, seconds)) < UNITS_TEXT - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	char text[UNITS_TEXT], size_text[64] = "";
	uint64_t a, b;

	if (size < 16 || size - 16 >= sizeof(size_text))
		return 0;
	a = scr_get_le64(p);
	b = scr_get_le64(p + 8);
	memcpy(size_text, p + 16, size - 16);
	check_parse(size_text);
	check_size(a);
	check_seconds(a);
	check_seconds(b);
	check_iso((int64_t)a);
	check_age((int64_t)a, (int64_t)b);
	FUZZ_ASSERT(strlen(units_date(text, (int64_t)a)) < UNITS_TEXT - 1);
	return 0;
}
