/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the formats of export share. */
#ifndef SCR_PASS_EXPORT_INTERNAL_H
#define SCR_PASS_EXPORT_INTERNAL_H

#include "base/compiler.h"
#include "base/map.h"
#include "pass/pass.h"

struct scr_exporter {
	struct scr_pass *p;
	struct scr_view *view;
	scr_write_fn *write;
	void *arg;
	struct scr_map crcs; /* sfv: (fs, ino) of files with several links -> CRC */
	struct scr_buf line; /* json */
};

/* Each writes all of it. 0 or -errno. */
int scr_export_sfv(struct scr_exporter *x);
int scr_export_json(struct scr_exporter *x);
int scr_export_ddrescue(struct scr_exporter *x);

/* A line as for printf(3), at most 255 bytes. */
int scr_export_print(struct scr_exporter *x, const char *fmt, ...) SCR_PRINTF(2, 3);

#endif
