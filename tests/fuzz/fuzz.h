/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A fuzz target: what it defines, and what all of them share.
 *
 * A target is one file with LLVMFuzzerTestOneInput() and fuzz_format. Linked with libFuzzer it is a
 * fuzzer; linked with replay.c it is a test that runs all seeds, and seeded changes of them.
 *
 * Most inputs are records under a CRC-32. Bytes changed at random would never get behind it, so
 * such a format has its changes made record by record, and every CRC put right again by mend().
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct fuzz_format {
	const char *name; /* the folder of its seeds */
	size_t prefix;    /* bytes before the first record */
	bool records;     /* the rest is records: type, zeros, length | payload | CRC-32 */
	/* Makes what guards the input right again, in place; NULL: nothing does. Returns the new
	 * size, at most @max. */
	size_t (*mend)(uint8_t *p, size_t size, size_t max);
};

extern const struct fuzz_format fuzz_format;

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t size);
size_t LLVMFuzzerMutate(uint8_t *p, size_t size, size_t max); /* by libFuzzer, or by replay.c */
size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t size, size_t max, unsigned int seed);

/* Ends the process: an input that breaks a promise was found. */
#define FUZZ_ASSERT(condition)                                                                     \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Lengths that fit, and right CRCs, of all records in @p. */
void fuzz_mend_records(uint8_t *p, size_t size);
/* The record at *pos, which is passed over: 1 with its type and payload, 0 if there is no whole
 * one. */
int fuzz_record(const uint8_t *p, size_t size, size_t *pos, uint8_t *type, const uint8_t **payload,
		uint32_t *len);

/* An unnamed file with this content, at its end; the same one for each @which (0, 1). */
int fuzz_file(unsigned int which, const void *p, size_t size);

#endif
