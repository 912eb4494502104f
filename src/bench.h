/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What "scrub bench" found, as text and as JSON Lines. */
#ifndef BENCH_H
#define BENCH_H

#include <bitscrub.h>

/* The head of the table of kernels; then a row each. */
void bench_text_head(size_t block_size);
void bench_text_row(const struct scr_bench_row *r);
void bench_text_classic(const struct scr_classic *c);

void bench_json_row(const struct scr_bench_row *r);
void bench_json_classic(const struct scr_classic *c);

#endif
