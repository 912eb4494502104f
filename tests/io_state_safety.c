/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State directories that somebody else has had his hands in: each is refused, saying why. */
#include <config.h>
#include "sys_util.h"

#include <stdbool.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "base/endian.h"
#include "io/state_internal.h"

static struct scr_why why;

/* t/.bitscrub with the files that a pass leaves. */
static struct scr_state_place make(const char *dir)
{
	struct scr_state_place p;
	char *target = scr_path_join(dir, "t"), *root = scr_path_join(dir, "root");

	mkdir("t", 0755);
	mkdir("t/.bitscrub", 0700);
	mkdir("t/.bitscrub/parity", 0700);
	sys_write("t/.bitscrub/manifest", "BSG1", 4, 0600);
	sys_write("t/.bitscrub/manifest.1", "BSG1", 4, 0600);
	sys_write("t/.bitscrub/journal", "", 0, 0600);
	assert_int_equal(scr_state_place(target, true, NULL, root, &p, &why), 0);
	free(target);
	free(root);
	return p;
}

static void assert_opens(const struct scr_state_place *p, bool reading)
{
	struct scr_state s;
	int ret = scr_state_open(p, reading, &s, &why);

	if (ret != 0)
		fail_msg("refused: %d, %s", ret, why.text);
	scr_state_close(&s);
}

/* Refused for writing and (if @both) for reading, with @path and @text in the sentence. */
static void assert_refused(const struct scr_state_place *p, bool both, const char *path,
			   const char *text)
{
	struct scr_state s;

	for (int reading = 0; reading <= both; reading++) {
		assert_int_equal(scr_state_open(p, reading, &s, &why), -EPERM);
		if (!strstr(why.text, path) || !strstr(why.text, text))
			fail_msg("neither \"%s\" nor \"%s\": %s", path, text, why.text);
	}
	assert_int_equal(scr_state_create(p, &s, &why), -EPERM);
}

static void test_sound(void **state)
{
	struct scr_state_place p = make(*state);

	assert_opens(&p, false);
	assert_opens(&p, true);
	/* Others may read, if the owner says so. */
	chmod("t/.bitscrub", 0755);
	chmod("t/.bitscrub/manifest", 0644);
	assert_opens(&p, false);
	/* What the format doesn't define is nobody's business here. */
	sys_write("t/.bitscrub/notes", "", 0, 0666);
	assert_opens(&p, false);
	scr_state_place_free(&p);
}

static void test_symlinked_directory(void **state)
{
	struct scr_state_place p = make(*state);

	assert_int_equal(rename("t/.bitscrub", "elsewhere"), 0);
	assert_int_equal(symlink("../elsewhere", "t/.bitscrub"), 0);
	assert_refused(&p, true, "/t/.bitscrub", "symbolic link");
	unlink("t/.bitscrub");
	assert_int_equal(symlink("dangling", "t/.bitscrub"), 0);
	assert_refused(&p, true, "/t/.bitscrub", "symbolic link");
	assert_int_equal(access("t/dangling", F_OK), -1);
	unlink("t/.bitscrub");
	sys_touch("t/.bitscrub");
	assert_refused(&p, true, "/t/.bitscrub", "no directory");
	scr_state_place_free(&p);
}

static void test_symlinked_file(void **state)
{
	static const char *const names[] = {"manifest", "manifest.1", "journal", "history"};
	struct scr_state_place p = make(*state);

	sys_write("victim", "v", 1, 0600);
	for (size_t i = 0; i < 4; i++) {
		char path[64];

		snprintf(path, sizeof(path), "t/.bitscrub/%s", names[i]);
		unlink(path);
		assert_int_equal(symlink("../../victim", path), 0);
		assert_refused(&p, true, path, "symbolic link");
		unlink(path);
		assert_opens(&p, false);
		sys_write(path, "", 0, 0600);
	}
	scr_state_place_free(&p);
}

/* Created after the directory was opened: the file is refused by itself, and never written. */
static void test_symlink_behind_the_check(void **state)
{
	struct scr_state_place p = make(*state);
	struct scr_state s;
	struct stat st;

	sys_write("victim", "v", 1, 0600);
	assert_int_equal(scr_state_open(&p, false, &s, &why), 0);
	unlink("t/.bitscrub/journal");
	assert_int_equal(symlink("../../victim", "t/.bitscrub/journal"), 0);
	assert_int_equal(symlink("../../victim", "t/.bitscrub/new.tmp"), 0);
	assert_int_equal(scr_state_open_file(&s, "journal", O_RDWR, false, &why), -EPERM);
	assert_int_equal(scr_state_new_file(&s, "journal", &why), -EEXIST);
	assert_int_equal(scr_state_new_file(&s, "new.tmp", &why), -EPERM);
	assert_non_null(strstr(why.text, "new.tmp"));
	assert_int_equal(stat("victim", &st), 0);
	assert_int_equal(st.st_size, 1);
	scr_state_close(&s);
	scr_state_place_free(&p);
}

static void test_hard_links(void **state)
{
	struct scr_state_place p = make(*state);

	assert_int_equal(link("t/.bitscrub/manifest", "outside"), 0);
	assert_refused(&p, true, "/t/.bitscrub/manifest", "links");
	unlink("outside");
	assert_opens(&p, false);
	assert_int_equal(link("t/.bitscrub/journal", "t/.bitscrub/also"), 0);
	assert_refused(&p, true, "/t/.bitscrub/journal", "links");
	unlink("t/.bitscrub/also");
	/* A publish cut short, and that with a name outside besides. */
	unlink("t/.bitscrub/manifest.1");
	assert_int_equal(link("t/.bitscrub/manifest", "t/.bitscrub/manifest.1"), 0);
	assert_opens(&p, false);
	assert_int_equal(link("t/.bitscrub/manifest", "outside"), 0);
	assert_refused(&p, true, "/t/.bitscrub/manifest", "links");
	scr_state_place_free(&p);
}

static void test_not_regular(void **state)
{
	struct scr_state_place p = make(*state);

	unlink("t/.bitscrub/manifest");
	assert_int_equal(mkfifo("t/.bitscrub/manifest", 0600), 0);
	alarm(20);
	assert_refused(&p, true, "/t/.bitscrub/manifest", "no regular file");
	unlink("t/.bitscrub/manifest");
	mkdir("t/.bitscrub/manifest", 0700);
	assert_refused(&p, true, "/t/.bitscrub/manifest", "no regular file");
	rmdir("t/.bitscrub/manifest");
	rmdir("t/.bitscrub/parity");
	assert_int_equal(symlink("/tmp", "t/.bitscrub/parity"), 0);
	assert_refused(&p, true, "/t/.bitscrub/parity", "no directory");
	alarm(0);
	scr_state_place_free(&p);
}

static void test_writable_by_others(void **state)
{
	static const struct {
		const char *path;
		mode_t bad, good;
	} rows[] = {
		{"t/.bitscrub", 0770, 0700},          {"t/.bitscrub", 0702, 0700},
		{"t/.bitscrub", 01777, 0700},         {"t/.bitscrub/manifest", 0660, 0600},
		{"t/.bitscrub/manifest.1", 0602, 0600}, {"t/.bitscrub/journal", 0666, 0600},
		{"t/.bitscrub/parity", 0777, 0700},
	};
	struct scr_state_place p = make(*state);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		chmod(rows[i].path, rows[i].bad);
		assert_refused(&p, true, rows[i].path, "written by others");
		chmod(rows[i].path, rows[i].good);
	}
	assert_opens(&p, false);
	scr_state_place_free(&p);
}

struct acl_entry {
	uint16_t tag, perm;
	uint32_t id;
};

static size_t make_acl(uint8_t *out, const struct acl_entry *e, size_t n)
{
	scr_put_le32(out, 2);
	for (size_t i = 0; i < n; i++) {
		scr_put_le16(out + 4 + i * 8, e[i].tag);
		scr_put_le16(out + 6 + i * 8, e[i].perm);
		scr_put_le32(out + 8 + i * 8, e[i].id);
	}
	return 4 + n * 8;
}

enum { USER_OBJ = 1, USER = 2, GROUP_OBJ = 4, GROUP = 8, MASK = 16, OTHER = 32 };

#define NO_ID UINT32_MAX

static void test_acl_value(void **state)
{
	struct acl_entry e[] = {{USER_OBJ, 7, NO_ID}, {USER, 6, 1000},  {GROUP_OBJ, 5, NO_ID},
				{GROUP, 5, 50},       {MASK, 7, NO_ID}, {OTHER, 5, NO_ID}};
	struct scr_acl_writer who;
	uint8_t acl[64];
	size_t n = make_acl(acl, e, 6);

	(void)state;
	assert_true(scr_acl_lets_write(acl, n, 7, &who));
	assert_false(who.group);
	assert_int_equal(who.id, 1000);
	assert_false(scr_acl_lets_write(acl, n, 1000, &who)); /* oneself */
	e[4].perm = 5; /* the mask takes it away */
	make_acl(acl, e, 6);
	assert_false(scr_acl_lets_write(acl, n, 7, &who));
	e[4].perm = 2;
	e[1].id = 0; /* root may anyway */
	make_acl(acl, e, 6);
	assert_false(scr_acl_lets_write(acl, n, 7, &who));
	e[3].perm = 2;
	make_acl(acl, e, 6);
	assert_true(scr_acl_lets_write(acl, n, 7, &who));
	assert_true(who.group);
	assert_int_equal(who.id, 50);
	/* What is not understood is not trusted. */
	assert_true(scr_acl_lets_write(acl, n - 1, 7, &who));
	assert_true(scr_acl_lets_write(acl, 3, 7, &who));
	acl[0] = 3;
	assert_true(scr_acl_lets_write(acl, n, 7, &who));
}

static void test_acl(void **state)
{
	const struct acl_entry e[] = {{USER_OBJ, 7, NO_ID}, {USER, 7, 1000}, {GROUP_OBJ, 0, NO_ID},
				      {MASK, 7, NO_ID},     {OTHER, 0, NO_ID}};
	struct scr_state_place p = make(*state);
	uint8_t acl[64];
	size_t n = make_acl(acl, e, 5);

	if (setxattr("t/.bitscrub", "system.posix_acl_access", acl, n, 0) < 0) {
		scr_state_place_free(&p);
		SKIP_UNLESS(false, "no ACLs on this file system");
	}
	assert_refused(&p, true, "/t/.bitscrub", "user 1000 through an ACL");
	removexattr("t/.bitscrub", "system.posix_acl_access");
	chmod("t/.bitscrub", 0700);
	assert_opens(&p, false);
	assert_int_equal(setxattr("t/.bitscrub/manifest", "system.posix_acl_access", acl, n, 0), 0);
	assert_refused(&p, true, "/t/.bitscrub/manifest", "written by");
	scr_state_place_free(&p);
}

/* A default ACL of the tree must not open up what is created in it. */
static void test_default_acl(void **state)
{
	const struct acl_entry e[] = {{USER_OBJ, 7, NO_ID}, {USER, 7, 1000}, {GROUP_OBJ, 7, NO_ID},
				      {MASK, 7, NO_ID},     {OTHER, 7, NO_ID}};
	char *target = scr_path_join(*state, "t");
	struct scr_state_place p;
	struct scr_state s;
	struct stat st;
	uint8_t acl[64];
	size_t n = make_acl(acl, e, 5);
	int fd;

	mkdir("t", 0755);
	if (setxattr("t", "system.posix_acl_default", acl, n, 0) < 0) {
		free(target);
		SKIP_UNLESS(false, "no ACLs on this file system");
	}
	assert_int_equal(scr_state_place(target, true, NULL, "/nonexistent", &p, &why), 0);
	assert_int_equal(scr_state_create(&p, &s, &why), 0);
	fd = scr_state_new_file(&s, "manifest.tmp", &why);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	close(fd);
	assert_int_equal(scr_state_publish(&s, "manifest.tmp", &why), 0);
	fd = scr_state_open_file(&s, "manifest", O_RDONLY, false, &why);
	assert_true(fd >= 0);
	close(fd);
	scr_state_close(&s);
	assert_opens(&p, false);
	scr_state_place_free(&p);
	free(target);
}

/* A reader of another user: root's state may be read, that of a third one not. */
static int reads_as_nobody(void *arg)
{
	struct scr_state s;
	int ret = scr_state_open(arg, true, &s, &why);

	if (ret < 0)
		return ret == -EPERM && strstr(why.text, "neither root nor you") ? 1 : 2;
	scr_state_close(&s);
	return scr_state_open(arg, false, &s, &why) == -EPERM ? 0 : 3;
}

static void test_foreign_owner(void **state)
{
	static const char *const names[] = {"t/.bitscrub/manifest", "t/.bitscrub/journal",
					    "t/.bitscrub/parity", "t/.bitscrub"};
	struct scr_state_place p;

	SKIP_UNLESS(geteuid() == 0, "needs root, to give files away");
	p = make(*state);
	for (size_t i = 0; i < SCR_ARRAY_SIZE(names); i++) {
		assert_int_equal(chown(names[i], NOBODY, NOBODY), 0);
		assert_refused(&p, true, names[i], "belongs to user 65534");
		assert_int_equal(chown(names[i], 0, 0), 0);
		assert_opens(&p, true);
	}
	chmod(".", 0755);
	chmod("t/.bitscrub", 0755);
	assert_int_equal(sys_as(NOBODY, reads_as_nobody, &p), 0);
	assert_int_equal(chown("t/.bitscrub/manifest", NOBODY - 1, 0), 0);
	assert_int_equal(sys_as(NOBODY, reads_as_nobody, &p), 1);
	scr_state_place_free(&p);
}

/* The place of t, which others can write in one way or another. */
static struct scr_state_place place_again(const char *dir, bool is_dir)
{
	char *target = scr_path_join(dir, "t"), *root = scr_path_join(dir, "root");
	struct scr_state_place p;

	assert_int_equal(scr_state_place(target, is_dir, NULL, root, &p, &why), 0);
	free(target);
	free(root);
	return p;
}

static void test_parent_writable(void **state)
{
	struct scr_state_place p;
	struct scr_state s;
	struct stat st;

	SKIP_UNLESS(geteuid() == 0, "needs root: others keep their state in the target");
	mkdir("t", 0755);
	for (int way = 0; way < 4; way++) {
		static const mode_t modes[] = {0775, 0757, 01777, 0755};

		assert_int_equal(chown("t", way == 3 ? NOBODY : 0, 0), 0);
		assert_int_equal(chmod("t", modes[way]), 0);
		p = place_again(*state, true);
		assert_true(p.use_root);
		scr_state_place_free(&p);
	}
	p = place_again(*state, true);
	assert_int_equal(scr_state_create(&p, &s, &why), 0);
	assert_string_equal(s.path, p.in_root);
	assert_int_equal(access("t/.bitscrub", F_OK), -1);
	assert_int_equal(stat("root", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	sys_touch("t/f");
	scr_state_close(&s);
	scr_state_place_free(&p);
}

static void test_file_in_writable_parent(void **state)
{
	struct scr_state_place p;

	SKIP_UNLESS(geteuid() == 0, "needs root: others keep their state in the target");
	sys_touch("t");
	p = place_again(*state, false);
	assert_false(p.use_root);
	scr_state_place_free(&p);
	chmod("t", 0666);
	p = place_again(*state, false);
	assert_true(p.use_root);
	scr_state_place_free(&p);
	chmod("t", 0644);
	chmod(".", 01777);
	p = place_again(*state, false);
	assert_true(p.use_root);
	scr_state_place_free(&p);
}

/* The state root has to be safe itself. */
static void test_state_root_writable(void **state)
{
	struct scr_state_place p;
	struct scr_state s;

	SKIP_UNLESS(geteuid() == 0, "needs root: others keep their state in the target");
	mkdir("t", 0755);
	chmod("t", 0777);
	mkdir("root", 0755);
	chmod("root", 0777);
	p = place_again(*state, true);
	assert_int_equal(scr_state_create(&p, &s, &why), -EPERM);
	assert_non_null(strstr(why.text, "/root can be written by others"));
	scr_state_place_free(&p);
}

/* Root's old state in a tree that others can write by now is not used, and not forgotten. */
static void test_tree_became_writable(void **state)
{
	struct scr_state_place p;

	SKIP_UNLESS(geteuid() == 0, "needs root: others keep their state in the target");
	p = make(*state);
	assert_opens(&p, false);
	scr_state_place_free(&p);
	chmod("t", 0777);
	p = place_again(*state, true);
	assert_refused(&p, false, "/t/.bitscrub", "root keeps no state");
	assert_opens(&p, true);
	scr_state_place_free(&p);
}

static int attack(void *arg)
{
	(void)arg;
	return mkdir("t/.bitscrub", 0700) < 0 || symlink("/etc", "t/.bitscrub/parity") < 0;
}

/* Somebody puts a state directory of his own into a tree that root scrubs. */
static void test_planted_state(void **state)
{
	struct scr_state_place p;
	struct scr_state s;

	SKIP_UNLESS(geteuid() == 0, "needs root, to be attacked");
	chmod(".", 0755);
	mkdir("t", 0755);
	assert_int_equal(chown("t", NOBODY, NOBODY), 0);
	p = place_again(*state, true);
	assert_int_equal(scr_state_create(&p, &s, &why), 0);
	assert_int_equal(close(scr_state_new_file(&s, "journal", &why)), 0);
	scr_state_close(&s);
	assert_int_equal(sys_as(NOBODY, attack, NULL), 0);
	/* Root's own below the state root decides; the other one does not even get in the way. */
	assert_int_equal(scr_state_open(&p, false, &s, &why), 0);
	assert_string_equal(s.path, p.in_root);
	scr_state_close(&s);
	/* Without it, it is refused and not taken. */
	assert_int_equal(rename("root", "gone"), 0);
	assert_refused(&p, false, "/t/.bitscrub", "belongs to user 65534");
	scr_state_place_free(&p);
}

/* Between the choice of the place and its use, somebody opens up or swaps the target. */
static void test_target_changes_meanwhile(void **state)
{
	struct scr_state_place p;
	struct scr_state s;

	SKIP_UNLESS(geteuid() == 0, "needs root: others keep their state in the target");
	mkdir("t", 0755);
	mkdir("other", 0755);
	p = place_again(*state, true);
	assert_false(p.use_root);
	chmod("t", 0777);
	assert_int_equal(scr_state_create(&p, &s, &why), -EPERM);
	assert_non_null(strstr(why.text, "by others by now"));
	rmdir("t");
	assert_int_equal(symlink("other", "t"), 0);
	assert_int_equal(scr_state_create(&p, &s, &why), -ENOTDIR);
	assert_int_equal(access("other/.bitscrub", F_OK), -1);
	scr_state_place_free(&p);
}

static int cannot_create(void *arg)
{
	struct scr_state_place p;
	struct scr_state s;

	if (scr_state_place(arg, true, NULL, "/root/none", &p, &why) < 0)
		return 1;
	if (scr_state_create(&p, &s, &why) != -EACCES)
		return 2;
	return strstr(why.text, "/t/.bitscrub") && strstr(why.text, "--state") ? 0 : 3;
}

static void test_target_of_somebody_else(void **state)
{
	char *target = scr_path_join(*state, "t");

	chmod(".", 0755);
	mkdir("t", 0555);
	assert_int_equal(sys_as(geteuid() ? geteuid() : NOBODY, cannot_create, target), 0);
	free(target);
}

static int user_pass(void *arg)
{
	struct scr_state_place p;
	struct scr_state s;
	int fd;

	if (scr_state_place(arg, true, NULL, "/root/none", &p, &why) < 0 || p.use_root)
		return 1;
	if (scr_state_create(&p, &s, &why) < 0)
		return 2;
	fd = scr_state_new_file(&s, "journal", &why);
	return fd < 0 ? 3 : 0;
}

/* An ordinary user's own tree, with a state root that is closed to him. */
static void test_ordinary_user(void **state)
{
	char *target = scr_path_join(*state, "t");
	struct stat st;
	uid_t uid = geteuid() ? geteuid() : NOBODY;

	chmod(".", 0755);
	mkdir("t", 0755);
	assert_int_equal(chown("t", uid, (gid_t)-1), 0);
	assert_int_equal(sys_as(uid, user_pass, target), 0);
	assert_int_equal(stat("t/.bitscrub", &st), 0);
	assert_int_equal(st.st_uid, uid);
	free(target);
}

static int read_only_pass(void *arg)
{
	const struct scr_state_place *p = arg;
	struct scr_state s;
	int fd;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("t", "t", NULL, MS_BIND, NULL) < 0 ||
	    mount(NULL, "t", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
		return 77;
	if (scr_state_open(p, true, &s, &why) < 0)
		return 1;
	if (scr_state_lock(&s, false, 0, NULL, &why) < 0)
		return 2;
	fd = scr_state_open_file(&s, "manifest", O_RDONLY, true, &why);
	if (fd < 0)
		return 3;
	return scr_state_new_file(&s, "new.tmp", &why) == -EROFS ? 0 : 4;
}

static void test_read_only_mount(void **state)
{
	struct scr_state_place p;
	int ret;

	SKIP_UNLESS(geteuid() == 0, "needs root, to mount");
	p = make(*state);
	ret = sys_as(0, read_only_pass, &p);
	scr_state_place_free(&p);
	SKIP_UNLESS(ret != 77, "mount namespaces are not allowed here");
	assert_int_equal(ret, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, sys_setup, sys_teardown)

static const struct CMUnitTest tests[] = {
	T(test_sound),
	T(test_symlinked_directory),
	T(test_symlinked_file),
	T(test_symlink_behind_the_check),
	T(test_hard_links),
	T(test_not_regular),
	T(test_writable_by_others),
	cmocka_unit_test(test_acl_value),
	T(test_acl),
	T(test_default_acl),
	T(test_foreign_owner),
	T(test_parent_writable),
	T(test_file_in_writable_parent),
	T(test_state_root_writable),
	T(test_tree_became_writable),
	T(test_planted_state),
	T(test_target_changes_meanwhile),
	T(test_target_of_somebody_else),
	T(test_ordinary_user),
	T(test_read_only_mount),
};

SYS_MAIN(tests)
