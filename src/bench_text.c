/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels and their speeds for people. scrub(8) explains how to read them. */
#include <config.h>
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>

#include "units.h"

#define NAME_WIDTH 17

void bench_text_head(size_t block_size)
{
	char size[UNITS_TEXT];

	printf("Blocks of %s. MB/s are 10^6 bytes a second; copy and load: ratio to memcpy and to a\n"
	       "plain load loop in the same run. * is what a pass uses.\n\n",
	       units_size(size, block_size));
	printf("%-27s %-22s   %s\n", "", "in cache", "out of cache");
	printf("  %-7s%-*s %8s %6s %6s   %8s %6s %6s\n", "class", NAME_WIDTH, "kernel", "MB/s", "copy",
	       "load", "MB/s", "copy", "load");
}

static void put_why(const struct scr_bench_row *r)
{
	if (r->forced)
		fputs("  as asked", stdout);
	else if (r->chosen && r->margin > 0)
		printf("  by %.0f %%", r->margin);
}

void bench_text_row(const struct scr_bench_row *r)
{
	printf("%c %-7s%-*s ", r->chosen ? '*' : ' ', r->class, NAME_WIDTH, r->name);
	if (!r->supported)
		fputs("not on this CPU", stdout);
	else if (!r->passed)
		fputs("FAILED its self-test, never used", stdout);
	else
		printf("%8" PRIu64 " %6.2f %6.2f   %8" PRIu64 " %6.2f %6.2f", r->mb_cache,
		       r->cache_to_memcpy, r->cache_to_load, r->mb_memory, r->memory_to_memcpy,
		       r->memory_to_load);
	put_why(r);
	putchar('\n');
}

/* In the form in which Linux reports this race at boot. */
static void put_xor(const struct scr_classic *c)
{
	uint64_t mb = 0;

	puts("xor: measuring software checksum speed");
	for (unsigned int i = 0; i < c->nxor; i++) {
		const struct scr_classic_xor *x = &c->xor_[i];

		printf("   %-16s: %6" PRIu64 " MB/sec", x->name, x->mb);
		if (x->published_clock)
			printf("    ThunderX2: %5" PRIu64 ", by ticks: %5" PRIu64, x->published_clock,
			       x->published_ticks);
		putchar('\n');
		mb = x->mb > mb ? x->mb : mb;
	}
	printf("xor: using function: %s (%" PRIu64 " MB/sec)\n", c->xor_chosen, mb);
	puts("(ThunderX2, 2020: using function: 32regs (12345 MB/sec))");
}

static void put_picks(const struct scr_classic *c)
{
	puts("\nWhat other clocks would have made of it: simulated races of these kernels;\n"
	     "right is a pick within 3 % of the fastest.\n\n"
	     "  clock    method            right       mostly            a race takes");
	for (unsigned int i = 0; i < c->npick; i++) {
		const struct scr_classic_pick *p = &c->pick[i];

		printf("  %-8s %-15s %3u of %3u    %-16s %9.1f ms\n", p->clock, p->method, p->right,
		       p->tries, p->most_picked, p->milliseconds);
	}
}

static void put_inet(const struct scr_classic *c)
{
	const struct scr_classic_inet *base = &c->inet[0];

	puts("\nInternet checksum of 4 KiB, 100000 times: nanoseconds each, and ratio to serial.\n"
	     "Published: Xeon, 2.4 GHz, October 2013, hot.\n");
	printf("  %-*s %7s %6s   %10s %6s   %9s %6s\n", NAME_WIDTH, "", "hot", "", "cold pages", "",
	       "published", "");
	for (unsigned int i = 0; i < c->ninet; i++) {
		const struct scr_classic_inet *r = &c->inet[i];

		printf("  %-*s %7.0f %6.2f   %10.0f %6.2f", NAME_WIDTH, r->name, r->ns_hot,
		       base->ns_hot / r->ns_hot, r->ns_cold, base->ns_cold / r->ns_cold);
		if (r->ns_published > 0)
			printf("   %9.0f %6.2f", r->ns_published,
			       base->ns_published / r->ns_published);
		putchar('\n');
	}
}

void bench_text_classic(const struct scr_classic *c)
{
	put_xor(c);
	put_picks(c);
	put_inet(c);
}
