/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* copy=DIR: a second copy of the manifest elsewhere, after publishing. */
#ifndef SCR_PASS_COPIES_H
#define SCR_PASS_COPIES_H

#include "pass/pass.h"

/* Copies the published manifest to DIR/NAME.manifest for each copy= setting, atomically. A copy
 * that fails is said and is trouble; the pass goes on. Returns 0. */
int scr_publish_copies(struct scr_pass *p);

#endif
