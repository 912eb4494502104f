/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thousands of damaged files, repaired by whole passes: what must be repaired is, what must not be
 * is left alone, undo brings every damage back, and nothing ever gets wrong bytes.
 *
 *	campaign N SEED [MAXSIZE [ROUND]]
 *
 * damages N files, in rounds of 50 that share a tree, or of 10 for run --repair, or of one large
 * file; each round depends on SEED and its number alone. ROUND: only that one, with
 * what repair says. Works in a directory
 * that it makes in the current one.
 */
#include <config.h>
#include "campaign.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "manifest/store.h"
#include "pass/ctx.h"
#include "select/select.h"

#define FILES 50u
#define UNATTENDED 10u /* more files that rot at once stop run --repair */
#define LARGE_ROUNDS 60u
#define WRONG_MAX 50u

struct campaign {
	uint64_t cases, seed, size_max;
	struct scr_selection *selection;
	struct totals sum;
	char dir[64];
	/* The round. */
	uint64_t round;
	const char *step;
	struct scr_geometry g;
	struct victim *v;
	uint32_t count;
	bool unattended, large, verbose;
	struct medium medium;
	struct scr_summary pass;
	char trouble[512];
};

/* ---- what is wrong ------------------------------------------------------------------------ */

static void wrong(struct campaign *c, const struct victim *v, const char *fmt, ...)
	SCR_PRINTF(3, 4);

static void wrong(struct campaign *c, const struct victim *v, const char *fmt, ...)
{
	va_list args;

	if (++c->sum.wrong > WRONG_MAX)
		return;
	printf("round %" PRIu64 "%s, %s: ", c->round, c->unattended ? " (unattended)" : "",
	       c->step);
	if (v)
		printf("%s (%" PRIu64 " bytes, now %" PRIu64 ", %u damages): ", v->name, v->size,
		       v->size_now, v->damages);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf(" [columns %u, unit %u, block %u]\n", c->g.columns, c->g.parity_unit,
	       c->g.block_size);
}

/* ---- passes ------------------------------------------------------------------------------- */

static struct victim *find(struct campaign *c, struct scr_name name)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (strlen(c->v[i].name) == name.len && !memcmp(c->v[i].name, name.path, name.len))
			return &c->v[i];
	return NULL;
}

static void on_damage(struct campaign *c, const struct scr_damage *d)
{
	struct victim *v = find(c, d->name);

	if (d->kind == SCR_DAMAGE_PARITY) {
		if (d->inconsistent)
			wrong(c, v, "parity is called inconsistent");
		return;
	}
	if (!v)
		wrong(c, NULL, "damage of %.*s", (int)d->name.len, d->name.path);
	else
		v->reported = true;
	if (d->kind != SCR_DAMAGE_ROT && d->kind != SCR_DAMAGE_UNREADABLE)
		wrong(c, v, "damage is called %s", scr_damage_kind_name(d->kind));
}

static void on_repair(struct campaign *c, const struct scr_repair_event *e)
{
	c->sum.kept += e->how == SCR_REPAIR_KEPT;
	if (c->verbose)
		printf("%s: %.*s: %s at %" PRIu64 "+%" PRIu64 " %s\n", c->step, (int)e->name.len,
		       e->name.path, scr_repair_how_name(e->how), e->offset, e->length,
		       e->why ? e->why : "");
}

static void on_trouble(struct campaign *c, const struct scr_trouble *t)
{
	if (!*c->trouble)
		snprintf(c->trouble, sizeof(c->trouble), "%.*s: %s (%s)", (int)t->name.len,
			 t->name.path ? t->name.path : "", t->message, strerror(t->err));
}

static void on_event(void *arg, const struct scr_event *ev)
{
	struct campaign *c = arg;

	if (ev->type == SCR_EV_DAMAGE)
		on_damage(c, ev->u.damage);
	else if (ev->type == SCR_EV_TROUBLE)
		on_trouble(c, ev->u.trouble);
	else if (ev->type == SCR_EV_REPAIR)
		on_repair(c, ev->u.repair);
}

typedef int verb_fn(struct scr_ctx *ctx, const char *dir, struct scr_summary *sum);

static int do_run(struct scr_ctx *ctx, const char *dir, struct scr_summary *sum)
{
	return scr_run(ctx, dir, sum);
}

static int do_repair(struct scr_ctx *ctx, const char *dir, struct scr_summary *sum)
{
	return scr_repair(ctx, dir, NULL, 0, sum);
}

/* So much that can't be read is no longer told to the sector at the first reading: then blocks
 * beside it read well at the second, which is told too. */
static bool much_lost(const struct campaign *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (victim_lost_bytes(&c->v[i]) > 100000)
			return true;
	return false;
}

/* One pass, called @step; nothing may go wrong in it but damage. */
static void pass(struct campaign *c, const char *step, verb_fn *verb, struct scr_options o)
{
	struct scr_reader_ops reader = medium_reader(&c->medium);
	struct scr_writer_ops writer = medium_writer(&c->medium);
	struct scr_ctx *ctx;
	int r;

	o.threads = 1;
	ctx = scr_new(&o, on_event, c);
	if (!ctx)
		abort();
	ctx->reader_ops = &reader;
	ctx->writer_ops = &writer;
	ctx->kernels = scr_selection_next(c->selection);
	c->step = step;
	c->trouble[0] = '\0';
	for (uint32_t i = 0; i < c->count; i++)
		c->v[i].reported = false;
	r = verb(ctx, c->dir, &c->pass);
	scr_free(ctx);
	if (r == 0 && c->pass.transient > 0 && c->pass.trouble == 0 && much_lost(c))
		return;
	if (r < 0 || c->pass.exit & ~(SCR_EXIT_REPAIRED | SCR_EXIT_DAMAGE) || *c->trouble)
		wrong(c, NULL, "result %d, exit %d: %s", r, c->pass.exit, c->trouble);
}

/* A run that has to find damage in those files that @damaged says, and in no others. */
typedef bool damaged_fn(struct campaign *c, const struct victim *v);

static void check(struct campaign *c, const char *step, damaged_fn *damaged)
{
	uint32_t n = 0;

	pass(c, step, do_run, (struct scr_options){0});
	for (uint32_t i = 0; i < c->count; i++) {
		struct victim *v = &c->v[i];
		bool expected = damaged(c, v);

		n += expected;
		if (v->reported != expected)
			wrong(c, v, expected ? "its damage was not found" : "it is not damaged");
	}
	if (!!(c->pass.exit & SCR_EXIT_DAMAGE) != (n > 0))
		wrong(c, NULL, "exit %d with %u damaged files", c->pass.exit, n);
}

/* ---- the files ---------------------------------------------------------------------------- */

static char *path_of(const struct campaign *c, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", c->dir, name);
	return path;
}

/* What the file holds; its times may never have moved. */
static uint8_t *content(struct campaign *c, const struct victim *v, uint64_t *size)
{
	int fd = open(path_of(c, v->name), O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *p;

	if (fd < 0 || fstat(fd, &st) < 0 || !(p = malloc((size_t)st.st_size + 1)))
		abort();
	*size = (uint64_t)st.st_size;
	for (uint64_t at = 0; at < *size;) {
		ssize_t n = pread(fd, p + at, *size - at, (off_t)at);

		if (n <= 0)
			abort();
		at += (uint64_t)n;
	}
	close(fd);
	if (st.st_mtim.tv_sec != CAMPAIGN_MTIME || st.st_mtim.tv_nsec != 0)
		wrong(c, v, "its modification time moved");
	return p;
}

/* Something that is always there, and always reads well, before and behind all others. */
static void make_sound(struct campaign *c, const char *name)
{
	uint8_t data[9000];
	struct victim v = {.size_now = sizeof(data), .now = data};

	memset(data, name[0], sizeof(data));
	snprintf(v.name, sizeof(v.name), "%s", name);
	if (!victim_write(&v, c->dir, true))
		abort();
}

static void make_files(struct campaign *c, struct dice *d)
{
	make_sound(c, "a");
	make_sound(c, "z");
	for (uint32_t i = 0; i < c->count; i++) {
		struct victim *v = &c->v[i];
		struct stat st;

		snprintf(v->name, sizeof(v->name), "f%02u", i);
		victim_make(v, d, c->size_max, c->large, &c->g);
		if (!victim_write(v, c->dir, true) || stat(path_of(c, v->name), &st) < 0)
			abort();
		v->ino = st.st_ino;
		c->sum.bytes += v->size;
	}
}

/* ---- the parity --------------------------------------------------------------------------- */

static int open_segment(const struct campaign *c, uint32_t segment, int flags)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), ".bitscrub/parity/%08u", segment);
	fd = open(path_of(c, name), flags | O_CLOEXEC);
	if (fd < 0)
		abort();
	return fd;
}

static void add_place(struct campaign *c, struct victim *v, const struct scr_extent *e, uint64_t i)
{
	struct place *p = &v->place[v->places++];
	int fd;

	*p = (struct place){.cut = scr_cut_extent(&c->g, v->size, i), .hole = e->hole};
	p->zero = e->flags & SCR_EXTENT_PARITY_ZERO;
	p->segment = e->parity_segment;
	p->offset = e->parity_offset;
	if (!p->segment)
		return;
	fd = open_segment(c, p->segment, O_RDONLY);
	p->parity = malloc(p->cut.column);
	if (!p->parity ||
	    pread(fd, p->parity, p->cut.column, (off_t)p->offset) != (ssize_t)p->cut.column)
		abort();
	close(fd);
}

static void add_places(struct campaign *c, struct scr_mreader *r, struct victim *v)
{
	struct scr_extent e = {0};

	v->place = calloc(scr_extent_count(v->size), sizeof(*v->place));
	if (!v->place)
		abort();
	while (scr_mreader_extent(r, &e) == 1)
		for (uint64_t i = 0; i < e.run; i++)
			add_place(c, v, &e, e.cut.index + i);
	scr_extent_free(&e);
	if (v->places != scr_extent_count(v->size))
		abort();
}

/* Where the manifest says that parity is. */
static void find_parity(struct campaign *c)
{
	int fd = open(path_of(c, ".bitscrub/manifest"), O_RDONLY | O_CLOEXEC);
	struct scr_mreader *r;
	struct scr_file_record f;
	struct scr_link_record l;
	const char *why;

	if (fd < 0 || scr_mreader_open(fd, scr_selection_next(c->selection), &r, &why) < 0)
		abort();
	while (scr_mreader_next(r, &f, &l, NULL) == SCR_RECORD_FILE) {
		struct victim *v = find(c, (struct scr_name){f.path, f.path_len});

		if (v)
			add_places(c, r, v);
	}
	scr_mreader_free(r);
	close(fd);
}

static void damage_parity(struct campaign *c, struct place *p)
{
	int fd = open_segment(c, p->segment, O_RDWR);
	struct stat st;

	if (fstat(fd, &st) < 0 ||
	    pwrite(fd, p->parity, p->cut.column, (off_t)p->offset) != (ssize_t)p->cut.column)
		abort();
	for (uint32_t i = 0; i < p->lost_count; i++)
		medium_lose(&c->medium, st.st_ino, p->offset + p->lost[i].from,
			    p->offset + p->lost[i].to);
	p->fd = fd;
	if (!p->lost_count)
		close(fd);
}

/* ---- a round ------------------------------------------------------------------------------ */

static void damage_files(struct campaign *c, struct dice *d)
{
	for (uint32_t i = 0; i < c->count; i++) {
		struct victim *v = &c->v[i];

		victim_damage(v, d);
		if (!victim_write(v, c->dir, false))
			abort();
		for (uint32_t j = 0; j < v->lost_count; j++)
			medium_lose(&c->medium, v->ino, v->lost[j].from, v->lost[j].to);
		for (uint32_t j = 0; j < v->places; j++)
			if (v->place[j].parity_hit)
				damage_parity(c, &v->place[j]);
	}
}

static bool is_damaged(struct campaign *c, const struct victim *v)
{
	(void)c;
	return v->size_now != v->size || v->lost_count || memcmp(v->now, v->was, v->size) != 0;
}

/* The state after the repair, and after the undo, as files say. */
static bool differs(struct campaign *c, const struct victim *v)
{
	uint64_t size;
	uint8_t *p = content(c, v, &size);
	bool is = size != v->size || memcmp(p, v->was, size) != 0 ||
		  medium_lost(&c->medium, v->ino, 0, size);

	free(p);
	return is;
}

static void judge_files(struct campaign *c, uint8_t **after, uint64_t *size)
{
	for (uint32_t i = 0; i < c->count; i++) {
		const char *what;

		after[i] = content(c, &c->v[i], &size[i]);
		what = victim_judge(&c->v[i], &c->g, after[i], size[i], !c->unattended, &c->sum);
		if (what)
			wrong(c, &c->v[i], "%s", what);
		c->sum.files++;
	}
}

/* The first byte that undo should have left otherwise. What could not be read then is not there to
 * be put back: the repaired bytes stay. */
static uint64_t undone(const struct victim *v, const uint8_t *p, const uint8_t *after)
{
	uint64_t at = 0;

	while (at < v->size_now) {
		uint64_t end = v->size_now;
		const uint8_t *want = v->now;

		for (uint32_t i = 0; i < v->lost_count; i++) {
			const struct span *s = &v->lost[i];

			if (s->from <= at && at < s->to) {
				want = after;
				end = SCR_MIN(end, s->to);
			} else if (s->from > at) {
				end = SCR_MIN(end, s->from);
			}
		}
		while (at < end && p[at] == want[at])
			at++;
		if (at < end)
			return at;
	}
	return at;
}

static void compare_undone(struct campaign *c, uint8_t **after)
{
	for (uint32_t i = 0; i < c->count; i++) {
		struct victim *v = &c->v[i];
		uint64_t size, at;
		uint8_t *p = content(c, v, &size);

		if (size != v->size_now)
			wrong(c, v, "undo left %" PRIu64 " bytes", size);
		else if ((at = undone(v, p, after[i])) < size)
			wrong(c, v,
			      "undo left byte %" PRIu64
			      " %02x; recorded %02x, damaged %02x, repaired %02x%s",
			      at, p[at], v->was[at], v->now[at], after[i][at],
			      victim_lost(v, at, at + 1) ? ", unreadable" : "");
		free(p);
	}
}

/* What was wholly repaired once is so again. */
static void compare_again(struct campaign *c, uint8_t **after, const uint64_t *size)
{
	for (uint32_t i = 0; i < c->count; i++) {
		struct victim *v = &c->v[i];

		if (size[i] == v->size && !memcmp(after[i], v->was, v->size) && differs(c, v))
			wrong(c, v, "not repaired again");
	}
}

static void play(struct campaign *c)
{
	uint8_t *after[FILES];
	uint64_t size[FILES];
	struct scr_options again = {.force = true};

	if (c->unattended) {
		pass(c, "run --repair", do_run, (struct scr_options){.repair = true});
	} else {
		check(c, "damaged", is_damaged);
		pass(c, "repair", do_repair, again);
	}
	judge_files(c, after, size);
	check(c, "repaired", differs);
	c->sum.rebuilt += c->pass.repaired;
	pass(c, "undo", do_repair, (struct scr_options){.undo = true});
	compare_undone(c, after);
	check(c, "undone", differs);
	if (!c->unattended && c->round % 4 == 0) {
		pass(c, "repair again", do_repair, again);
		compare_again(c, after, size);
	}
	for (uint32_t i = 0; i < c->count; i++)
		free(after[i]);
}

/* ---- all rounds --------------------------------------------------------------------------- */

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static const char *const *settings_of(const struct scr_geometry *g)
{
	static char text[3][32];
	static const char *list[] = {"ctime=ignore", text[0], text[1], text[2], NULL};

	/* ctime is ignored: so an ordinary write makes rot. */
	snprintf(text[0], sizeof(text[0]), "block-size=%u", g->block_size);
	snprintf(text[1], sizeof(text[1]), "parity=%u", g->columns);
	snprintf(text[2], sizeof(text[2]), "parity-unit=%u", g->parity_unit);
	return list;
}

static struct scr_geometry any_geometry(struct dice *d)
{
	static const uint32_t columns[] = {2, 4, 16, 64}, units[] = {64, 512, 4096, 4096};
	static const uint32_t blocks[] = {512, 4096, 16384, 1 << 20};
	struct scr_geometry g = {SCR_BLOCK_SIZE_DEFAULT, SCR_COLUMNS_DEFAULT,
				 SCR_PARITY_UNIT_DEFAULT};

	if (dice_below(d, 4) == 0)
		g = (struct scr_geometry){blocks[dice_below(d, 4)], columns[dice_below(d, 4)],
					  units[dice_below(d, 4)]};
	return g;
}

static uint32_t run_round(struct campaign *c, uint32_t most)
{
	struct dice d = {.state = (c->seed << 32) ^ c->round * UINT64_C(0xd1342543de82ef95)};

	c->unattended = dice_below(&d, 3) == 0;
	c->large = c->size_max > SCR_EXTENT_SIZE && dice_below(&d, LARGE_ROUNDS) == 0;
	c->g = any_geometry(&d);
	c->count = c->large ? 1 : c->unattended ? UNATTENDED : FILES;
	c->count = SCR_MIN(c->count, most);
	c->medium.count = 0;
	c->v = calloc(c->count, sizeof(*c->v));
	if (!c->v || mkdir(c->dir, 0755) < 0)
		abort();
	make_files(c, &d);
	pass(c, "first run", do_run, (struct scr_options){.settings = settings_of(&c->g)});
	find_parity(c);
	damage_files(c, &d);
	play(c);
	c->sum.rounds++;
	nftw(c->dir, drop, 16, FTW_DEPTH | FTW_PHYS);
	for (uint32_t i = 0; i < c->count; i++)
		victim_free(&c->v[i]);
	free(c->v);
	return c->count;
}

static void print_totals(const struct totals *sum, double seconds)
{
	printf("%" PRIu64 " files of %.1f MB in %" PRIu64 " rounds, %.1f s\n", sum->files,
	       (double)sum->bytes / 1e6, sum->rounds, seconds);
	printf("%-14s %10s %16s\n", "class", "extents", "nothing lost");
	for (uint32_t i = 0; i < CLASSES; i++)
		printf("%-14s %10" PRIu64 " %16" PRIu64 "\n", outcome_names[i], sum->extents[i],
		       sum->whole[i]);
	printf("damaged blocks: repaired %" PRIu64 ", left %" PRIu64 "\n", sum->blocks_repaired,
	       sum->blocks_left);
	printf("sizes: repaired %" PRIu64 ", left %" PRIu64 "\n", sum->sizes_repaired,
	       sum->sizes_left);
	printf("parity rebuilt by a later run: %" PRIu64
	       "; unreadable pieces kept by undo: %" PRIu64 "\n",
	       sum->rebuilt, sum->kept);
	printf("wrong: %" PRIu64 "\n", sum->wrong);
}

int main(int argc, char **argv)
{
	static struct campaign c = {.size_max = UINT64_C(200) << 20};
	const char *const cycle[] = {"cycle", NULL};
	struct timespec start, end;
	char top[] = "campaign-XXXXXX";

	if (argc < 3 || argc > 5) {
		fprintf(stderr, "usage: campaign N SEED [MAXSIZE [ROUND]]\n");
		return 2;
	}
	c.cases = strtoull(argv[1], NULL, 0);
	c.seed = strtoull(argv[2], NULL, 0);
	if (argc > 3)
		c.size_max = strtoull(argv[3], NULL, 0);
	if (c.size_max == 0 ||
	    scr_select(&(struct scr_select_options){.force = cycle}, &c.selection))
		return 2;
	if (!mkdtemp(top))
		return 2;
	snprintf(c.dir, sizeof(c.dir), "%s/t", top);
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (argc > 4) {
		c.round = strtoull(argv[4], NULL, 0);
		c.verbose = true;
		run_round(&c, FILES);
	} else {
		for (uint64_t n = 0; n < c.cases; c.round++)
			n += run_round(&c, (uint32_t)SCR_MIN(c.cases - n, FILES));
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	print_totals(&c.sum, (double)(end.tv_sec - start.tv_sec) +
				     (double)(end.tv_nsec - start.tv_nsec) * 1e-9);
	scr_selection_free(c.selection);
	rmdir(top);
	return c.sum.wrong ? 1 : 0;
}
