/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verbs, as lib/api forwards to them; see bitscrub.h. */
#ifndef SCR_PASS_VERBS_H
#define SCR_PASS_VERBS_H

#include "pass/pass.h"

int scr_verb_init(struct scr_ctx *ctx, const char *target, struct scr_summary *out);
int scr_verb_run(struct scr_ctx *ctx, const char *target, struct scr_summary *out);
int scr_verb_verify(struct scr_ctx *ctx, const char *target, const char *const *paths,
		    size_t npaths, struct scr_summary *out);
int scr_verb_accept(struct scr_ctx *ctx, const char *target, const char *const *paths,
		    size_t npaths, struct scr_summary *out);
int scr_verb_repair(struct scr_ctx *ctx, const char *target, const char *const *paths,
		    size_t npaths, struct scr_summary *out);
int scr_verb_list(struct scr_ctx *ctx, const char *target, const char *const *paths,
		  size_t npaths, struct scr_summary *out);
int scr_verb_history(struct scr_ctx *ctx, const char *target, scr_pass_fn *fn, void *arg,
		     struct scr_summary *out);
int scr_verb_status(struct scr_ctx *ctx, const char *target, struct scr_status *out,
		    struct scr_summary *sum);
int scr_verb_config_get(struct scr_ctx *ctx, const char *target, scr_setting_fn *fn, void *arg,
			struct scr_summary *out);
int scr_verb_config_set(struct scr_ctx *ctx, const char *target, const char *const *pairs,
			struct scr_summary *out);
int scr_verb_export(struct scr_ctx *ctx, const char *target, const char *format,
		    scr_write_fn *write, void *arg, struct scr_summary *out);

#endif
