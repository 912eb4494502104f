#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# accept: the present content of damaged files is taken as right; and damage of a whole file.

load helper
load pass

setup_file() {
	make_base ext4 16
}

populate() {
	mkdir d
	data 1 200000 >f
	data 2 200000 >d/g
	data 3 5000 >d/small
	: >empty
}

# The inode of a file of fs gets another size, and nothing else moves.
truncate_inode() {
	unmount_fs fs
	debugfs -w -R "set_inode_field /$1 size $2" fs.img
	mount_fs fs
}

@test "accept takes the content of the named file and leaves the other damage" {
	take_base
	rot f 100000
	rot d/g 0
	expect 4 run -q fs
	expect 4 accept --json fs f
	summary exit 4
	summary complete true
	tally "changed=1 blocks_damaged=1 files_damaged=1"
	expect 4 list --json fs
	json 'select(.path == "f") | .crc32' "$(rhash --simple -C fs/f | cut -c1-8)"
	expect 4 run --json fs
	tally "ok=3 rot=1 blocks_damaged=1 files_damaged=1"
	damage "rot d/g 0+1 0+16384 known"
	expect 0 accept -q fs d/g
	[ -z "$output" ]
	expect 0 run --json fs
	tally "ok=4"
}

@test "accept needs a PATH; a directory, an absolute path and '.' are some" {
	take_base
	rot f 100000
	rot d/g 0
	rot d/small 4999
	expect 4 run -q fs
	expect 16 accept fs
	says "PATH"
	expect 16 accept fs ../fs/f
	expect 16 accept fs /nonexistent/f
	expect 4 list --json --damaged fs
	summary files_damaged 3
	expect 4 accept -q fs d
	expect 4 list --damaged fs
	[[ $output == "f: rot, 1 block, since 20"* ]]
	expect 0 accept -q fs "$W/fs/f"
	rot f 7
	rot d/g 7
	# These have just been recorded: too young for rot, damage all the same.
	expect 4 run -q fs
	expect 0 accept -q fs .
	expect 0 run --json fs
	tally "ok=4"
}

@test "accept of what is sound, and of what is not recorded" {
	take_base
	cp fs/.bitscrub/manifest before
	expect 0 accept fs f
	says "f has no open damage: nothing to accept"
	expect 0 accept fs .
	says "nothing to accept"
	expect 8 accept fs nothing
	says "nothing: nothing is recorded under this path"
	cmp before fs/.bitscrub/manifest
	edit fs/f 10
	# Not even an edit is taken: that is for run.
	expect 0 accept -q fs f
	cmp before fs/.bitscrub/manifest
	mkdir plain
	expect 8 accept plain .
	says "there is no manifest"
	[ ! -e plain/.bitscrub ]
}

@test "accept of damage carried by an edit" {
	take_base
	rot f 100000
	expect 4 run -q fs
	edit fs/f 10
	expect 4 run -q fs
	expect 0 accept -q fs f
	expect 0 run --json fs
	tally "ok=4"
}

@test "accept of a damaged file that is gone" {
	take_base
	rot f 100000
	expect 4 run -q fs
	rm fs/f
	expect 0 accept --json --verbose fs f
	verdict f removed
	expect 0 run --json fs
	tally "ok=3"
}

@test "damage since the last pass: accept takes the content as it is now" {
	take_base
	rot f 100000
	expect 4 run -q fs
	rot f 0
	expect 0 accept -q fs f
	expect 0 run --json fs
	tally "ok=4"
}

@test "a change through the file system: altered with mtime put back, changed without" {
	take_base
	edit_quietly fs/f 100000
	edit fs/d/g 100000
	expect 4 run --json --verbose fs
	verdict f altered
	verdict d/g "changed bit_flip"
	damage "altered f 6+1 98304+16384"
	expect 0 accept -q fs f
	edit fs/f 99999
	expect 0 run --json fs
	tally "ok=3 changed=1"
}

@test "an inode that lost its tail: rot, with both sizes" {
	take_base
	need debugfs
	truncate_inode f 100000
	expect 4 run --json --verbose fs
	verdict f rot
	damage "rot f - - 200000>100000; rot f 6+7 98304+101696"
	expect 4 run --json fs
	damage "rot f - - 200000>100000 known; rot f 6+7 98304+101696 known"
	expect 4 run -q fs
	[ "$(grep -c 'fs: f' <<<"$output")" -eq 1 ]
	# An edit does not launder a size either.
	edit fs/f 10
	expect 4 run --json --verbose fs
	verdict f altered
	json 'select(.event == "damage") | .carried' "true true"
	flip fs/f 10
	truncate_inode f 200000
	expect 0 run --json --verbose fs
	verdict f touched
}

@test "an inode that grew by zeros: rot by its size alone" {
	take_base
	need debugfs
	truncate_inode d/small 6000
	expect 4 run --json --verbose fs
	verdict d/small rot
	damage "rot d/small - - 5000>6000"
	expect 0 accept -q fs d/small
	expect 0 run --json fs
	tally "ok=4"
}

@test "a file that became empty by itself" {
	take_base
	need debugfs
	truncate_inode f 0
	expect 4 run --json --verbose fs
	verdict f rot
	damage "rot f - - 200000>0; rot f 0+13 0+200000"
	expect 4 list --damaged fs
	expect 0 accept -q fs f
	expect 0 run --json fs
	tally "ok=4"
}
