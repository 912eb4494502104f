/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of manifest and journal share: seeded random records, and comparing them. */
#ifndef TESTS_STORE_COMMON_H
#define TESTS_STORE_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "manifest/store.h"

#define MIB (UINT64_C(1) << 20)

struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n);

/* An empty file without a name; also what scr_journal_open() wants for @tmpfile. */
int temp_file(void *unused);
uint8_t *read_whole(int fd, size_t *len);
/* Makes @fd hold exactly these bytes. */
void write_whole(int fd, const void *p, size_t len);

/* A header with strings of all sorts; scr_header_free(). */
struct scr_header sample_header(const struct scr_geometry *g);
extern const struct scr_geometry small_geometry; /* defaults but for blocks of 1 MiB */
extern const struct scr_geometry any_geometry[4]; /* very different ones */

/* A path of 1 to 4 short components of odd bytes; NUL-terminated, to be freed. */
char *random_path(struct rng *r);
/* Valid in every field; the path is left out. */
struct scr_file_record random_file(struct rng *r, uint64_t size);
/* Extent @index of a file of @size bytes, with a random choice of everything that is optional. */
struct scr_extent random_extent(struct rng *r, const struct scr_geometry *g, uint64_t size,
				uint64_t index);
/* Sizes from 1 byte to some extents, and some extent or run of such a file. */
uint64_t any_size(struct rng *r);
struct scr_extent any_extent(struct rng *r, const struct scr_geometry *g, uint64_t size);
/* Holes from @index on. */
struct scr_extent random_run(struct rng *r, const struct scr_geometry *g, uint64_t size,
			     uint64_t index, uint64_t run);

void assert_files_equal(const struct scr_file_record *a, const struct scr_file_record *b);
void assert_extents_equal(const struct scr_extent *a, const struct scr_extent *b);
void assert_headers_equal(const struct scr_header *a, const struct scr_header *b);
void assert_trailers_equal(const struct scr_trailer *a, const struct scr_trailer *b);

/* ---- whole manifests ---------------------------------------------------------------------- */

struct sample_entry {
	bool is_link;
	struct scr_file_record file;
	struct scr_link_record link;
	struct scr_extent *extents;
	uint32_t extent_count;
};

/* What a manifest holds, as structs. */
struct sample {
	struct scr_header header;
	struct scr_unseen_record unseen[3];
	uint32_t unseen_count;
	char **paths;
	struct sample_entry *entries;
	uint32_t count;
};

extern const struct scr_trailer sample_pass; /* the pass fields that write_sample() writes */

/* About @n files and links with extents, and up to 3 places that were not seen. */
struct sample make_sample(uint64_t seed, const struct scr_geometry *g, uint32_t n);
void free_sample(struct sample *s);
/* Writes it; the descriptor is the caller's. */
int write_sample(const struct sample *s);
/* Reads on from where @r is and compares every record; 0, or what the reader failed with. */
int read_sample(struct scr_mreader *r, const struct sample *s);

/* The stream of a sound manifest. */
uint8_t *take_stream(int fd, size_t *len);
/* Makes @fd hold a sound container (generation 42) around any stream. */
void make_container(int fd, const uint8_t *stream, size_t len, uint64_t trailer);

#endif
