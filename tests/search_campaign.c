/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thousands of damaged extents: what must be repaired is, what must not be is left alone, and no
 * repair ever leaves wrong bytes.
 *
 *	search_campaign N SEED [COLUMNS:UNIT:BLOCK[:SIZE]]
 *
 * runs N cases; each depends on SEED and its number alone. SIZE limits the extents. The oracle
 * (search_expect.c) knows the damage and works out what is to be expected.
 */
#include <config.h>
#include "search_trial.h"
#include "spoil.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "select/select.h"

#define KINDS 14u

struct options {
	uint64_t cases, seed;
	struct scr_geometry g; /* columns 0: any */
	uint32_t size_max;
};

static uint32_t at_most(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- the extent ---------------------------------------------------------------------------- */

static struct scr_geometry any_geometry(struct dice *d, const struct options *o)
{
	static const uint32_t columns[] = {2, 4, 16, 16, 64}, units[] = {64, 512, 4096, 4096};
	static const uint32_t blocks[] = {512, 4096, 16384, 65536, 65536, 65536, 1 << 20};

	if (o->g.columns)
		return o->g;
	return (struct scr_geometry){
		.columns = columns[dice_below(d, 5)],
		.parity_unit = units[dice_below(d, 4)],
		.block_size = blocks[dice_below(d, 7)],
	};
}

/* Small ones mostly: they have all the borders, and are quick. */
static uint32_t any_size(struct dice *d, const struct options *o)
{
	uint32_t dice = dice_below(d, 1000), limit;

	limit = dice < 200   ? 700
		: dice < 500 ? 20000
		: dice < 900 ? 200000
		: dice < 990 ? 2 << 20
		: dice < 997 ? 12 << 20
			     : SCR_EXTENT_LIMIT - 1;
	return 1 + dice_below(d, at_most(limit, o->size_max));
}

static void fill_random(struct dice *d, uint8_t *p, uint64_t len)
{
	for (uint64_t i = 0; i < len; i++)
		p[i] = (uint8_t)(dice_roll(d) >> 56);
}

static void fill_text(struct dice *d, uint8_t *p, uint32_t len)
{
	static const char letters[] = "etaoin shrdlu etaoin\n";

	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)letters[dice_below(d, sizeof(letters) - 1)];
}

/* Repeats the first @period bytes; every second time inverted, if @flip. */
static void repeat(uint8_t *p, uint32_t len, uint32_t period, bool flip)
{
	for (uint32_t i = period; i < len; i++)
		p[i] = flip ? (uint8_t)~p[i - period] : p[i - period];
}

static void fill(struct dice *d, struct trial *t)
{
	uint32_t len = t->s.cut.length, c = t->s.cut.column;

	switch (dice_below(d, 9)) {
	case 0:
		break;
	case 1:
		memset(t->data, 0xff, len);
		break;
	case 2:
		fill_text(d, t->data, len);
		break;
	case 3:
		fill_random(d, t->data, at_most(len, 31));
		repeat(t->data, len, 31, false);
		break;
	case 4:
		fill_random(d, t->data, at_most(len, t->s.cut.block));
		repeat(t->data, len, t->s.cut.block, false);
		break;
	case 5:
		fill_random(d, t->data, at_most(len, c));
		repeat(t->data, len, c, dice_below(d, 2));
		break;
	default:
		fill_random(d, t->data, len);
		break;
	}
}

/* ---- damage -------------------------------------------------------------------------------- */

/* Where damage goes: data, or at times parity. */
struct target {
	uint8_t *bytes;
	uint32_t length;
	bool parity;
};

static struct target any_target(struct dice *d, struct trial *t)
{
	if (dice_below(d, 5) == 0 && t->s.parity_checks && !t->s.parity_zero)
		return (struct target){t->s.parity, t->s.cut.column, true};
	return (struct target){t->s.data, t->s.cut.length, false};
}

static void lose(struct trial *t, struct target to, uint32_t start, uint32_t len)
{
	len = at_most(len, to.length - start);
	if (to.parity)
		trial_parity_gap(t, start, len);
	else
		trial_gap(t, start, len);
}

static void lose_unit(struct dice *d, struct trial *t, struct target to, uint32_t unit)
{
	lose(t, to, dice_below(d, to.length) / unit * unit, unit);
}

static void damage(struct dice *d, struct trial *t)
{
	const struct spoiler how = {d, fill_random};
	struct target to = any_target(d, t);
	uint32_t c = t->s.cut.column, end;

	switch (dice_below(d, KINDS)) {
	case 0:
	case 1:
		spoil_bit(&how, to.bytes, to.length);
		break;
	case 2:
		spoil_unit(&how, to.bytes, to.length, 1 + dice_below(d, 8));
		break;
	case 3:
	case 4:
		spoil_burst(&how, to.bytes, to.length, c);
		break;
	case 5:
		spoil_unit(&how, to.bytes, to.length, 512);
		break;
	case 6:
		spoil_unit(&how, to.bytes, to.length, 4096);
		break;
	case 7:
		spoil_unit(&how, to.bytes, to.length, t->s.cut.block);
		break;
	case 8:
		lose_unit(d, t, to, 512);
		break;
	case 9:
		lose_unit(d, t, to, 4096);
		break;
	case 10:
		lose(t, to, dice_below(d, to.length), 1 + dice_below(d, c));
		break;
	case 11: /* the file was cut off */
		end = 1 + dice_below(d, at_most(c, to.length));
		lose(t, to, to.length - end, end);
		break;
	case 12:
		spoil_swap(&how, t->s.data, t->s.cut.length, t->s.cut.block);
		break;
	default:
		spoil_swap(&how, t->s.data, t->s.cut.length, 512);
		break;
	}
}

/* ---- a case -------------------------------------------------------------------------------- */

static bool all_zero(const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		if (p[i])
			return false;
	}
	return true;
}

/* At times there is no parity, or one of zeros that is not stored, or a stale one. */
static void vary_parity(struct dice *d, struct trial *t)
{
	uint32_t dice = dice_below(d, 100);

	if (all_zero(t->parity, t->s.cut.column) && dice_below(d, 2))
		t->s.parity_zero = true;
	else if (dice < 3)
		t->s.parity_checks = NULL;
}

/* Content changed and was recorded, but its parity was not: nothing to expect, but no wrong bytes.
 */
static void go_stale(struct dice *d, struct trial *t, const struct scr_kernels *k)
{
	uint8_t *parity;

	if (dice_below(d, 60) || !(parity = malloc(t->s.cut.column)))
		return;
	memcpy(parity, t->parity, t->s.cut.column);
	memset(t->parity, 0, t->s.cut.column);
	fill_random(d, t->data + dice_below(d, t->s.cut.length), 1);
	trial_record(t, k);
	/* The checksums are those of the old parity, in its place again. */
	trial_restore_parity(t, parity);
	t->stale = true;
	free(parity);
}

enum outcome { REPAIR, REFUSE, EITHER, MIXED, NOTHING, STALE, CLASSES };

static const char *const class_names[] = {
	"must repair", "must refuse", "either", "mixed", "no damage", "stale parity",
};

static enum outcome classify(const struct trial *t)
{
	uint32_t n = t->s.cut.blocks + t->s.cut.parity_blocks, seen = 0;

	if (t->stale)
		return STALE;
	for (uint32_t i = 0; i < n; i++)
		seen |= 1u << t->expect[i];
	seen &= ~(1u << EXPECT_SOUND);
	switch (seen) {
	case 0:
		return NOTHING;
	case 1u << EXPECT_REPAIR:
		return REPAIR;
	case 1u << EXPECT_REFUSE:
		return REFUSE;
	case 1u << EXPECT_EITHER:
		return EITHER;
	}
	return MIXED;
}

struct totals {
	uint64_t cases[CLASSES], whole[CLASSES], repaired, lost, why[8], wrong;
	double slowest, seconds;
	uint64_t slowest_case;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void count(struct totals *sum, const struct trial *t, enum outcome outcome)
{
	sum->cases[outcome]++;
	sum->whole[outcome] += t->s.lost == 0;
	sum->repaired += t->s.repaired;
	sum->lost += t->s.lost;
	for (uint32_t i = 0; i < t->s.cut.blocks; i++)
		sum->why[t->s.why[i] & 7]++;
}

static const char *inspect(const struct trial *t)
{
	const char *what = trial_wrong(t);

	if (what || t->stale)
		return what;
	return t->s.inconsistent ? "inconsistent without reason" : trial_unmet(t);
}

static void run_timed(struct totals *sum, struct trial *t, bool allow, uint64_t number)
{
	double start = now(), seconds;

	trial_run(t, allow);
	seconds = now() - start;
	sum->seconds += seconds;
	if (seconds > sum->slowest) {
		sum->slowest = seconds;
		sum->slowest_case = number;
	}
}

static void run_case(const struct options *o, const struct scr_kernels *k, uint64_t number,
		     struct totals *sum)
{
	struct dice d = {.state = (o->seed << 32) ^ number * UINT64_C(0xd1342543de82ef95)};
	struct scr_geometry g = any_geometry(&d, o);
	uint32_t size = any_size(&d, o), n = 1 + dice_below(&d, 1 + dice_below(&d, 6));
	const char *what;
	struct trial t;

	trial_start(&t, &g, size);
	fill(&d, &t);
	trial_record(&t, k);
	go_stale(&d, &t, k);
	vary_parity(&d, &t);
	for (uint32_t i = 0; i < n; i++)
		damage(&d, &t);
	run_timed(sum, &t, dice_below(&d, 4) == 0, number);
	trial_expect(&t);
	count(sum, &t, classify(&t));
	what = inspect(&t);
	if (what) {
		sum->wrong++;
		printf("case %" PRIu64
		       ": %s (size %u, columns %u, unit %u, block %u, %u damages)\n",
		       number, what, size, g.columns, g.parity_unit, g.block_size, n);
	}
	trial_free(&t);
}

static void print_totals(const struct totals *sum)
{
	printf("%-14s %10s %16s\n", "class", "cases", "nothing lost");
	for (uint32_t i = 0; i < CLASSES; i++)
		printf("%-14s %10" PRIu64 " %16" PRIu64 "\n", class_names[i], sum->cases[i],
		       sum->whole[i]);
	printf("data blocks: repaired %" PRIu64 ", lost %" PRIu64 "\n", sum->repaired, sum->lost);
	for (uint32_t why = SCR_LOST_NO_PARITY; why <= SCR_LOST_TOO_MANY; why++)
		printf("  %" PRIu64 ": %s\n", sum->why[why], scr_lost_why_text(why));
	printf("search: %.1f s, slowest %.3f s (case %" PRIu64 ")\n", sum->seconds, sum->slowest,
	       sum->slowest_case);
	printf("wrong: %" PRIu64 "\n", sum->wrong);
}

static bool parse(int argc, char **argv, struct options *o)
{
	*o = (struct options){.size_max = SCR_EXTENT_LIMIT - 1};
	if (argc < 3 || argc > 4)
		return false;
	o->cases = strtoull(argv[1], NULL, 0);
	o->seed = strtoull(argv[2], NULL, 0);
	if (argc == 3)
		return true;
	if (sscanf(argv[3], "%u:%u:%u:%u", &o->g.columns, &o->g.parity_unit, &o->g.block_size,
		   &o->size_max) < 3)
		return false;
	return (o->g.columns == 0 || scr_geometry_valid(&o->g)) && o->size_max > 0;
}

int main(int argc, char **argv)
{
	struct scr_selection *selection;
	struct totals sum = {.wrong = 0};
	struct options o;

	if (!parse(argc, argv, &o)) {
		fprintf(stderr, "usage: search_campaign N SEED [COLUMNS:UNIT:BLOCK[:SIZE]]\n");
		return 2;
	}
	if (scr_select(&(struct scr_select_options){0}, &selection))
		return 2;
	for (uint64_t i = 0; i < o.cases; i++)
		run_case(&o, scr_selection_next(selection), i, &sum);
	scr_selection_free(selection);
	print_totals(&sum);
	return sum.wrong ? 1 : 0;
}
