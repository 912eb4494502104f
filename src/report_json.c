/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON Lines: each event one object. The schema is in scrub(8). */
#include <config.h>
#include "report.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "console.h"
#include "options.h"
#include "quote.h"
#include "units.h"

/* Numbers are 64-bit and signed in JSON's usual readers; none of ours comes near. */
static void put_int(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void put_bool(json_t *o, const char *key, bool v)
{
	json_object_set_new(o, key, json_boolean(v));
}

static void put_time(json_t *o, const char *key, int64_t ns)
{
	char text[UNITS_TEXT];

	if (ns != 0)
		json_object_set_new(o, key, json_string(units_iso(text, ns)));
}

/* A string of bytes: valid UTF-8 under @key, and if it isn't that, exactly under KEY_bytes. */
static void put_bytes(json_t *o, const char *key, const char *s, size_t len)
{
	char name[64];
	char *percent;
	int exact = 1;
	char *text = quote_json(s, len, &exact);

	json_object_set_new(o, key, text ? json_string(text) : json_null());
	free(text);
	if (exact)
		return;
	percent = quote_percent(s, len);
	snprintf(name, sizeof(name), "%s_bytes", key);
	json_object_set_new(o, name, percent ? json_string(percent) : json_null());
	free(percent);
}

static void put_name(json_t *o, const char *key, const struct scr_name *name)
{
	if (name->path)
		put_bytes(o, key, name->path, name->len);
}

static void put_string(json_t *o, const char *key, const char *s)
{
	if (s)
		put_bytes(o, key, s, strlen(s));
}

static void put_errno(json_t *o, int err)
{
	const char *name = err ? strerrorname_np(err) : NULL;

	if (name)
		json_object_set_new(o, "errno", json_string(name));
}

static json_t *start(const char *event, const char *target)
{
	json_t *o = json_object();

	json_object_set_new(o, "event", json_string(event));
	put_string(o, "target", target);
	return o;
}

static void finish(struct report *r, json_t *o)
{
	/* A failed write shows in ferror(), which the console looks at. */
	json_dumpf(o, r->out, JSON_COMPACT | JSON_REAL_PRECISION(9));
	putc('\n', r->out);
	json_decref(o);
}

static void put_diagnosis(json_t *o, const struct scr_damage *d)
{
	static const char *const repairable[] = {"unknown", "yes", "no"};

	put_string(o, "repairable", repairable[d->repairable]);
	if (d->why_not)
		put_string(o, "why_not", d->why_not);
	if (d->pattern)
		put_string(o, "pattern", d->pattern);
	if (d->bytes_differ) {
		put_int(o, "bits_flipped", d->bits_flipped);
		put_int(o, "bytes_differ", d->bytes_differ);
		put_int(o, "differ_first", d->differ_first);
		put_int(o, "differ_last", d->differ_last);
	}
	if (d->bytes_differ == 1) {
		put_int(o, "byte_was", d->byte_was);
		put_int(o, "byte_now", d->byte_now);
	}
	if (d->holds.path) {
		put_name(o, "holds", &d->holds);
		put_int(o, "holds_block", d->holds_block);
	}
}

static void json_damage(struct report *r, const char *target, const struct scr_damage *d)
{
	json_t *o = start("damage", target);

	put_name(o, "path", &d->name);
	json_object_set_new(o, "kind", json_string(scr_damage_kind_name(d->kind)));
	if (d->block != SCR_NO_BLOCK) {
		put_int(o, "block", d->block);
		put_int(o, "blocks", d->blocks);
		put_int(o, "offset", d->offset);
		put_int(o, "length", d->length);
	} else if (d->kind == SCR_DAMAGE_MISSING && d->size_now >= 0) {
		put_int(o, "offset", d->offset);
		put_int(o, "length", d->length);
	} else if (d->kind == SCR_DAMAGE_MANIFEST) {
		put_int(o, "offset", d->offset);
	}
	if (d->kind == SCR_DAMAGE_PARITY) {
		put_int(o, "offset", d->offset);
		put_int(o, "length", d->length);
		put_bool(o, "repaired", d->repaired);
		put_bool(o, "inconsistent", d->inconsistent);
	} else {
		put_diagnosis(o, d);
	}
	put_string(o, "region", d->region);
	if (d->size_was >= 0)
		put_int(o, "size_was", (uint64_t)d->size_was);
	if (d->size_now >= 0)
		put_int(o, "size_now", (uint64_t)d->size_now);
	put_time(o, "since", d->since);
	if (d->carried)
		put_bool(o, "carried", true);
	if (d->known)
		put_bool(o, "known", true);
	if (d->metadata_changed)
		put_bool(o, "metadata_changed", true);
	put_errno(o, d->err);
	finish(r, o);
}

static void json_file(struct report *r, const char *target, const struct scr_file_event *f)
{
	json_t *o = start("file", target);

	put_name(o, "path", &f->name);
	json_object_set_new(o, "verdict", json_string(scr_verdict_name(f->verdict)));
	put_name(o, "from", &f->from);
	if (f->bit_flip)
		put_bool(o, "bit_flip", true);
	finish(r, o);
}

static void json_trouble(struct report *r, const char *target, const struct scr_trouble *t)
{
	json_t *o = start("trouble", target);

	put_name(o, "path", &t->name);
	put_errno(o, t->err);
	put_string(o, "message", t->message);
	if (t->usage)
		put_bool(o, "usage", true);
	else if (t->warning)
		put_bool(o, "warning", true);
	console_out(r->console);
	finish(r, o);
	console_flush(r->console);
}

static void json_list(struct report *r, const char *target, const struct scr_list_entry *e)
{
	json_t *o = start("list", target);
	char crc[9];

	put_name(o, "path", &e->name);
	if (e->unseen) {
		put_bool(o, "unseen", true);
		put_bool(o, "directory", e->mode != 0);
		put_string(o, "damage", scr_damage_kind_name(e->damage_kind));
		put_time(o, "damaged_since", e->damaged_since);
		finish(r, o);
		return;
	}
	put_name(o, "link_to", &e->link_owner);
	put_int(o, "size", e->size);
	put_int(o, "blocks", e->blocks);
	put_int(o, "mtime_ns", (uint64_t)e->mtime_ns);
	put_int(o, "ctime_ns", (uint64_t)e->ctime_ns);
	put_int(o, "inode", e->ino);
	put_int(o, "mode", e->mode);
	put_int(o, "uid", e->uid);
	put_int(o, "gid", e->gid);
	put_int(o, "nlink", e->nlink);
	put_time(o, "recorded", e->recorded_ns);
	put_time(o, "checked", e->checked_ns);
	put_bool(o, "unrecorded", e->unrecorded);
	snprintf(crc, sizeof(crc), "%08x", e->crc32);
	json_object_set_new(o, "crc32", e->unrecorded ? json_null() : json_string(crc));
	put_int(o, "damaged_blocks", e->damaged_blocks);
	if (e->damaged_blocks)
		put_string(o, "damage", scr_damage_kind_name(e->damage_kind));
	put_time(o, "damaged_since", e->damaged_since);
	finish(r, o);
}

static void json_repair(struct report *r, const char *target, const struct scr_repair_event *e)
{
	json_t *o = start("repair", target);

	put_name(o, "path", &e->name);
	put_string(o, "how", scr_repair_how_name(e->how));
	if (e->block != SCR_NO_BLOCK) {
		put_int(o, "block", e->block);
		put_int(o, "blocks", e->blocks);
	}
	if (e->length) {
		put_int(o, "offset", e->offset);
		put_int(o, "length", e->length);
	}
	put_string(o, "why", e->why);
	if (e->dry_run)
		put_bool(o, "dry_run", true);
	finish(r, o);
}

static void json_owner(struct report *r, const char *target, const struct scr_owner_event *e)
{
	json_t *o = start("owner", target);

	put_string(o, "owner", scr_owned_by_name(e->kind));
	put_int(o, "offset", e->offset);
	put_int(o, "length", e->length);
	put_string(o, "mountpoint", e->mountpoint);
	put_name(o, e->kind == SCR_OWNED_BY_FILE ? "file" : "what", &e->name);
	if (e->kind == SCR_OWNED_BY_FILE)
		put_int(o, "file_offset", e->file_offset);
	finish(r, o);
}

/* "KEY=VALUE" strings as an object; numbers stay numbers. */
static json_t *device(char *const *list)
{
	static const char *const numbers[] = { "size", "logical", "physical", "partition" };
	json_t *o = json_object();

	for (; *list; list++) {
		const char *eq = strchr(*list, '=');
		char key[32];
		bool number = false;

		if (!eq || (size_t)(eq - *list) >= sizeof(key))
			continue;
		snprintf(key, sizeof(key), "%.*s", (int)(eq - *list), *list);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			number |= !strcmp(key, numbers[i]);
		if (number)
			put_int(o, key, strtoull(eq + 1, NULL, 10));
		else
			put_string(o, key, eq + 1);
	}
	return o;
}

static json_t *kernels(const struct scr_summary *s)
{
	static const char *const classes[] = { "inet", "crc32", "xor", "fused" };
	json_t *o = json_object();

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (s->kernel[i])
			put_string(o, classes[i], s->kernel[i]);
	return o;
}

static void json_summary(struct report *r, const char *target, const struct scr_summary *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "event", json_string("summary"));
	put_int(o, "schema", 1);
	put_string(o, "verb", r->cmd->name);
	put_string(o, "target", target);
	put_bool(o, "complete", s->complete);
	if (s->limited) {
		put_string(o, "limited", s->limited);
		put_int(o, "bytes_left", s->bytes_left);
		put_time(o, "oldest_check", s->oldest_check_ns);
	}
	put_bool(o, "first", s->first);
	put_int(o, "files", s->files);
	put_int(o, "bytes", s->bytes);
	put_int(o, "blocks", s->blocks);
	for (int v = 0; v < SCR_VERDICTS; v++)
		put_int(o, scr_verdict_name((enum scr_verdict)v), s->verdicts[v]);
	put_int(o, "transient", s->transient);
	put_int(o, "repaired", s->repaired);
	put_int(o, "blocks_damaged", s->blocks_damaged);
	put_int(o, "files_damaged", s->files_damaged);
	put_int(o, "bytes_read", s->bytes_read);
	put_int(o, "bytes_from_medium", s->bytes_from_medium);
	put_int(o, "bytes_unknown", s->bytes_unknown);
	put_int(o, "bytes_from_cache", s->bytes_from_cache);
	put_int(o, "trouble", s->trouble);
	if (s->device) {
		put_int(o, "blocks_in_use", s->blocks_in_use);
		put_int(o, "blocks_unsure", s->blocks_unsure);
		json_object_set_new(o, "device", device(s->device));
	}
	json_object_set_new(o, "seconds", json_real(s->seconds));
	put_int(o, "exit", (uint64_t)s->exit);
	json_object_set_new(o, "kernels", kernels(s));
	finish(r, o);
}

static json_t *ages(const struct scr_status *s)
{
	json_t *a = json_array();

	for (int i = 0; i < SCR_AGE_BUCKETS; i++) {
		json_t *o = json_object();

		if (s->age_bytes[i] == 0) {
			json_decref(o);
			continue;
		}
		if (i < SCR_AGE_BUCKETS - 1)
			put_int(o, "below_days", 1u << i);
		put_int(o, "bytes", s->age_bytes[i]);
		json_array_append_new(a, o);
	}
	return a;
}

/* Cumulated: bytes whose last check was less than so many days ago. */
static json_t *coverage(const struct scr_status *s)
{
	uint64_t sum = 0, all = s->bytes_never_checked;
	json_t *a = json_array();

	for (int i = 0; i < SCR_AGE_BUCKETS; i++)
		all += s->age_bytes[i];
	for (int i = 0; all && i < SCR_AGE_BUCKETS - 1; i++) {
		json_t *o = json_object();

		sum += s->age_bytes[i];
		put_int(o, "days", 1u << i);
		put_int(o, "bytes", sum);
		json_object_set_new(o, "percent", json_real((double)sum * 100 / (double)all));
		json_array_append_new(a, o);
		if (sum == all)
			break;
	}
	return a;
}

static void put_counts(json_t *o, const struct scr_status *s)
{
	put_int(o, "files", s->files);
	put_int(o, "links", s->links);
	put_int(o, "bytes", s->bytes);
	put_int(o, "extents", s->extents);
	put_int(o, "blocks", s->blocks);
	put_int(o, "hole_bytes", s->hole_bytes);
	put_int(o, "files_damaged", s->files_damaged);
	put_int(o, "unseen", s->unseen);
	put_int(o, "blocks_damaged", s->blocks_damaged);
	put_int(o, "bytes_damaged", s->bytes_damaged);
	put_int(o, "extents_unrecorded", s->extents_unrecorded);
	put_int(o, "parity_bytes", s->parity_bytes);
	put_int(o, "parity_stored", s->parity_stored);
	put_int(o, "state_free", s->state_free);
	put_bool(o, "state_beside_data", s->state_beside_data);
	put_int(o, "bytes_never_checked", s->bytes_never_checked);
}

static void json_status(struct report *r, const char *target, const struct scr_status *s)
{
	json_t *o = start("status", target);

	put_string(o, "state", s->state);
	put_string(o, "recorded_target", s->target);
	put_int(o, "generation", s->generation);
	put_time(o, "created", s->created_ns);
	put_time(o, "published", s->published_ns);
	put_int(o, "block_size", s->block_size);
	put_bool(o, "parity", s->parity);
	put_int(o, "columns", s->columns);
	put_int(o, "parity_unit", s->parity_unit);
	put_counts(o, s);
	put_time(o, "oldest_check", s->oldest_check_ns);
	put_time(o, "newest_check", s->newest_check_ns);
	if (s->median_days >= 0)
		json_object_set_new(o, "median_check_days", json_real(s->median_days));
	json_object_set_new(o, "ages", ages(s));
	json_object_set_new(o, "coverage", coverage(s));
	if (s->cycle_days > 0)
		json_object_set_new(o, "cycle_days", json_real(s->cycle_days));
	put_time(o, "last_pass", s->last_pass_start_ns);
	json_object_set_new(o, "last_pass_seconds", json_real((double)s->last_pass_ns / 1e9));
	put_int(o, "last_pass_bytes", s->last_pass_bytes);
	put_int(o, "last_pass_exit", (uint64_t)s->last_pass_exit);
	put_time(o, "last_complete_pass", s->last_complete_ns);
	put_bool(o, "pass_running", s->pass_running);
	if (s->running_pid)
		put_int(o, "running_pid", (uint64_t)s->running_pid);
	put_int(o, "journal_records", s->journal_records);
	put_int(o, "undo_open", s->undo_open);
	put_int(o, "undo_done", s->undo_done);
	put_int(o, "undo_damaged", s->undo_damaged);
	put_int(o, "undo_bytes", s->undo_bytes);
	put_time(o, "undo_oldest", s->undo_oldest_ns);
	put_time(o, "undo_newest", s->undo_newest_ns);
	if (s->device) {
		put_int(o, "unsure_bytes", s->unsure_bytes);
		json_object_set_new(o, "device", device(s->device));
	}
	finish(r, o);
}

static void json_pass(struct report *r, const char *target, const struct scr_pass_record *p)
{
	json_t *o = start("pass", target);

	put_time(o, "started", p->start_ns);
	json_object_set_new(o, "seconds", json_real((double)p->duration_ns / 1e9));
	put_int(o, "generation", p->generation);
	put_bool(o, "complete", p->complete);
	put_bool(o, "first", p->first);
	put_bool(o, "limited", p->limited);
	put_int(o, "files", p->files);
	put_int(o, "bytes", p->bytes);
	put_int(o, "bytes_read", p->bytes_read);
	for (int v = 0; v < SCR_VERDICTS; v++)
		put_int(o, scr_verdict_name((enum scr_verdict)v), p->verdicts[v]);
	put_int(o, "transient", p->transient);
	put_int(o, "repaired", p->repaired);
	put_int(o, "blocks_damaged", p->blocks_damaged);
	put_int(o, "files_damaged", p->files_damaged);
	put_int(o, "trouble", p->trouble);
	put_int(o, "exit", (uint64_t)p->exit);
	finish(r, o);
}

static void json_setting(struct report *r, const char *target, const char *key, const char *value)
{
	json_t *o = start("setting", target);

	put_string(o, "key", key);
	put_string(o, "value", value);
	finish(r, o);
}

const struct report_ops report_json_ops = {
	.damage = json_damage,
	.file = json_file,
	.trouble = json_trouble,
	.list = json_list,
	.repair = json_repair,
	.owner = json_owner,
	.summary = json_summary,
	.status = json_status,
	.pass = json_pass,
	.setting = json_setting,
};
