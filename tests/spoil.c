/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ways in which bytes go wrong. */
#include <config.h>
#include "spoil.h"

#include <string.h>

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t spoil_below(struct dice *d, uint64_t n)
{
	return n <= UINT32_MAX ? dice_below(d, (uint32_t)n) : dice_roll(d) % n;
}

void spoil(const struct spoiler *s, uint8_t *p, uint64_t len)
{
	uint8_t mask = (uint8_t)(1 + dice_below(s->d, 255));

	switch (dice_below(s->d, 7)) {
	case 0:
		memset(p, 0, len);
		break;
	case 1:
		memset(p, 0xff, len);
		break;
	case 2: /* all of them differ */
		for (uint64_t i = 0; i < len; i++)
			p[i] ^= (uint8_t)(1 + dice_below(s->d, 255));
		break;
	case 3: /* by the same */
		for (uint64_t i = 0; i < len; i++)
			p[i] ^= mask;
		break;
	case 4: /* at both ends only */
		p[0] ^= mask;
		p[len - 1] ^= (uint8_t)(len > 1 ? mask ^ 0x55 : 0);
		break;
	default:
		s->fill(s->d, p, len);
		break;
	}
}

void spoil_bit(const struct spoiler *s, uint8_t *p, uint64_t len)
{
	uint8_t bit = (uint8_t)(1 << dice_below(s->d, 8));

	p[spoil_below(s->d, len)] ^= bit;
}

void spoil_unit(const struct spoiler *s, uint8_t *p, uint64_t len, uint32_t unit)
{
	uint64_t start = spoil_below(s->d, len) / unit * unit;

	spoil(s, p + start, at_most(unit, len - start));
}

void spoil_burst(const struct spoiler *s, uint8_t *p, uint64_t len, uint64_t limit)
{
	uint64_t longest = at_most(limit, len);
	uint64_t n = dice_below(s->d, 4) == 0 ? longest : 1 + spoil_below(s->d, longest);

	spoil(s, p + spoil_below(s->d, len - n + 1), n);
}

void spoil_swap(const struct spoiler *s, uint8_t *p, uint64_t len, uint32_t unit)
{
	uint64_t units = len / unit;
	uint8_t *a, *b;

	if (units < 2)
		return;
	a = p + spoil_below(s->d, units) * unit;
	b = p + spoil_below(s->d, units) * unit;
	for (uint32_t i = 0; i < unit; i++) {
		uint8_t byte = a[i];

		a[i] = b[i];
		b[i] = byte;
	}
}
