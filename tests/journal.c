/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The journal, and the view of manifest and journal, against a model in plain arrays. */
#include <config.h>
#include "store_common.h"

#include <errno.h>
#include <unistd.h>

#include "base/path.h"
#include "manifest/journal.h"

#define GENERATION 42u
#define MAX_UPDATES 120u
#define MAX_EXTENTS 8u
#define PATHS 10u

static const uint64_t sizes[] = {
	0,
	5,
	16 * MIB - 1,
	16 * MIB,
	32 * MIB - 1,
	32 * MIB,
	48 * MIB,
	48 * MIB + 7,
	64 * MIB - 1,
	64 * MIB,
	96 * MIB,
	96 * MIB + 1,
	112 * MIB,
};

/* In walk order; '/' sorts before everything else. */
static const char *const paths[PATHS] = {
	"a", "a/b", "a/b/c", "a!b", "a.b", "b", "b\n", "b\xff", "c/d", "c0",
};

/* Which update (its tag is kept in the reserved field) stands for each extent. */
struct slot {
	uint64_t tag;
	uint32_t length;
	bool hole;
};

struct model_file {
	bool there, link, done;
	uint64_t size, mode, stamp; /* mode: a tag too */
	struct slot slots[8];
};

struct model_update {
	unsigned int path;
	bool done;
	uint64_t size, mode, stamp;
	struct slot slots[8];
};

struct world {
	struct rng rng;
	uint64_t tag;
	struct model_update updates[MAX_UPDATES];
	unsigned int count;
	struct model_file manifest[PATHS];
	uint64_t offsets[PATHS];
	int manifest_fd, journal_fd;
};

static const struct scr_sort_limits limits[] = {
	{1, 2}, /* every item is a run of its own, many passes */
	{700, 3},
	{20000, 2},
	{1 << 20, 8},
};

/* ---- making both -------------------------------------------------------------------------- */

static void note(struct slot *slots, const struct scr_extent *e, uint64_t size)
{
	for (uint64_t i = e->cut.index; i < e->cut.index + e->run; i++)
		slots[i] = (struct slot){
			.tag = e->reserved,
			.length = scr_cut_extent(&small_geometry, size, i).length,
			.hole = e->hole,
		};
}

/* Some extents of a file of @size bytes, noted in @slots. */
static uint32_t make_extents(struct world *w, uint64_t size, const struct scr_stamp *stamp,
			     struct scr_extent *out, struct slot *slots, unsigned int skip)
{
	uint64_t count = scr_extent_count(size);
	uint32_t n = 0;

	for (uint64_t i = 0; i < count; i += out[n - 1].run) {
		if (rng_below(&w->rng, 4) < skip) {
			i++;
			if (i >= count)
				break;
		}
		if (rng_below(&w->rng, 2))
			out[n] = random_run(&w->rng, &small_geometry, size, i,
					    1 + rng_below(&w->rng, (uint32_t)(count - i)));
		else
			out[n] = random_extent(&w->rng, &small_geometry, size, i);
		out[n].reserved = ++w->tag;
		if (rng_below(&w->rng, 2))
			out[n].stamp = *stamp;
		note(slots, &out[n], size);
		n++;
		if (i + out[n - 1].run >= count)
			break;
	}
	return n;
}

static struct scr_file_record make_file(struct world *w, unsigned int path, uint64_t size,
					uint64_t stamp)
{
	struct scr_file_record f = random_file(&w->rng, size);

	f.mode = (uint32_t)++w->tag;
	f.stamp.ino = stamp;
	f.stamp.mtime_ns = f.stamp.ctime_ns = 1;
	f.path = paths[path];
	f.path_len = (uint32_t)strlen(paths[path]);
	return f;
}

static void free_extents(struct scr_extent *e, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		scr_extent_free(&e[i]);
}

static void make_manifest(struct world *w, const struct scr_kernels *k)
{
	struct scr_header h = sample_header(&small_geometry);
	struct scr_mwriter *writer;

	w->manifest_fd = temp_file(NULL);
	assert_int_equal(scr_mwriter_new(w->manifest_fd, k, &h, 1, &writer), 0);
	for (unsigned int p = 0; p < PATHS; p++) {
		struct model_file *m = &w->manifest[p];
		struct scr_extent e[MAX_EXTENTS];
		struct scr_file_record f;
		uint32_t n;

		m->there = rng_below(&w->rng, 3);
		m->link = m->there && p > 0 && w->manifest[0].there && rng_below(&w->rng, 3) == 0;
		if (m->link) {
			struct scr_link_record l = {.path = paths[p], .owner = paths[0]};

			l.path_len = (uint32_t)strlen(l.path);
			l.owner_len = (uint32_t)strlen(l.owner);
			assert_int_equal(scr_mwriter_link(writer, &l), 0);
		}
		if (!m->there || m->link)
			continue;
		m->size = sizes[rng_below(&w->rng, 13)];
		f = make_file(w, p, m->size, 1);
		m->mode = f.mode;
		assert_int_equal(scr_mwriter_file(writer, &f), 0);
		n = make_extents(w, m->size, &f.stamp, e, m->slots, rng_below(&w->rng, 2));
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(scr_mwriter_extent(writer, &e[i]), 0);
		free_extents(e, n);
	}
	assert_int_equal(scr_mwriter_finish(writer, NULL, NULL), 0);
	scr_mwriter_free(writer);
	scr_header_free(&h);
}

static void add_update(struct world *w)
{
	struct model_update *u = &w->updates[w->count++];
	struct scr_extent e[MAX_EXTENTS];
	struct scr_update up = {.extents = e};
	struct scr_buf b = {0};

	u->path = rng_below(&w->rng, PATHS);
	u->size = sizes[rng_below(&w->rng, 2) ? 10 : rng_below(&w->rng, 13)];
	u->done = up.done = rng_below(&w->rng, 3) == 0;
	u->stamp = rng_below(&w->rng, 3);
	up.file = make_file(w, u->path, u->size, u->stamp);
	u->mode = up.file.mode;
	if (rng_below(&w->rng, 8))
		up.count = make_extents(w, u->size, &up.file.stamp, e, u->slots, 3);
	assert_int_equal(scr_journal_encode(&b, &small_geometry, &up), 0);
	assert_int_equal(write(w->journal_fd, b.data, b.len), (ssize_t)b.len);
	scr_buf_free(&b);
	free_extents(e, up.count);
}

static void make_world(struct world *w, uint64_t seed, unsigned int updates)
{
	memset(w, 0, sizeof(*w));
	w->rng.state = seed;
	make_manifest(w, scr_kernels_reference());
	w->journal_fd = temp_file(NULL);
	assert_int_equal(scr_journal_start(w->journal_fd, GENERATION, &small_geometry, 5), 0);
	while (w->count < updates)
		add_update(w);
}

static void free_world(struct world *w)
{
	close(w->manifest_fd);
	close(w->journal_fd);
}

/* ---- what should come out ----------------------------------------------------------------- */

static bool fits(const struct slot *s, uint64_t size, uint64_t index)
{
	return s->tag && index < scr_extent_count(size) &&
	       scr_cut_extent(&small_geometry, size, index).length == s->length;
}

/* The first @n updates of @path, merged; extents under @size, or the newest size if UINT64_MAX. */
static struct model_file merge_updates(const struct world *w, unsigned int n, unsigned int path,
				       uint64_t size)
{
	struct model_file m = {0};

	for (unsigned int i = 0; i < n; i++) {
		const struct model_update *u = &w->updates[i];

		if (u->path != path)
			continue;
		m.there = true;
		m.size = u->size;
		m.mode = u->mode;
		m.stamp = u->stamp;
	}
	for (unsigned int i = 0; i < n; i++) {
		const struct model_update *u = &w->updates[i];

		if (u->path != path)
			continue;
		m.done |= u->done && u->stamp == m.stamp && u->size == m.size;
		for (uint64_t x = 0; x < 8; x++)
			if (fits(&u->slots[x], size == UINT64_MAX ? m.size : size, x))
				m.slots[x] = u->slots[x];
	}
	return m;
}

/* Manifest and updates of @path under @size. */
static void overlay(const struct world *w, unsigned int path, bool manifest, bool journal,
		    uint64_t size, struct slot *out)
{
	const struct model_file *old = &w->manifest[path];
	struct model_file new = {0};

	if (journal)
		new = merge_updates(w, w->count, path, size);
	for (uint64_t x = 0; x < 8; x++) {
		out[x] = new.slots[x];
		if (!out[x].tag && manifest && fits(&old->slots[x], size, x))
			out[x] = old->slots[x];
	}
}

/* ---- what comes out ----------------------------------------------------------------------- */

/* Notes @e, which must not begin before *next, in @slots. */
static void take(const struct scr_extent *e, uint64_t size, uint64_t *next, struct slot *slots)
{
	struct scr_cut cut = scr_cut_extent(&small_geometry, size, e->cut.index);
	uint64_t length = 0;

	assert_true(e->cut.index >= *next && e->run >= 1);
	*next = e->cut.index + e->run;
	assert_true(*next <= scr_extent_count(size));
	assert_int_equal(e->cut.length, cut.length);
	assert_int_equal(e->cut.blocks, cut.blocks);
	assert_int_equal(e->cut.column, cut.column);
	for (uint64_t i = e->cut.index; i < *next; i++)
		length += scr_cut_extent(&small_geometry, size, i).length;
	assert_true(e->run_length == length);
	note(slots, e, size);
}

static void assert_slots_equal(const struct slot *a, const struct slot *b)
{
	for (unsigned int i = 0; i < 8; i++)
		assert_true(a[i].tag == b[i].tag && a[i].length == b[i].length &&
			    a[i].hole == b[i].hole);
}

static void check_journal(const struct world *w, struct scr_journal *j, unsigned int n)
{
	struct scr_extent e = {0};
	unsigned int path = 0;
	struct scr_file_record f;
	const char *peek;
	uint32_t len;
	bool done;
	int r;

	for (; path < PATHS; path++) {
		struct model_file m = merge_updates(w, n, path, UINT64_MAX);
		struct slot slots[8] = {0};
		uint64_t next = 0;

		if (!m.there)
			continue;
		assert_int_equal(scr_journal_peek(j, &peek, &len), 1);
		assert_int_equal(len, strlen(paths[path]));
		assert_memory_equal(peek, paths[path], len);
		assert_int_equal(scr_journal_next(j, &f, &done), 1);
		assert_string_equal(f.path, paths[path]);
		assert_true(f.mode == m.mode && f.stamp.size == m.size && done == m.done);
		if (path % 3 == 2) /* not all callers want the extents */
			continue;
		while ((r = scr_journal_extent(j, &e)) > 0)
			take(&e, m.size, &next, slots);
		assert_int_equal(r, 0);
		assert_int_equal(scr_journal_extent(j, &e), 0);
		assert_slots_equal(slots, m.slots);
	}
	assert_int_equal(scr_journal_next(j, &f, &done), 0);
	assert_int_equal(scr_journal_peek(j, &peek, &len), 0);
	scr_extent_free(&e);
}

static void check_view(const struct world *w, struct scr_view *v)
{
	struct scr_extent e = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	int r;

	for (unsigned int path = 0; path < PATHS; path++) {
		struct model_file new = merge_updates(w, w->count, path, UINT64_MAX);
		const struct model_file *old = &w->manifest[path];
		struct slot slots[8] = {0}, want[8];
		uint64_t next = 0;

		if (!new.there && !old->there)
			continue;
		r = scr_view_next(v, &f, &l);
		if (!new.there && old->link) {
			assert_int_equal(r, SCR_RECORD_LINK);
			assert_string_equal(l.path, paths[path]);
			assert_int_equal(scr_view_extent(v, &e), 0);
			continue;
		}
		assert_int_equal(r, SCR_RECORD_FILE);
		assert_string_equal(f.path, paths[path]);
		assert_true(f.mode == (new.there ? new.mode : old->mode));
		overlay(w, path, old->there && !old->link, new.there, f.stamp.size, want);
		while ((r = scr_view_extent(v, &e)) > 0)
			take(&e, f.stamp.size, &next, slots);
		assert_int_equal(r, 0);
		assert_slots_equal(slots, want);
	}
	assert_int_equal(scr_view_next(v, &f, &l), SCR_RECORD_END);
	scr_extent_free(&e);
}

/* The same, file by file and under another size, as a publisher does it. */
static void check_file_at(struct world *w, struct scr_view *v, struct scr_journal *j)
{
	struct scr_extent e = {0};

	assert_int_equal(scr_journal_rewind(j), 0);
	for (unsigned int path = 0; path < PATHS; path++) {
		struct model_file new = merge_updates(w, w->count, path, UINT64_MAX);
		uint64_t size = sizes[rng_below(&w->rng, 13)], next = 0;
		bool manifest = w->offsets[path] && rng_below(&w->rng, 4);
		struct slot slots[8] = {0}, want[8];
		struct scr_file_record f;
		bool done;
		int r;

		if (new.there)
			assert_int_equal(scr_journal_next(j, &f, &done), 1);
		assert_int_equal(scr_view_file_at(v, manifest ? w->offsets[path] : UINT64_MAX,
						  new.there, size),
				 0);
		overlay(w, path, manifest, new.there, size, want);
		while ((r = scr_view_extent(v, &e)) > 0)
			take(&e, size, &next, slots);
		assert_int_equal(r, 0);
		assert_slots_equal(slots, want);
	}
	scr_extent_free(&e);
}

/* Where the FILE records are. */
static void find_offsets(struct world *w, struct scr_mreader *r)
{
	struct scr_file_record f;
	struct scr_link_record l;
	uint64_t offset;
	int type;

	while ((type = scr_mreader_next(r, &f, &l, &offset)) > 0)
		for (unsigned int p = 0; p < PATHS; p++)
			if (type == SCR_RECORD_FILE && strcmp(f.path, paths[p]) == 0)
				w->offsets[p] = offset;
	assert_int_equal(type, 0);
}

/* ---- tests -------------------------------------------------------------------------------- */

static void test_against_model(void **state)
{
	static struct world w;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct scr_mreader *r;
		struct scr_journal *j;
		struct scr_view *v;
		const char *why;
		uint64_t valid;

		make_world(&w, seed, seed % 10 == 0 ? MAX_UPDATES : (unsigned int)seed % 30);
		assert_int_equal(scr_journal_open_with(w.journal_fd, GENERATION, &limits[seed % 4],
						       temp_file, NULL, &j, &valid),
				 0);
		assert_int_equal(valid, lseek(w.journal_fd, 0, SEEK_END));
		assert_int_equal(scr_journal_count(j), w.count);
		check_journal(&w, j, w.count);
		assert_int_equal(scr_journal_rewind(j), 0);
		check_journal(&w, j, w.count);
		assert_int_equal(scr_mreader_open(w.manifest_fd, scr_kernels_reference(), &r, &why),
				 0);
		find_offsets(&w, r);
		assert_int_equal(scr_view_new(r, j, &v), 0);
		check_view(&w, v);
		check_file_at(&w, v, j);
		scr_view_free(v);
		assert_int_equal(scr_view_new(r, NULL, &v), 0);
		w.count = 0;
		check_view(&w, v);
		scr_view_free(v);
		scr_mreader_free(r);
		scr_journal_free(j);
		free_world(&w);
	}
}

/* Opens a journal that was made shorter or worse; only the first @n updates may be seen. */
static void check_damaged(const struct world *w, int fd, unsigned int n, uint64_t good)
{
	struct scr_journal *j;
	uint64_t valid;

	assert_int_equal(scr_journal_open(fd, GENERATION, temp_file, NULL, &j, &valid), 0);
	assert_int_equal(scr_journal_count(j), n);
	assert_true(valid == good);
	check_journal(w, j, n);
	scr_journal_free(j);
}

/* Offsets of all records of a journal, and behind the last one; their number. */
static unsigned int find_records(const uint8_t *p, size_t len, size_t *ends)
{
	unsigned int n = 0;
	size_t at = 0;

	while (at < len) {
		at += 12 + (size_t)scr_get_le32(p + at + 4);
		ends[n++] = at;
	}
	assert_int_equal(at, len);
	return n;
}

static void test_every_damage(void **state)
{
	static struct world w;
	size_t len, ends[MAX_UPDATES + 1];
	unsigned int records, n = 0;
	uint8_t *p;
	int fd = temp_file(NULL);

	(void)state;
	make_world(&w, 7, 12);
	p = read_whole(w.journal_fd, &len);
	records = find_records(p, len, ends);
	assert_int_equal(records, 13);
	for (size_t at = 0; at < len; at++) {
		uint64_t good;

		while (ends[n] <= at)
			n++;
		good = n ? ends[n - 1] : 0;
		write_whole(fd, p, at);
		check_damaged(&w, fd, n ? n - 1 : 0, good);
		for (unsigned int bit = 0; bit < 8; bit++) {
			p[at] ^= (uint8_t)(1u << bit);
			write_whole(fd, p, len);
			check_damaged(&w, fd, n ? n - 1 : 0, good);
			p[at] ^= (uint8_t)(1u << bit);
		}
	}
	write_whole(fd, p, len);
	check_damaged(&w, fd, 12, len);
	free(p);
	close(fd);
	free_world(&w);
}

static void test_other_generation(void **state)
{
	static struct world w;
	struct scr_journal *j;
	uint64_t valid;

	(void)state;
	make_world(&w, 3, 4);
	assert_int_equal(
		scr_journal_open(w.journal_fd, GENERATION + 1, temp_file, NULL, &j, &valid), 0);
	assert_int_equal(scr_journal_count(j), 0);
	assert_int_equal(valid, 0);
	scr_journal_free(j);
	free_world(&w);
}

static int no_file(void *arg)
{
	(void)arg;
	return -ENOSPC;
}

static void test_no_room_for_sorting(void **state)
{
	static struct world w;
	struct scr_journal *j;
	uint64_t valid;

	(void)state;
	make_world(&w, 5, 20);
	assert_int_equal(scr_journal_open_with(w.journal_fd, GENERATION, &limits[0], no_file, NULL,
					       &j, &valid),
			 -ENOSPC);
	assert_int_equal(scr_journal_open(w.journal_fd, GENERATION, no_file, NULL, &j, &valid), 0);
	scr_journal_free(j);
	free_world(&w);
}

static void test_view_needs_same_geometry(void **state)
{
	static struct world w;
	struct scr_geometry other = {512, 16, 4096};
	struct scr_mreader *r;
	struct scr_journal *j;
	struct scr_update u = {0};
	struct scr_buf b = {0};
	struct scr_view *v;
	const char *why;
	uint64_t valid;

	(void)state;
	make_world(&w, 5, 0);
	write_whole(w.journal_fd, "", 0);
	assert_int_equal(scr_journal_start(w.journal_fd, GENERATION, &other, 1), 0);
	u.file = make_file(&w, 1, 5, 1);
	assert_int_equal(scr_journal_encode(&b, &other, &u), 0);
	assert_int_equal(write(w.journal_fd, b.data, b.len), (ssize_t)b.len);
	assert_int_equal(scr_mreader_open(w.manifest_fd, scr_kernels_reference(), &r, &why), 0);
	assert_int_equal(scr_journal_open(w.journal_fd, GENERATION, no_file, NULL, &j, &valid), 0);
	assert_int_equal(scr_journal_count(j), 1);
	assert_int_equal(scr_view_new(r, j, &v), -EBADMSG);
	scr_journal_free(j);
	scr_mreader_free(r);
	scr_buf_free(&b);
	free_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_model),
		cmocka_unit_test(test_every_damage),
		cmocka_unit_test(test_other_generation),
		cmocka_unit_test(test_no_room_for_sorting),
		cmocka_unit_test(test_view_needs_same_geometry),
	};

	return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
