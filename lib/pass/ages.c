/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many bytes were last looked at when. */
#include <config.h>
#include "pass/ages.h"

#include "base/clock.h"
#include "base/compiler.h"

/* What it covers where nothing was checked yet: the ctimes of new files. */
#define FIRST_SPAN_NS (64 * 86400 * SCR_NS_PER_S)

static int64_t step_of(int64_t span, uint32_t slots)
{
	return SCR_MAX(span / slots + 1, INT64_C(1));
}

void scr_ages_init(struct scr_ages *a, int64_t now, int64_t oldest, int64_t newest)
{
	int64_t from = oldest > 0 && oldest <= now ? oldest : now - FIRST_SPAN_NS;

	/* Some slots before the oldest, for what shall come before it. */
	from -= (now + SCR_AGES_SLACK_NS - from) / 1024;
	*a = (struct scr_ages){
		.now = now,
		.oldest = from,
		.past_step = step_of(now + SCR_AGES_SLACK_NS - from, SCR_AGES_PAST),
		.future_step = step_of(newest > now ? newest - now : 0, SCR_AGES_FUTURE - 1),
	};
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
	i = key > a->oldest ? (key - a->oldest) / a->past_step : 0;
	return SCR_AGES_FUTURE + (uint32_t)SCR_MIN(i, (int64_t)SCR_AGES_PAST - 1);
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
