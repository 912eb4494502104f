/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A number of bytes that threads take from and give back to. */
#include <config.h>
#include "pass/room.h"

#include "base/compiler.h"
#include "io/pages.h"
#include "pass/work.h"

#define MIB (UINT64_C(1) << 20)

/* All buffers together. The rest of the program takes some 12 MiB. */
#define ALL_BYTES (48 * MIB)
/* What threads keep, all together, if that is not too little for each. */
#define OWN_BYTES (8 * MIB)
#define OWN_LEAST (64u << 10)
/* Stack and bookkeeping of a thread. */
#define THREAD_BYTES (40u << 10)
/* Parity of a small file is at least so long, or as long as the file. */
#define SMALL_PARITY 4096u

void scr_room_init(struct scr_room *room, unsigned int readers, uint32_t columns, bool fold)
{
	uint64_t own = SCR_MAX(OWN_BYTES / readers, (uint64_t)OWN_LEAST);

	*room = (struct scr_room){
		.tight = readers > SCR_ROOM_FREE || (fold && columns < SCR_ROOM_COLUMNS),
		.own = UINT32_MAX,
		.ahead = SCR_PARITY_AHEAD,
		.batch = SCR_BATCH_FILES,
		.batch_bytes = SCR_BATCH_BYTES,
	};
	pthread_mutex_init(&room->door, NULL);
	pthread_mutex_init(&room->lock, NULL);
	pthread_cond_init(&room->more, NULL);
	if (!room->tight)
		return;
	room->own = (uint32_t)(own / 2);
	room->ahead = (uint32_t)SCR_MIN(own / 4, (uint64_t)SCR_PARITY_AHEAD);
	room->batch = (unsigned int)SCR_MIN(own / 4 / SMALL_PARITY, (uint64_t)SCR_BATCH_FILES);
	room->batch_bytes = SCR_MIN(own * 4, (uint64_t)SCR_BATCH_BYTES);
	room->left = ALL_BYTES - readers * (own + THREAD_BYTES);
}

void scr_room_destroy(struct scr_room *room)
{
	pthread_cond_destroy(&room->more);
	pthread_mutex_destroy(&room->lock);
	pthread_mutex_destroy(&room->door);
}

uint64_t scr_room_enter(struct scr_room *room, const struct scr_cut *cut, bool fold)
{
	uint64_t bytes = SCR_MIN((uint64_t)cut->length, (uint64_t)SCR_READER_BUFFER);

	if (!room->tight || cut->length <= room->own)
		return 0;
	if (fold)
		bytes += cut->column + SCR_MIN(cut->column, SCR_PARITY_AHEAD);
	/* One at a time waits for room, so that nobody else takes it away. */
	pthread_mutex_lock(&room->door);
	pthread_mutex_lock(&room->lock);
	while (room->left < bytes)
		pthread_cond_wait(&room->more, &room->lock);
	room->left -= bytes;
	pthread_mutex_unlock(&room->lock);
	pthread_mutex_unlock(&room->door);
	return bytes;
}

void scr_room_leave(struct scr_room *room, struct scr_worker *k, uint64_t bytes)
{
	if (bytes == 0)
		return;
	scr_worker_slim(k, room->own);
	pthread_mutex_lock(&room->lock);
	room->left += bytes;
	pthread_cond_signal(&room->more);
	pthread_mutex_unlock(&room->lock);
}
