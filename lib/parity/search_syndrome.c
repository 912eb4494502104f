/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Level 3 of the repair search: blocks that their own checksums put right.
 *
 * Of a block that was read whole, the difference of the CRCs may be the syndrome of one flipped
 * bit, confirmed by the Internet checksum. Of a block with unreadable bytes, these may have been
 * zeros. Both are only believed where parity cannot speak: where nobody else is bad, S is this
 * block's error and must be exactly that bit, or nothing.
 */
#include <config.h>
#include "parity/search_internal.h"

#include "base/compiler.h"
#include "fold/bitflip.h"

/* An error of one bit; mask 0: none. */
struct flip {
	uint32_t byte;
	uint8_t mask;
};

static bool find_flip(const struct scr_bad *b, struct flip *f)
{
	unsigned int bit;

	if (b->gap) {
		*f = (struct flip){0};
		return scr_check_equal(b->is, b->want);
	}
	if (!scr_bitflip_find(b->want.crc, b->want.inet, b->is.crc, b->is.inet, b->length, &f->byte,
			      &bit))
		return false;
	f->mask = (uint8_t)(1u << bit);
	return true;
}

/* Whether S in zone @z, where @b alone is bad, is the error @f and no other. */
static bool zone_agrees(const struct scr_hunt *h, const struct scr_bad *b, const struct scr_zone *z,
			struct flip f)
{
	uint32_t start = scr_bad_offset(h, b, z->start), len = z->end - z->start, at, more;
	const uint8_t *s = h->syndrome + z->start;
	bool here = f.mask && f.byte >= start && f.byte - start < len;

	if (!scr_find_nonzero(s, len, &at))
		return !here;
	return here && at == f.byte - start && s[at] == f.mask &&
	       !scr_find_nonzero(s + at + 1, len - at - 1, &more);
}

static bool parity_agrees(const struct scr_hunt *h, const struct scr_bad *b, struct flip f)
{
	uint32_t left = b->length;

	if (!h->syndrome)
		return true;
	for (uint32_t z = scr_zone_of(h, b); left > 0; z = z + 1 < h->zone_count ? z + 1 : 0) {
		const struct scr_zone *zone = &h->zones[z];

		if (zone->count == 1 && !zone_agrees(h, b, zone, f))
			return false;
		left -= zone->end - zone->start;
	}
	return true;
}

/* What was known of the blocks that share positions with @b is out of date. */
static void touch_neighbours(struct scr_hunt *h, const struct scr_bad *b)
{
	uint32_t left = h->syndrome ? b->length : 0;

	for (uint32_t z = left ? scr_zone_of(h, b) : 0; left > 0;
	     z = z + 1 < h->zone_count ? z + 1 : 0) {
		const struct scr_zone *zone = &h->zones[z];

		for (uint32_t i = 0; i < zone->count; i++)
			h->bad[h->cands[zone->cands + i]].touched = true;
		left -= zone->end - zone->start;
	}
}

static bool settle(struct scr_hunt *h, uint32_t i)
{
	struct scr_bad *b = &h->bad[i];
	struct flip f = {0};

	b->hopeless = b->hopeless || !find_flip(b, &f); /* slow, and its bytes stay as they are */
	if (b->hopeless || !parity_agrees(h, b, f))
		return false;
	b->bytes[f.byte] ^= f.mask;
	if (!scr_check_equal(scr_block_check(h->s->kernels, b->bytes, b->length), b->want)) {
		b->bytes[f.byte] ^= f.mask;
		return false;
	}
	if (h->syndrome)
		h->syndrome[(b->first + f.byte) % h->s->cut.column] ^= f.mask;
	touch_neighbours(h, b);
	scr_hunt_fixed(h, i, SCR_BLOCK_BY_SYNDROME);
	return true;
}

uint32_t scr_hunt_by_checksum(struct scr_hunt *h)
{
	uint32_t settled = 0;

	for (uint32_t i = 0; i < h->bads; i++)
		h->bad[i].touched = false;
	for (uint32_t i = 0; i < h->bads; i++) {
		const struct scr_bad *b = &h->bad[i];

		/* Parity has spoken, if not clearly. */
		if (b->fixed || b->touched || b->why == SCR_LOST_AMBIGUOUS)
			continue;
		settled += settle(h, i);
	}
	return settled;
}
