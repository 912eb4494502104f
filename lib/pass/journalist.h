/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The journal being written: whole records appended, synced now and then; thread-safe. */
#ifndef SCR_PASS_JOURNALIST_H
#define SCR_PASS_JOURNALIST_H

#include "pass/work.h"

struct scr_journalist {
	struct scr_pass *p;
	int fd;
	pthread_mutex_t lock;
	uint64_t length;        /* of what is whole */
	int64_t synced_ns;      /* monotonic */
	bool broken;            /* an append failed: nothing more goes in */
};

/* A new journal that extends the manifest of p->header.generation. 0 or -errno (said). */
int scr_journalist_open(struct scr_journalist *j, struct scr_pass *p);
/* Appends the results in @k as one update of @f. 0 or -errno (said); a record that could not be
 * written whole is taken back. */
int scr_journalist_append(struct scr_journalist *j, struct scr_worker *k,
			  const struct scr_file_record *f, bool done);
/* The same, but into @k only, behind what is there: scr_journalist_flush() writes it. */
int scr_journalist_put(struct scr_journalist *j, struct scr_worker *k,
		       const struct scr_file_record *f, bool done);
/* Writes what was put into @k. 0 or -errno (said). */
int scr_journalist_flush(struct scr_journalist *j, struct scr_worker *k);
int scr_journalist_sync(struct scr_journalist *j);
void scr_journalist_close(struct scr_journalist *j);

#endif
