#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# repair and undo on real file systems: found, put back, clean, undone, found again.

load helper
load pass
load repair

# target TYPE: a file system with three files, recorded and settled, in fs/t.
target() {
	make_fs "$1" "${2:-320}"
	mkdir fs/t
	data 1 300000 >fs/t/a
	data 2 35000000 >fs/t/b
	data 3 100 >fs/t/c
	sync
	settle
	expect 0 run -j1 --reads-in-flight=1 fs/t
}

# sound: a pass finds everything as it was recorded.
sound() {
	expect 0 run --json fs/t
	tally "ok=3"
	cmp fs/t/a <(data 1 300000)
	cmp fs/t/b <(data 2 35000000)
	cmp fs/t/c <(data 3 100)
}

whole_story() {
	local before
	target "$1"
	before=$(stat -c '%y %s' fs/t/*)
	rot fs/t/a 123456 1
	rot fs/t/b 20000000 9000
	rot fs/t/c 50 3
	rot_now fs
	expect 4 run --json fs/t
	tally "rot=3 blocks_damaged=3 files_damaged=3"
	expect 4 repair --dry-run --json fs/t
	repairs "parity a 6+1; parity b 305+1; parity c 0+1"
	expect 1 repair --json fs/t
	repairs "parity a 6+1; parity b 305+1; parity c 0+1"
	sound
	[ "$(stat -c '%y %s' fs/t/*)" = "$before" ]
	expect 0 status fs/t
	has "3 repairs can be undone"

	expect 4 repair --undo --json fs/t
	repairs "undone a; undone b; undone c"
	[ "$(stat -c '%y %s' fs/t/*)" = "$before" ]
	expect 4 run --json fs/t
	tally "rot=3 blocks_damaged=3 files_damaged=3"
	expect 5 repair -q fs/t a
	expect 1 repair -q fs/t .
	sound
	expect 0 repair --undo --purge fs/t
	says "6 undo entries dropped"
	[ -z "$(ls fs/t/.bitscrub/undo)" ]
	sound
}

@test "ext4: rot is found, repaired, clean, undone, found again" {
	whole_story ext4
}

@test "xfs: rot is found, repaired, clean, undone, found again" {
	whole_story xfs
}

@test "run --repair does it in one go, and never by checksum alone" {
	target ext4
	rot fs/t/b 20000000 9000
	rot_now fs
	expect 1 run --repair --json fs/t
	repairs "parity b 305+1"
	summary exit 1
	sound

	make_fs ext4 64 other
	mkdir other/t
	data 1 300000 >other/t/a
	sync
	settle
	expect 0 run --no-parity other/t
	flip_at=$(place other/t/a 123456)
	unmount_fs other
	flip other.img "$flip_at" 3
	mount_fs other
	expect 4 run --repair --json other/t
	repairs "not a 6+1"
	expect 1 repair --json other/t
	repairs "checksum a 6+1"
	cmp other/t/a <(data 1 300000)
}

@test "without parity: from a copy, from another block of the file" {
	make_fs ext4 128
	mkdir fs/t
	{ data 5 65536; data 6 983040; data 5 65536; data 7 5000; } >fs/t/a
	data 2 300000 >fs/t/b
	cp -r fs/t copy
	sync
	settle
	expect 0 run --no-parity fs/t
	rot fs/t/a 100 2000
	rot fs/t/b 70000 2000
	rot_now fs
	expect 4 run -q fs/t
	expect 5 repair --json fs/t
	repairs "duplicate a 0+1; not b 3+1"
	why "no parity"
	expect 1 repair --from=copy --json fs/t
	repairs "from b 3+1"
	expect 0 run --json fs/t
	tally "ok=2"
	cmp fs/t/b copy/b
}

@test "a copy that is wrong itself is not believed" {
	target ext4
	cp -r fs/t copy
	rot fs/t/a 70000 2000
	rot_now fs
	flip copy/a 70000
	expect 4 run -q fs/t
	expect 1 repair --from=copy --json fs/t
	repairs "parity a 3+1"
	sound
}

@test "a file that was cut off or has become longer gets its size back" {
	target ext4
	expect 0 config fs/t ctime=ignore
	a=$(times_of fs/t/a) b=$(times_of fs/t/b) c=$(times_of fs/t/c)
	truncate -s 299000 fs/t/a
	printf 'more' >>fs/t/b
	truncate -s 35 fs/t/c
	times_back fs/t/a "$a"
	times_back fs/t/b "$b"
	times_back fs/t/c "$c"
	expect 4 run --json fs/t
	tally "rot=3 blocks_damaged=2 files_damaged=3"
	expect 1 repair --json fs/t
	repairs "parity a 14+1; parity c 0+1; size a; size b; size c"
	sound
	expect 4 repair --undo fs/t
	[ "$(stat -c %s fs/t/a fs/t/b fs/t/c | paste -sd ' ')" = "299000 35000004 35" ]
	[ "$(tail -c 4 fs/t/b)" = more ]
	expect 1 repair -q fs/t
	sound
}

@test "too much of the end is lost: left as it is" {
	target ext4
	expect 0 config fs/t ctime=ignore
	a=$(times_of fs/t/a)
	truncate -s 200000 fs/t/a
	times_back fs/t/a "$a"
	cp fs/t/a was
	expect 4 run -q fs/t
	expect 4 repair --json fs/t
	cmp fs/t/a was
}

@test "changed and altered files are left alone" {
	target ext4
	rot fs/t/a 123456 1
	rot_now fs
	expect 4 run -q fs/t
	echo new >fs/t/a
	expect 4 repair --json fs/t
	repairs "not a"
	why "changed since"
	[ "$(cat fs/t/a)" = new ]

	edit_quietly fs/t/b 1000
	expect 4 run -q fs/t
	expect 4 repair --json fs/t b
	repairs "not b 0+1"
	why "--force"
	expect 1 repair --force --json fs/t b
	repairs "parity b 0+1"
	cmp fs/t/b <(data 2 35000000)
}

@test "refused: executed, immutable, read-only, no regular file any more" {
	target ext4
	# Rot behind its end, so that it can be executed all the same.
	{ cat /bin/sleep; data 9 20000; } >fs/t/prog
	chmod +x fs/t/prog
	chattr +i fs/t/a || skip "needs chattr"
	sync
	settle
	expect 0 run fs/t
	rot fs/t/prog "$(($(stat -c %s fs/t/prog) - 100))" 1
	rot fs/t/a 5000 1
	rot fs/t/c 1 1
	rot_now fs
	expect 4 run -q fs/t
	expect 12 repair --json fs/t a
	why "immutable"
	fs/t/prog 60 3>&- &
	expect 12 repair --json fs/t prog
	why "executed"
	kill $!
	wait $! || true
	rm fs/t/c
	mkfifo fs/t/c
	expect 4 repair --json fs/t c
	why "not a regular file"
	rm fs/t/c
	cp /bin/sleep "$W"/outside
	ln -s "$W"/outside fs/t/c
	expect 4 repair --json fs/t c
	why "not a regular file"
	rm fs/t/c
	expect 4 repair --json fs/t c
	why "not there"
	mkdir state
	cp -r fs/t/.bitscrub/. state
	chmod 700 state
	mount -o remount,ro "$W/fs"
	expect 12 repair --state=state --json fs/t prog
	why "read-only"
	mount -o remount,rw "$W/fs"
	chattr -i fs/t/a
}

@test "a hard link in another directory is no hindrance, and a further path names its inode" {
	make_fs ext4 64
	mkdir fs/t
	data 1 300000 >fs/t/a
	ln fs/t/a fs/t/z
	ln fs/t/a fs/elsewhere
	sync
	settle
	expect 0 run fs/t
	rot fs/t/a 5000 1
	rot_now fs
	expect 4 run -q fs/t
	expect 1 repair --json fs/t z
	repairs "parity a 0+1"
	cmp fs/elsewhere <(data 1 300000)
	expect 0 run fs/t
}

@test "so many files don't rot at once" {
	make_fs ext4 64
	mkdir fs/t
	for i in {1..40}; do data "$i" 10000 >"fs/t/$i"; done
	sync
	settle
	expect 0 run fs/t
	for i in {1..12}; do rot "fs/t/$i" 5000 1; done
	rot_now fs
	expect 4 run -q fs/t
	expect 12 repair fs/t
	says "12 of 40 files look rotten"
	expect 12 run --repair fs/t
	expect 4 status fs/t
	expect 1 repair -q --force fs/t
	expect 0 run fs/t
}

@test "damaged parity over sound data is made anew, in a new segment" {
	target ext4
	at=$("$BATS_TEST_DIRNAME/../contrib/bitscrub-manifest-dump" fs/t/.bitscrub/manifest |
		sed -n '/^file "a"/,/^file "b"/ s/^  parity segment=1 .*offset=//p')
	flip fs/t/.bitscrub/parity/00000001 $((at + 100))
	cp -r fs/t/.bitscrub was
	expect 0 repair --dry-run --json fs/t .
	repairs "rebuilt a"
	diff -r fs/t/.bitscrub was
	expect 1 repair --json fs/t .
	repairs "rebuilt a"
	expect 0 verify fs/t
	sound
}

@test "a dry run writes nothing, anywhere" {
	target ext4
	rot fs/t/a 123456 1
	rot_now fs
	expect 4 run -q fs/t
	cp -r fs/t/.bitscrub was
	before=$(stat -c '%y %z' fs/t/* fs/t/.bitscrub)
	expect 4 repair --dry-run fs/t
	has "would be repaired from parity"
	expect 4 repair --dry-run --undo fs/t
	expect 4 repair --dry-run --undo --purge fs/t
	[ "$(stat -c '%y %z' fs/t/* fs/t/.bitscrub)" = "$before" ]
	diff -r fs/t/.bitscrub was
}

@test "an unrepairable block is left byte for byte, others are repaired" {
	target ext4
	# Both bytes stand at the same place of their columns.
	rot fs/t/a 1000 4000
	rot fs/t/a 21480 4000
	rot fs/t/c 5 1
	rot_now fs
	cp fs/t/a was
	expect 4 run -q fs/t
	expect 5 repair --json fs/t
	repairs "not a 0+2; parity c 0+1"
	cmp fs/t/a was
}

@test "usage" {
	mkdir t
	echo x >t/f
	expect 8 repair t
	says "no manifest"
	expect 0 run -q t
	expect 16 repair --purge t
	expect 16 repair --undo --force t
	expect 16 repair --from=nowhere t
	expect 8 repair t nothing
	says "nothing is recorded under this path"
	expect 0 repair t
	expect 0 repair --undo t
	says "no repair to undo"
}
