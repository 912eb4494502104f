/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stream of a manifest file: groups read one at a time, checked, repaired, cached. */
#ifndef SCR_MANIFEST_STREAM_H
#define SCR_MANIFEST_STREAM_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/map.h"
#include "manifest/group.h"
#include "manifest/store.h"

/* pread(2), or what a test puts in its place. */
typedef ssize_t scr_pread_fn(int fd, void *buf, size_t len, off_t offset);

struct scr_stream {
	int fd;
	scr_pread_fn *pread;
	const struct scr_kernels *k;
	uint64_t groups;             /* in the file */
	size_t last_size;            /* bytes of the last one */
	uint64_t length;             /* of the stream */
	struct scr_group_head first, last;
	uint8_t *group;              /* one group, aligned for O_DIRECT */
	uint64_t loaded;             /* its number; UINT64_MAX: none */
	struct scr_buf spill;        /* what lies in more than one group */
	struct scr_map damaged;      /* groups that were counted as damaged */
	struct scr_mreader_damage damage;
};

/* Reads the last group and the first. On failure *why is a sentence for people, and @s is as good
 * as freed. */
int scr_stream_open(struct scr_stream *s, int fd, scr_pread_fn *pread_fn,
		    const struct scr_kernels *k, const char **why);

/* @len bytes of the stream at @offset; *p is valid until the next call. -EBADMSG where there are
 * none. */
int scr_stream_get(struct scr_stream *s, uint64_t offset, size_t len, const uint8_t **p);

void scr_stream_close(struct scr_stream *s);

#endif
