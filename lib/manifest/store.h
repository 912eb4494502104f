/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Manifest and journal: writing, reading, and the merged view of both.
 *
 *	manifest = groups of at most 1 MiB of the record stream, each with checksums and one XOR
 *	           parity of its own (repaired in memory on load), group heads repeated behind
 *	stream   = HEADER, UNSEEN..., then per file FILE, EXTENT...; or LINK; ...; TRAILER
 *	journal  = JOURNAL record, then UPDATE records, appended; ends at its first bad record
 *	view     = stream with the journal's updates applied, in walk order
 *
 * Nothing here opens a path: callers hand over descriptors.
 */
#ifndef SCR_MANIFEST_STORE_H
#define SCR_MANIFEST_STORE_H

#include "manifest/record.h"
#include "kernels/kernel.h"

/* ---- the writer ------------------------------------------------------------------------- */

struct scr_mwriter;

/*
 * Writes a manifest to @fd (empty, at offset 0) with @h at its head. @now_ns: the time for ages.
 * Files and links must come in walk order (checked: -EINVAL), extents of a file in order right
 * after it. Consecutive whole-hole extents with equal stamps and times become one record.
 */
int scr_mwriter_new(int fd, const struct scr_kernels *k, const struct scr_header *h,
		    int64_t now_ns, struct scr_mwriter **out);
/* Before the first file or link, in the order of scr_place_cmp() (checked: -EINVAL). */
int scr_mwriter_unseen(struct scr_mwriter *w, const struct scr_unseen_record *u);
int scr_mwriter_file(struct scr_mwriter *w, const struct scr_file_record *f);
int scr_mwriter_link(struct scr_mwriter *w, const struct scr_link_record *l);
int scr_mwriter_extent(struct scr_mwriter *w, const struct scr_extent *e);
/* The counts of what was written so far. */
const struct scr_trailer *scr_mwriter_sum(const struct scr_mwriter *w);
/* Writes the trailer (counts from what was written, the pass fields from @pass) and flushes; the
 * caller syncs. @out, if not NULL, receives the trailer (scr_trailer_free). */
int scr_mwriter_finish(struct scr_mwriter *w, const struct scr_trailer *pass,
		       struct scr_trailer *out);
void scr_mwriter_free(struct scr_mwriter *w);

/* ---- the reader ------------------------------------------------------------------------- */

struct scr_mreader;

/* What protection found so far. */
struct scr_mreader_damage {
	uint64_t groups_repaired;   /* groups in which something was repaired in memory */
	uint64_t blocks_repaired;   /* data blocks rebuilt from parity */
	uint64_t first_offset;      /* in the file, of the first damage */
};

/*
 * Opens the manifest in @fd (not owned, pread only), checks size, first and last group, header and
 * trailer. Reads no more than those two groups.
 * -EBADMSG: damaged beyond repair, truncated, empty or not a manifest; -EPROTONOSUPPORT: a newer
 * version or unknown incompat features. *why then points to a static sentence for people.
 */
int scr_mreader_open(int fd, const struct scr_kernels *k, struct scr_mreader **out,
		     const char **why);
/* Records are checked by @crc32 from now on. One that errs costs time: before a record, or all of
 * them, is called damaged, zlib is asked. Groups stay with the kernels of scr_mreader_open(). */
void scr_mreader_use(struct scr_mreader *r, const struct scr_kernel *crc32);
const struct scr_header *scr_mreader_header(const struct scr_mreader *r);
const struct scr_trailer *scr_mreader_trailer(const struct scr_mreader *r);
void scr_mreader_get_damage(const struct scr_mreader *r, struct scr_mreader_damage *out);
void scr_mreader_free(struct scr_mreader *r);

enum scr_record_type { SCR_RECORD_END = 0, SCR_RECORD_FILE, SCR_RECORD_LINK };

/*
 * The next FILE or LINK record (what is left of the current file's extents is passed over).
 * Exactly one of @f and @l is filled, with paths (followed by a NUL) that are valid until the next
 * scr_mreader_next(), _seek() or _rewind(). *offset, unless NULL, receives the position to come back to with scr_mreader_seek().
 * Returns a scr_record_type or -errno; order of paths, counts and the CRC over all are checked when
 * the stream is read from start to end (-EBADMSG).
 */
int scr_mreader_next(struct scr_mreader *r, struct scr_file_record *f, struct scr_link_record *l,
		     uint64_t *offset);
/* The next extent (or run of holes) of the current file into @e, whose arrays are reused if it was
 * filled before. Returns 1, 0 if there is none, -errno (then @e can only be freed or filled). */
int scr_mreader_extent(struct scr_mreader *r, struct scr_extent *e);
/* Goes to the FILE or LINK record at @offset: scr_mreader_next() returns it. */
int scr_mreader_seek(struct scr_mreader *r, uint64_t offset);
int scr_mreader_rewind(struct scr_mreader *r); /* to the first record */
/* The next UNSEEN record, with a path as above. They come first, before any FILE or LINK is asked
 * for; scr_mreader_next() passes over what is left of them. Returns 1, 0 if there is none, -errno. */
int scr_mreader_unseen(struct scr_mreader *r, struct scr_unseen_record *u);
/* Reads everything from start to end, with all checks, and rewinds. Returns 0 or -errno. */
int scr_mreader_check(struct scr_mreader *r);

/* ---- the journal ------------------------------------------------------------------------ */

/* One update: the file as it was seen, and extents that replace those they stand for. */
struct scr_update {
	struct scr_file_record file;
	bool done;               /* the file is finished in this pass */
	struct scr_extent *extents;
	uint32_t count;
};

/* Appends the JOURNAL record to an empty @fd: updates of files that are cut by @g, extending the
 * manifest of @generation. */
int scr_journal_start(int fd, uint64_t generation, const struct scr_geometry *g, int64_t now_ns);
/* Encodes @u as one self-checking record at the end of @out, for one write(2) by the caller.
 * Extents ascend and fit the size of the file. -EINVAL: not so, and readers would end before it;
 * -EMSGSIZE, -ENAMETOOLONG, -ENOMEM. @out is as before then. */
int scr_journal_encode(struct scr_buf *out, const struct scr_geometry *g,
		       const struct scr_update *u);

struct scr_journal;

/*
 * Checks the journal in @fd (pread only; it must stay open) and makes its updates available in walk
 * order. Memory stays below 16 MiB, one large record aside: larger journals are sorted through a
 * temporary file made by @tmpfile (returns a descriptor of an unnamed file, then owned, or -errno).
 * A journal that does not start with a valid JOURNAL record of @generation is empty (0 records).
 * *valid receives the length of its good part. -EPROTONOSUPPORT: of a newer version.
 */
int scr_journal_open(int fd, uint64_t generation, int (*tmpfile)(void *arg), void *arg,
		     struct scr_journal **out, uint64_t *valid);
uint64_t scr_journal_count(const struct scr_journal *j); /* UPDATE records */
/*
 * The next path that has updates, with the newest file record (@f->path is valid until the next
 * call and followed by a NUL); *done tells whether an update under the same stamp finished the
 * file. @f->fs may be beyond the identities of the manifest. Returns 1, 0 at the end, -errno.
 */
int scr_journal_next(struct scr_journal *j, struct scr_file_record *f, bool *done);
/* The next extent (or run of holes) of that path, by index, of each the newest that fits the size
 * of the newest file record; a run is cut where newer extents lie in it. Streamed, never all in
 * memory. Returns 1, 0 if there is none, -errno. */
int scr_journal_extent(struct scr_journal *j, struct scr_extent *e);
/* Sets *path to what scr_journal_next() would return, passing over what is left of the extents of
 * the current path. Returns 1, 0 at the end, -errno. */
int scr_journal_peek(struct scr_journal *j, const char **path, uint32_t *len);
int scr_journal_rewind(struct scr_journal *j);
void scr_journal_free(struct scr_journal *j);

/* ---- the view --------------------------------------------------------------------------- */

struct scr_view;

/*
 * The manifest with the journal applied, in walk order. Both stay the caller's and are rewound;
 * @j may be NULL. -EBADMSG: the journal was cut by another geometry.
 * An extent of the manifest is left out where an update of its file has one that overlaps it, or
 * where it does not fit the newest size of the file (scr_cut_extent).
 */
int scr_view_new(struct scr_mreader *r, struct scr_journal *j, struct scr_view **out);
/* As scr_mreader_next() and scr_mreader_extent(). A path that an update turns from LINK into FILE
 * comes as FILE. */
int scr_view_next(struct scr_view *v, struct scr_file_record *f, struct scr_link_record *l);
int scr_view_extent(struct scr_view *v, struct scr_extent *e);
void scr_view_free(struct scr_view *v);

/*
 * The same merge for one file at a time, for publishing: positions @v so that scr_view_extent()
 * yields the extents of the FILE record at @offset of the manifest (UINT64_MAX: none), overlaid
 * with those of the path that scr_journal_next() returned last if @journal, under the size @size.
 * Extents of that path must not have been taken yet. -EBADMSG: there is no FILE record.
 */
int scr_view_file_at(struct scr_view *v, uint64_t offset, bool journal, uint64_t size);

#endif
