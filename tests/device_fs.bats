#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# File systems and partitions on block devices: rot or written, where it is, and whose.

load helper
load pass
load devices

teardown() {
	devices_teardown
}

# read_only TYPE: options to mount it so that really nothing is written; xfs writes to its log else.
read_only() {
	[ "$1" != xfs ] || echo -n norecovery,
	echo ro
}

# rot_or_written TYPE
rot_or_written() {
	fs_device "$1"
	expect 0 run -q --state=st "$DEV"
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
	# Mounted and not written.
	mount_device "$DEV" mnt "$(read_only "$1")"
	umount mnt
	local at
	at=$(find_text disk.img MARKER-A)
	flip "$DEV" "$at"
	expect 4 run --json --state=st "$DEV"
	tally "rot=1 blocks_damaged=1 files_damaged=1"
	json 'select(.event == "damage") | .differ_first' "$at"
	expect 1 repair -q --state=st "$DEV"
	[ "$(find_text disk.img MARKER-A)" = "$at" ]
	# Written: that is a change.
	write_fs
	expect 0 run --json --state=st "$DEV"
	tally "changed=1"
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
	# Written, and rot in it, which is not told apart; but what is known already stays known.
	flip "$DEV" "$at"
	expect 4 run -q --state=st "$DEV"
	write_fs
	expect 4 run --json --state=st "$DEV"
	json 'select(.event == "damage") | .kind, .carried' "altered true"
	expect 4 repair --state=st "$DEV"
	has "written since"
	flip "$DEV" "$at"
	# What was written beside it, if anything was, is recorded now.
	expect 0 run --json --state=st "$DEV"
	json 'select(.event == "summary") | .ok + .changed, .blocks_damaged' "1 0"
	# Another file system in its place.
	{ mkfs."$1" -q -f "$DEV" || mkfs."$1" -q -F "$DEV"; } >/dev/null 2>&1
	sync
	# Nothing but its UUID tells this device from others.
	expect 8 run --state=st "$DEV"
	says "another device"
	expect 0 run --json --allow-moved --state=st "$DEV"
	tally "changed=1"
}

@test "ext4: rot or written" {
	rot_or_written ext4
}

@test "xfs: rot or written" {
	rot_or_written xfs
}

@test "btrfs: rot or written" {
	rot_or_written btrfs
}

# crashed TYPE: a file system that was written and not unmounted is written, not damaged.
crashed() {
	fs_device "$1"
	expect 0 run -q --state=st "$DEV"
	mount_device "$DEV" mnt
	data 9 3000000 >mnt/new
	sync
	cp disk.img crashed.img
	umount mnt
	dd if=crashed.img of="$DEV" bs=1M conv=fsync status=none
	expect 0 run --json --state=st "$DEV"
	tally "changed=1"
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
	# Replaying its log is writing.
	write_fs
	expect 0 run --json --state=st "$DEV"
	tally "changed=1"
}

@test "ext4 that was not unmounted" {
	crashed ext4
}

@test "xfs that was not unmounted" {
	crashed xfs
}

@test "btrfs that was not unmounted" {
	crashed btrfs
}

@test "a superblock that rots does not turn rot into a write" {
	fs_device ext4
	expect 0 run -q --state=st "$DEV"
	cp disk.img good.img
	local at
	at=$(find_text disk.img MARKER-A)
	# A byte of the superblock, and one of its magic.
	flip "$DEV" $((1024 + 0x80))
	flip "$DEV" "$at"
	expect 4 run --json --state=st "$DEV"
	tally "altered=1 blocks_damaged=2 files_damaged=1"
	expect 4 run --state=st "$DEV"
	has "what would tell whether it was written is damaged or gone"
	hasnt "modification time"
	expect 4 status --state=st "$DEV"
	has "damage       OPEN: 2 blocks (128 KiB) in 1 device"
	flip "$DEV" $((1024 + 0x38))
	expect 4 run --json --state=st "$DEV"
	tally "altered=1 blocks_damaged=2 files_damaged=1"
	expect 4 repair --state=st "$DEV"
	expect 1 repair -q --force --state=st "$DEV" .
	cmp disk.img good.img
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
}

@test "swap and the like: nothing tells rot from writes, which is said; content=fixed" {
	need_loop
	need mkswap
	data 1 $((20 * 1048576)) >disk.img
	mkswap disk.img >/dev/null 2>&1
	attach disk.img
	expect 0 run -q --state=st "$DEV"
	flip "$DEV" 5000000
	expect 0 run --json --state=st "$DEV"
	tally "changed=1"
	json 'select(.event == "summary") | .blocks_unsure' 1
	flip "$DEV" 5000000
	expect 0 run --state=st "$DEV"
	says "rot can't be told from writes"
	expect 0 status --state=st "$DEV"
	has "rot can't be told from writes in 20 MiB"
	expect 0 config --state=st "$DEV" content=fixed
	flip "$DEV" 5000000
	expect 4 run --json --state=st "$DEV"
	tally "rot=1 blocks_damaged=1 files_damaged=1"
	expect 0 status --json --state=st "$DEV" || [ "$status" = 4 ]
	json 'select(.event == "status") | .unsure_bytes' 0
	expect 16 config --state=st "$DEV" content=perhaps
	says "neither 'auto', 'fixed' nor 'changing'"
}

# gpt_disk: disk.img with a GPT, an ext4 "data" on partition 1 and nothing on partition 2; attached.
gpt_disk() {
	need_loop
	need sfdisk mkfs.ext4
	truncate -s 96M disk.img
	printf 'label: gpt\nstart=2048, size=65536\nstart=98304, size=40960\n' | sfdisk -q disk.img
	attach disk.img
	P=$(partition_of 1)
	mkfs.ext4 -q -L data "$P"
	mount_device "$P" mnt
	data 5 300000 >mnt/a
	poke mnt/a 200000 MARKER-A
	sync
	umount mnt
}

@test "partitions: damage says where it is, and each is judged by itself" {
	gpt_disk
	expect 0 run -q --state=st "$DEV"
	local at
	at=$(find_text disk.img MARKER-A)
	flip "$DEV" 600
	flip "$DEV" "$at"
	flip "$DEV" $((48 * 1048576 + 500000))
	flip "$DEV" $((90 * 1048576))
	expect 4 run --json --state=st "$DEV"
	tally "rot=1 blocks_damaged=4 files_damaged=1"
	output=$(jq -sc 'sort_by(.offset)[]' <<<"$output")
	json 'select(.event == "damage") | .region' \
		"$(json_regions 600 "$at" $((48 * 1048576 + 500000)) $((90 * 1048576)))"
	expect 4 run --state=st "$DEV"
	has "in partition 1 (ext4 'data')"
	has "GPT"
	has "in partition 2"
	has "outside of the partitions"
	expect 1 repair -q --state=st "$DEV"
	# Partition 1 is written; partition 2 and the table are not.
	mount_device "$P" mnt
	echo more >mnt/more
	sync
	umount mnt
	flip "$DEV" $((48 * 1048576 + 500000))
	expect 4 run --json --state=st "$DEV"
	json 'select(.event == "damage") | .kind, .offset' "rot $(((48 * 1048576 + 500000) / 65536 * 65536))"
	# The table shares its extent with what was written: it is rot all the same.
	expect 1 repair -q --state=st "$DEV"
	flip "$DEV" 600
	mount_device "$P" mnt
	echo more >>mnt/more
	sync
	umount mnt
	expect 4 run --json --state=st "$DEV"
	json 'select(.event == "damage") | .kind, .offset' "rot 0"
}

# What the regions at these offsets are called, from the sentences in the manual.
json_regions() {
	echo "the primary GPT partition 1 (ext4 'data') partition 2 (no known content) outside of the partitions"
}

# owners TYPE: whose the damage is, on a file system that is mounted read-only.
owners() {
	fs_device "$1"
	expect 0 run -q --state=st "$DEV"
	local at
	at=$(find_text disk.img MARKER-A)
	flip "$DEV" "$at"
	mount_device "$DEV" mnt "$(read_only "$1")"
	expect 4 run --json --state=st "$DEV"
	tally "rot=1 blocks_damaged=1 files_damaged=1"
	json '[., inputs] | map(select(.event == "owner" and .owner == "file" and .file == "dir/a" and
		.offset <= '"$at"' and .offset + .length > '"$at"')
		| .file_offset + '"$at"' - .offset, .mountpoint) | join(" ")' "200000 $W/mnt"
	# Of the one byte, which parity knows, and of none of its neighbours.
	json 'select(.event == "owner") | .offset, .length' "$at 1"
	expect 4 run --state=st "$DEV"
	has "part of $W/mnt/dir/a, from its byte"
	expect 4 verify --state=st "$DEV"
	has "Next: $SCRUB repair --state st $DEV ."
	# Of what is not mounted nothing is said, unless it is named.
	umount mnt
	expect 4 run --json --state=st "$DEV"
	json 'select(.event == "owner") | .owner' ""
	says "while the file system is mounted read-only"
	mount_device "$DEV" mnt "$(read_only "$1")"
	expect 4 verify --json --map="$W/mnt" --state=st "$DEV"
	json '[., inputs] | map(select(.event == "owner" and .file == "dir/a")) | length > 0' true
}

@test "ext4: whose the damage is" {
	owners ext4
}

@test "xfs: whose the damage is" {
	owners xfs
}

@test "btrfs: whose the damage is" {
	owners btrfs
}

@test "free space and metadata are said to be that" {
	fs_device ext4
	expect 0 run -q --state=st "$DEV"
	flip "$DEV" $((46 * 1048576))
	flip "$DEV" 4096
	mount_device "$DEV" mnt ro
	expect 4 run --json --state=st "$DEV"
	json 'select(.event == "owner") | .owner' "metadata free" ||
		json '[., inputs] | map(select(.event == "owner") | .owner) | unique | join(" ")' "free metadata"
	expect 4 run --state=st "$DEV"
	has "free space"
	has "metadata of the file system"
}

@test "whose the damage is, by the partition of a disk" {
	gpt_disk
	expect 0 run -q --state=st "$DEV"
	local at
	at=$(find_text disk.img MARKER-A)
	flip "$DEV" "$at"
	flip "$DEV" 600
	mount_device "$P" mnt ro
	expect 4 run --json --state=st "$DEV"
	json '[., inputs] | map(select(.event == "owner" and .file == "a" and .offset <= '"$at"' and
		.offset + .length > '"$at"') | .file_offset + '"$at"' - .offset) | join(" ")' 200000
}

@test "a pass of a part takes some extents of a device" {
	need_loop
	data 1 $((64 * 1048576)) >disk.img
	attach disk.img
	expect 0 run -q --state=st "$DEV"
	expect 0 run --json --max-bytes=16M --state=st "$DEV"
	summary bytes_read 16777216
	summary complete false
	expect 0 export --format=json --state=st "$DEV"
	json '[., inputs] | map(select(.record == "extent") | .checked_ns) | sort | unique | length' 2
}
