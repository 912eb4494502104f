/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frame of every verb: resolve the target, choose kernels, and close with a summary. */
#include <config.h>
#include "pass/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/nice.h"
#include "pass/history.h"
#include "walk/resolve.h"

static void log_kernels(void *arg, int warning, const char *line)
{
	struct scr_pass *p = arg;

	if (warning)
		scr_warn(p, NULL, 0, "%s", line);
	else if (p->ctx->opt.verbose)
		scr_note(p, "%s", line);
}

static int choose_kernels(struct scr_pass *p)
{
	struct scr_select_options o = {
		.force = p->ctx->opt.kernels, .log = log_kernels, .log_arg = p,
	};
	int r = scr_select(&o, &p->selection);

	if (r == -EINVAL)
		return scr_usage(p, NULL, "no such kernel on this machine; 'bench' lists them");
	if (r < 0)
		scr_trouble(p, NULL, 0, -r, "cannot choose kernels");
	return r;
}

const struct scr_kernels *scr_pass_kernels(struct scr_pass *p)
{
	if (p->ctx->kernels)
		return p->ctx->kernels;
	return p->selection ? scr_selection_next(p->selection) : scr_kernels_reference();
}

/* Opens the directory that names are resolved from. */
static int open_root(struct scr_pass *p)
{
	char *slash = strrchr(p->path, '/');
	const char *dir = p->path;
	struct stat st;

	if (p->kind == SCR_TARGET_FILE) {
		p->leaf = slash + 1;
		*slash = '\0';
		dir = slash == p->path ? "/" : p->path;
	}
	p->rootfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (p->kind == SCR_TARGET_FILE)
		*slash = '/';
	if (p->rootfd < 0 || fstat(p->rootfd, &st) < 0)
		return -errno;
	p->root_dev = st.st_dev;
	return scr_fs_info(p->rootfd, &p->fs);
}

/* The path of the target; UUID=... and the like stand for devices. 0 or -errno (said). */
static int find_target(struct scr_pass *p)
{
	char *device = NULL;
	int r = scr_device_resolve_tag(p->target, &device);

	if (r == -EINVAL)
		r = 0;
	if (r == -ENOTUNIQ)
		scr_trouble(p, NULL, 0, 0,
			    "several devices have it: name the one that is meant by its path");
	else if (r == -ENOENT)
		scr_trouble(p, NULL, 0, 0, "no device has it");
	else if (r == -EACCES)
		scr_trouble(p, NULL, 0, 0, "no device has it that you have permission to read");
	else if (r < 0)
		scr_trouble(p, NULL, 0, -r, "cannot find the device");
	if (r == 0)
		p->path = realpath(device ? device : p->target, NULL);
	if (r == 0 && !p->path) {
		r = -errno;
		scr_trouble(p, NULL, 0, -r, "cannot find the target");
	}
	free(device);
	return r;
}

static int resolve(struct scr_pass *p)
{
	struct stat st;
	int r = find_target(p);

	if (r < 0)
		return r;
	if (lstat(p->path, &st) < 0) {
		r = -errno;
		scr_trouble(p, NULL, 0, -r, "cannot find the target");
		return r;
	}
	if (S_ISDIR(st.st_mode)) {
		p->kind = SCR_TARGET_DIR;
	} else if (S_ISREG(st.st_mode)) {
		p->kind = SCR_TARGET_FILE;
	} else if (S_ISBLK(st.st_mode)) {
		p->kind = SCR_TARGET_DEVICE;
		return scr_device_open(p);
	} else {
		scr_trouble(p, NULL, 0, 0,
			    "the target is neither a directory, a regular file nor a block device");
		return -ENOTSUP;
	}
	r = open_root(p);
	if (r < 0)
		scr_trouble(p, NULL, 0, -r, "cannot open the target");
	return r;
}

int scr_pass_open_file(struct scr_pass *p, const char *path, size_t len, struct stat *st)
{
	bool leaf = p->leaf && len == 1;

	if (p->device)
		return scr_device_open_file(p, st);
	return scr_open_beneath(p->rootfd, leaf ? p->leaf : path, leaf ? strlen(p->leaf) : len,
				!p->policy.cross_mounts, st);
}

int scr_pass_stat_file(const struct scr_pass *p, int fd, struct stat *st)
{
	if (!p->device)
		return fstat(fd, st) < 0 ? -errno : 0;
	scr_device_stat(p, st);
	return scr_device_same_size(p, fd) ? 0 : -ESTALE;
}

static void be_nice(struct scr_pass *p)
{
	int r = scr_nice();

	if (r < 0)
		scr_warn(p, NULL, 0, "cannot let all others go first: %s", strerror(-r));
}

int scr_pass_begin(struct scr_pass *p, struct scr_ctx *ctx, const char *verb, const char *target,
		   bool kernels)
{
	const struct scr_kernels *k;
	int r;

	*p = (struct scr_pass){
		.ctx = ctx,
		.target = target,
		.sum = {.verb = verb, .target = target},
		.start_ns = scr_clock_monotonic(ctx->clock),
		.start_wall_ns = scr_clock_wall(ctx->clock),
		.boot_ns = scr_clock_wall(ctx->clock) - scr_clock_uptime(),
		.rootfd = -1,
		.manifest_fd = -1,
		.journal_fd = -1,
		.state = {.dirfd = -1},
	};
	scr_strings_free(ctx->device);
	ctx->device = NULL;
	ctx->pace.clock = ctx->clock;
	scr_ctx_phase(ctx, "starting", 0, 0);
	if (ctx->opt.nice)
		be_nice(p);
	r = resolve(p);
	if (r == 0 && kernels)
		r = choose_kernels(p);
	if (r < 0)
		return r;
	if (!kernels)
		return 0;
	k = scr_pass_kernels(p);
	p->sum.kernel[SCR_INET] = k->inet->name;
	p->sum.kernel[SCR_CRC32] = k->crc32->name;
	p->sum.kernel[SCR_XOR] = k->xor_->name;
	p->sum.kernel[SCR_FUSED] = k->fused->name;
	return 0;
}

static int exit_status(const struct scr_pass *p, int r)
{
	const struct scr_summary *s = &p->sum;
	int bits = s->exit;

	if (r < 0 && !scr_pass_interrupted(p, r) && !(bits & SCR_EXIT_USAGE))
		bits |= SCR_EXIT_TROUBLE;
	if (s->trouble || s->transient)
		bits |= SCR_EXIT_TROUBLE;
	if (s->blocks_damaged || s->files_damaged || s->parity_damaged)
		bits |= SCR_EXIT_DAMAGE;
	if (s->repaired)
		bits |= SCR_EXIT_REPAIRED;
	if (scr_pass_interrupted(p, r))
		bits |= SCR_EXIT_STOPPED;
	return bits;
}

int scr_pass_exit_bits(const struct scr_pass *p)
{
	return exit_status(p, 0);
}

/* Nothing ends early without a word: most errors were said where they happened, some of them not. */
static void tell_end(struct scr_pass *p, int r)
{
	bool general = r == -ENOMEM || r == -EINTR;

	if (r == 0 || scr_pass_interrupted(p, r) || (p->sum.exit & SCR_EXIT_USAGE))
		return;
	if (p->sum.trouble == 0 || (general && p->told != -r))
		scr_trouble(p, NULL, 0, -r, "ended early");
}

int scr_pass_end(struct scr_pass *p, int r, struct scr_summary *out)
{
	struct scr_event ev = {.type = SCR_EV_SUMMARY, .target = p->target, .u.summary = &p->sum};

	scr_pass_tell_repairs(p);
	tell_end(p, r);
	if (r == 0 && p->manifest_repaired && p->published)
		p->sum.repaired++;
	p->sum.seconds = (double)(scr_clock_monotonic(p->ctx->clock) - p->start_ns) / 1e9;
	p->sum.exit = exit_status(p, r);
	if (p->historic) {
		scr_history_record(p);
		p->sum.exit = exit_status(p, r);
	}
	p->ctx->phase = NULL;
	pthread_mutex_lock(&p->ctx->lock);
	if (p->ctx->sink)
		p->ctx->sink(p->ctx->sink_arg, &ev);
	pthread_mutex_unlock(&p->ctx->lock);
	if (out)
		*out = p->sum;
	scr_pass_unload(p);
	scr_header_free(&p->header);
	scr_policy_free(&p->policy);
	scr_trailer_free(&p->trailer);
	scr_selection_free(p->selection);
	scr_segments_free(p->segments);
	scr_state_close(&p->state);
	scr_state_place_free(&p->place);
	scr_device_close(p);
	if (p->rootfd >= 0)
		close(p->rootfd);
	free(p->path);
	return r;
}

int scr_pass_tmpfile(void *arg)
{
	const char *dir = getenv("TMPDIR");
	char name[] = "/tmp/scrub-XXXXXX";
	int fd;

	(void)arg;
	fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

int scr_pass_identity(struct scr_pass *p, const struct scr_fs_info *fs)
{
	struct scr_header *h = &p->header;
	struct scr_identity *list, *id;

	for (uint32_t i = 0; i < h->identity_count; i++) {
		id = &h->identities[i];
		if (scr_fs_same(id->type, id->uuid, id->subvol, id->fsid, fs))
			return (int)i;
	}
	list = realloc(h->identities, (h->identity_count + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	h->identities = list;
	id = &list[h->identity_count];
	*id = (struct scr_identity){strdup(fs->type), strdup(fs->uuid), strdup(fs->subvol),
				    fs->fsid};
	if (!id->type || !id->uuid || !id->subvol) {
		free(id->type);
		free(id->uuid);
		free(id->subvol);
		return -ENOMEM;
	}
	return (int)h->identity_count++;
}
