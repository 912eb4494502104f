/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of manifest and journal share. */
#include <config.h>
#include "store_common.h"

#include <sys/mman.h>
#include <unistd.h>

const struct scr_geometry small_geometry = {1u << 20, 16, 4096};

const struct scr_geometry any_geometry[4] = {
	{65536, 16, 4096}, {512, 2, 64}, {1u << 20, 256, 64}, {4096, 7, 512},
};

/* xorshift64*; never zero. */
uint64_t rng_next(struct rng *r)
{
	if (r->state == 0)
		r->state = 88172645463325252U;
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 2685821657736338717U;
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)((rng_next(r) >> 32) % n);
}

int temp_file(void *unused)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	(void)unused;
	assert_true(fd >= 0);
	return fd;
}

uint8_t *read_whole(int fd, size_t *len)
{
	off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *p = malloc((size_t)size + 1);

	assert_non_null(p);
	assert_int_equal(pread(fd, p, (size_t)size, 0), size);
	*len = (size_t)size;
	return p;
}

void write_whole(int fd, const void *p, size_t len)
{
	assert_int_equal(ftruncate(fd, (off_t)len), 0);
	assert_int_equal(pwrite(fd, p, len, 0), (ssize_t)len);
	assert_int_equal(lseek(fd, (off_t)len, SEEK_SET), (off_t)len);
}

static char *copy(const char *s)
{
	char *p = strdup(s);

	assert_non_null(p);
	return p;
}

static char **copy_list(const char *const *list)
{
	size_t n = 0;
	char **p;

	while (list[n])
		n++;
	p = calloc(n + 1, sizeof(*p));
	assert_non_null(p);
	for (size_t i = 0; i < n; i++)
		p[i] = copy(list[i]);
	return p;
}

struct scr_header sample_header(const struct scr_geometry *g)
{
	static const char *const pairs[] = {"exclude=*.o", "exclude=a\nb \"\\\xff", "ctime=use",
					    NULL};
	static const char *const device[] = {"serial=0123", "partuuid=", NULL};
	struct scr_header h = {
		.version = SCR_FORMAT_VERSION,
		.generation = 42,
		.created_ns = 1700000000000000000,
		.published_ns = 1800000000000000001,
		.kind = SCR_TARGET_DIR,
		.parities = 1,
		.settings = {.geometry = *g, .parity = true, .pairs = copy_list(pairs)},
		.target = copy("/srv/a b\xc3\xa4\x01"),
		.identity_count = 3,
		.device = copy_list(device),
	};

	h.identities = calloc(3, sizeof(*h.identities));
	assert_non_null(h.identities);
	h.identities[0] = (struct scr_identity){copy("ext4"), copy("0fc63daf"), copy(""), 7};
	h.identities[1] = (struct scr_identity){copy("btrfs"), copy("x"), copy("/@home"), 0};
	h.identities[2] = (struct scr_identity){copy(""), copy(""), copy(""), UINT64_MAX};
	return h;
}

char *random_path(struct rng *r)
{
	static const char bytes[] = "ab-.0Z~\n\"\\\t\x7f\x80\xff ";
	char *p = calloc(1, 64);
	size_t n = 0;

	assert_non_null(p);
	for (uint32_t c = 1 + rng_below(r, 4); c > 0; c--) {
		p[n++] = (char)('a' + rng_below(r, 3));
		for (uint32_t i = rng_below(r, 6); i > 0; i--)
			p[n++] = bytes[rng_below(r, sizeof(bytes) - 1)];
		if (c > 1)
			p[n++] = '/';
	}
	return p;
}

static struct scr_stamp random_stamp(struct rng *r, uint64_t size)
{
	return (struct scr_stamp){size, rng_next(r), (int64_t)rng_next(r), (int64_t)rng_next(r)};
}

struct scr_file_record random_file(struct rng *r, uint64_t size)
{
	struct scr_file_record f = {
		.stamp = random_stamp(r, size),
		.fs = rng_below(r, 3),
		.mode = rng_below(r, 0200000),
		.uid = (uint32_t)rng_next(r),
		.gid = (uint32_t)rng_next(r),
		.nlink = rng_below(r, 5),
		.flags = rng_below(r, 2),
		.recorded_ns = (int64_t)rng_next(r),
		.skipped_since_ns = rng_below(r, 2) ? 0 : (int64_t)rng_next(r),
	};

	if (rng_below(r, 4) == 0)
		f.damage = (struct scr_damage_record){
			.block = SCR_NO_BLOCK32,
			.kind = (uint8_t)(1 + rng_below(r, 4)),
			.flags = (uint8_t)rng_below(r, 2),
			.seen = {(uint32_t)rng_next(r), (uint16_t)rng_next(r)},
			.size_seen = rng_next(r),
			.first_ns = (int64_t)rng_next(r),
			.last_ns = (int64_t)rng_next(r),
		};
	return f;
}

static void *array(size_t n, size_t size)
{
	void *p = calloc(n, size);

	assert_non_null(p);
	return p;
}

static struct scr_check *random_checks(struct rng *r, uint32_t n)
{
	struct scr_check *c = array(n, sizeof(*c));

	for (uint32_t i = 0; i < n; i++) {
		c[i].crc = (uint32_t)rng_next(r);
		c[i].inet = (uint16_t)rng_next(r);
	}
	return c;
}

static void random_damage(struct rng *r, struct scr_extent *e)
{
	uint32_t block = 0, count = 1 + rng_below(r, 3);

	e->damage = array(count, sizeof(*e->damage));
	for (uint32_t i = 0; i < count; i++) {
		struct scr_damage_record *d = &e->damage[i];
		uint32_t len;

		block += rng_below(r, 3);
		if (block >= e->cut.blocks)
			break;
		len = scr_block_length(&e->cut, block);
		d->block = block;
		d->kind = (uint8_t)(1 + rng_below(r, 3));
		d->flags = (uint8_t)rng_below(r, 2);
		d->seen = (struct scr_check){(uint32_t)rng_next(r), (uint16_t)rng_next(r)};
		d->seen_length = rng_below(r, len + 1);
		d->start = rng_below(r, len);
		d->length = 1 + rng_below(r, len - d->start);
		d->first_ns = (int64_t)rng_next(r);
		d->last_ns = (int64_t)rng_next(r);
		e->damage_count++;
	}
}

static void random_holes(struct rng *r, struct scr_extent *e)
{
	e->holes = array((e->cut.blocks + 7) / 8, 1);
	for (uint32_t i = 0; i < e->cut.blocks; i++)
		if (rng_below(r, 2))
			e->holes[i / 8] = (uint8_t)(e->holes[i / 8] | 1u << i % 8);
}

static void random_parity(struct rng *r, struct scr_extent *e)
{
	switch (rng_below(r, 3)) {
	case 0:
		e->flags |= SCR_EXTENT_PARITY_ZERO;
		break;
	case 1:
		e->parity_segment = 1 + rng_below(r, 9);
		e->parity_length = e->cut.column;
		e->parity_offset = rng_next(r);
		e->parity_checks = random_checks(r, e->cut.parity_blocks);
		break;
	default:
		break;
	}
}

static struct scr_extent begin_extent(struct rng *r, const struct scr_geometry *g, uint64_t size,
				      uint64_t index)
{
	struct scr_extent e = {
		.cut = scr_cut_extent(g, size, index),
		.run = 1,
		.flags = rng_below(r, 2) ? SCR_EXTENT_RACY : 0,
		.stamp = random_stamp(r, rng_next(r)),
		.recorded_ns = (int64_t)rng_next(r),
		.checked_ns = rng_below(r, 4) ? (int64_t)(rng_next(r) >> 2) : 0,
		.reserved = rng_next(r),
	};

	e.run_length = e.cut.length;
	return e;
}

struct scr_extent random_extent(struct rng *r, const struct scr_geometry *g, uint64_t size,
				uint64_t index)
{
	struct scr_extent e;

	if (rng_below(r, 6) == 0) {
		e = random_run(r, g, size, index, 1);
		if (rng_below(r, 2))
			random_damage(r, &e);
		return e;
	}
	e = begin_extent(r, g, size, index);
	if (rng_below(r, 8) == 0) {
		e.flags |= SCR_EXTENT_UNRECORDED;
	} else {
		e.checks = random_checks(r, e.cut.blocks);
		random_parity(r, &e);
		if (rng_below(r, 3) == 0)
			random_holes(r, &e);
	}
	if (rng_below(r, 3) == 0)
		random_damage(r, &e);
	return e;
}

struct scr_extent random_run(struct rng *r, const struct scr_geometry *g, uint64_t size,
			     uint64_t index, uint64_t run)
{
	struct scr_extent e = begin_extent(r, g, size, index);

	if (rng_below(r, 2))
		e.flags |= SCR_EXTENT_PARITY_ZERO;
	e.hole = true;
	e.run = run;
	e.run_length = index + run == scr_extent_count(size) ? size - e.cut.offset
							       : run * SCR_EXTENT_SIZE;
	return e;
}

uint64_t any_size(struct rng *rng)
{
	switch (rng_below(rng, 4)) {
	case 0:
		return 1 + rng_below(rng, 5000);
	case 1:
		return 1 + rng_next(rng) % (3 * MIB);
	case 2:
		return (1 + rng_below(rng, 5)) * 16 * MIB + rng_below(rng, 3) - 1;
	default:
		return 1 + rng_next(rng) % (100 * MIB);
	}
}

struct scr_extent any_extent(struct rng *rng, const struct scr_geometry *g, uint64_t size)
{
	uint64_t index = rng_next(rng) % scr_extent_count(size), left = scr_extent_count(size) - index;

	if (rng_below(rng, 4) == 0)
		return random_run(rng, g, size, index, 1 + rng_next(rng) % left);
	return random_extent(rng, g, size, index);
}

/* ---- comparing ---------------------------------------------------------------------------- */

static void assert_stamps_equal(const struct scr_stamp *a, const struct scr_stamp *b)
{
	assert_true(a->size == b->size && a->ino == b->ino && a->mtime_ns == b->mtime_ns &&
		    a->ctime_ns == b->ctime_ns);
}

static void assert_damage_equal(const struct scr_damage_record *a,
				const struct scr_damage_record *b)
{
	assert_true(a->block == b->block && a->kind == b->kind && a->flags == b->flags &&
		    a->seen.crc == b->seen.crc && a->seen.inet == b->seen.inet &&
		    a->seen_length == b->seen_length && a->start == b->start &&
		    a->length == b->length && a->size_seen == b->size_seen &&
		    a->first_ns == b->first_ns && a->last_ns == b->last_ns);
}

void assert_files_equal(const struct scr_file_record *a, const struct scr_file_record *b)
{
	assert_stamps_equal(&a->stamp, &b->stamp);
	assert_true(a->fs == b->fs && a->mode == b->mode && a->uid == b->uid &&
		    a->gid == b->gid && a->nlink == b->nlink && a->flags == b->flags &&
		    a->recorded_ns == b->recorded_ns &&
		    a->skipped_since_ns == b->skipped_since_ns);
	assert_int_equal(a->path_len, b->path_len);
	assert_memory_equal(a->path, b->path, a->path_len);
	assert_int_equal(a->damage.kind, b->damage.kind);
	if (a->damage.kind)
		assert_damage_equal(&a->damage, &b->damage);
}

static void assert_checks_equal(const struct scr_check *a, const struct scr_check *b, uint32_t n)
{
	assert_int_equal(!a, !b);
	for (uint32_t i = 0; a && i < n; i++)
		assert_true(a[i].crc == b[i].crc && a[i].inet == b[i].inet);
}

void assert_extents_equal(const struct scr_extent *a, const struct scr_extent *b)
{
	assert_true(a->cut.index == b->cut.index && a->cut.offset == b->cut.offset &&
		    a->cut.length == b->cut.length && a->cut.column == b->cut.column &&
		    a->cut.block == b->cut.block && a->cut.blocks == b->cut.blocks &&
		    a->cut.parity_blocks == b->cut.parity_blocks);
	assert_true(a->run == b->run && a->run_length == b->run_length && a->hole == b->hole &&
		    a->flags == b->flags && a->recorded_ns == b->recorded_ns &&
		    a->checked_ns == b->checked_ns && a->reserved == b->reserved &&
		    a->parity_segment == b->parity_segment &&
		    a->parity_length == b->parity_length && a->parity_offset == b->parity_offset);
	assert_stamps_equal(&a->stamp, &b->stamp);
	assert_checks_equal(a->checks, b->checks, a->cut.blocks);
	assert_checks_equal(a->parity_checks, b->parity_checks, a->cut.parity_blocks);
	assert_int_equal(!a->holes, !b->holes);
	if (a->holes)
		assert_memory_equal(a->holes, b->holes, (a->cut.blocks + 7) / 8);
	assert_int_equal(a->damage_count, b->damage_count);
	for (uint32_t i = 0; i < a->damage_count; i++)
		assert_damage_equal(&a->damage[i], &b->damage[i]);
}

static void assert_lists_equal(char *const *a, char *const *b)
{
	size_t i = 0;

	if (!a || !b) {
		assert_true((!a || !a[0]) && (!b || !b[0]));
		return;
	}
	for (; a[i]; i++) {
		assert_non_null(b[i]);
		assert_string_equal(a[i], b[i]);
	}
	assert_null(b[i]);
}

void assert_headers_equal(const struct scr_header *a, const struct scr_header *b)
{
	assert_true(a->version == b->version && a->compat == b->compat &&
		    a->ro_compat == b->ro_compat && a->incompat == b->incompat &&
		    a->generation == b->generation && a->created_ns == b->created_ns &&
		    a->published_ns == b->published_ns && a->kind == b->kind &&
		    a->parities == b->parities && a->settings.parity == b->settings.parity);
	assert_int_equal(a->settings.geometry.block_size, b->settings.geometry.block_size);
	assert_int_equal(a->settings.geometry.columns, b->settings.geometry.columns);
	assert_int_equal(a->settings.geometry.parity_unit, b->settings.geometry.parity_unit);
	assert_string_equal(a->target, b->target);
	assert_lists_equal(a->settings.pairs, b->settings.pairs);
	assert_lists_equal(a->device, b->device);
	assert_int_equal(a->identity_count, b->identity_count);
	for (uint32_t i = 0; i < a->identity_count; i++) {
		assert_string_equal(a->identities[i].type, b->identities[i].type);
		assert_string_equal(a->identities[i].uuid, b->identities[i].uuid);
		assert_string_equal(a->identities[i].subvol, b->identities[i].subvol);
		assert_true(a->identities[i].fsid == b->identities[i].fsid);
	}
}

void assert_trailers_equal(const struct scr_trailer *a, const struct scr_trailer *b)
{
	assert_int_equal(a->segment_count, b->segment_count);
	for (uint32_t i = 0; i < a->segment_count; i++) {
		assert_int_equal(a->segments[i].segment, b->segments[i].segment);
		assert_true(a->segments[i].live == b->segments[i].live);
	}
	assert_memory_equal(a, b, offsetof(struct scr_trailer, pass_exit));
	assert_int_equal(a->pass_exit, b->pass_exit);
	assert_int_equal(a->body_crc, b->body_crc);
	assert_int_equal(a->unseen, b->unseen);
}
