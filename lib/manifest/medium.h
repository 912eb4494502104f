/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which errors of a read mean that what is stored is damaged. */
#ifndef SCR_MANIFEST_MEDIUM_H
#define SCR_MANIFEST_MEDIUM_H

#include <errno.h>
#include <stdbool.h>

/* @err is positive. Other errors say nothing about what is stored. */
static inline bool scr_medium_error(int err)
{
	return err == EIO || err == EILSEQ || err == EUCLEAN || err == EBADMSG ||
	       err == ENODATA || err == EREMOTEIO;
}

#endif
