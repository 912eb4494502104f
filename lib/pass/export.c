/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* export: the manifest in formats of others. */
#include <config.h>
#include "pass/export_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pass/filesum.h"
#include "pass/verbs.h"

int scr_export_print(struct scr_exporter *x, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return n < 0 || n >= (int)sizeof(text) ? -EOVERFLOW : x->write(x->arg, text, (size_t)n);
}

static int put(struct scr_exporter *x, const char *s, size_t len)
{
	return x->write(x->arg, s, len);
}

/*
 * SFV has lines of NAME CRC and no way to quote. Its readers take lines that begin with ; or # for
 * comments and a * for a mark, strip blanks, and turn backslashes round; one control character makes
 * them refuse the whole file as binary.
 */
static bool sfv_can_name(const struct scr_name *n)
{
	if (n->len == 0 || memchr("; #*\t", n->path[0], 5) ||
	    memchr(" \t", n->path[n->len - 1], 2))
		return false;
	for (size_t i = 0; i < n->len; i++) {
		unsigned char c = (unsigned char)n->path[i];

		if ((c < ' ' && c != '\t') || c == '\\')
			return false;
	}
	return true;
}

static int sfv_line(struct scr_exporter *x, const char *path, uint32_t len, uint32_t crc)
{
	struct scr_name n = scr_pass_name(x->p, path, len);
	char tail[16];
	int r;

	if (!sfv_can_name(&n)) {
		scr_trouble(x->p, path, len, 0, "left out: SFV can't express this name");
		return 0;
	}
	r = put(x, n.path, n.len);
	snprintf(tail, sizeof(tail), " %08X\n", crc);
	return r < 0 ? r : put(x, tail, strlen(tail));
}

static int sfv_file(struct scr_exporter *x, const struct scr_file_record *f, struct scr_extent *e)
{
	struct scr_filesum sum = {0};
	int r;

	while ((r = scr_view_extent(x->view, e)) == 1)
		scr_filesum_add(&sum, e);
	if (r < 0)
		return r;
	if (sum.gap || sum.length != f->stamp.size) {
		scr_trouble(x->p, f->path, f->path_len, 0,
			    "left out: parts of it could never be read");
		return 0;
	}
	if (f->nlink > 1)
		r = scr_map_put(&x->crcs, f->fs, f->stamp.ino, sum.crc);
	return r < 0 ? r : sfv_line(x, f->path, f->path_len, sum.crc);
}

int scr_export_sfv(struct scr_exporter *x)
{
	struct scr_extent e = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	uint64_t *crc;
	int r = put(x, "; CRC-32 of whole files, by " PACKAGE_STRING "\n",
		    sizeof("; CRC-32 of whole files, by " PACKAGE_STRING "\n") - 1);

	while (r == 0 && (r = scr_view_next(x->view, &f, &l)) > 0) {
		if (r == SCR_RECORD_FILE) {
			r = sfv_file(x, &f, &e);
			continue;
		}
		crc = scr_map_get(&x->crcs, l.fs, l.ino);
		r = crc ? sfv_line(x, l.path, l.path_len, (uint32_t)*crc) : 0;
	}
	scr_extent_free(&e);
	return r;
}

static const struct {
	const char *name;
	int (*fn)(struct scr_exporter *x);
} formats[] = {
	{"sfv", scr_export_sfv},
	{"json", scr_export_json},
	{"ddrescue", scr_export_ddrescue},
};

static int export(struct scr_exporter *x, int (*fn)(struct scr_exporter *x))
{
	int r = scr_view_new(x->p->old, x->p->journal, &x->view);

	if (r == 0)
		r = fn(x);
	if (r < 0 && !(x->p->sum.exit & SCR_EXIT_USAGE))
		scr_trouble(x->p, NULL, 0, r == -EBADMSG ? 0 : -r, "the export is not complete");
	x->p->sum.files_damaged = scr_mreader_trailer(x->p->old)->files_damaged;
	x->p->sum.blocks_damaged = scr_mreader_trailer(x->p->old)->blocks_damaged;
	x->p->sum.complete = r == 0 && x->p->sum.trouble == 0;
	scr_view_free(x->view);
	scr_map_free(&x->crcs);
	scr_buf_free(&x->line);
	return r;
}

int scr_verb_export(struct scr_ctx *ctx, const char *target, const char *format,
		    scr_write_fn *write, void *arg, struct scr_summary *out)
{
	struct scr_pass p;
	struct scr_exporter x = {.p = &p, .write = write, .arg = arg};
	int (*fn)(struct scr_exporter *x) = NULL;
	int r = scr_pass_begin(&p, ctx, "export", target, false);

	for (size_t i = 0; i < SCR_ARRAY_SIZE(formats); i++)
		if (!strcmp(format, formats[i].name))
			fn = formats[i].fn;
	if (r == 0 && !fn)
		r = scr_usage(&p, NULL, "unknown format '%s'; there are: sfv, json, ddrescue",
			      format);

	if (r == 0) {
		r = scr_pass_open_state(&p, SCR_ACCESS_READ);
		if (r == -ENOENT && !ctx->opt.manifest)
			r = scr_pass_no_manifest(&p);
	}
	if (r == 0)
		r = export(&x, fn);
	return scr_pass_end(&p, r, out);
}
