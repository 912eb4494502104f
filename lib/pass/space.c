/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The early no: whether the state can be written, and has room for what the pass will write. */
#include <config.h>
#include "pass/space.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/compiler.h"
#include "pass/limit.h"
#include "pass/parity.h"

/* Records without checks and path, with what damage there may be; bitscrub-manifest(5) has the
 * layouts. */
#define FILE_RECORD 160u
#define EXTENT_RECORD 160u
#define CHECK 6u

int scr_space_probe(struct scr_pass *p)
{
	int fd = scr_state_unnamed_file(&p->state);

	if (fd < 0) {
		scr_trouble(p, NULL, 0, -fd, "cannot write in %s: nothing was read", p->state.path);
		return fd;
	}
	close(fd);
	return 0;
}

uint64_t scr_space_of_records(const struct scr_geometry *g, uint64_t size, uint64_t allocated,
			      uint32_t path_len)
{
	uint64_t n = scr_extent_count(size), with_data = SCR_MIN(n, allocated / 4096 + 1);
	struct scr_cut last;

	if (n == 0)
		return FILE_RECORD + path_len;
	last = scr_cut_extent(g, size, n - 1);
	/* The last extent is the largest. Between two with data may be a run of holes. */
	return FILE_RECORD + path_len + (with_data < n ? 2 : 1) * with_data * EXTENT_RECORD +
	       with_data * ((uint64_t)last.blocks + last.parity_blocks) * CHECK;
}

/* A manifest's own parity, a sixteenth, comes with it. */
static uint64_t in_container(uint64_t bytes)
{
	return bytes + bytes / 16;
}

uint64_t scr_space_needed(const struct scr_pass *p, const struct scr_planned *planned,
			  uint64_t manifest_size)
{
	uint64_t records = manifest_size + planned->record_bytes, journal = records;

	/* A part of the pass writes that part of the journal, and always the whole manifest. */
	if (p->limit && p->limit->all > 0)
		journal = (uint64_t)((double)records * (double)scr_limit_total(p->limit) /
				     (double)p->limit->all);
	return journal + manifest_size + in_container(planned->record_bytes) +
	       (p->header.settings.parity ? scr_parity_needed(p, planned) : 0);
}

int scr_space_check(struct scr_pass *p, const struct scr_planned *planned)
{
	off_t size = lseek(p->manifest_fd, 0, SEEK_END);
	struct scr_fs_info fs;
	uint64_t need;
	int r = size < 0 ? -errno : scr_fs_info(p->state.dirfd, &fs);

	if (r < 0) {
		scr_trouble(p, NULL, 0, -r, "cannot tell how much is free in %s", p->state.path);
		return r;
	}
	need = scr_space_needed(p, planned, (uint64_t)size);
	if (fs.available >= need)
		return 0;
	scr_trouble(
		p, NULL, 0, ENOSPC,
		"the pass needs up to %" PRIu64 " KiB in %s, where %" PRIu64
		" KiB are free: nothing was read; make room, or use --state DIR on another disk",
		need / 1024 + 1, p->state.path, fs.available / 1024);
	return -ENOSPC;
}
