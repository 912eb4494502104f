/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole manifests for tests: random ones, and containers made by hand. */
#include <config.h>
#include "store_common.h"

#include <unistd.h>

#include "base/endian.h"
#include "base/path.h"
#include "manifest/group.h"

static int cmp_paths(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return scr_path_cmp(*x, strlen(*x), *y, strlen(*y));
}

/* @n different paths in walk order. */
static char **sorted_paths(struct rng *r, uint32_t *n)
{
	char **p = calloc(*n, sizeof(*p));
	uint32_t kept = 0;

	assert_non_null(p);
	for (uint32_t i = 0; i < *n; i++)
		p[i] = random_path(r);
	qsort(p, *n, sizeof(*p), cmp_paths);
	for (uint32_t i = 0; i < *n; i++) {
		if (kept && strcmp(p[kept - 1], p[i]) == 0)
			free(p[i]);
		else
			p[kept++] = p[i];
	}
	*n = kept;
	return p;
}

static uint64_t some_size(struct rng *r)
{
	switch (rng_below(r, 5)) {
	case 0:
		return 0;
	case 1:
		return 16 * MIB * (1 + rng_below(r, 8)) + rng_below(r, 2);
	default:
		return rng_below(r, 200000);
	}
}

static void add_extents(struct rng *r, const struct scr_geometry *g, struct sample_entry *e)
{
	uint64_t size = e->file.stamp.size, count = scr_extent_count(size);

	e->extents = calloc(count + 1, sizeof(*e->extents));
	assert_non_null(e->extents);
	for (uint64_t i = 0; i < count;) {
		struct scr_extent *x = &e->extents[e->extent_count];

		if (rng_below(r, 8) == 0) {
			i++;
			continue;
		}
		*x = rng_below(r, 4)
			     ? random_extent(r, g, size, i)
			     : random_run(r, g, size, i, 1 + rng_below(r, (uint32_t)(count - i)));
		if (rng_below(r, 2))
			x->stamp = e->file.stamp;
		i += x->run;
		e->extent_count++;
	}
}

/* In their order: the root is before what would be before ".". */
static const struct scr_unseen_record all_unseen[] = {
	{".", 1, true, INT64_MIN, INT64_MAX},
	{"!a/b", 4, false, 1, 1},
	{"c\377", 2, true, 123456789012345678, 223456789012345678},
};

struct sample make_sample(uint64_t seed, const struct scr_geometry *g, uint32_t n)
{
	struct rng r = {seed};
	struct sample s = {.header = sample_header(g), .count = n};

	for (uint32_t i = 0; i < 3; i++)
		if (seed >> i & 1)
			s.unseen[s.unseen_count++] = all_unseen[i];
	s.paths = sorted_paths(&r, &s.count);
	s.entries = calloc(s.count, sizeof(*s.entries));
	assert_non_null(s.entries);
	for (uint32_t i = 0; i < s.count; i++) {
		struct sample_entry *e = &s.entries[i];
		uint32_t len = (uint32_t)strlen(s.paths[i]);

		e->is_link = i > 0 && rng_below(&r, 5) == 0;
		if (e->is_link) {
			const char *owner = s.paths[rng_below(&r, i)];

			e->link = (struct scr_link_record){rng_next(&r), rng_below(&r, 3),
							   s.paths[i],   owner,
							   len,          (uint32_t)strlen(owner)};
			continue;
		}
		e->file = random_file(&r, some_size(&r));
		e->file.path = s.paths[i];
		e->file.path_len = len;
		add_extents(&r, g, e);
	}
	return s;
}

void free_sample(struct sample *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		for (uint32_t x = 0; x < s->entries[i].extent_count; x++)
			scr_extent_free(&s->entries[i].extents[x]);
		free(s->entries[i].extents);
		free(s->paths[i]);
	}
	free(s->entries);
	free(s->paths);
	scr_header_free(&s->header);
}

const struct scr_trailer sample_pass = {
	.pass_start_ns = 11,
	.pass_ns = 12,
	.last_complete_ns = 13,
	.pass_bytes = 14,
	.pass_exit = 4,
	.window_start_ns = 15,
	.window_bytes = 16,
};

int write_sample(const struct sample *s)
{
	int fd = temp_file(NULL);
	struct scr_mwriter *w;

	assert_int_equal(scr_mwriter_new(fd, scr_kernels_reference(), &s->header, 1000, &w), 0);
	for (uint32_t i = 0; i < s->unseen_count; i++)
		assert_int_equal(scr_mwriter_unseen(w, &s->unseen[i]), 0);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct sample_entry *e = &s->entries[i];

		if (e->is_link)
			assert_int_equal(scr_mwriter_link(w, &e->link), 0);
		else
			assert_int_equal(scr_mwriter_file(w, &e->file), 0);
		for (uint32_t x = 0; x < e->extent_count; x++)
			assert_int_equal(scr_mwriter_extent(w, &e->extents[x]), 0);
	}
	assert_int_equal(scr_mwriter_finish(w, &sample_pass, NULL), 0);
	scr_mwriter_free(w);
	return fd;
}

int read_sample(struct scr_mreader *r, const struct sample *s)
{
	struct scr_extent e = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	struct scr_unseen_record u;
	int ret = 1;

	for (uint32_t i = 0; ret > 0 && i < s->unseen_count; i++) {
		const struct scr_unseen_record *want = &s->unseen[i];

		ret = scr_mreader_unseen(r, &u);
		if (ret < 0)
			break;
		assert_int_equal(ret, 1);
		assert_int_equal(u.path_len, want->path_len);
		assert_string_equal(u.path, want->path);
		assert_true(u.is_dir == want->is_dir && u.first_ns == want->first_ns &&
			    u.last_ns == want->last_ns);
	}
	if (ret >= 0)
		ret = scr_mreader_unseen(r, &u);
	assert_true(ret <= 0);
	for (uint32_t i = 0; ret >= 0 && i < s->count; i++) {
		const struct sample_entry *want = &s->entries[i];

		ret = scr_mreader_next(r, &f, &l, NULL);
		if (ret < 0)
			break;
		assert_int_equal(ret, want->is_link ? SCR_RECORD_LINK : SCR_RECORD_FILE);
		if (want->is_link) {
			assert_string_equal(l.path, want->link.path);
			assert_string_equal(l.owner, want->link.owner);
			assert_true(l.ino == want->link.ino && l.fs == want->link.fs);
		} else {
			assert_files_equal(&f, &want->file);
		}
		for (uint32_t x = 0; x < want->extent_count; x++) {
			ret = scr_mreader_extent(r, &e);
			if (ret < 0)
				break;
			assert_int_equal(ret, 1);
			assert_extents_equal(&e, &want->extents[x]);
		}
		if (ret >= 0)
			ret = scr_mreader_extent(r, &e);
		assert_true(ret <= 0);
	}
	if (ret >= 0) {
		ret = scr_mreader_next(r, &f, &l, NULL);
		assert_true(ret <= 0);
	}
	scr_extent_free(&e);
	return ret;
}

/* ---- containers by hand ------------------------------------------------------------------- */

uint8_t *take_stream(int fd, size_t *len)
{
	size_t size;
	uint8_t *file = read_whole(fd, &size), *p = malloc(size);

	assert_non_null(p);
	*len = 0;
	for (size_t at = 0; at < size; at += SCR_GROUP_STRIDE) {
		uint32_t used = scr_get_le32(file + at + 32);

		memcpy(p + *len, file + at + 4096, used);
		*len += used;
	}
	free(file);
	return p;
}

void make_container(int fd, const uint8_t *stream, size_t len, uint64_t trailer)
{
	uint8_t *group = malloc(SCR_GROUP_STRIDE);
	struct scr_group_head h = {.writing = 99, .generation = 42};

	assert_non_null(group);
	write_whole(fd, "", 0);
	for (size_t at = 0; at < len; at += h.used) {
		size_t size;

		h.used = (uint32_t)(len - at < SCR_GROUP_DATA ? len - at : SCR_GROUP_DATA);
		h.last = at + h.used == len;
		h.trailer = h.last ? trailer : 0;
		memcpy(group + 4096, stream + at, h.used);
		scr_group_seal(scr_kernels_reference(), &h, group);
		size = scr_group_size(h.used);
		assert_int_equal(write(fd, group, size), (ssize_t)size);
		h.number++;
	}
	free(group);
}
