#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Disks that fail now and then, other sizes of sectors, other file systems on bad ones.

load helper
load pass
load medium

teardown() {
	medium_teardown
}

# base TYPE MIB [MKFS-ARGUMENT...]: recorded in state, mapped in places, not mounted.
base() {
	need_medium
	need "mkfs.$1"
	local type=$1 size=$2
	shift 2
	truncate -s "${size}M" fs.img
	"mkfs.$type" -q "$@" fs.img
	mkdir -p fs
	mount_fs fs
	data 1 200000 >fs/f
	data 2 3000000 >fs/big
	mkdir fs/d
	for i in {10..29}; do data "$i" 20000 >"fs/d/$i"; done
	sync -f fs
	settle
	expect 0 run -q --state state fs
	map_files fs >places
	unmount_fs fs
	cp state/manifest first
}

recorded() {
	"$SCRUB" list --json --state state fs | jq -r 'select(.event == "list") |
		"\(.path) \(.size) \(.crc32) \(.mtime_ns) \(.recorded)"'
}

@test "a disk of sectors of 4096 bytes: exact to these" {
	base ext4 32 -b 4096
	bad_sectors "$(at f 100000)" "$(at big 2999999)"
	serve
	dev=$(losetup -r -f --show --direct-io=on --sector-size 4096 disk/nbd)
	mount -o ro,noload "$dev" fs
	MOUNTS+=("$W/fs")
	losetup -d "$dev"
	[ "$(blockdev --getss "$dev")" = 4096 ]
	expect 4 run --json --state state fs
	damage "unreadable big 45+1 2998272+1728; unreadable f 6+1 98304+4096"
	summary bytes_unknown 0
	json 'select(.event == "summary") | .ok' 20
}

@test "xfs on a disk with bad sectors" {
	base xfs 300
	bad_sectors "$(at f 100000)" "$(at big 1048576)" "$(at d/29 0)"
	serve
	dev=$(losetup -r -f --show --direct-io=on disk/nbd)
	mount -o ro,norecovery "$dev" fs
	MOUNTS+=("$W/fs")
	losetup -d "$dev"
	expect 4 run --json --state state fs
	damage "unreadable big 16+1 1048576+512; unreadable d/29 0+1 0+512; unreadable f 6+1 99840+512"
	tally "ok=19 unreadable=3 blocks_damaged=3 files_damaged=3"
}

@test "a disk that fails now and then: nothing is rot, and nothing of the record is lost" {
	local i failed=
	base ext4 32
	bad_sectors
	recorded >before
	serve_flaky
	mount_served
	for i in 1 2 3 4 5 6 7 8; do
		touch fail
		run --separate-stderr "$SCRUB" run --json --state state fs
		rm fail
		# What could be read at the second try is fine; what could not, or a disk that seems
		# gone: damage or trouble, but never rot or altered.
		case $status in
		0 | 4 | 8 | 12) ;;
		*) show && return 1 ;;
		esac
		[ "$status" = 0 ] || failed=1
		json 'select(.event == "damage") | .kind | select(. != "unreadable")' ""
		summary rot 0
		summary altered 0
		summary removed 0
	done
	[ -n "$failed" ]
	expect 0 run --json --state state fs
	tally "ok=22"
	recorded | diff before -
	expect 0 verify -q -m first fs
}

# As serve; while the file fail exists two of five requests to read end in EIO.
serve_flaky() {
	local i
	mkdir -p disk
	nbdfuse disk --socket-activation nbdkit --filter=error --filter=ddrescue file fs.img \
		ddrescue-mapfile=map error-pread-rate=40% error-pread=EIO \
		error-pread-file="$W/fail" >served 2>&1 3>&- &
	SERVER=$!
	MOUNTS+=("$W/disk")
	for ((i = 0; i < 200; i++)); do
		[ ! -e disk/nbd ] || return 0
		sleep 0.05
	done
	cat served
	return 1
}

@test "a few of many files are lost as a whole, and the rest is fine" {
	local i j at=()
	base ext4 32
	for i in {10..28}; do
		for ((j = 0; j < 20000; j += 512)); do at+=("$(at "d/$i" $j)"); done
	done
	bad_sectors "${at[@]}"
	serve
	mount_served
	# More than 16 in a row: the disk is asked, and it answers.
	expect 4 run --json -j1 --reads-in-flight=1 --state state fs
	tally "ok=3 unreadable=19 blocks_damaged=95 files_damaged=19"
	summary complete true
	expect 4 list --damaged --state state fs
	[ "${#lines[@]}" = 19 ]
}

@test "ext4 finds an inode corrupted: unreadable as a whole, its record stays" {
	local at
	base ext4 32
	need debugfs
	at=$(debugfs -R "imap /d/15" fs.img 2>/dev/null |
		sed -n 's/.*located at block \([0-9]*\), offset \(0x[0-9a-f]*\)/\1 \2/p')
	size=$(debugfs -R stats fs.img 2>/dev/null | sed -n 's/^Block size: *//p')
	flip fs.img $((${at% *} * size + ${at#* } + 24)) 3
	mount_fs fs ro
	expect 4 run --json --verbose --state state fs
	damage "unreadable d/15 - -"
	tally "ok=21 skipped=1 files_damaged=1"
	expect 4 status --state state fs
	expect 4 list --json --damaged --state state fs
	json 'select(.event == "list") | "\(.path) \(.damage) \(.unrecorded)"' "d/15 unreadable false"
	expect 4 verify --json --state state fs
	damage "unreadable d/15 - - known"
	expect 4 run --json --only=damaged --state state fs
	damage "unreadable d/15 - - known"
	unmount_fs fs
	flip fs.img $((${at% *} * size + ${at#* } + 24)) 3
	mount_fs fs ro
	expect 4 status --state state fs
	expect 0 run --json --only=damaged --state state fs
	tally "ok=1"
	expect 0 status --state state fs
	expect 0 run --json --state state fs
	tally "ok=22"
}
