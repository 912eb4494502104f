/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes and times as people write and read them. */
#ifndef UNITS_H
#define UNITS_H

#include <stdint.h>

/* Room for any of the texts below. */
#define UNITS_TEXT 32

/* "4096", "64K", "1M", "2G", "1T" (and "64KiB" or "64k"): powers of 1024. Writes *@bytes and returns
 * 0, or -EINVAL if @s is anything else, or more than 64 bits. */
int units_parse_size(const char *s, uint64_t *bytes);

/* "90", "90s", "45m", "2h", "30d", "4w", more than none: *@ns and 0, else -EINVAL. */
int units_parse_duration(const char *s, int64_t *ns);
/* "5%", "0.5%", up to "100%": *@millionths, at least 1, and 0; else -EINVAL. */
int units_parse_percent(const char *s, uint32_t *millionths);

/* Three digits or so, in powers of 1024: "999 bytes", "5.6 GiB". Each returns @text. */
char *units_size(char text[UNITS_TEXT], uint64_t bytes);
/* "0.08 s", "1.2 s", "12 s", "2 min 3 s", "5 h 10 min", "3 d 4 h". */
char *units_duration(char text[UNITS_TEXT], double seconds);
/* "12:34" or "1:02:03": fixed in width while it counts. */
char *units_clock(char text[UNITS_TEXT], double seconds);
/* Local time, "2025-01-31 23:59"; "never" for 0. */
char *units_date(char text[UNITS_TEXT], int64_t ns);
/* UTC, "2025-01-31T23:59:59Z". */
char *units_iso(char text[UNITS_TEXT], int64_t ns);
/* How long before @now_ns: "today", "1 day ago", "12 days ago". */
char *units_age(char text[UNITS_TEXT], int64_t ns, int64_t now_ns);

#endif
