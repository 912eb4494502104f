/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The undo log: files undo/NNNNNNNN in the state directory, one for each change of one file.
 *
 * An entry is a write-ahead record: it is on the medium, its directory too, before the first byte
 * of the file is written. It says which file that is, how it was, which ranges are replaced, what
 * stood there, and what the new bytes must checksum to.
 *
 *	OPEN     repair is writing, or was killed: the file is under repair
 *	DONE     written, read back, journalled; can be undone
 *	UNDOING  the old bytes are being put back, or that was cut short
 *	UNDONE   they are back; or the entry means nothing any more
 *
 * An entry is written front to back; a change of state is one more record at its end, synced before
 * what it allows is done. Read as hostile input. bitscrub-manifest(5) is normative.
 */
#ifndef SCR_PARITY_UNDO_H
#define SCR_PARITY_UNDO_H

#include "io/state.h"
#include "manifest/record.h"

enum scr_undo_state {
	SCR_UNDO_OPEN = 1,
	SCR_UNDO_DONE = 2,
	SCR_UNDO_UNDOING = 3,
	SCR_UNDO_UNDONE = 4,
};

enum { /* flags of struct scr_undo_range */
	SCR_UNDO_UNREADABLE = 1, /* what stood there could not be read and is not kept */
};

/* The old bytes of one range take at most this. */
#define SCR_UNDO_RANGE_MAX (1u << 20)
/* One entry has at most so many ranges, and replaces at most so many bytes. */
#define SCR_UNDO_RANGES_MAX (1u << 17)
#define SCR_UNDO_BYTES_MAX (64u << 20)
/* Units of writing are at most this. */
#define SCR_UNDO_UNIT_MAX (1u << 20)

/* One range of the file. Ranges ascend and don't overlap. */
struct scr_undo_range {
	uint64_t offset;
	uint32_t length;         /* of the new bytes; 0: the file ends here now */
	uint32_t old_length;     /* of the old ones; less than length where the file ended */
	uint32_t flags;
	struct scr_check check;  /* of the new bytes */
	const uint8_t *old;      /* for scr_undo_create() only */
	uint64_t at;             /* where the old bytes are in the entry's file */
};

/* The state of an entry, and of the file when that was written. */
struct scr_undo_mark {
	enum scr_undo_state state;
	int64_t time_ns;
	struct scr_stamp stamp;
};

struct scr_undo_entry {
	uint32_t number;         /* of its file; set by scr_undo_create() and scr_undo_load() */
	int64_t created_ns;
	struct scr_stamp stamp;  /* of the file before */
	uint64_t size_after;
	uint64_t extent;         /* which one of the file, as recorded */
	uint32_t unit;           /* while open the file may be longer by less than this */
	uint8_t damage_kind;     /* enum scr_damage_record_kind of what was repaired, */
	int64_t since_ns;        /* and when it was first seen */
	struct scr_identity fs;  /* owned */
	char *path;              /* owned, followed by a NUL */
	uint32_t path_len;
	struct scr_undo_range *ranges; /* owned */
	uint32_t count;
	struct scr_undo_mark mark;     /* the present state */
	/* Of a loaded entry. */
	int fd;                  /* of its file; -1: none */
	uint64_t length;         /* of what is sound in its file */
	uint32_t body_crc;       /* of all that stands before the first state */
};

void scr_undo_entry_free(struct scr_undo_entry *e);

struct scr_undo_log;

/* Opens the log of @s; there may be none. @reading: as for scr_state_open_file(). -EPERM (@why). */
int scr_undo_log_open(const struct scr_state *s, bool reading, struct scr_undo_log **out,
		      struct scr_why *why);
void scr_undo_log_free(struct scr_undo_log *log);
/* The numbers of all entries, ascending: valid until the log is freed or the next call. 0, -errno. */
int scr_undo_log_list(struct scr_undo_log *log, const uint32_t **numbers, uint32_t *count);

/*
 * Writes @e and its old bytes as a new entry in state OPEN, and syncs it and the directory. The
 * caller fills in all but number, mark, fd and length. After an error nothing of it is left, as far
 * as that can be. 0, -errno (@why).
 */
int scr_undo_create(struct scr_undo_log *log, struct scr_undo_entry *e, int64_t now_ns,
		    struct scr_why *why);
/*
 * Loads entry @number into @out. Without @all the old bytes are passed over, unread and unchecked:
 * enough to see what it is about. -ENOENT: not there. -ENODATA: it was never finished, so that
 * nothing was written because of it; a writer removes it. -EBADMSG: damaged; its file may be half
 * written, so that nobody may remove it. Else -errno.
 */
int scr_undo_load(struct scr_undo_log *log, uint32_t number, bool all, struct scr_undo_entry *out,
		  struct scr_why *why);
/* When entry @number, which need not be readable, was written last, by the clock of the state's file
 * system. 0 or -errno. */
int scr_undo_written(const struct scr_undo_log *log, uint32_t number, int64_t *ns);
/* Gives up what takes memory and a descriptor; the entry can still be marked. */
void scr_undo_park(struct scr_undo_entry *e);
/* The old bytes of range @i of a loaded entry into @p (old_length bytes). 0 or -errno. */
int scr_undo_old(const struct scr_undo_entry *e, uint32_t i, void *p);
/* Gives @e a new state, on the medium when this returns. 0 or -errno. */
int scr_undo_mark(struct scr_undo_log *log, struct scr_undo_entry *e, enum scr_undo_state state,
		  const struct scr_stamp *stamp, int64_t now_ns);
/* Removes entry @number. 0 or -errno. */
int scr_undo_remove(struct scr_undo_log *log, uint32_t number);

/* What there is, for status. Entries that are not sound count as damaged. */
struct scr_undo_counts {
	uint32_t open, done, undone, damaged; /* open: and undoing */
	uint64_t bytes;                       /* that all of them take */
	int64_t oldest_ns, newest_ns;         /* of done ones; 0: none */
};

int scr_undo_count(struct scr_undo_log *log, struct scr_undo_counts *out);

#endif
