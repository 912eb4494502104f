/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A strict reader of ddrescue's mapfiles. */
#include <config.h>
#include "ddrescue_map.h"

#include <string.h>

#include "fuzz.h"

/* What is left of the text. */
struct reader {
	const char *p, *end;
};

static char take_char(struct reader *r)
{
	FUZZ_ASSERT(r->p < r->end);
	return *r->p++;
}

static void take_blanks(struct reader *r)
{
	FUZZ_ASSERT(take_char(r) == ' ');
	while (r->p < r->end && *r->p == ' ')
		r->p++;
}

/* "0x" and 1 to 16 hexadecimal digits. */
static uint64_t take_hex(struct reader *r)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *digit;
	uint64_t n = 0;
	int count = 0;

	FUZZ_ASSERT(take_char(r) == '0' && take_char(r) == 'x');
	for (; r->p < r->end && *r->p && (digit = strchr(digits, *r->p)); r->p++, count++)
		n = n << 4 | (uint64_t)(digit - digits);
	FUZZ_ASSERT(count >= 1 && count <= 16);
	return n;
}

static char take_status(struct reader *r, const char *of)
{
	char c = take_char(r);

	FUZZ_ASSERT(c && strchr(of, c));
	return c;
}

static void take_comments(struct reader *r)
{
	while (r->p < r->end && *r->p == '#')
		while (take_char(r) != '\n')
			;
}

static void take_run(struct reader *r, struct fuzz_map *map)
{
	struct fuzz_map_run *run;

	map->runs = realloc(map->runs, (map->count + 1) * sizeof(*map->runs));
	FUZZ_ASSERT(map->runs);
	run = &map->runs[map->count];
	run->start = take_hex(r);
	take_blanks(r);
	run->length = take_hex(r);
	take_blanks(r);
	run->status = take_status(r, "?*/-+");
	FUZZ_ASSERT(take_char(r) == '\n');
	FUZZ_ASSERT(run->start == map->size && run->length > 0);
	/* Sizes are signed there. */
	FUZZ_ASSERT(run->length <= INT64_MAX && run->start <= INT64_MAX - run->length);
	FUZZ_ASSERT(map->count == 0 || run[-1].status != run->status);
	map->size += run->length;
	map->count++;
}

void fuzz_map_parse(struct fuzz_map *map, const void *text, size_t len)
{
	struct reader r = {text, (const char *)text + len};
	bool finished = true;
	char doing;

	*map = (struct fuzz_map){0};
	take_comments(&r);
	FUZZ_ASSERT(take_hex(&r) == 0);
	take_blanks(&r);
	doing = take_status(&r, "?*/-FG+");
	take_blanks(&r);
	FUZZ_ASSERT(take_char(&r) == '1' && take_char(&r) == '\n');
	for (take_comments(&r); r.p < r.end; take_comments(&r))
		take_run(&r, map);
	for (uint32_t i = 0; i < map->count; i++)
		finished = finished && map->runs[i].status == '+';
	FUZZ_ASSERT(doing == (finished ? '+' : '?'));
}

char fuzz_map_at(const struct fuzz_map *map, uint64_t at)
{
	for (uint32_t i = 0; i < map->count; i++)
		if (at - map->runs[i].start < map->runs[i].length)
			return map->runs[i].status;
	FUZZ_ASSERT(!"there is no such byte");
	return 0;
}

void fuzz_map_free(struct fuzz_map *map)
{
	free(map->runs);
}
