#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Targets of several file systems, and second copies of the manifest.

load helper
load pass

# A second file system, in lower.img, mounted at t/m; t is on the one of the test.
two() {
	make_fs "${1:-ext4}" "${2:-16}" lower
	mkdir -p t/m
	data 1 200000 >t/a
	data 2 200000 >lower/a
	data 3 200000 >lower/b
	ln lower/b lower/b2
	bind lower m
}

# bind DIR NAME: DIR at t/NAME.
bind() {
	mkdir -p "t/$2"
	mount --bind "$1" "t/$2" || return 1
	MOUNTS+=("$W/t/$2")
}

@test "--cross-mounts: rot, moves and links on both file systems" {
	two
	settle
	expect 0 run --json --cross-mounts t
	tally "new=4"
	at=$(place lower/b 100000)
	umount t/m
	umount lower
	flip lower.img "$at"
	mount_fs lower
	bind lower m
	mv t/m/a t/m/x
	mv t/a t/y
	expect 4 run --json --verbose t
	damage "rot m/b 6+1 98304+16384"
	verdict m/x "moved from m/a"
	verdict y "moved from a"
	# From one file system to the other is a copy: no inode says anything.
	mv t/y t/m/y
	expect 4 run --json --verbose t
	verdict m/y new
	verdict y removed
}

@test "a file system that is absent: nothing happens, until the option says that it is gone" {
	two
	data 4 5000 >t/keep
	expect 0 run -q --cross-mounts t
	cp t/.bitscrub/manifest before
	umount t/m
	expect 8 run t
	says "a recorded file system (ext4 "
	says "is not mounted"
	says "use --allow-missing"
	expect 8 run -q --existing t
	cmp before t/.bitscrub/manifest
	# verify says which files.
	expect 4 verify --json t
	damage "missing m/a - -; missing m/b - -; missing m/b2 - -"
	# Another disk in its place is not the one that was recorded.
	make_fs ext4 16 other
	data 5 100 >other/a
	bind other m
	expect 8 run t
	says "is not mounted"
	cmp before t/.bitscrub/manifest
	umount t/m
	expect 0 run --json --allow-missing t
	tally "ok=2 removed=3"
	expect 0 run --json t
	tally "ok=2"
}

@test "the same file system at another place below the target: everything moved" {
	two
	expect 0 run -q --cross-mounts t
	umount t/m
	bind lower n
	expect 0 run --json t
	tally "ok=1 new=1 moved=2 removed=1"
	expect 0 run --json t
	tally "ok=4"
}

@test "two file systems that are clones of each other: same identity, same inodes" {
	make_fs ext4 16 one
	mkdir one/d
	data 1 200000 >one/d/f
	ln one/d/f one/d/g
	data 2 5000 >one/h
	umount one
	cp --sparse=always one.img two.img
	mkdir two t
	mount_fs one
	mount_fs two
	bind one a
	bind two b
	data 3 200000 | dd of=two/d/f conv=notrunc status=none
	settle
	expect 0 run --json --cross-mounts t
	tally "new=6"
	summary bytes_read 410000
	expect 0 run --json t
	tally "ok=6"
	# The first name goes on either side: each second name has its own record, not the clone's.
	rm one/d/f
	expect 0 run --json --verbose t
	verdict a/d/g touched
	tally "ok=4 touched=1 removed=1"
	rm two/d/f
	expect 0 run --json --verbose t
	verdict b/d/g touched
	tally "ok=3 touched=1 removed=1"
	expect 0 run --json t
	tally "ok=4"
}

@test "a bind mount of the target's own file system below it" {
	mkdir -p t/d t/m
	data 1 5000 >t/d/f
	bind t/d m
	expect 0 run t
	says "m is another file system and was left out"
	expect 0 list t
	[ "$output" = d/f ]
	# Entered, it has the same inodes again, as links.
	expect 0 config -q t cross-mounts=yes
	expect 0 run --json t
	tally "ok=1 new=1"
	expect 0 run --json t
	tally "ok=2"
}

@test "copy=DIR: a second manifest that verify takes, written after each pass" {
	mkdir t "c 1" c2
	data 1 200000 >t/f
	expect 0 init -q t
	expect 16 config t copy=relative
	expect 0 config -q t "copy=$W/c 1" "copy+=$W/c2"
	expect 0 run -q t
	name=$(ls c2)
	[[ $name == *.manifest ]]
	cmp t/.bitscrub/manifest "c 1/$name"
	cmp t/.bitscrub/manifest "c2/$name"
	[ "$(stat -c %a "c2/$name")" = 600 ]
	data 2 5000 >t/g
	expect 0 run -q t
	cmp t/.bitscrub/manifest "c2/$name"
	[ "$(ls c2)" = "$name" ]
	# All of the state lost: the copy still tells what was there.
	rm -r t/.bitscrub
	expect 0 verify --json -m "c2/$name" t
	tally "ok=2"
	edit t/f 100000
	expect 4 verify --json -m "c 1/$name" t
	damage "changed f 6+1 98304+16384"
}

@test "copy=DIR that fails is trouble, and nothing else is lost" {
	mkdir t c1 c2 gone
	data 1 5000 >t/f
	expect 0 init -q t
	expect 0 config -q t "copy=$W/c1" "copy+=$W/gone" "copy+=$W/c2"
	rm -r gone
	expect 8 run --json t
	json 'select(.event == "trouble") | "\(.errno) \(.message)"' \
		"ENOENT cannot write a copy of the manifest to $W/gone"
	tally "new=1 trouble=1"
	cmp t/.bitscrub/manifest c1/*.manifest
	cmp t/.bitscrub/manifest c2/*.manifest
	# A file, or somebody's symlink, where a copy should go.
	touch gone
	ln -sf "$W/victim" "c2/$(ls c1).tmp"
	expect 8 run --json t
	tally "ok=1 trouble=1"
	[ ! -e victim ]
	cmp t/.bitscrub/manifest c2/*.manifest
	rm gone
	mkdir gone
	expect 0 run -q t
	cmp t/.bitscrub/manifest gone/*.manifest
}

@test "copy=DIR on a full disk: the last copy stays whole" {
	make_fs ext4 16 c
	mkdir t
	for i in {1..400}; do echo "$i" >"t/a-name-that-is-quite-long-so-that-the-manifest-grows-$i"; done
	expect 0 init -q t
	expect 0 config -q t "copy=$W/c"
	expect 0 run -q t
	cp c/*.manifest before
	dd if=/dev/zero of=c/full bs=64K 2>/dev/null || :
	dd if=/dev/zero of=c/full2 bs=512 2>/dev/null || :
	echo 401 >t/401
	expect 8 run --json t
	json 'select(.event == "trouble") | .errno' ENOSPC
	cmp before c/*.manifest
	[ "$(find c -name '*manifest*' | wc -l)" = 1 ]
	expect 0 verify -q -m before t
}
