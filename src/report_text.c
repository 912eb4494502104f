/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text for people: each line says the target, the file, what is the matter and how much. */
#include <config.h>
#include "report_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "console.h"
#include "options.h"
#include "quote.h"
#include "units.h"

/* "TARGET: PATH: ", without PATH where the target itself is meant. */
static void put_names(FILE *f, const char *target, const struct scr_name *name)
{
	quote_name(f, target, strlen(target));
	fputs(": ", f);
	if (!name->path || (name->len == 1 && name->path[0] == '.'))
		return;
	quote_name(f, name->path, name->len);
	fputs(": ", f);
}

void text_alarm(const struct report *r, const char *word)
{
	if (r->console->color)
		printf("\033[1;31m%s\033[m", word);
	else
		fputs(word, stdout);
}

static void put_blocks(const struct scr_damage *d)
{
	unsigned long long first = d->block, last = d->block + d->blocks - 1;

	if (d->block == SCR_NO_BLOCK)
		return;
	if (d->blocks > 1)
		printf(" in blocks %llu to %llu", first, last);
	else
		printf(" in block %llu", first);
	printf(": %llu bytes at offset %llu", (unsigned long long)d->length,
	       (unsigned long long)d->offset);
}

static void put_region(const char *region)
{
	fputs(", in ", stdout);
	quote_text(stdout, region, strlen(region));
}

static void put_difference(const struct scr_damage *d)
{
	unsigned long long first = d->differ_first, bits = d->bits_flipped;

	if (d->bytes_differ == 1 && bits == 1)
		printf("; 1 bit flipped at byte %llu (0x%02x -> 0x%02x)", first, d->byte_was,
		       d->byte_now);
	else if (d->bytes_differ == 1)
		printf("; byte %llu differs (0x%02x -> 0x%02x)", first, d->byte_was, d->byte_now);
	else if (d->bytes_differ)
		printf("; %llu bits in %llu bytes differ, from byte %llu to %llu", bits,
		       (unsigned long long)d->bytes_differ, first,
		       (unsigned long long)d->differ_last);
}

/* What happened, and what can be done about it. */
static void put_diagnosis(const struct scr_damage *d)
{
	put_difference(d);
	if (d->holds.path) {
		printf("; holds block %llu of ", (unsigned long long)d->holds_block);
		quote_name(stdout, d->holds.path, d->holds.len);
	} else if (d->pattern && !strcmp(d->pattern, "zeroed")) {
		fputs(", reads as zeros", stdout);
	} else if (d->pattern && !strcmp(d->pattern, "0xff")) {
		fputs(", reads as 0xff", stdout);
	}
	if (d->repairable == SCR_REPAIRABLE_YES)
		fputs("; repairable", stdout);
	else if (d->repairable == SCR_REPAIRABLE_NO)
		printf("; not repairable: %s", d->why_not ? d->why_not : "no source");
}

/* Parity is nobody's data: what it means is said in full. */
static void put_parity(const struct scr_damage *d)
{
	printf(" of bytes %llu to %llu ", (unsigned long long)d->offset,
	       (unsigned long long)(d->offset + d->length - 1));
	if (d->inconsistent)
		fputs("does not fit the data, though all checksums do: damage that both checksums missed, or parity of other content",
		      stdout);
	else if (d->repaired)
		fputs("was damaged and has been rebuilt; the data is sound", stdout);
	else
		fputs("is damaged; the data is sound, and 'run' rebuilds it", stdout);
}

static void put_circumstances(const struct scr_damage *d)
{
	char date[UNITS_TEXT];

	if (d->err)
		printf(" (%s)", strerror(d->err));
	if (d->size_was >= 0 && d->size_now >= 0)
		printf(", size was %lld, is %lld", (long long)d->size_was, (long long)d->size_now);
	if (d->kind == SCR_DAMAGE_ALTERED && !d->carried)
		fputs(d->device ? ", and what would tell whether it was written is damaged or gone"
				: ", under an unchanged modification time",
		      stdout);
	if (d->carried)
		fputs(d->device ? ", older than what was written since"
				: ", older than the last edit of the file",
		      stdout);
	if (d->metadata_changed && d->kind == SCR_DAMAGE_ROT)
		fputs(", metadata changed since", stdout);
	if (d->known)
		printf(", known since %s", units_date(date, d->since));
}

/* Under -q what was reported before is one line a file, and not more of them than fit a mail. */
static void known_damage(struct report *r, const char *target, const struct scr_damage *d)
{
	char date[UNITS_TEXT];

	if (!report_known_is_new(r, &d->name) || r->known_count > TEXT_LINES_MAX)
		return;
	put_names(stdout, target, &d->name);
	text_alarm(r, scr_damage_kind_name(d->kind));
	printf(", still damaged since %s\n", units_date(date, d->since));
}

static void text_damage(struct report *r, const char *target, const struct scr_damage *d)
{
	if (d->kind == SCR_DAMAGE_MANIFEST)
		return; /* the talk about it says all */
	if (d->known && r->opt->quiet) {
		known_damage(r, target, d);
		return;
	}
	/* What verify finds is recorded nowhere: it is told whole. */
	if (++r->new_count > TEXT_LINES_MAX && r->opt->quiet && !strcmp(r->cmd->name, "run"))
		return;
	put_names(stdout, target, &d->name);
	text_alarm(r, scr_damage_kind_name(d->kind));
	if (d->kind == SCR_DAMAGE_PARITY)
		put_parity(d);
	put_blocks(d);
	if (d->region)
		put_region(d->region);
	put_circumstances(d);
	put_diagnosis(d);
	putchar('\n');
}

/* A change that looks like a flipped bit is worth a line even when files are not listed. */
static void text_file(struct report *r, const char *target, const struct scr_file_event *f)
{
	if (r->opt->quiet || (!r->opt->verbose && !f->bit_flip))
		return;
	put_names(stdout, target, &f->name);
	fputs(scr_verdict_name(f->verdict), stdout);
	if (f->from.path) {
		fputs(" from ", stdout);
		quote_name(stdout, f->from.path, f->from.len);
	}
	fputs(f->bit_flip ? ", looks like a bit flip\n" : "\n", stdout);
}

static void text_trouble(struct report *r, const char *target, const struct scr_trouble *t)
{
	const char *why = t->err ? strerror(t->err) : NULL;

	console_err(r->console);
	if (t->warning && !t->usage)
		fputs("warning: ", stderr);
	if (target)
		put_names(stderr, target, &t->name);
	quote_text(stderr, t->message, strlen(t->message));
	if (why && !strstr(t->message, why))
		fprintf(stderr, ": %s", why);
	putc('\n', stderr);
	console_done(r->console);
}

static void put_mode(uint32_t mode)
{
	static const char letters[] = "rwxrwxrwx";
	char text[11] = "----------";

	if (S_ISBLK(mode))
		text[0] = 'b';

	for (int i = 0; i < 9; i++)
		if (mode & 0400u >> i)
			text[i + 1] = letters[i];
	if (mode & S_ISUID)
		text[3] = mode & S_IXUSR ? 's' : 'S';
	if (mode & S_ISGID)
		text[6] = mode & S_IXGRP ? 's' : 'S';
	if (mode & S_ISVTX)
		text[9] = mode & S_IXOTH ? 't' : 'T';
	fputs(text, stdout);
}

static void put_record(const struct scr_list_entry *e)
{
	char mtime[UNITS_TEXT], checked[UNITS_TEXT];

	put_mode(e->mode);
	printf(" %2u %5u %5u %12llu  %s  %-16s  ", e->nlink, e->uid, e->gid,
	       (unsigned long long)e->size, units_date(mtime, e->mtime_ns),
	       units_date(checked, e->checked_ns));
	if (e->unrecorded)
		fputs("--------  ", stdout);
	else
		printf("%08x  ", e->crc32);
}

static void text_list(struct report *r, const char *target, const struct scr_list_entry *e)
{
	char date[UNITS_TEXT];

	(void)target;
	if (r->opt->long_list)
		put_record(e);
	quote_name(stdout, e->name.path, e->name.len);
	if (e->link_owner.path && r->opt->long_list) {
		fputs(" = ", stdout);
		quote_name(stdout, e->link_owner.path, e->link_owner.len);
	}
	if (e->unseen) {
		fputs(": ", stdout);
		text_alarm(r, scr_damage_kind_name(e->damage_kind));
		printf(", since %s", units_date(date, e->damaged_since));
	} else if (e->damaged_blocks && (r->opt->long_list || r->opt->lib.damaged_only)) {
		fputs(": ", stdout);
		text_alarm(r, scr_damage_kind_name(e->damage_kind));
		printf(", %llu block%s, since %s", (unsigned long long)e->damaged_blocks,
		       e->damaged_blocks == 1 ? "" : "s", units_date(date, e->damaged_since));
	}
	putchar('\n');
}

static void text_setting(struct report *r, const char *target, const char *key, const char *value)
{
	(void)r;
	(void)target;
	printf("%s=", key);
	quote_text(stdout, value, strlen(value));
	putchar('\n');
}

static void put_owner_path(const struct scr_owner_event *e)
{
	char *path = malloc(strlen(e->mountpoint) + e->name.len + 2);
	size_t n = strlen(e->mountpoint);

	if (!path)
		return;
	memcpy(path, e->mountpoint, n);
	if (n > 0 && path[n - 1] != '/')
		path[n++] = '/';
	memcpy(path + n, e->name.path, e->name.len);
	quote_name(stdout, path, n + e->name.len);
	free(path);
}

static void text_owner(struct report *r, const char *target, const struct scr_owner_event *e)
{
	(void)r;
	(void)target;
	printf("  bytes %llu to %llu: ", (unsigned long long)e->offset,
	       (unsigned long long)(e->offset + e->length - 1));
	switch (e->kind) {
	case SCR_OWNED_BY_FILE:
		fputs("part of ", stdout);
		put_owner_path(e);
		printf(", from its byte %llu", (unsigned long long)e->file_offset);
		break;
	case SCR_OWNED_BY_NONE:
		fputs("free space", stdout);
		break;
	case SCR_OWNED_BY_METADATA:
		fputs("metadata of the file system", stdout);
		if (e->name.path) {
			fputs(": ", stdout);
			quote_text(stdout, e->name.path, e->name.len);
		}
		break;
	case SCR_OWNED_UNKNOWN:
		fputs("whose they are could not be found out", stdout);
		break;
	}
	putchar('\n');
}

void text_names(const char *target, const struct scr_name *name)
{
	put_names(stdout, target, name);
}

const struct report_ops report_text_ops = {
	.damage = text_damage,
	.file = text_file,
	.trouble = text_trouble,
	.list = text_list,
	.repair = text_repair,
	.owner = text_owner,
	.summary = text_summary,
	.status = text_status,
	.pass = text_pass,
	.setting = text_setting,
};
