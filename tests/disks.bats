#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# The wrong disk at a target, or none.

load helper
load pass

populate() {
	for i in 1 2 3; do data "$1$i" 5000 >"fs/$i"; done
}

# State elsewhere, so that it stays when the disk goes.
@test "an unmounted disk: state elsewhere" {
	make_fs ext4 16
	populate 1
	expect 0 run -q --state state fs
	cp state/manifest before
	unmount_fs fs
	expect 8 run -q --existing --state state fs
	says "the target is on another file system"
	cmp before state/manifest
	[ -z "$(ls -A fs)" ]
	# Whatever lies in the mount point does not pass for the disk's content.
	data 1 100 >fs/stray
	expect 8 run --state state fs
	says "the target is on another file system"
	says "than recorded (ext4 "
	says "is the right disk mounted?"
	says "--allow-moved"
	cmp before state/manifest
	[ "$(ls -A fs)" = stray ]
	rm fs/stray
	mount_fs fs
	expect 0 run --json --state state fs
	tally "ok=3"
}

@test "an unmounted disk: state on the disk" {
	make_fs ext4 16
	populate 1
	expect 0 run -q fs
	unmount_fs fs
	expect 8 run -q fs
	says "is the disk mounted?"
	expect 8 run -q --existing fs
	says "there is no manifest"
	[ -z "$(ls -A fs)" ]
}

@test "another disk at the same place: other files" {
	make_fs ext4 16
	populate 1
	expect 0 run -q --state state fs
	unmount_fs fs
	mv fs.img first.img
	make_fs ext4 16
	populate 2
	cp state/manifest before
	expect 8 run --json --state state fs
	summary bytes_read 0
	summary complete false
	expect 8 run --state state fs
	says "the target is on another file system (ext4 "
	says "nothing was read or changed; if this is right, use --allow-moved"
	cmp before state/manifest
	# Names are the same, so this is for the option to judge: other times, other content.
	expect 0 run --json --allow-moved --state state fs
	tally "changed=3"
	expect 0 run --json --state state fs
	tally "ok=3"
}

@test "a copy on a new disk: --allow-moved judges by size and mtime" {
	make_fs ext4 16
	populate 1
	settle
	expect 0 run -q --state state fs
	cp -a fs copy
	unmount_fs fs
	rm fs.img
	make_fs xfs 300
	cp -a copy/. fs
	rm -rf fs/lost+found
	expect 8 run -q --state state fs
	says "(xfs "
	says "than recorded (ext4 "
	edit_quietly fs/2 0
	expect 4 run --json --verbose --allow-moved --state state fs
	verdict 2 rot
	damage "rot 2 0+1 0+4096"
	summary new 0
	summary removed 0
	cp -p copy/2 fs/2
	# The new identity is taken.
	expect 0 run -q --state state fs
	expect 0 run --json --state state fs
	tally "ok=3"
}

@test "the disk with the state is there, but a second one below it is not" {
	make_fs ext4 16 lower
	mkdir t
	data 1 5000 >t/a
	mkdir t/m
	mount --bind lower t/m
	MOUNTS+=("$W/t/m")
	data 2 5000 >t/m/b
	expect 0 run --json --cross-mounts t
	tally "new=2"
	expect 0 run --json t
	tally "ok=2"
	cp t/.bitscrub/manifest before
	umount t/m
	expect 8 run t
	says "t: a recorded file system (ext4 "
	says ") is not mounted: nothing was read or changed; if this is right, use --allow-missing"
	cmp before t/.bitscrub/manifest
	mount --bind lower t/m
	expect 0 run --json t
	tally "ok=2"
}

@test "what is mounted below is left out unless asked for, and said" {
	make_fs ext4 16 lower
	data 2 5000 >lower/b
	mkdir -p t/m
	data 1 5000 >t/a
	mount --bind lower t/m
	MOUNTS+=("$W/t/m")
	expect 0 run t
	says "m is another file system and was left out"
	has ": 1 new"
	expect 0 list t
	[ "$output" = a ]
	expect 0 config -q t cross-mounts=yes
	expect 0 run --json t
	tally "ok=1 new=1"
}
