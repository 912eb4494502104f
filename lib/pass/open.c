/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening the state of a target: directory, lock, manifest, journal. */
#include <config.h>
#include "pass/device.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pass/publish.h"

int scr_pass_no_manifest(struct scr_pass *p)
{
	const char *hint = "; 'run' makes one";

	/* --existing is for the night: that a disk isn't mounted is what it most often means then. */
	if (p->ctx->opt.existing && p->kind != SCR_TARGET_DEVICE)
		hint = ": is the disk mounted? ('run' without --existing makes one)";
	else if (p->ctx->opt.existing)
		hint = ": is it the right device? ('run' without --existing makes one)";
	scr_trouble(p, NULL, 0, 0, "there is no manifest for this target%s", hint);
	return -ENOENT;
}

void scr_pass_unload(struct scr_pass *p)
{
	scr_pass_tell_repairs(p);
	scr_journal_free(p->journal);
	scr_mreader_free(p->old);
	if (p->journal_fd >= 0)
		close(p->journal_fd);
	if (p->manifest_fd >= 0)
		close(p->manifest_fd);
	p->journal = NULL;
	p->old = NULL;
	p->journal_fd = p->manifest_fd = -1;
}

static bool is_reading(enum scr_access access)
{
	return access != SCR_ACCESS_WRITE;
}

int scr_pass_state_tmpfile(void *arg)
{
	struct scr_pass *p = arg;

	return scr_state_unnamed_file(&p->state);
}

/* The journal that a stopped pass left, if it extends this manifest. */
static int load_journal(struct scr_pass *p, enum scr_access access)
{
	struct scr_why why = {""};
	uint64_t valid;
	int r;

	if (p->state.dirfd < 0 || p->busy)
		return 0;
	p->journal_fd = scr_state_open_file(&p->state, SCR_JOURNAL_NAME, O_RDONLY,
					    is_reading(access), &why);
	if (p->journal_fd == -ENOENT)
		return 0;
	if (p->journal_fd < 0) {
		scr_trouble(p, NULL, 0, -p->journal_fd, "cannot use the journal: %s", why.text);
		return p->journal_fd;
	}
	r = scr_journal_open(p->journal_fd, p->header.generation,
			     is_reading(access) ? scr_pass_tmpfile : scr_pass_state_tmpfile, p,
			     &p->journal, &valid);
	if (r < 0) {
		scr_trouble(p, NULL, 0, -r, "cannot read the journal in %s", p->state.path);
		return r;
	}
	if (scr_journal_count(p->journal) == 0) {
		scr_journal_free(p->journal);
		p->journal = NULL;
	}
	return 0;
}

/* The time that a file just created in the state gets, where it is on the target's file system. */
static void measure_skew(struct scr_pass *p)
{
	int fd = scr_state_unnamed_file(&p->state);
	int64_t now = scr_clock_wall(p->ctx->clock);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_dev == p->root_dev)
		p->clock_skew_ns = st.st_ctim.tv_sec * SCR_NS_PER_S + st.st_ctim.tv_nsec - now;
	close(fd);
}

void scr_pass_tell_repairs(struct scr_pass *p)
{
	struct scr_mreader_damage d = {0};

	if (p->old)
		scr_mreader_get_damage(p->old, &d);
	if (d.groups_repaired == 0 || p->manifest_repaired)
		return;
	p->manifest_repaired = true;
	scr_emit_damage(p, &(struct scr_damage){
				   .kind = SCR_DAMAGE_MANIFEST,
				   .block = SCR_NO_BLOCK,
				   .offset = d.first_offset,
				   .size_was = -1,
				   .size_now = -1,
			   });
	if (p->reading)
		scr_trouble(p, NULL, 0, 0,
			    "the manifest itself is damaged, at byte %" PRIu64
			    ": repaired in memory; the next 'run' writes it anew",
			    d.first_offset);
	else
		scr_warn(p, NULL, 0,
			 "the manifest itself was damaged, at byte %" PRIu64
			 ": repaired, and written anew when this ends",
			 d.first_offset);
}

static int refuse_manifest(struct scr_pass *p, const char *name, int r, const char *why)
{
	const char *where = p->state.path ? p->state.path : "";
	bool previous = !strcmp(name, SCR_MANIFEST_NAME) && p->state.dirfd >= 0 &&
			faccessat(p->state.dirfd, SCR_MANIFEST_PREVIOUS, F_OK, 0) == 0;

	scr_trouble(p, NULL, 0, r == -EBADMSG || r == -EPROTONOSUPPORT ? 0 : -r,
		    "cannot use the manifest %s%s%s: %s%s%s%s", where, *where ? "/" : "", name, why,
		    previous ? "; 'run --from-previous' goes on from " : "",
		    previous ? where : "", previous ? "/" SCR_MANIFEST_PREVIOUS : "");
	return r;
}

static int load_policy(struct scr_pass *p)
{
	struct scr_setting_error err = {""};
	int r;

	scr_policy_free(&p->policy);
	r = scr_policy_init(&p->policy, &p->header.settings, &p->fs, &err);
	if (r < 0)
		scr_trouble(p, NULL, 0, r == -EINVAL ? 0 : -r,
			    "cannot use the settings of the manifest: %s", err.text);
	return r;
}

static const char *kind_name(enum scr_target_kind kind)
{
	switch (kind) {
	case SCR_TARGET_DIR:
		return "a directory";
	case SCR_TARGET_FILE:
		return "a single file";
	case SCR_TARGET_DEVICE:
		break;
	}
	return "a block device";
}

int scr_pass_load(struct scr_pass *p, enum scr_access access, const char *name)
{
	const char *why = "it cannot be read";
	int r;

	/* The plain kernels: a fast one that errs must not make the manifest look damaged. */
	r = scr_mreader_open(p->manifest_fd, scr_kernels_reference(), &p->old, &why);
	if (r < 0)
		return refuse_manifest(p, name, r, why);
	scr_mreader_use(p->old, scr_pass_kernels(p)->crc32);
	p->reading = is_reading(access);
	scr_pass_tell_repairs(p);
	scr_header_free(&p->header);
	r = scr_header_copy(&p->header, scr_mreader_header(p->old));
	if (r < 0)
		return r;
	if (p->header.kind != p->kind) {
		scr_trouble(p, NULL, 0, 0, "the manifest was made for %s, the target is %s",
			    kind_name(p->header.kind), kind_name(p->kind));
		return -EBADMSG;
	}
	if (p->device)
		r = scr_device_guard_identity(p, access);
	if (r == 0)
		r = load_policy(p);
	return r < 0 ? r : load_journal(p, access);
}

int scr_pass_reload(struct scr_pass *p)
{
	struct scr_why why = {""};

	scr_pass_unload(p);
	p->manifest_fd = scr_state_open_file(&p->state, SCR_MANIFEST_NAME, O_RDONLY, false, &why);
	if (p->manifest_fd < 0) {
		scr_trouble(p, NULL, 0, -p->manifest_fd, "%s", why.text);
		return p->manifest_fd;
	}
	return scr_pass_load(p, SCR_ACCESS_WRITE, SCR_MANIFEST_NAME);
}

/* How long a verb waits for the lock. */
static int64_t patience(const struct scr_pass *p, enum scr_access access)
{
	if (!p->ctx->opt.wait || access == SCR_ACCESS_PEEK)
		return 0;
	return p->ctx->opt.wait_ns ? p->ctx->opt.wait_ns : INT64_MAX;
}

static int lock_state(struct scr_pass *p, enum scr_access access)
{
	struct scr_why why = {""};
	bool exclusive = access == SCR_ACCESS_WRITE;
	int r = scr_state_lock(&p->state, exclusive, patience(p, access), &p->ctx->stop, &why);

	p->locked = r == 0;
	if (r == -EWOULDBLOCK && access == SCR_ACCESS_PEEK) {
		p->busy = true;
		scr_note(p, "%s; this is what the last published manifest says", why.text);
		return 0;
	}
	if (r == -EINTR) {
		scr_note(p, "%s", why.text);
		return r;
	}
	if (r == -EWOULDBLOCK || exclusive) {
		if (r == -EWOULDBLOCK)
			scr_trouble(p, NULL, 0, 0,
				    p->ctx->opt.wait ?
					    "%s: waited for it in vain" :
					    "%s: try again when it is done, or wait with --wait",
				    why.text);
		else if (r < 0)
			scr_trouble(p, NULL, 0, -r, "%s", why.text);
		return r;
	}
	if (r < 0)
		scr_note(p, "reading without a lock: %s", strerror(-r));
	return 0;
}

static int open_manifest_alone(struct scr_pass *p)
{
	p->manifest_fd = open(p->ctx->opt.manifest, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (p->manifest_fd < 0) {
		int r = -errno;

		scr_trouble(p, NULL, 0, -r, "cannot open the manifest %s", p->ctx->opt.manifest);
		return r;
	}
	return scr_pass_load(p, SCR_ACCESS_READ, p->ctx->opt.manifest);
}

static int find_place(struct scr_pass *p, struct scr_why *why)
{
	int r;

	if (p->device)
		return scr_device_place(p, &p->place);
	r = scr_state_place(p->path, p->kind == SCR_TARGET_DIR, p->ctx->opt.state_dir,
			    p->ctx->state_root, &p->place, why);
	if (r < 0)
		scr_trouble(p, NULL, 0, -r, "%s", why->text);
	return r;
}

static int open_manifest(struct scr_pass *p, enum scr_access access)
{
	const char *name = p->ctx->opt.from_previous ? SCR_MANIFEST_PREVIOUS : SCR_MANIFEST_NAME;
	struct scr_why why = {""};

	p->manifest_fd = scr_state_open_file(&p->state, name, O_RDONLY, is_reading(access), &why);
	if (p->manifest_fd == -ENOENT) {
		/* The directory is there and not empty, the manifest is not: lost, not new. */
		refuse_manifest(p, name, -EBADMSG, "it is missing");
		return -EBADMSG;
	}
	if (p->manifest_fd < 0) {
		scr_trouble(p, NULL, 0, -p->manifest_fd, "%s", why.text);
		return p->manifest_fd;
	}
	return scr_pass_load(p, access, name);
}

int scr_pass_open_state(struct scr_pass *p, enum scr_access access)
{
	struct scr_why why = {""};
	int r;

	if (p->ctx->opt.manifest)
		return open_manifest_alone(p);
	r = find_place(p, &why);
	if (r < 0)
		return r;
	r = scr_state_open(&p->place, is_reading(access), &p->state, &why);
	if (r == -ENOENT)
		return r;
	if (r < 0) {
		scr_trouble(p, NULL, 0, r == -EPERM || r == -ENOTUNIQ ? 0 : -r, "%s", why.text);
		return r;
	}
	r = lock_state(p, access);
	if (r == 0 && access == SCR_ACCESS_WRITE) {
		measure_skew(p);
		r = scr_state_recover(&p->state, &why);
		if (r < 0)
			scr_trouble(p, NULL, 0, -r, "%s", why.text);
	}
	return r < 0 ? r : open_manifest(p, access);
}

int scr_pass_apply_options(struct scr_pass *p)
{
	const char *const *s = p->ctx->opt.settings;
	struct scr_setting_error err = {""};
	int r = 0;

	for (; r == 0 && s && *s; s++)
		r = scr_settings_apply(&p->header.settings, *s, false, &err);
	if (r == 0 && p->ctx->opt.cross_mounts)
		r = scr_settings_apply(&p->header.settings, "cross-mounts=yes", false, &err);
	return r == -EINVAL ? scr_usage(p, NULL, "%s", err.text) : r;
}

int scr_pass_prepare_new(struct scr_pass *p)
{
	int r = scr_device_guard_medium(p);

	scr_settings_default(&p->header.settings);
	if (r == 0)
		r = scr_pass_apply_options(p);
	if (r < 0)
		return r;
	p->header.version = SCR_FORMAT_VERSION;
	p->header.created_ns = p->start_wall_ns;
	p->header.kind = p->kind;
	p->header.parities = 1;
	p->header.target = strdup(p->path);
	if (!p->header.target)
		return -ENOMEM;
	r = scr_pass_identity(p, &p->fs);
	if (r >= 0 && p->device)
		r = scr_device_note_identity(p);
	return r < 0 ? r : load_policy(p);
}

int scr_pass_create_state(struct scr_pass *p)
{
	struct scr_why why = {""};
	int r = scr_state_create(&p->place, &p->state, &why);

	if (r < 0) {
		scr_trouble(p, NULL, 0, r == -EPERM ? 0 : -r, "%s", why.text);
		return r;
	}
	r = lock_state(p, SCR_ACCESS_WRITE);
	if (r < 0)
		return r;
	measure_skew(p);
	/* Another first pass may have been faster. */
	if (faccessat(p->state.dirfd, SCR_MANIFEST_NAME, F_OK, 0) == 0)
		return open_manifest(p, SCR_ACCESS_WRITE);
	return scr_publish_empty(p);
}
