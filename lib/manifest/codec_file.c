/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* FILE, LINK and UNSEEN records. */
#include <config.h>

#include <errno.h>

#include "base/path.h"
#include "manifest/codec.h"

static bool path_valid(const char *path, uint32_t len)
{
	return len <= SCR_PATH_LIMIT && path && scr_path_valid(path, len);
}

static bool fs_valid(const struct scr_codec *codec, uint32_t fs)
{
	return codec->identities == UINT32_MAX || fs < codec->identities;
}

bool scr_file_valid(const struct scr_codec *codec, const struct scr_file_record *f)
{
	return path_valid(f->path, f->path_len) && fs_valid(codec, f->fs) &&
	       !(f->flags & ~(uint32_t)SCR_FILE_UNDER_REPAIR) &&
	       (f->damage.kind == 0 || scr_file_damage_valid(&f->damage));
}

int scr_encode_file(struct scr_buf *b, const struct scr_file_record *f)
{
	uint32_t damages = f->damage.kind != 0;
	size_t len = SCR_FILE_SIZE + (size_t)f->path_len + damages * (size_t)SCR_DAMAGE_SIZE;
	uint8_t *p;

	if (scr_buf_reserve(b, len) < 0)
		return -ENOMEM;
	p = b->data + b->len;
	scr_put_stamp(&p, &f->stamp);
	scr_put_time(&p, f->recorded_ns);
	scr_put_time(&p, f->skipped_since_ns);
	scr_put32(&p, f->fs);
	scr_put32(&p, f->mode);
	scr_put32(&p, f->uid);
	scr_put32(&p, f->gid);
	scr_put32(&p, f->nlink);
	scr_put32(&p, f->flags);
	scr_put32(&p, f->path_len);
	scr_put32(&p, damages);
	scr_put64(&p, 0);
	scr_put_bytes(&p, f->path, f->path_len);
	if (damages)
		scr_put_damage(&p, &f->damage);
	b->len += len;
	return 0;
}

int scr_decode_file(const struct scr_codec *codec, const uint8_t *p, size_t len,
		    struct scr_file_record *out)
{
	struct scr_cursor c = {.p = p, .left = len};
	struct scr_file_record f = {0};
	uint32_t damages;

	f.stamp = scr_take_stamp(&c);
	f.recorded_ns = scr_take_time(&c);
	f.skipped_since_ns = scr_take_time(&c);
	f.fs = scr_take32(&c);
	f.mode = scr_take32(&c);
	f.uid = scr_take32(&c);
	f.gid = scr_take32(&c);
	f.nlink = scr_take32(&c);
	f.flags = scr_take32(&c);
	f.path_len = scr_take32(&c);
	damages = scr_take32(&c);
	scr_take64(&c);
	f.path = (const char *)scr_take(&c, f.path_len);
	if (damages)
		f.damage = scr_take_damage(&c);
	if (scr_payload_end(codec, &c) < 0 || damages > 1 || (damages && f.damage.kind == 0) ||
	    !scr_file_valid(codec, &f))
		return -EBADMSG;
	*out = f;
	return 0;
}

bool scr_link_valid(const struct scr_codec *codec, const struct scr_link_record *l)
{
	return path_valid(l->path, l->path_len) && path_valid(l->owner, l->owner_len) &&
	       fs_valid(codec, l->fs) &&
	       scr_path_cmp(l->owner, l->owner_len, l->path, l->path_len) < 0;
}

int scr_encode_link(struct scr_buf *b, const struct scr_link_record *l)
{
	size_t len = SCR_LINK_SIZE + (size_t)l->path_len + l->owner_len;
	uint8_t *p;

	if (scr_buf_reserve(b, len) < 0)
		return -ENOMEM;
	p = b->data + b->len;
	scr_put64(&p, l->ino);
	scr_put32(&p, l->fs);
	scr_put32(&p, 0);
	scr_put32(&p, l->path_len);
	scr_put32(&p, l->owner_len);
	scr_put64(&p, 0);
	scr_put_bytes(&p, l->path, l->path_len);
	scr_put_bytes(&p, l->owner, l->owner_len);
	b->len += len;
	return 0;
}

int scr_decode_link(const struct scr_codec *codec, const uint8_t *p, size_t len,
		    struct scr_link_record *out)
{
	struct scr_cursor c = {.p = p, .left = len};
	struct scr_link_record l = {0};
	uint32_t flags;

	l.ino = scr_take64(&c);
	l.fs = scr_take32(&c);
	flags = scr_take32(&c);
	l.path_len = scr_take32(&c);
	l.owner_len = scr_take32(&c);
	scr_take64(&c);
	l.path = (const char *)scr_take(&c, l.path_len);
	l.owner = (const char *)scr_take(&c, l.owner_len);
	if (scr_payload_end(codec, &c) < 0 || flags || !scr_link_valid(codec, &l))
		return -EBADMSG;
	*out = l;
	return 0;
}

bool scr_unseen_valid(const struct scr_unseen_record *u)
{
	return path_valid(u->path, u->path_len);
}

int scr_encode_unseen(struct scr_buf *b, const struct scr_unseen_record *u)
{
	size_t len = SCR_UNSEEN_SIZE + (size_t)u->path_len;
	uint8_t *p;

	if (scr_buf_reserve(b, len) < 0)
		return -ENOMEM;
	p = b->data + b->len;
	scr_put_time(&p, u->first_ns);
	scr_put_time(&p, u->last_ns);
	scr_put32(&p, u->is_dir ? SCR_UNSEEN_DIRECTORY : 0);
	scr_put32(&p, u->path_len);
	scr_put64(&p, 0);
	scr_put_bytes(&p, u->path, u->path_len);
	b->len += len;
	return 0;
}

int scr_decode_unseen(const struct scr_codec *codec, const uint8_t *p, size_t len,
		      struct scr_unseen_record *out)
{
	struct scr_cursor c = {.p = p, .left = len};
	struct scr_unseen_record u = {0};
	uint32_t flags;

	u.first_ns = scr_take_time(&c);
	u.last_ns = scr_take_time(&c);
	flags = scr_take32(&c);
	u.is_dir = flags & SCR_UNSEEN_DIRECTORY;
	u.path_len = scr_take32(&c);
	scr_take64(&c);
	u.path = (const char *)scr_take(&c, u.path_len);
	if (scr_payload_end(codec, &c) < 0 || (flags & ~(uint32_t)SCR_UNSEEN_DIRECTORY) ||
	    !scr_unseen_valid(&u))
		return -EBADMSG;
	*out = u;
	return 0;
}
