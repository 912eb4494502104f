#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Bits flipped underneath real file systems, and copies, media and users that verify has to do with.

load helper
load pass

# f: 12 blocks of 16384 and one of 3392; big: two extents of 65536, the first of 256 blocks.
populate() {
	data 1 200000 >f
	data 2 $((33 << 20)) >big
	data 3 65537 >edge
	: >empty
	mkdir d
	data 4 5000 >d/small
}

# On a new file system of this kind and size: recorded, nothing racy.
record_on() {
	make_fs "$1" "$2"
	(cd fs && populate)
	settle
	expect 0 run --json fs
	tally "new=5"
}

flipped_is_rot() {
	record_on "$1" "$2"
	rot f 100000 5
	rot big $(((17 << 20) + 65536 * 3 + 17))
	rot big $(((33 << 20) - 1)) 7
	rot edge 65536
	rot d/small 0
	expect 4 run --json --verbose fs
	tally "ok=1 rot=4 blocks_damaged=5 files_damaged=4"
	damage "rot big 275+1 18022400+65536; rot big 527+1 34537472+65536; rot d/small 0+1 0+4096; rot edge 8+1 65536+1; rot f 6+1 98304+16384"
	summary complete true
	# What was called rot was on the medium, not in the cache.
	json 'select(.event == "summary") | .bytes_read - .bytes_from_medium' 0
	expect 4 verify --json fs
	summary rot 4
	for at in "f 100000 5" "big $(((17 << 20) + 65536 * 3 + 17))" "big $(((33 << 20) - 1)) 7" \
		"edge 65536" "d/small 0"; do
		# shellcheck disable=SC2086 # words
		rot $at
	done
	expect 0 run --json fs
	tally "ok=5"
	rot f 0
	edit fs/edge 0
	edit_quietly fs/d/small 0
	expect 4 run --json --verbose fs
	verdict f rot
	verdict edge "changed bit_flip"
	verdict d/small altered
}

@test "ext4: rot at the exact place" {
	flipped_is_rot ext4 96
}

@test "xfs: rot at the exact place" {
	flipped_is_rot xfs 300
}

@test "btrfs: the file system notices; unreadable at the exact place" {
	make_fs btrfs 128
	# Larger than what btrfs keeps inside its metadata.
	data 1 200000 >fs/f
	data 2 200000 >fs/g
	settle
	expect 0 run -q fs
	# FIEMAP gives btrfs' logical addresses: look for the content instead.
	dd if=fs/f of=piece bs=4096 skip=24 count=1 status=none
	unmount_fs fs
	at=$(perl -e 'local $/; open P, "piece"; open I, "fs.img"; $p = <P>; print index(<I>, $p)')
	[ "$at" -gt 0 ]
	flip fs.img $((at + 100)) 3
	mount_fs fs
	expect 4 run --json --verbose fs
	tally "ok=1 unreadable=1 blocks_damaged=1 files_damaged=1"
	damage "unreadable f 6+1 98304+4096"
	json 'select(.event == "damage") | .errno' EIO
	expect 4 run -q fs
	[[ ${lines[1]} == "fs: f: unreadable, still damaged since 20"* ]]
	unmount_fs fs
	flip fs.img $((at + 100)) 3
	mount_fs fs
	expect 0 run --json fs
	tally "ok=2"
}

@test "a new file that can't be read whole has no checksums, until it can" {
	make_fs btrfs 128
	data 1 5000 >fs/sound
	expect 0 run -q fs
	data 2 200000 >fs/f
	sync -f fs
	dd if=fs/f of=piece bs=4096 skip=24 count=1 status=none
	unmount_fs fs
	at=$(perl -e 'local $/; open P, "piece"; open I, "fs.img"; $p = <P>; print index(<I>, $p)')
	flip fs.img $((at + 100)) 3
	mount_fs fs
	expect 4 run --json --verbose fs
	verdict f unreadable
	damage "unreadable f 6+1 98304+4096"
	expect 4 list --json fs
	json 'select(.path == "f") | "\(.unrecorded) \(.crc32)"' "true null"
	expect 12 export --format=sfv fs
	says "f: left out"
	hasnt $'\nf '
	expect 4 run --json fs
	damage "unreadable f 6+1 98304+4096 known"
	expect 4 verify --json fs
	damage "unreadable f 6+1 98304+4096 known"
	unmount_fs fs
	flip fs.img $((at + 100)) 3
	mount_fs fs
	expect 0 run -q fs
	expect 0 list --json fs
	json 'select(.path == "f") | "\(.unrecorded) \(.crc32)"' \
		"false $(rhash --simple -C fs/f | cut -c1-8)"
}

@test "a file system that was moved to another device is the same" {
	record_on ext4 96
	unmount_fs fs
	cp --sparse=always fs.img other.img
	mkdir other
	mount_fs other
	expect 0 run --json other
	tally "ok=5"
}
