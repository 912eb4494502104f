/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes rich manifests and journals, and prints them through the library in the format of
 * contrib/bitscrub-manifest-dump, so that a test can compare the two. */
#include <config.h>
#include "store_common.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "manifest/mreader.h"
#include "manifest/update.h"

static const struct scr_geometry geometry = {65536, 16, 4096};

/* ---- making --------------------------------------------------------------------------------- */

static int make_manifest(const char *name, uint64_t seed)
{
	/* Some are large enough for more than one group. */
	struct sample s = make_sample(seed, &geometry, seed % 5 ? 40 : 2500);
	int from = write_sample(&s), fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
	size_t len;
	uint8_t *p = read_whole(from, &len);
	bool ok = fd >= 0 && write(fd, p, len) == (ssize_t)len;

	free(p);
	free_sample(&s);
	return ok && close(fd) == 0 ? 0 : 1;
}

static int make_journal(const char *name, uint64_t seed)
{
	struct sample s = make_sample(seed, &geometry, 40);
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
	bool ok = fd >= 0 && scr_journal_start(fd, 42, &geometry, (int64_t)seed) == 0;
	struct scr_buf b = {0};

	for (uint32_t i = 0; ok && i < s.count; i++) {
		const struct sample_entry *e = &s.entries[i];
		struct scr_update u = {e->file, i % 2, e->extents, e->extent_count};

		scr_buf_clear(&b);
		if (e->is_link)
			continue;
		ok = scr_journal_encode(&b, &geometry, &u) == 0 &&
		     write(fd, b.data, b.len) == (ssize_t)b.len;
	}
	scr_buf_free(&b);
	free_sample(&s);
	return ok && close(fd) == 0 ? 0 : 1;
}

/* ---- printing ------------------------------------------------------------------------------- */

static void quote(const char *s, size_t len)
{
	putchar('"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c > 0x7e || c == '"' || c == '\\')
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void line(const char *before, const char *s)
{
	fputs(before, stdout);
	quote(s, strlen(s));
	putchar('\n');
}

static void print_damage(const struct scr_damage_record *d)
{
	static const char *const kinds[] = {"0", "rot", "altered", "unreadable", "missing"};

	if (d->block == SCR_NO_BLOCK32)
		printf("  damage block=-");
	else
		printf("  damage block=%" PRIu32, d->block);
	printf(" kind=%s flags=0x%x seen=%04x:%08" PRIx32 " seen-length=%" PRIu32 " start=%" PRIu32
	       " length=%" PRIu32 " size=%" PRIu64 " first=%" PRId64 " last=%" PRId64 "\n",
	       kinds[d->kind], d->flags, d->seen.inet, d->seen.crc, d->seen_length, d->start,
	       d->length, d->size_seen, d->first_ns, d->last_ns);
}

static void print_header(const struct scr_header *h)
{
	const struct scr_geometry *g = &h->settings.geometry;

	printf("header version=%" PRIu32 " compat=0x%" PRIx32 " ro-compat=0x%" PRIx32
	       " incompat=0x%" PRIx32 " generation=%" PRIu64 " created=%" PRId64
	       " published=%" PRId64 " kind=%d block-size=%" PRIu32 " columns=%" PRIu32
	       " unit=%" PRIu32 " extent-size=%" PRIu32 " parities=%" PRIu32 " parity=%d\n",
	       h->version, h->compat, h->ro_compat, h->incompat, h->generation, h->created_ns,
	       h->published_ns, (int)h->kind, g->block_size, g->columns, g->parity_unit,
	       SCR_EXTENT_SIZE, h->parities, h->settings.parity);
	line("  target ", h->target);
	for (char **s = h->settings.pairs; s && *s; s++)
		line("  setting ", *s);
	for (uint32_t i = 0; i < h->identity_count; i++) {
		const struct scr_identity *id = &h->identities[i];

		printf("  identity fsid=%" PRIu64 " type=", id->fsid);
		quote(id->type, strlen(id->type));
		fputs(" uuid=", stdout);
		quote(id->uuid, strlen(id->uuid));
		line(" subvolume=", id->subvol);
	}
	for (char **s = h->device; s && *s; s++)
		line("  device ", *s);
}

static void print_file(const struct scr_file_record *f)
{
	fputs("file ", stdout);
	quote(f->path, f->path_len);
	printf(" size=%" PRIu64 " ino=%" PRIu64 " mtime=%" PRId64 " ctime=%" PRId64
	       " recorded=%" PRId64 " skipped-since=%" PRId64 " fs=%" PRIu32 " mode=0%" PRIo32
	       " uid=%" PRIu32 " gid=%" PRIu32 " links=%" PRIu32 " flags=0x%" PRIx32 "\n",
	       f->stamp.size, f->stamp.ino, f->stamp.mtime_ns, f->stamp.ctime_ns, f->recorded_ns,
	       f->skipped_since_ns, f->fs, f->mode, f->uid, f->gid, f->nlink, f->flags);
	if (f->damage.kind)
		print_damage(&f->damage);
}

static void print_unseen(const struct scr_unseen_record *u)
{
	fputs("unseen ", stdout);
	quote(u->path, u->path_len);
	printf(" directory=%d first=%" PRId64 " last=%" PRId64 "\n", u->is_dir, u->first_ns,
	       u->last_ns);
}

static void print_link(const struct scr_link_record *l)
{
	fputs("link ", stdout);
	quote(l->path, l->path_len);
	fputs(" owner=", stdout);
	quote(l->owner, l->owner_len);
	printf(" ino=%" PRIu64 " fs=%" PRIu32 "\n", l->ino, l->fs);
}

static void print_checks(const char *name, const struct scr_check *c, uint32_t n)
{
	if (!c)
		return;
	printf("  %s", name);
	for (uint32_t i = 0; i < n; i++)
		printf(" %04x:%08" PRIx32, c[i].inet, c[i].crc);
	putchar('\n');
}

static void print_extent(const struct scr_extent *e)
{
	printf("%s index=%" PRIu64 " length=%" PRIu32 " flags=0x%" PRIx32 " recorded=%" PRId64
	       " checked=%" PRId64 " reserved=0x%" PRIx64,
	       e->hole ? "holes" : "extent", e->cut.index, e->cut.length, e->flags, e->recorded_ns,
	       e->checked_ns, e->reserved);
	if (e->hole)
		printf(" run=%" PRIu64, e->run);
	printf("\n  stamp size=%" PRIu64 " ino=%" PRIu64 " mtime=%" PRId64 " ctime=%" PRId64 "\n",
	       e->stamp.size, e->stamp.ino, e->stamp.mtime_ns, e->stamp.ctime_ns);
	if (e->parity_segment)
		printf("  parity segment=%" PRIu32 " length=%" PRIu32 " offset=%" PRIu64 "\n",
		       e->parity_segment, e->parity_length, e->parity_offset);
	print_checks("checks", e->checks, e->cut.blocks);
	print_checks("parity-checks", e->parity_checks, e->cut.parity_blocks);
	if (e->holes) {
		fputs("  holes ", stdout);
		for (uint32_t i = 0; i < (e->cut.blocks + 7) / 8; i++)
			printf("%02x", e->holes[i]);
		putchar('\n');
	}
	for (uint32_t i = 0; i < e->damage_count; i++)
		print_damage(&e->damage[i]);
}

static void print_trailer(const struct scr_trailer *t)
{
	printf("trailer generation=%" PRIu64 " files=%" PRIu64 " links=%" PRIu64 " extents=%" PRIu64
	       " blocks=%" PRIu64 " bytes=%" PRIu64 " hole-bytes=%" PRIu64,
	       t->generation, t->files, t->links, t->extents, t->blocks, t->bytes, t->hole_bytes);
	printf(" files-damaged=%" PRIu64 " unseen=%" PRIu32 " blocks-damaged=%" PRIu64 " bytes-damaged=%" PRIu64
	       " unrecorded=%" PRIu64 " parity-bytes=%" PRIu64 " oldest-check=%" PRId64
	       " newest-check=%" PRId64 " never-checked=%" PRIu64,
	       t->files_damaged, t->unseen, t->blocks_damaged, t->bytes_damaged, t->extents_unrecorded,
	       t->parity_bytes, t->oldest_check_ns, t->newest_check_ns, t->bytes_never_checked);
	printf(" pass-start=%" PRId64 " pass-duration=%" PRId64 " last-complete=%" PRId64
	       " pass-bytes=%" PRIu64 " pass-exit=%" PRIu32
	       " window-start=%" PRId64 " window-bytes=%" PRIu64 " crc=0x%08" PRIx32 "\n  ages",
	       t->pass_start_ns, t->pass_ns, t->last_complete_ns, t->pass_bytes, t->pass_exit,
	       t->window_start_ns, t->window_bytes,
	       t->body_crc);
	for (unsigned int i = 0; i < SCR_TRAILER_BUCKETS; i++)
		printf(" %" PRIu64, t->age_bytes[i]);
	putchar('\n');
	for (uint32_t i = 0; i < t->segment_count; i++)
		printf("  segment number=%" PRIu32 " bytes=%" PRIu64 "\n", t->segments[i].segment,
		       t->segments[i].live);
}

static int print_manifest(int fd)
{
	struct scr_extent e = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	struct scr_unseen_record u;
	struct scr_mreader *r;
	const char *why;
	int ret = scr_mreader_open(fd, scr_kernels_reference(), &r, &why);

	if (ret < 0) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	printf("container groups=%" PRIu64 " stream=%" PRIu64 " generation=%" PRIu64
	       " writing=0x%" PRIx64 "\n",
	       r->stream.groups, r->stream.length, r->stream.last.generation,
	       r->stream.last.writing);
	print_header(scr_mreader_header(r));
	while ((ret = scr_mreader_unseen(r, &u)) > 0)
		print_unseen(&u);
	while (ret == 0 && (ret = scr_mreader_next(r, &f, &l, NULL)) > 0) {
		if (ret == SCR_RECORD_LINK)
			print_link(&l);
		else
			print_file(&f);
		while ((ret = scr_mreader_extent(r, &e)) > 0)
			print_extent(&e);
	}
	print_trailer(scr_mreader_trailer(r));
	scr_extent_free(&e);
	scr_mreader_free(r);
	return ret < 0;
}

static int print_update(const struct scr_codec *codec, const uint8_t *p, uint32_t len)
{
	struct scr_update_walk w = {0};
	struct scr_part part;
	int r = scr_update_begin(&w, codec, p, len, &part);

	if (r == 0) {
		printf("update done=%d extents=%" PRIu32 "\n", w.done, w.left);
		print_file(&w.file);
	}
	while (r == 0 && (r = scr_update_next(&w, &part)) > 0) {
		print_extent(&w.scratch);
		r = 0;
	}
	scr_extent_free(&w.scratch);
	return r < 0;
}

static int print_journal(const uint8_t *p, size_t size)
{
	struct scr_codec codec = {.identities = UINT32_MAX};
	struct scr_journal_head h;
	uint32_t len;

	for (size_t at = 0; at < size; at += len + 12) {
		if (scr_frame_length(p + at, &len) < 0 || !scr_frame_sound(p + at, len))
			return 1;
		if (p[at] == SCR_TYPE_UPDATE) {
			if (print_update(&codec, p + at + 8, len))
				return 1;
			continue;
		}
		if (scr_decode_journal(p + at + 8, len, &h) < 0)
			return 1;
		codec.geometry = h.geometry;
		printf("journal version=%" PRIu32 " compat=0x%" PRIx32 " incompat=0x%" PRIx32
		       " block-size=%" PRIu32 " generation=%" PRIu64 " started=%" PRId64
		       " columns=%" PRIu32 " unit=%" PRIu32 "\n",
		       h.version, h.compat, h.incompat, h.geometry.block_size, h.generation,
		       h.started_ns, h.geometry.columns, h.geometry.parity_unit);
	}
	return 0;
}

static int print(const char *name)
{
	int fd = open(name, O_RDONLY), r;
	size_t len;
	uint8_t *p;

	if (fd < 0)
		return 1;
	p = read_whole(fd, &len);
	r = len && p[0] == SCR_TYPE_JOURNAL ? print_journal(p, len) : print_manifest(fd);
	free(p);
	close(fd);
	return r;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "manifest") == 0)
		return make_manifest(argv[3], strtoull(argv[2], NULL, 10));
	if (argc == 4 && strcmp(argv[1], "journal") == 0)
		return make_journal(argv[3], strtoull(argv[2], NULL, 10));
	if (argc == 3 && strcmp(argv[1], "print") == 0)
		return print(argv[2]);
	fputs("usage: manifest-tool manifest|journal SEED FILE | print FILE\n", stderr);
	return 2;
}
