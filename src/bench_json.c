/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels and their speeds as JSON Lines. The schema is in scrub(8). */
#include <config.h>
#include "bench.h"

#include <jansson.h>
#include <stdio.h>

static json_t *start(const char *event)
{
	json_t *o = json_object();

	json_object_set_new(o, "event", json_string(event));
	return o;
}

static void finish(json_t *o)
{
	json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	putc('\n', stdout);
	json_decref(o);
}

static void put_int(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void put_real(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, json_real(v));
}

static void put_string(json_t *o, const char *key, const char *s)
{
	json_object_set_new(o, key, json_string(s));
}

static void put_bool(json_t *o, const char *key, bool v)
{
	json_object_set_new(o, key, json_boolean(v));
}

static void put_speeds(json_t *o, const struct scr_bench_row *r)
{
	put_int(o, "cache_mb_per_s", r->mb_cache);
	put_real(o, "cache_to_memcpy", r->cache_to_memcpy);
	put_real(o, "cache_to_load", r->cache_to_load);
	put_int(o, "memory_mb_per_s", r->mb_memory);
	put_real(o, "memory_to_memcpy", r->memory_to_memcpy);
	put_real(o, "memory_to_load", r->memory_to_load);
}

void bench_json_row(const struct scr_bench_row *r)
{
	json_t *o = start("bench");

	put_string(o, "class", r->class);
	put_string(o, "kernel", r->name);
	put_bool(o, "supported", r->supported);
	put_bool(o, "passed", r->passed);
	if (r->passed)
		put_speeds(o, r);
	put_bool(o, "chosen", r->chosen);
	if (r->forced)
		put_bool(o, "forced", true);
	if (r->mb_calibrated) {
		put_int(o, "calibrated_mb_per_s", r->mb_calibrated);
		put_real(o, "margin_percent", r->margin);
	}
	finish(o);
}

static void put_xor(const struct scr_classic *c, const struct scr_classic_xor *x)
{
	json_t *o = start("classic_xor");

	put_string(o, "kernel", x->name);
	put_int(o, "mb_per_s", x->mb);
	put_bool(o, "chosen", x->name == c->xor_chosen);
	if (x->published_clock) {
		put_int(o, "published_mb_per_s", x->published_clock);
		put_int(o, "published_ticks_mb_per_s", x->published_ticks);
	}
	finish(o);
}

static void put_pick(const struct scr_classic_pick *p)
{
	json_t *o = start("classic_pick");

	put_string(o, "clock", p->clock);
	put_string(o, "method", p->method);
	put_int(o, "right", p->right);
	put_int(o, "tries", p->tries);
	put_string(o, "most_picked", p->most_picked);
	put_real(o, "milliseconds", p->milliseconds);
	finish(o);
}

static void put_inet(const struct scr_classic_inet *r)
{
	json_t *o = start("classic_inet");

	put_string(o, "kernel", r->name);
	put_real(o, "hot_ns", r->ns_hot);
	put_real(o, "cold_ns", r->ns_cold);
	if (r->ns_published > 0)
		put_real(o, "published_ns", r->ns_published);
	finish(o);
}

void bench_json_classic(const struct scr_classic *c)
{
	for (unsigned int i = 0; i < c->nxor; i++)
		put_xor(c, &c->xor_[i]);
	for (unsigned int i = 0; i < c->npick; i++)
		put_pick(&c->pick[i]);
	for (unsigned int i = 0; i < c->ninet; i++)
		put_inet(&c->inet[i]);
}
