/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bench-kernels: every kernel at several sizes, as ratios to memcpy and zlib in the same run, with
 * isa-l and libdeflate beside them where they are installed.
 *
 *	make contrib/bench-kernels && contrib/bench-kernels
 *
 * All subjects of a size take turns, round after round, and the best attempt of each counts: a
 * neighbour who takes the CPU away for a while then hits all of them alike.
 */
#include <config.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "cpu/cpu.h"
#include "kernels/kernel.h"
#include "kernels/rows.h"

#define ROUNDS 60
#define ATTEMPT_BYTES (1U << 20) /* an attempt passes over at least so much */
#define MOST (256U << 20)
#define MAX_SUBJECTS 64

struct bench;
typedef void work_fn(const struct bench *b, const void *what, size_t len);

struct subject {
	char name[48];
	work_fn *work;
	const void *what;
	unsigned int sources; /* source bytes are @sources times the length */
	int64_t best;
};

struct bench {
	uint8_t *src[4], *dst;
	struct scr_kernels best; /* for the row that calls the others */
	struct subject s[MAX_SUBJECTS];
	size_t n;
};

typedef int isal_xor_fn(int vects, int len, void **array);
typedef uint32_t isal_crc_fn(uint32_t crc, const unsigned char *p, uint64_t len);
typedef uint32_t deflate_crc_fn(uint32_t crc, const void *p, size_t len);

static volatile uint64_t sink;

static void work_memcpy(const struct bench *b, const void *what SCR_UNUSED, size_t len)
{
	memcpy(b->dst, b->src[0], len);
	__asm__ volatile("" ::: "memory");
}

static void work_inet(const struct bench *b, const void *what, size_t len)
{
	sink += ((const struct scr_kernel *)what)->fn.inet(0, b->src[0], len);
}

static void work_crc32(const struct bench *b, const void *what, size_t len)
{
	sink += ((const struct scr_kernel *)what)->fn.crc32(0, b->src[0], len);
}

static void work_xor(const struct bench *b, const void *what, size_t len)
{
	((const struct scr_kernel *)what)->fn.xor_(b->dst, (const uint8_t *const *)b->src, 1, len);
}

static void work_xor4(const struct bench *b, const void *what, size_t len)
{
	((const struct scr_kernel *)what)->fn.xor_(b->dst, (const uint8_t *const *)b->src, 4, len);
}

static struct scr_kernels best_of_class(void)
{
	struct scr_kernels k = *scr_kernels_reference();

#if BUILD_AVX512
	if (!(scr_fused_avx512.needs & ~scr_cpu_features())) {
		k.inet = &scr_inet_avx512;
		k.crc32 = &scr_crc32_vpclmul;
		k.xor_ = &scr_xor_avx512;
	}
#endif
#if BUILD_GFNI
	if (!(scr_crc32_gfni.needs & ~scr_cpu_features()))
		k.crc32 = &scr_crc32_gfni;
#endif
	return k;
}

static void work_fused(const struct bench *b, const void *what, size_t len)
{
	uint64_t sum = 0;
	uint32_t crc = 0;

	((const struct scr_kernel *)what)->fn.fused(&b->best, &sum, &crc, b->dst, b->src[0], len);
	sink += sum + crc;
}

static void work_isal_xor(const struct bench *b, const void *what, size_t len)
{
	void *array[5] = {b->src[0], b->src[1], b->src[2], b->src[3], b->dst};

	(*(isal_xor_fn *const *)what)(5, (int)len, array);
}

static void work_isal_crc(const struct bench *b, const void *what, size_t len)
{
	sink += (*(isal_crc_fn *const *)what)(0, b->src[0], len);
}

static void work_deflate_crc(const struct bench *b, const void *what, size_t len)
{
	sink += (*(deflate_crc_fn *const *)what)(0, b->src[0], len);
}

static void add(struct bench *b, const char *name, work_fn *work, const void *what,
		unsigned int sources)
{
	struct subject *s = &b->s[b->n++];

	if (b->n > MAX_SUBJECTS)
		abort();
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->work = work;
	s->what = what;
	s->sources = sources;
}

static void add_kernel(struct bench *b, const struct scr_kernel *k)
{
	static work_fn *const work[] = {
		[SCR_INET] = work_inet,
		[SCR_CRC32] = work_crc32,
		[SCR_XOR] = work_xor,
		[SCR_FUSED] = work_fused,
	};
	char name[48];

	if (k->needs & ~scr_cpu_features())
		return;
	snprintf(name, sizeof(name), "%s %s", scr_kernel_class_name(k->class), k->name);
	add(b, name, work[k->class], k, 1);
	if (k->class != SCR_XOR)
		return;
	snprintf(name, sizeof(name), "xor %s, 4 sources", k->name);
	add(b, name, work_xor4, k, 4);
}

/* A function of a library that may be there; looked up at run time, so that nothing depends on it.
 */
static void add_foreign(struct bench *b, const char *library, const char *symbol, const char *name,
			work_fn *work, unsigned int sources)
{
	static void *fn[8];
	static size_t n;
	void *lib = dlopen(library, RTLD_NOW);

	fn[n] = lib ? dlsym(lib, symbol) : NULL;
	if (fn[n])
		add(b, name, work, &fn[n++], sources);
	else
		printf("(%s is not installed: no %s)\n", library, name);
}

/* isa-l leaves the upper halves of vector registers in use; SSE2 code that runs after it is then
 * six times slower on some CPUs, until somebody cleans up. All kernels of ours do. */
static void clean_registers(void)
{
#if ARCH_X86
	if (scr_cpu_features() & SCR_CPU_AVX2)
		__asm__ volatile("vzeroupper" : : : "memory");
#endif
}

static void measure(struct bench *b, size_t len, unsigned int rounds)
{
	size_t times = len < ATTEMPT_BYTES ? ATTEMPT_BYTES / len : 1, i, j;

	for (i = 0; i < b->n; i++)
		b->s[i].best = INT64_MAX;
	while (rounds--) {
		for (i = 0; i < b->n; i++) {
			struct subject *s = &b->s[i];
			int64_t t;

			clean_registers();
			s->work(b, s->what, len);
			t = scr_clock_monotonic(&scr_clock_system);
			for (j = 0; j < times; j++)
				s->work(b, s->what, len);
			t = scr_clock_monotonic(&scr_clock_system) - t;
			s->best = SCR_MIN(s->best, t);
		}
	}
	for (i = 0; i < b->n; i++)
		b->s[i].best = SCR_MAX(b->s[i].best / (int64_t)times, 1);
}

static double rate(const struct subject *s, size_t len)
{
	return (double)len * s->sources / (double)s->best;
}

static double rate_of(const struct bench *b, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		if (!strcmp(b->s[i].name, name))
			return rate(&b->s[i], len);
	}
	return 0;
}

static void print_goal(const char *what, double reached, double goal)
{
	if (reached > 0)
		printf("  %-44s %6.2f  (goal %.2f: %s)\n", what, reached, goal,
		       reached >= goal ? "reached" : "missed");
}

/* The goals that the kernels were written to, at 16 KiB; the one for four sources at any size. */
static void print_goals(const struct bench *b, size_t len)
{
	double copy = rate_of(b, "memcpy", len), zlib = rate_of(b, "crc32 zlib", len);

	print_goal("inet avx512 / memcpy", rate_of(b, "inet avx512", len) / copy, 0.9);
	print_goal("xor avx512 / memcpy", rate_of(b, "xor avx512", len) / copy, 0.7);
	print_goal("crc32 vpclmul / memcpy", rate_of(b, "crc32 vpclmul", len) / copy, 0.45);
	print_goal("crc32 gfni / memcpy", rate_of(b, "crc32 gfni", len) / copy, 0.45);
	print_goal("crc32 vpclmul / zlib", rate_of(b, "crc32 vpclmul", len) / zlib, 18);
	print_goal("crc32 gfni / zlib", rate_of(b, "crc32 gfni", len) / zlib, 18);
	print_goal("fused avx512 / memcpy", rate_of(b, "fused avx512", len) / copy, 0.28);
	print_goal("fused gfni / memcpy", rate_of(b, "fused gfni", len) / copy, 0.28);
}

static void print_isal_goal(const struct bench *b, size_t len)
{
	double isal = rate_of(b, "isa-l xor_gen, 4 sources", len);

	if (isal > 0)
		print_goal("xor avx512, 4 sources / isa-l",
			   rate_of(b, "xor avx512, 4 sources", len) / isal, 1.0);
}

static void print_size(const struct bench *b, size_t len)
{
	double copy = rate(&b->s[0], len);
	size_t i;

	printf("\n%zu KiB\n", len >> 10);
	for (i = 0; i < b->n; i++)
		printf("  %-32s %8.1f GB/s  %5.2f of memcpy\n", b->s[i].name, rate(&b->s[i], len),
		       rate(&b->s[i], len) / copy);
}

static bool allocate(struct bench *b)
{
	unsigned int i;
	size_t j;

	for (i = 0; i < 4; i++) {
		b->src[i] = aligned_alloc(4096, MOST);
		if (!b->src[i])
			return false;
		for (j = 0; j < MOST; j++)
			b->src[i][j] = (uint8_t)(j * (i + 3) >> 3);
	}
	b->dst = aligned_alloc(4096, MOST);
	if (b->dst)
		memset(b->dst, 0, MOST);
	return b->dst;
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {4096, 16384, 65536, 1U << 20, MOST};
	static struct bench b;
	const struct scr_kernel *const *row;
	size_t n, i;

	if (!allocate(&b))
		return 1;
	b.best = best_of_class();
	row = scr_kernel_table(&n);
	add(&b, "memcpy", work_memcpy, NULL, 1);
	for (i = 0; i < n; i++)
		add_kernel(&b, row[i]);
	add_foreign(&b, "libisal.so.2", "xor_gen", "isa-l xor_gen, 4 sources", work_isal_xor, 4);
	add_foreign(&b, "libisal.so.2", "crc32_gzip_refl", "isa-l crc32", work_isal_crc, 1);
	add_foreign(&b, "libdeflate.so.0", "libdeflate_crc32", "libdeflate crc32", work_deflate_crc,
		    1);
	for (i = 0; i < SCR_ARRAY_SIZE(sizes); i++) {
		if (argc > 1 && strtoul(argv[1], NULL, 0) != sizes[i] >> 10)
			continue;
		measure(&b, sizes[i], sizes[i] == MOST ? 4 : ROUNDS);
		print_size(&b, sizes[i]);
		if (sizes[i] == 16384)
			print_goals(&b, sizes[i]);
		print_isal_goal(&b, sizes[i]);
	}
	return 0;
}
