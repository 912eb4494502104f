/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole copies of bad blocks elsewhere: another directory, the same file, the page cache. Whatever
 * is found counts only if both checksums of the record agree. */
#include <config.h>
#include "pass/repair_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/compiler.h"
#include "walk/resolve.h"

/* So many extents of one file look through all of its record for duplicates. */
#define SEEK_DUPLICATES_MAX 64
/* And so many of one repair through the whole manifest. */
#define SEEK_ELSEWHERE_MAX 64

static bool is_lost(const struct scr_mend *m, uint32_t i)
{
	return m->state[i] == SCR_BLOCK_LOST;
}

static uint64_t place_of(const struct scr_mend *m, uint32_t i)
{
	return m->cut.offset + (uint64_t)i * m->cut.block;
}

static bool any_lost(const struct scr_mend *m)
{
	for (uint32_t i = 0; i < m->cut.blocks; i++)
		if (is_lost(m, i))
			return true;
	return false;
}

/* ---- --from DIR -------------------------------------------------------------------------- */

static int open_copy(struct scr_repair *r, const struct scr_repair_file *rf)
{
	bool leaf = r->p->leaf && rf->path.len == 1;
	const char *name = leaf ? r->p->leaf : (char *)rf->path.data;
	size_t len = leaf ? strlen(name) : rf->path.len;
	struct stat st;

	if (r->from_file)
		return dup(r->from);
	return scr_open_beneath(r->from, name, len, false, &st);
}

static void from_copy(struct scr_repair *r, const struct scr_repair_file *rf, uint8_t *buf)
{
	struct scr_mend *m = &r->mend;
	int fd = r->from < 0 ? -1 : open_copy(r, rf);

	for (uint32_t i = 0; fd >= 0 && i < m->cut.blocks; i++)
		if (is_lost(m, i) && scr_pread_all(fd, buf, scr_block_length(&m->cut, i),
						   place_of(m, i)) == 0)
			scr_mend_take(m, i, buf, SCR_REPAIR_FROM);
	if (fd >= 0)
		close(fd);
}

/* ---- duplicates -------------------------------------------------------------------------- */

/* Tries block @j of recorded extent @e, which should hold the same as what is lost in @i. */
static void try_duplicate(struct scr_repair *r, uint32_t i, const struct scr_cut *cut, uint32_t j)
{
	struct scr_mend *m = &r->mend;
	struct scr_bad_range bad[1];
	unsigned int nbad = 0;
	const uint8_t *data;
	uint32_t len = scr_block_length(cut, j);
	ssize_t n = scr_reader_read(r->k.reader, cut->offset + (uint64_t)j * cut->block, len, &data,
				    bad, 1, &nbad);

	if (n == (ssize_t)len && nbad == 0)
		scr_mend_take(m, i, data, SCR_REPAIR_DUPLICATE);
}

/* The checks of lost blocks, to be looked up. */
struct wanted {
	struct scr_check check;
	uint32_t length, block;
};

static int by_check(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->check.crc != y->check.crc)
		return x->check.crc < y->check.crc ? -1 : 1;
	if (x->check.inet != y->check.inet)
		return x->check.inet < y->check.inet ? -1 : 1;
	return x->length < y->length ? -1 : x->length > y->length;
}

static uint32_t collect_wanted(const struct scr_mend *m, struct wanted *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->cut.blocks; i++)
		if (is_lost(m, i))
			list[n++] = (struct wanted){m->checks[i], scr_block_length(&m->cut, i), i};
	qsort(list, n, sizeof(*list), by_check);
	return n;
}

/* Block @j of @cut has the checks @check: all lost blocks of the same are tried with it. */
static void match(struct scr_repair *r, const struct wanted *list, uint32_t n,
		  const struct scr_cut *cut, uint32_t j, struct scr_check check)
{
	struct wanted key = {check, scr_block_length(cut, j), 0};
	const struct wanted *w = bsearch(&key, list, n, sizeof(*list), by_check);

	if (!w)
		return;
	while (w > list && by_check(w - 1, &key) == 0)
		w--;
	for (; w < list + n && by_check(w, &key) == 0; w++)
		if (is_lost(&r->mend, w->block) &&
		    (cut->index != r->mend.cut.index || j != w->block))
			try_duplicate(r, w->block, cut, j);
}

static int from_record(struct scr_repair *r, struct scr_repair_file *rf, const struct wanted *list,
		       uint32_t n)
{
	struct scr_extent e = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	int err;

	rf->disturbed = true;
	err = scr_mreader_seek(r->p->old, rf->offset);
	if (err == 0)
		err = scr_mreader_next(r->p->old, &f, &l, NULL);
	while (err >= 0 && (err = scr_mreader_extent(r->p->old, &e)) == 1) {
		for (uint32_t j = 0; e.checks && j < e.cut.blocks; j++)
			match(r, list, n, &e.cut, j, e.checks[j]);
		if (!any_lost(&r->mend))
			break;
	}
	scr_extent_free(&e);
	return SCR_MIN(err, 0);
}

/* Block @j of recorded extent @e of @f, another file, if it has the checks of a lost one. */
static void try_elsewhere(struct scr_repair *r, const struct wanted *list, uint32_t n,
			  const struct scr_file_record *f, const struct scr_extent *e, uint32_t j,
			  uint8_t *buf)
{
	struct wanted key = {e->checks[j], scr_block_length(&e->cut, j), 0};
	uint64_t at = e->cut.offset + (uint64_t)j * e->cut.block;
	struct stat st;
	int fd;

	if (!bsearch(&key, list, n, sizeof(*list), by_check))
		return;
	fd = scr_open_beneath(r->p->rootfd, f->path, f->path_len, !r->p->policy.cross_mounts, &st);
	if (fd < 0)
		return;
	if (scr_pread_all(fd, buf, key.length, at) == 0)
		for (uint32_t i = 0; i < n; i++)
			if (by_check(&list[i], &key) == 0 && is_lost(&r->mend, list[i].block))
				scr_mend_take(&r->mend, list[i].block, buf, SCR_REPAIR_DUPLICATE);
	close(fd);
}

/* Every recorded block of every other file; by a reader of its own, since the pass's is under way. */
static int from_elsewhere(struct scr_repair *r, const struct scr_repair_file *rf,
			  const struct wanted *list, uint32_t n)
{
	struct scr_mreader *reader = NULL;
	uint8_t *buf = malloc(r->mend.cut.block);
	struct scr_extent e = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	const char *why;
	int err = buf ? scr_mreader_open(r->p->manifest_fd, scr_kernels_reference(), &reader, &why)
		      : -ENOMEM;

	while (err >= 0 && any_lost(&r->mend) && !scr_pass_stopped(r->p) &&
	       (err = scr_mreader_next(reader, &f, &l, NULL)) > 0) {
		if (err != SCR_RECORD_FILE || (f.path_len == rf->path.len &&
					       !memcmp(f.path, rf->path.data, f.path_len)))
			continue;
		while ((err = scr_mreader_extent(reader, &e)) == 1)
			for (uint32_t j = 0; e.checks && j < e.cut.blocks; j++)
				try_elsewhere(r, list, n, &f, &e, j, buf);
	}
	scr_extent_free(&e);
	scr_mreader_free(reader);
	free(buf);
	return SCR_MIN(err, 0);
}

static int from_duplicates(struct scr_repair *r, struct scr_repair_file *rf,
			   const struct scr_extent *e)
{
	struct scr_mend *m = &r->mend;
	struct wanted *list = calloc(m->cut.blocks, sizeof(*list));
	uint32_t n;
	int err = 0;

	if (!list)
		return -ENOMEM;
	n = collect_wanted(m, list);
	for (uint32_t j = 0; n > 0 && j < m->cut.blocks; j++)
		if (!is_lost(m, j))
			match(r, list, n, &e->cut, j, m->checks[j]);
	if (any_lost(m) && rf->duplicates_sought++ < SEEK_DUPLICATES_MAX)
		err = from_record(r, rf, list, n);
	if (err == 0 && any_lost(m) && r->elsewhere_sought++ < SEEK_ELSEWHERE_MAX)
		err = from_elsewhere(r, rf, list, n);
	free(list);
	return err;
}

/* ---- the page cache ---------------------------------------------------------------------- */

/* Only what is there already: nothing is read from the medium for it. */
static void from_cache(struct scr_repair *r, const struct scr_repair_file *rf, uint8_t *buf)
{
	struct scr_mend *m = &r->mend;

	for (uint32_t i = 0; i < m->cut.blocks; i++) {
		struct iovec v = {buf, scr_block_length(&m->cut, i)};

		if (!is_lost(m, i))
			continue;
		if (preadv2(rf->fd, &v, 1, (off_t)place_of(m, i), RWF_NOWAIT) == (ssize_t)v.iov_len)
			scr_mend_take(m, i, buf, SCR_REPAIR_CACHE);
	}
}

int scr_mend_sources(struct scr_repair *r, struct scr_repair_file *rf, const struct scr_extent *e)
{
	uint8_t *buf = malloc(r->mend.cut.block);
	int err = 0;

	if (!buf)
		return -ENOMEM;
	from_copy(r, rf, buf);
	if (any_lost(&r->mend))
		err = from_duplicates(r, rf, e);
	if (err == 0 && any_lost(&r->mend))
		from_cache(r, rf, buf);
	free(buf);
	return err;
}
