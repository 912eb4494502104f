/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a fuzz target on its seeds, and on seeded changes of them: a test, with any compiler. */
#include <config.h>
#include "fuzz.h"

#include <dirent.h>
#include <string.h>

#define SIZE_LIMIT (64u << 10)
#define CHANGES 3000

static uint64_t rng_state = 20250131;

static uint32_t random_below(uint32_t n)
{
	rng_state ^= rng_state >> 12;
	rng_state ^= rng_state << 25;
	rng_state ^= rng_state >> 27;
	return (uint32_t)((rng_state * 2685821657736338717U >> 32) % n);
}

/* Bits, bytes, numbers at the edge, pieces removed and repeated. */
size_t LLVMFuzzerMutate(uint8_t *p, size_t size, size_t max)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff, '/', '*', '.'};
	uint32_t at = size ? random_below((uint32_t)size) : 0, n = 1 + random_below(8);

	if (size == 0 || (size < max && random_below(4) == 0)) {
		if (n > max - size)
			n = (uint32_t)(max - size);
		memmove(p + at + n, p + at, size - at);
		for (uint32_t i = 0; i < n; i++)
			p[at + i] = (uint8_t)random_below(256);
		return size + n;
	}
	if (n > size - at)
		n = (uint32_t)(size - at);
	switch (random_below(4)) {
	case 0:
		p[at] ^= (uint8_t)(1u << random_below(8));
		return size;
	case 1:
		memset(p + at, values[random_below(sizeof(values))], n);
		return size;
	case 2:
		memmove(p + at, p + at + n, size - at - n);
		return size - n;
	default:
		p[at] = (uint8_t)random_below(256);
		return size;
	}
}

/* ---- seeds -------------------------------------------------------------------------------- */

struct seed {
	char name[256];
	uint8_t *data;
	size_t size;
};

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void load(const char *dir, const char *name, struct seed *s)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(s->name, sizeof(s->name), "%s", name);
	f = fopen(path, "r");
	FUZZ_ASSERT(f);
	s->data = malloc(SIZE_LIMIT);
	FUZZ_ASSERT(s->data);
	s->size = fread(s->data, 1, SIZE_LIMIT, f);
	FUZZ_ASSERT(feof(f));
	fclose(f);
}

/* The target gets a copy of exactly that length, so that whoever looks sees each byte too far. */
static void run(const uint8_t *p, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);

	FUZZ_ASSERT(exact);
	memcpy(exact, p, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

static void run_changed(const struct seed *seeds, size_t n)
{
	uint8_t *p = malloc(SIZE_LIMIT);

	FUZZ_ASSERT(p);
	for (size_t i = 0; i < CHANGES; i++) {
		const struct seed *s = &seeds[i % n];
		size_t size = s->size;

		memcpy(p, s->data, size);
		for (uint32_t k = 1 + random_below(4); k > 0; k--)
			size = LLVMFuzzerCustomMutator(p, size, SIZE_LIMIT,
						       random_below(UINT32_MAX));
		run(p, size);
	}
	free(p);
}

int main(void)
{
	const char *top = getenv("top_srcdir");
	struct dirent **list;
	struct seed *seeds;
	char dir[2048];
	int n;

	snprintf(dir, sizeof(dir), "%s/tests/fuzz/seeds/%s", top ? top : ".", fuzz_format.name);
	n = scandir(dir, &list, visible, alphasort);
	if (n <= 0) {
		printf("Bail out! no seeds in %s\n", dir);
		return 1;
	}
	printf("1..%d\n", n + 1);
	seeds = calloc((size_t)n, sizeof(*seeds));
	FUZZ_ASSERT(seeds);
	for (int i = 0; i < n; i++) {
		load(dir, list[i]->d_name, &seeds[i]);
		run(seeds[i].data, seeds[i].size);
		printf("ok %d - %s\n", i + 1, seeds[i].name);
		free(list[i]);
	}
	free(list);
	run_changed(seeds, (size_t)n);
	printf("ok %d - %d changes of them\n", n + 1, CHANGES);
	for (int i = 0; i < n; i++)
		free(seeds[i].data);
	free(seeds);
	return 0;
}
