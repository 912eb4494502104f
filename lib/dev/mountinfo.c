/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /proc/self/mountinfo: proc(5).
 *
 *	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *	id parent dev root point options tags...   - type source super_options
 */
#include <config.h>
#include "dev/dev_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* \040 and the like: what mountinfo makes of space, tab, newline and backslash. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] && s[3]) {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static bool has_option(const char *options, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = options; *p; p += strspn(p, ",\n")) {
		size_t len = strcspn(p, ",\n");

		if (len == n && strncmp(p, name, n) == 0)
			return true;
		p += len;
	}
	return false;
}

bool scr_mount_parse(const char *line, struct scr_mount *out)
{
	unsigned int major, minor;
	const char *dash = strstr(line, " - ");
	char source[4096];
	int at = 0;

	if (!dash || sscanf(line, "%" SCNu64 " %*d %u:%u %4095[^ ] %4095[^ ]", &out->id, &major,
			    &minor, out->root, out->point) != 5)
		return false;
	unescape(out->root);
	unescape(out->point);
	/* An empty source leaves two spaces, which sscanf would pass over. */
	if (sscanf(dash, " - %31[^ ]%n", out->type, &at) != 1 || !dash[at])
		return false;
	dash += at + 1;
	source[0] = '\0';
	sscanf(dash, "%4095[^ ]", source);
	unescape(source);
	strcpy(out->source, source);
	out->dev = makedev(major, minor);
	dash = strchr(dash, ' ');
	out->lazytime = dash && has_option(dash + 1, "lazytime");
	out->read_only = dash && has_option(dash + 1, "ro");
	return true;
}

/* Which mount: by id where the kernel tells it (5.8), else by device. */
struct wanted {
	bool by_id;
	uint64_t id;
	dev_t dev;
};

static int what_is_wanted(int fd, struct wanted *w)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0)
		return -errno;
	w->by_id = stx.stx_mask & STATX_MNT_ID;
	w->id = stx.stx_mnt_id;
	w->dev = makedev(stx.stx_dev_major, stx.stx_dev_minor);
	return 0;
}

int scr_mount_of(int fd, struct scr_mount *out)
{
	struct wanted want = {0};
	struct scr_mount *m;
	char *line = NULL;
	size_t size = 0;
	FILE *f;
	int ret = what_is_wanted(fd, &want);

	if (ret < 0)
		return ret;
	m = malloc(sizeof(*m));
	f = m ? fopen("/proc/self/mountinfo", "re") : NULL;
	ret = m ? f ? -ENOENT : -errno : -ENOMEM;
	errno = 0;
	while (f && getline(&line, &size, f) > 0) {
		if (!scr_mount_parse(line, m))
			continue;
		/* The last of a device lies on top of the others. */
		if (want.by_id ? m->id == want.id : m->dev == want.dev) {
			*out = *m;
			ret = 0;
		}
	}
	/* A part of the list could name another mount. */
	if (f && !feof(f))
		ret = errno ? -errno : -EIO;
	if (f)
		fclose(f);
	free(line);
	free(m);
	return ret;
}
