/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A window on a file: large reads where it is read in order, small ones elsewhere. */
#ifndef SCR_MANIFEST_WINDOW_H
#define SCR_MANIFEST_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct scr_window {
	int fd;
	uint64_t base;      /* file offset of buf.data */
	struct scr_buf buf;
};

void scr_window_init(struct scr_window *w, int fd);
/* *p: @len bytes at @offset, valid until the next call. Returns 1, 0 if the file ends before or the
 * medium can't give them, -errno. */
int scr_window_get(struct scr_window *w, uint64_t offset, size_t len, const uint8_t **p);
void scr_window_free(struct scr_window *w);

#endif
