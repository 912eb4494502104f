/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many bytes were last looked at when. */
#include <config.h>
#include "pass/ages.h"

#include "base/clock.h"
#include "base/compiler.h"

/* A slot of an age is at most a 2048th of it; none is shorter than 2^20 ns, about a millisecond. */
#define FINE_BITS 11
#define UNIT_BITS 20

static int64_t step_of(int64_t span, uint32_t slots)
{
	return SCR_MAX(span / slots + 1, INT64_C(1));
}

void scr_ages_init(struct scr_ages *a, int64_t now, int64_t newest)
{
	*a = (struct scr_ages){
		.now = now,
		.future_step = step_of(newest > now ? newest - now : 0, SCR_AGES_FUTURE - 1),
	};
}

/* How old a check is that is not in the future; as old as can be if that can't be told. */
static int64_t age_of(const struct scr_ages *a, int64_t key)
{
	int64_t age;

	if (key >= a->now)
		return 0;
	return __builtin_sub_overflow(a->now, key, &age) ? INT64_MAX : age;
}

/* The slots of an octave are of one length, which doubles from octave to octave. */
static uint32_t rank_of(int64_t age)
{
	uint64_t units = (uint64_t)age >> UNIT_BITS;
	unsigned int shift = 0;

	while (units >> shift >= 2u << FINE_BITS)
		shift++;
	return (shift << FINE_BITS) + (uint32_t)(units >> shift);
}

bool scr_ages_is_future(const struct scr_ages *a, int64_t key)
{
	return key > a->now && key - a->now > SCR_AGES_SLACK_NS;
}

uint32_t scr_ages_slot(const struct scr_ages *a, int64_t key)
{
	int64_t i;

	if (key == 0)
		return 0;
	if (scr_ages_is_future(a, key)) {
		i = 1 + (key - a->now) / a->future_step;
		return (uint32_t)SCR_MIN(i, (int64_t)SCR_AGES_FUTURE - 1);
	}
	return SCR_AGES_SLOTS - 1 - rank_of(age_of(a, key));
}

int64_t scr_ages_before(const struct scr_ages *a, int64_t key)
{
	int64_t step = (age_of(a, key) >> (FINE_BITS - 1)) + (INT64_C(2) << UNIT_BITS);

	if (!scr_ages_is_future(a, key))
		return key > step ? key - step : 0;
	return SCR_MAX(key - 2 * a->future_step, a->now + SCR_AGES_SLACK_NS + 1);
}

void scr_ages_add(struct scr_ages *a, int64_t key, uint64_t bytes)
{
	a->bytes[scr_ages_slot(a, key)] += bytes;
	a->total += bytes;
}

uint32_t scr_ages_band(const struct scr_ages *a, uint32_t from, uint64_t share)
{
	uint64_t sum = 0;
	uint32_t i = from;

	while (i < SCR_AGES_SLOTS && sum < share)
		sum += a->bytes[i++];
	/* Nothing but empty slots behind it: no band of their own. */
	for (uint32_t j = i; j < SCR_AGES_SLOTS; j++)
		if (a->bytes[j])
			return i;
	return SCR_AGES_SLOTS;
}
