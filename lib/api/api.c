/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public verbs: arguments are checked and forwarded. */
#include <config.h>
#include "bitscrub.h"

#include <errno.h>

#include "dev/device.h"
#include "pass/verbs.h"

int scr_init(struct scr_ctx *ctx, const char *target, struct scr_summary *out)
{
	return ctx && target ? scr_verb_init(ctx, target, out) : -EINVAL;
}

int scr_run(struct scr_ctx *ctx, const char *target, struct scr_summary *out)
{
	return ctx && target ? scr_verb_run(ctx, target, out) : -EINVAL;
}

int scr_verify(struct scr_ctx *ctx, const char *target, const char *const *paths, size_t npaths,
	       struct scr_summary *out)
{
	return ctx && target ? scr_verb_verify(ctx, target, paths, npaths, out) : -EINVAL;
}

int scr_accept(struct scr_ctx *ctx, const char *target, const char *const *paths, size_t npaths,
	       struct scr_summary *out)
{
	return ctx && target ? scr_verb_accept(ctx, target, paths, npaths, out) : -EINVAL;
}

int scr_repair(struct scr_ctx *ctx, const char *target, const char *const *paths, size_t npaths,
	       struct scr_summary *out)
{
	return ctx && target ? scr_verb_repair(ctx, target, paths, npaths, out) : -EINVAL;
}


int scr_list(struct scr_ctx *ctx, const char *target, const char *const *paths, size_t npaths,
	     struct scr_summary *out)
{
	return ctx && target ? scr_verb_list(ctx, target, paths, npaths, out) : -EINVAL;
}

int scr_get_history(struct scr_ctx *ctx, const char *target, scr_pass_fn *fn, void *arg,
		    struct scr_summary *sum)
{
	return ctx && target && fn ? scr_verb_history(ctx, target, fn, arg, sum) : -EINVAL;
}

int scr_get_status(struct scr_ctx *ctx, const char *target, struct scr_status *out,
		   struct scr_summary *sum)
{
	return ctx && target && out ? scr_verb_status(ctx, target, out, sum) : -EINVAL;
}

int scr_config_get(struct scr_ctx *ctx, const char *target, scr_setting_fn *fn, void *arg,
		   struct scr_summary *out)
{
	return ctx && target && fn ? scr_verb_config_get(ctx, target, fn, arg, out) : -EINVAL;
}

int scr_config_set(struct scr_ctx *ctx, const char *target, const char *const *pairs,
		   struct scr_summary *out)
{
	return ctx && target && pairs ? scr_verb_config_set(ctx, target, pairs, out) : -EINVAL;
}

int scr_export(struct scr_ctx *ctx, const char *target, const char *format, scr_write_fn *write,
	       void *arg, struct scr_summary *out)
{
	if (!ctx || !target || !format || !write)
		return -EINVAL;
	return scr_verb_export(ctx, target, format, write, arg, out);
}

bool scr_same_target(const char *a, const char *b)
{
	return a && b && scr_device_same_target(a, b);
}
