/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What people and programs are told of each event, word for word. */
#include <config.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <bitscrub.h>
#include <jansson.h>

#include "command.h"
#include "console.h"
#include "options.h"
#include "report.h"

#define SINCE INT64_C(1736000000000000000) /* 2025-01-04 14:13:20 */

/* The verbs' functions are not called here; the table of commands wants them. */
#define COMMAND(verb, ...) \
	int cmd_##verb(struct job *job, char **args, size_t n) \
	{ \
		(void)job; \
		(void)args; \
		return (int)n; \
	}
#include "commands.def"
#undef COMMAND

struct fixture {
	struct console console;
	struct options opt;
	struct report report;
	int saved[2];
	FILE *file[2]; /* what went to stdout and stderr */
};

static struct fixture *begin(const char *verb)
{
	struct fixture *f = calloc(1, sizeof(*f));

	program_invocation_name = program_invocation_short_name = (char *)(uintptr_t)"scrub";
	console_init(&f->console);
	f->console.color = f->console.live = false;
	report_init(&f->report, &f->console, command_find(verb), &f->opt);
	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 2; i++) {
		f->saved[i] = dup(i + 1);
		f->file[i] = tmpfile();
		dup2(fileno(f->file[i]), i + 1);
	}
	return f;
}

static struct fixture *begin_quiet(const char *verb)
{
	struct fixture *f = begin(verb);

	f->opt.quiet = true;
	return f;
}

static struct fixture *begin_json(const char *verb)
{
	struct fixture *f = begin(verb);

	f->opt.json = true;
	report_init(&f->report, &f->console, command_find(verb), &f->opt);
	return f;
}

static char *text_of(FILE *file)
{
	static char text[2][8192];
	static int turn;
	char *t = text[turn ^= 1];
	size_t n;

	rewind(file);
	n = fread(t, 1, sizeof(text[0]) - 1, file);
	t[n] = '\0';
	fclose(file);
	return t;
}

/* Gives stdout and stderr back, then compares; the order matters for the report of a failure. */
static void end(struct fixture *f, const char *out, const char *err)
{
	char *got_out, *got_err;

	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 2; i++) {
		dup2(f->saved[i], i + 1);
		close(f->saved[i]);
	}
	got_out = text_of(f->file[0]);
	got_err = text_of(f->file[1]);
	console_destroy(&f->console);
	free(f);
	assert_string_equal(got_out, out);
	assert_string_equal(got_err, err);
}

static struct scr_name name(const char *s)
{
	return (struct scr_name){ s, strlen(s) };
}

static void damage(struct fixture *f, struct scr_damage d)
{
	struct scr_event ev = { .type = SCR_EV_DAMAGE, .target = "/srv", .u.damage = &d };

	report_event(&f->report, &ev);
}

static struct scr_damage rot_of(const char *path)
{
	return (struct scr_damage){ .name = name(path), .kind = SCR_DAMAGE_ROT, .block = 17,
				    .blocks = 1, .offset = 1114112, .length = 65536,
				    .size_was = -1, .size_now = -1 };
}

static void trouble(struct fixture *f, struct scr_trouble t)
{
	struct scr_event ev = { .type = SCR_EV_TROUBLE, .target = "/srv", .u.trouble = &t };

	report_event(&f->report, &ev);
}

static void file(struct fixture *f, struct scr_file_event file)
{
	struct scr_event ev = { .type = SCR_EV_FILE, .target = "/srv", .u.file = &file };

	report_event(&f->report, &ev);
}

static struct scr_summary pass_of(unsigned int ok, unsigned int new)
{
	struct scr_summary s = { .verb = "run", .target = "/srv", .complete = true,
				 .files = ok + new, .bytes = 3 << 20, .bytes_read = 3 << 20,
				 .bytes_from_medium = 3 << 20, .seconds = 2,
				 .kernel = { "parallel", "zlib", "avx2", "separate" } };

	s.verdicts[SCR_OK] = ok;
	s.verdicts[SCR_NEW] = new;
	return s;
}

static void test_damage(void **state)
{
	struct fixture *f = begin("run");
	struct scr_damage d = rot_of("a\nb");

	(void)state;
	damage(f, d);
	d.name = name("c");
	d.blocks = 3;
	d.metadata_changed = true;
	d.known = true;
	d.since = SINCE;
	damage(f, d);
	damage(f, (struct scr_damage){ .name = name("d"), .kind = SCR_DAMAGE_UNREADABLE, .block = 0,
				       .blocks = 1, .offset = 4096, .length = 512, .size_was = -1,
				       .size_now = -1, .err = EIO });
	damage(f, (struct scr_damage){ .name = name("e"), .kind = SCR_DAMAGE_ALTERED, .block = 2,
				       .blocks = 1, .offset = 8192, .length = 100, .size_was = 9000,
				       .size_now = 8292 });
	damage(f, (struct scr_damage){ .name = name("f"), .kind = SCR_DAMAGE_ALTERED, .block = 2,
				       .blocks = 1, .offset = 8192, .length = 100, .size_was = -1,
				       .size_now = -1, .carried = true });
	damage(f, (struct scr_damage){ .name = name("g"), .kind = SCR_DAMAGE_MISSING,
				       .block = SCR_NO_BLOCK, .size_was = -1, .size_now = -1 });
	damage(f, rot_of("."));
	end(f,
	    "/srv: 'a'$'\\n''b': rot in block 17: 65536 bytes at offset 1114112\n"
	    "/srv: c: rot in blocks 17 to 19: 65536 bytes at offset 1114112, metadata changed since, "
	    "known since 2025-01-04 14:13\n"
	    "/srv: d: unreadable in block 0: 512 bytes at offset 4096 (Input/output error)\n"
	    "/srv: e: altered in block 2: 100 bytes at offset 8192, size was 9000, is 8292, under an "
	    "unchanged modification time\n"
	    "/srv: f: altered in block 2: 100 bytes at offset 8192, older than the last edit of the "
	    "file\n"
	    "/srv: g: missing\n"
	    "/srv: rot in block 17: 65536 bytes at offset 1114112\n",
	    "");
}

static void test_trouble(void **state)
{
	struct fixture *f = begin_quiet("run");

	(void)state;
	trouble(f, (struct scr_trouble){ .name = name("\033x"), .err = EACCES,
					 .message = "cannot open" });
	trouble(f, (struct scr_trouble){ .err = ENOENT,
					 .message = "cannot open\n: No such file or directory" });
	trouble(f, (struct scr_trouble){ .message = "block 3 read wrong once", .warning = true });
	end(f, "",
	    "scrub: /srv: ''$'\\033''x': cannot open: Permission denied\n"
	    "scrub: /srv: cannot open\\n: No such file or directory\n"
	    "scrub: warning: /srv: block 3 read wrong once\n");
}

static void test_files(void **state)
{
	struct fixture *f = begin("run");

	(void)state;
	file(f, (struct scr_file_event){ .name = name("a"), .verdict = SCR_OK });
	file(f, (struct scr_file_event){ .name = name("b"), .verdict = SCR_CHANGED,
					 .bit_flip = true });
	f->opt.verbose = true;
	file(f, (struct scr_file_event){ .name = name("a"), .verdict = SCR_OK });
	file(f, (struct scr_file_event){ .name = name("c"), .verdict = SCR_MOVED,
					 .from = name("d e") });
	end(f,
	    "/srv: b: changed, looks like a bit flip\n"
	    "/srv: a: ok\n"
	    "/srv: c: moved from 'd e'\n",
	    "");
}

static void test_close(void **state)
{
	struct fixture *f = begin("run");
	struct scr_summary s = pass_of(2, 1);

	(void)state;
	report_end(&f->report, "/srv", &s);
	end(f,
	    "/srv: pass complete\n"
	    "  3 files, 3.0 MiB: 2 ok, 1 new\n"
	    "  read 3.0 MiB in 2.0 s, 1.5 MiB/s; all from the medium\n"
	    "No damage.\n"
	    "Next: scrub run /srv   (from cron: run -q --existing)\n",
	    "");
}

/* "No damage" is a claim: not made by a first pass, an incomplete one, one that compared nothing, or
 * one with damage or trouble. */
static void test_no_damage(void **state)
{
	struct scr_summary s[6];
	static const char *const rest[] = {
		"/srv: first pass: recorded, nothing was compared\n",
		"/srv: pass NOT complete\n",
		"/srv: pass complete\n",
		"/srv: pass complete\n",
		"/srv: pass complete\n",
		"/srv: stopped; what was done is kept\n",
	};

	(void)state;
	s[0] = pass_of(0, 3);
	s[0].first = true;
	s[1] = pass_of(3, 0);
	s[1].complete = false;
	s[2] = pass_of(0, 3);
	s[3] = pass_of(3, 0);
	s[3].exit = SCR_EXIT_DAMAGE;
	s[4] = pass_of(3, 0);
	s[4].exit = SCR_EXIT_TROUBLE;
	s[5] = pass_of(3, 0);
	s[5].exit = SCR_EXIT_STOPPED;
	for (size_t i = 0; i < 6; i++) {
		struct fixture *f = begin("run");
		char *got;

		report_end(&f->report, "/srv", &s[i]);
		fflush(stdout);
		got = strdup(text_of(fdopen(dup(fileno(f->file[0])), "r")));
		end(f, got, "");
		assert_memory_equal(got, rest[i], strlen(rest[i]));
		assert_null(strstr(got, "No damage"));
		free(got);
	}
}

/* A pass that was stopped has no totals; one stopped before it did anything has no figures at all. */
static void test_stopped(void **state)
{
	struct scr_summary s = { .exit = SCR_EXIT_STOPPED };
	struct fixture *f = begin("run");

	(void)state;
	report_end(&f->report, "/srv", &s);
	s.verdicts[SCR_NEW] = 5;
	report_end(&f->report, "/srv", &s);
	end(f,
	    "/srv: stopped; what was done is kept\n"
	    "Next: scrub run /srv   (goes on from here)\n"
	    "/srv: stopped; what was done is kept\n"
	    "  5 new\n"
	    "Next: scrub run /srv   (goes on from here)\n",
	    "");
}

static void test_options_in_next(void **state)
{
	struct fixture *f = begin("run");
	struct scr_summary s = pass_of(0, 3);

	(void)state;
	s.first = true;
	f->opt.lib.state_dir = "/var/my state";
	program_invocation_name = (char *)(uintptr_t)"./src/scrub";
	report_end(&f->report, "-x", &s);
	end(f,
	    "-x: first pass: recorded, nothing was compared\n"
	    "  3 files, 3.0 MiB: 3 new\n"
	    "  read 3.0 MiB in 2.0 s, 1.5 MiB/s; all from the medium\n"
	    "Next: ./src/scrub run --state '/var/my state' -- -x   (checks what was recorded)\n",
	    "");
}

/* The mail from cron: nothing if nothing is wrong. */
static void test_quiet_success(void **state)
{
	struct fixture *f = begin_quiet("run");
	struct scr_summary s = pass_of(2, 1);
	struct scr_event note = { .type = SCR_EV_NOTE, .target = "/srv", .u.note = "talk" };

	(void)state;
	report_event(&f->report, &note);
	file(f, (struct scr_file_event){ .name = name("b"), .verdict = SCR_CHANGED,
					 .bit_flip = true });
	report_end(&f->report, "/srv", &s);
	end(f, "", "");
}

static void tell_known(struct fixture *f, int files)
{
	char path[16];

	/* Two runs of blocks each: still one line a file. */
	for (int i = 0; i < 2 * files; i++) {
		struct scr_damage d;

		snprintf(path, sizeof(path), "f%d", i / 2);
		d = rot_of(path);
		d.block += (uint64_t)i % 2 * 5;
		d.known = true;
		d.since = SINCE;
		damage(f, d);
	}
}

static void test_quiet_known(void **state)
{
	struct fixture *f = begin_quiet("run");
	struct scr_summary s = pass_of(2, 0);
	char want[4096];
	size_t n = 0;

	(void)state;
	damage(f, rot_of("fresh"));
	tell_known(f, 23);
	s.exit = SCR_EXIT_DAMAGE;
	s.blocks_damaged = 47;
	s.files_damaged = 24;
	report_end(&f->report, "/srv", &s);
	n += (size_t)sprintf(want, "/srv: DAMAGE: 47 blocks in 24 files\n"
				   "/srv: fresh: rot in block 17: 65536 bytes at offset 1114112\n");
	for (int i = 0; i < 20; i++)
		n += (size_t)sprintf(want + n,
				     "/srv: f%d: rot, still damaged since 2025-01-04 14:13\n", i);
	strcpy(want + n,
	       "and 3 more: scrub list --damaged /srv\n"
	       "Next: scrub repair /srv\n"
	       "      then restore what is left from a backup; or, if the present content is right:\n"
	       "      scrub accept /srv PATH...\n");
	end(f, want, "");
}

/* Each target starts counting anew. */
static void test_quiet_targets(void **state)
{
	struct fixture *f = begin_quiet("run");
	struct scr_summary s = pass_of(2, 0);
	char *got;

	(void)state;
	tell_known(f, 2);
	report_end(&f->report, "/srv", &s);
	tell_known(f, 2);
	report_end(&f->report, "/srv", &s);
	fflush(stdout);
	got = strdup(text_of(fdopen(dup(fileno(f->file[0])), "r")));
	end(f, got, "");
	assert_non_null(strstr(strstr(got, "/srv: f0: rot") + 1, "/srv: f0: rot"));
	free(got);
}

static void check_json(json_t *o, const char *key, const char *want)
{
	assert_string_equal(json_string_value(json_object_get(o, key)), want);
}

static void test_json(void **state)
{
	struct fixture *f = begin_json("run");
	struct scr_summary s = pass_of(2, 1);
	struct scr_damage d = rot_of("a\n\xff" "b");
	char *got, *line, *rest;
	json_t *o;

	(void)state;
	d.since = SINCE;
	damage(f, d);
	trouble(f, (struct scr_trouble){ .name = name("x"), .err = EACCES, .message = "cannot open" });
	report_end(&f->report, "/srv", &s);
	fflush(stdout);
	got = strdup(text_of(fdopen(dup(fileno(f->file[0])), "r")));
	end(f, got, "");

	line = strtok_r(got, "\n", &rest);
	o = json_loads(line, 0, NULL);
	check_json(o, "event", "damage");
	check_json(o, "target", "/srv");
	check_json(o, "path", "a\n\xef\xbf\xbd" "b");
	check_json(o, "path_bytes", "a%0A%FFb");
	check_json(o, "kind", "rot");
	check_json(o, "since", "2025-01-04T14:13:20Z");
	assert_int_equal(json_integer_value(json_object_get(o, "block")), 17);
	assert_int_equal(json_integer_value(json_object_get(o, "offset")), 1114112);
	assert_int_equal(json_integer_value(json_object_get(o, "length")), 65536);
	assert_null(json_object_get(o, "size_was"));
	assert_null(json_object_get(o, "carried"));
	json_decref(o);

	o = json_loads(strtok_r(NULL, "\n", &rest), 0, NULL);
	check_json(o, "event", "trouble");
	check_json(o, "errno", "EACCES");
	check_json(o, "message", "cannot open");
	json_decref(o);

	o = json_loads(strtok_r(NULL, "\n", &rest), 0, NULL);
	check_json(o, "event", "summary");
	check_json(o, "verb", "run");
	check_json(json_object_get(o, "kernels"), "xor", "avx2");
	assert_int_equal(json_integer_value(json_object_get(o, "ok")), 2);
	assert_int_equal(json_integer_value(json_object_get(o, "schema")), 1);
	assert_true(json_is_true(json_object_get(o, "complete")));
	json_decref(o);
	assert_null(strtok_r(NULL, "\n", &rest));
	free(got);
}

static void test_list(void **state)
{
	struct fixture *f = begin("list");
	struct scr_list_entry e = { .name = name("a b"), .size = 12345, .blocks = 1,
				    .mode = 0104755, .nlink = 1, .uid = 1000, .gid = 100,
				    .mtime_ns = SINCE, .checked_ns = SINCE, .crc32 = 0xabc,
				    .damaged_blocks = 2, .damaged_since = SINCE };
	struct scr_event ev = { .type = SCR_EV_LIST, .target = "/srv", .u.list = &e };

	(void)state;
	report_event(&f->report, &ev);
	f->opt.lib.damaged_only = true;
	report_event(&f->report, &ev);
	f->opt.long_list = true;
	e.damaged_blocks = 0;
	e.checked_ns = 0;
	e.link_owner = name("c");
	report_event(&f->report, &ev);
	end(f,
	    "'a b'\n"
	    "'a b': rot, 2 blocks, since 2025-01-04 14:13\n"
	    "-rwsr-xr-x  1  1000   100        12345  2025-01-04 14:13  never             00000abc  "
	    "'a b' = c\n",
	    "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_trouble),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_no_damage),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_options_in_next),
		cmocka_unit_test(test_quiet_success),
		cmocka_unit_test(test_quiet_known),
		cmocka_unit_test(test_quiet_targets),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_list),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
