/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one place that turns names, which are bytes, into text.
 *
 * A name may hold anything but NUL: newlines that would forge a line of a report, escape sequences
 * that move the cursor or set the terminal's title, marks that turn the direction of writing, bytes
 * that are no UTF-8. Whatever prints a name or a message that may contain one comes here. The
 * output is UTF-8 whatever the locale, because that is what file names are today.
 */
#ifndef QUOTE_H
#define QUOTE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The character at @s in *@cp. Returns its length in bytes, or 0 if there is no valid UTF-8 (overlong
 * forms, surrogates and what lies beyond U+10FFFF are not). @len > 0. */
size_t quote_utf8(const char *s, size_t len, uint32_t *cp);

/* Writes the name as a word that a shell takes back to the same bytes: plain where that is safe,
 * else 'in quotes', and what may not be shown as $'\n'. As ls does on a terminal. */
void quote_name(FILE *f, const char *s, size_t len);

/* The same into memory to be freed, NULL if there is none. */
char *quote_name_dup(const char *s, size_t len);

/* Writes a sentence: as it is, but for what may not be shown, which is written as \n or \033. */
void quote_text(FILE *f, const char *s, size_t len);

/* The text as valid UTF-8 with U+FFFD for each byte that is none; to be freed. *@exact says
 * whether nothing had to be replaced. NULL if out of memory. */
char *quote_json(const char *s, size_t len, int *exact);

/* The bytes percent-encoded, unreserved characters and '/' as they are; to be freed. */
char *quote_percent(const char *s, size_t len);

#endif
