/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public API of libbitscrub: measuring the kernels of this machine. */
#ifndef BITSCRUB_BENCH_H
#define BITSCRUB_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef SCR_API
#define SCR_API __attribute__((visibility("default")))
#endif

/* Called now and then with what is being done and how far it is, in steps of equal effort. */
typedef void scr_bench_progress_fn(void *arg, const char *what, unsigned int done,
				   unsigned int total);

/* A problem that does not stop the measurement (a kernel that failed its self-test), or the reason
 * why it cannot be done (a forced kernel that does not exist). */
typedef void scr_bench_warn_fn(void *arg, const char *line);

struct scr_bench_options {
	size_t block_size;          /* bytes of a block in cache, even; 0 means 64 KiB */
	const char *const *kernels; /* as for a pass: "CLASS=NAME", "without=FEATURE"; or NULL */
	scr_bench_progress_fn *progress; /* may be NULL */
	scr_bench_warn_fn *warn;         /* may be NULL */
	void *arg;                       /* for both */
};

/* A thing that was measured. Speeds are MB/s, 10^6 bytes of source; 0 where nothing was measured.
 */
struct scr_bench_row {
	const char *class; /* "memory" for memcpy and load; "inet", "crc32", "xor", "fused" */
	const char *name;
	bool supported; /* this CPU can run it */
	bool passed;    /* and it passed its self-test */
	bool chosen;    /* and a pass would use it */
	bool forced;    /* because the options said so, not because it won */

	uint64_t mb_cache;  /* a block of block_size, again and again */
	uint64_t mb_memory; /* blocks from a buffer far larger than the last-level cache */

	/* Ratios to copying and to merely loading the same data, in the same run. */
	double cache_to_memcpy, cache_to_load;
	double memory_to_memcpy, memory_to_load;

	/* Of the chosen row, by the measurement that a pass makes at start: MB/s on 4 KiB in cache,
	 * and how much faster it is than the next, in percent (0 if there is no other). */
	uint64_t mb_calibrated;
	double margin;
};

/* @row is valid during the call only; its strings always are. */
typedef void scr_bench_row_fn(void *arg, const struct scr_bench_row *row);

/*
 * Measures memcpy, a plain load loop and every kernel, and calls @fn(@arg, row) for each, memory
 * rows first, then in table order. Takes some seconds, at most 20. Returns 0, -EINVAL for options
 * that cannot be (@warn has been told), -ENOMEM.
 */
SCR_API int scr_bench(const struct scr_bench_options *opt, scr_bench_row_fn *fn, void *arg);

#define SCR_CLASSIC_MAX 16

/* A row of the XOR race: 3 x 800 repetitions over 4 KiB. Published figures are 0 where the row did
 * not run in 2020. */
struct scr_classic_xor {
	const char *name;
	uint64_t mb;              /* MB/s here */
	uint64_t published_clock; /* MB/s on a ThunderX2, timed by a real clock */
	uint64_t published_ticks; /* the same, timed by ticks before */
};

/* What would have been picked in @tries simulated races of the kernels measured here. */
struct scr_classic_pick {
	const char *clock;  /* "1 ns", "32 kHz", "HZ tick" */
	const char *method; /* "3 x 800", "count per tick", "bitscrub" */
	unsigned int right; /* picks within 3 % of the fastest */
	unsigned int tries;
	const char *most_picked;
	double milliseconds; /* that one race takes */
};

/* A row of the checksum experiment: 100000 times over 4 KiB. */
struct scr_classic_inet {
	const char *name;
	double ns_hot;       /* the same 4 KiB each time */
	double ns_cold;      /* random pages of a buffer far larger than the cache */
	double ns_published; /* Xeon of 2.4 GHz, 2013, hot; 0 where there is none */
};

struct scr_classic {
	struct scr_classic_xor xor_[SCR_CLASSIC_MAX];
	struct scr_classic_pick pick[SCR_CLASSIC_MAX];
	struct scr_classic_inet inet[SCR_CLASSIC_MAX];
	unsigned int nxor, npick, ninet;
	const char *xor_chosen;
};

/* Repeats the two experiments that this project starts from. @opt gives progress, warn and kernels
 * ("without=" only). Returns 0, -EINVAL, -ENOMEM. */
SCR_API int scr_bench_classic(const struct scr_bench_options *opt, struct scr_classic *out);

#endif
