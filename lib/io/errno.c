/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which errors speak of the medium, and which of everything around it. */
#include <config.h>
#include "io/reader.h"

#include <errno.h>

bool scr_errno_is_medium(int err)
{
	switch (err) {
	case EIO:       /* the device gave up; btrfs: no copy with the right checksum */
	case EILSEQ:    /* block layer: protection information does not fit */
	case EUCLEAN:   /* ext4, xfs, f2fs: corrupted structure */
	case EBADMSG:   /* xfs, fs-verity: checksum does not fit */
	case ENODATA:   /* block layer: critical medium error */
	case EREMOTEIO: /* block layer: critical target error */
		return true;
	default:
		return false;
	}
}
