/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* config: settings of a manifest, shown and changed. */
#include <config.h>
#include "pass/verbs.h"

#include <errno.h>

#include "pass/publish.h"

int scr_verb_config_get(struct scr_ctx *ctx, const char *target, scr_setting_fn *fn, void *arg,
			struct scr_summary *out)
{
	struct scr_pass p;
	int r = scr_pass_begin(&p, ctx, "config", target, false);

	if (r == 0) {
		r = scr_pass_open_state(&p, SCR_ACCESS_PEEK);
		if (r == -ENOENT && !ctx->opt.manifest)
			r = scr_pass_no_manifest(&p);
	}
	if (r == 0) {
		scr_settings_each(&p.header.settings, &p.fs, fn, arg);
		p.sum.files_damaged = scr_mreader_trailer(p.old)->files_damaged;
		p.sum.blocks_damaged = scr_mreader_trailer(p.old)->blocks_damaged;
		p.sum.complete = true;
	}
	return scr_pass_end(&p, r, out);
}

static int apply(struct scr_pass *p, const char *const *pairs)
{
	const struct scr_trailer *t = scr_mreader_trailer(p->old);
	bool has_records = t->files > 0 || p->journal;
	struct scr_setting_error err = {""};
	int r = 0;

	for (; r == 0 && *pairs; pairs++)
		r = scr_settings_apply(&p->header.settings, *pairs, has_records, &err);
	return r == -EINVAL ? scr_usage(p, NULL, "%s", err.text) : r;
}

int scr_verb_config_set(struct scr_ctx *ctx, const char *target, const char *const *pairs,
			struct scr_summary *out)
{
	struct scr_pass p;
	int r = scr_pass_begin(&p, ctx, "config", target, true);

	if (r == 0) {
		r = scr_pass_open_state(&p, SCR_ACCESS_WRITE);
		if (r == -ENOENT)
			r = scr_pass_no_manifest(&p);
	}
	if (r == 0)
		r = apply(&p, pairs);
	if (r == 0)
		r = scr_publish_view(&p);
	if (r == 0) {
		p.sum.files_damaged = p.trailer.files_damaged;
		p.sum.blocks_damaged = p.trailer.blocks_damaged;
		p.sum.complete = true;
	}
	return scr_pass_end(&p, r, out);
}
