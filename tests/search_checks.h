/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the unit tests of the repair search share: extents of random bytes, damage, two outcomes. */
#ifndef TESTS_SEARCH_CHECKS_H
#define TESTS_SEARCH_CHECKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "search_trial.h"

#define KIB 1024u
#define MIB (KIB * KIB)

extern const struct scr_geometry standard; /* the default: 16 columns, 4 KiB, 64 KiB */

/* @len random bytes. */
void fill(uint8_t *p, uint32_t len, uint64_t seed);
void record(struct trial *t);
/* An extent of @size random bytes, recorded. */
void start(struct trial *t, const struct scr_geometry *g, uint32_t size);
/* 16 columns of 4 KiB, one block each: the smallest extent of full shape. */
void start_64k(struct trial *t);
/* What was read of column @i. */
uint8_t *column(struct trial *t, uint32_t i);
/* Makes other bytes of all @len bytes. */
void spoil(uint8_t *p, uint32_t len, uint64_t seed);

/* Searches; fails at anything that must never be. */
void run(struct trial *t, bool allow_syndrome);
/* Searches without single bits: everything is as recorded then, @repaired blocks of data were not.
 * Ends the trial. */
void expect_all(struct trial *t, uint32_t repaired);
/* The same: @lost blocks of data are lost, all for this reason, and nothing is repaired. */
void expect_none(struct trial *t, uint32_t lost, enum scr_lost_why why);

#endif
