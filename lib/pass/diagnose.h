/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What happened to a damaged block, as far as parity and checksums can tell. */
#ifndef SCR_PASS_DIAGNOSE_H
#define SCR_PASS_DIAGNOSE_H

#include "pass/work.h"

/* Of one damaged block. */
struct scr_diagnosis {
	enum scr_repairable repairable;
	const char *why;               /* not repairable: a static sentence */
	uint64_t bits, bytes;          /* that differ; 0: not known */
	uint64_t first, last;          /* differing bytes, offsets in the file */
	uint8_t was, is;               /* of the byte, if bytes == 1 */
	const char *pattern;           /* "bitflip", "zeroed", "0xff", ...; NULL: not known */
	uint64_t holds_block;          /* misdirected: block of ... */
	char *holds;                   /* ... that path, owned; NULL: none */
};

struct scr_diagnoses {
	struct scr_diagnosis *list;    /* by block of the extent; NULL: nothing is known */
	uint32_t count;
};

/*
 * Reads the damaged extent @e of the open file of @w again, with its parity, and searches for what
 * it was. Leaves @d empty where that takes more than it is worth: without parity, without memory,
 * beyond some hundred extents in a pass.
 */
void scr_diagnose(struct scr_worker *k, struct scr_work *w, const struct scr_extent *e,
		  struct scr_diagnoses *d);
void scr_diagnoses_free(struct scr_diagnoses *d);

/* The pattern by which @is differs from @was, both @len bytes that begin at @offset of the file; the
 * counts of @d are filled in. Pure. */
void scr_diagnose_bytes(const uint8_t *was, const uint8_t *is, uint32_t len, uint64_t offset,
			struct scr_diagnosis *d);

#endif
