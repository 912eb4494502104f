/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of the threads that read: however many there are, all together keep to a limit.
 *
 * A thread needs a buffer to read into, a column to fold into, and what it compares that with: up to
 * 3.4 MiB for an extent of a large file with 16 columns. Up to SCR_ROOM_FREE threads just have
 * that. Of more, or with longer columns, each keeps what small files need, and for a larger extent
 * waits until there is room for it, which it gives back.
 */
#ifndef SCR_PASS_ROOM_H
#define SCR_PASS_ROOM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "fold/geometry.h"

struct scr_worker;

#define SCR_ROOM_FREE 16u
#define SCR_ROOM_COLUMNS 16u

struct scr_room {
	bool tight;              /* there are so many threads that they share */
	uint32_t own;            /* bytes of an extent that needs no more than a thread may keep */
	uint32_t ahead;          /* bytes of stored parity that a thread reads ahead */
	unsigned int batch;      /* small files that a thread finishes together, at most */
	uint64_t batch_bytes;    /* ... until they have so many bytes */
	pthread_mutex_t door;    /* held by the one that waits */
	pthread_mutex_t lock;
	pthread_cond_t more;
	uint64_t left;           /* bytes; under lock */
};

/* For @readers threads, at least one, which fold into @columns if @fold. */
void scr_room_init(struct scr_room *room, unsigned int readers, uint32_t columns, bool fold);
void scr_room_destroy(struct scr_room *room);

/* Waits until the extent @cut may be read, folded too if @fold. What it returns is for
 * scr_room_leave(). */
uint64_t scr_room_enter(struct scr_room *room, const struct scr_cut *cut, bool fold);
/* The extent is through; what @k needed for it is given back. */
void scr_room_leave(struct scr_room *room, struct scr_worker *k, uint64_t bytes);

#endif
