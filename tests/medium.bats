#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# A real block device with sectors that can't be read, and one that goes away, under ext4.

load helper
load pass
load medium

setup_file() {
	make_base_elsewhere
}

teardown() {
	medium_teardown
}

# f and g: 12 blocks of 16384 bytes and one of 3392; big: 17 extents, small 4096 + 904.
populate() {
	data 1 200000 >f
	data 2 200000 >g
	data 3 5000 >small
	data 4 3000000 >big
	mkdir d
	for i in {10..39}; do data "$i" 5000 >"d/$i"; done
}

# Like make_base, with the state beside: the disk is read-only later.
make_base_elsewhere() {
	W=$BATS_FILE_TMPDIR
	cd "$W" || return 1
	[ "$(id -u)" = 0 ] && command -v losetup nbdkit nbdfuse >/dev/null || return 0
	make_fs ext4 32 || return 1
	local status=0
	(cd fs && populate && sync) && settle && "$SCRUB" run -q --state state fs || status=$?
	map_files fs >places
	helper_teardown
	return $status
}

take_medium() {
	need_medium
	cp --sparse=always "$BATS_FILE_TMPDIR/fs.img" fs.img
	cp -r "$BATS_FILE_TMPDIR/state" "$BATS_FILE_TMPDIR/places" .
	mkdir fs
	cp state/manifest first
}

@test "bad sectors: each exactly, everything else is read, and the pass goes on" {
	take_medium
	bad_sectors "$(at f 100000)" "$(at big 1048576)" "$(at big 1050000)" "$(at big 2999999)" \
		"$(at small 0)" "$(at d/39 4999)"
	serve
	mount_served
	expect 4 run --json --verbose --state state fs
	tally "ok=30 unreadable=4 blocks_damaged=5 files_damaged=4"
	damage "$BAD"
	json 'select(.event == "damage") | .errno' "EIO EIO EIO EIO EIO EIO"
	summary complete true
	summary trouble 0
	json 'select(.event == "summary") | .bytes_from_medium - .bytes_read' 0
	# Of what could not be read nobody knows how it differs.
	json 'select(.bits_flipped or .pattern) | .path' ""
	expect 4 verify --json --state state fs
	tally "ok=30 unreadable=4 blocks_damaged=5 files_damaged=4"
	expect 4 verify --json -m first fs
	tally "ok=30 unreadable=4 blocks_damaged=5 files_damaged=4"
	expect 4 run --state state fs
	has "fs: f: unreadable in block 6: 512 bytes at offset 99840 (Input/output error), known since 20"
	# Another drive reads it: closed, and nothing was lost of the record.
	unserve
	bad_sectors
	serve
	mount_served
	expect 0 run --json --state state fs
	tally "ok=34"
	expect 0 verify -q -m first fs
}

BAD="unreadable big 16+1 1048576+512; unreadable big 16+1 1049600+512; unreadable big 45+1 2999808+192; unreadable d/39 1+1 4608+392; unreadable f 6+1 99840+512; unreadable small 0+1 0+512"

@test "a new file with a bad sector has no checksums before it could be read" {
	take_medium
	bad_sectors "$(at f 100000)" "$(at small 4999)"
	serve
	mount_served
	expect 4 run --json --verbose --state new fs
	verdict f unreadable
	tally "new=32 unreadable=2 blocks_damaged=2 files_damaged=2"
	damage "unreadable f 6+1 99840+512; unreadable small 1+1 4608+392"
	expect 4 list --json --state new fs
	json 'select(.unrecorded) | "\(.path) \(.crc32)"' "f null small null"
	expect 4 run --json --state new fs
	damage "unreadable f 6+1 99840+512 known; unreadable small 1+1 4608+392 known"
	unserve
	bad_sectors
	serve
	mount_served
	expect 0 run --json --verbose --state new fs
	tally "ok=32 new=2"
	expect 0 list --json --state new fs
	json 'select(.path == "f") | .crc32' "$(rhash --simple -C fs/f | cut -c1-8)"
	expect 0 run --json --state new fs
	tally "ok=34"
}

@test "a bad sector moves and grows: what is told is what is there now" {
	take_medium
	bad_sectors "$(at f 0)" "$(at g 4096)"
	serve
	mount_served
	expect 4 run -q --state state fs
	unserve
	bad_sectors "$(at f 0)" "$(at f 512)" "$(at f 16383)" "$(at f 16384)"
	serve
	mount_served
	expect 4 run --json --state state fs
	damage "unreadable f 0+1 0+1024 known; unreadable f 0+1 15872+512 known; unreadable f 1+1 16384+512"
	tally "ok=33 unreadable=1 blocks_damaged=2 files_damaged=1"
}

@test "rot beside a bad sector" {
	take_medium
	flip fs.img "$(at f 100000)" 3
	flip fs.img "$(at f 50000)" 3
	bad_sectors "$(at f 99000)" "$(at g 10)"
	serve
	mount_served
	expect 4 run --json --verbose --state state fs
	verdict f unreadable
	damage "rot f 3+1 49152+16384; unreadable f 6+1 98816+512; unreadable g 0+1 0+512"
}

@test "a disk that goes away in the middle of a pass: trouble, and no damage" {
	take_medium
	bad_sectors
	serve 20
	mount_served
	"$SCRUB" run --json --verbose -j1 --reads-in-flight=1 --state state fs >out 2>err 3>&- &
	pid=$!
	# Some files are through when it happens: the journal shows it.
	for ((i = 0; i < 400; i++)); do
		[ ! -s state/journal ] || break
		sleep 0.01
	done
	sleep 0.2
	kill_server
	status=0
	wait $pid || status=$?
	output=$(<out) stderr=$(<err)
	[ "$status" -eq 8 ]
	damage ""
	json 'select(.event == "trouble") | .message' "the device does not answer any more, not even where it read well before: stopped; none of this counts as damage"
	summary complete false
	summary unreadable 0
	back_again
}

# The same disk answers again: all of it is sound, and nothing else was ever recorded.
back_again() {
	umount fs
	umount disk
	expect 0 list --damaged --state state fs
	[ -z "$output" ]
	serve
	mount_served
	expect 0 run --json --state state fs
	tally "ok=34"
	expect 0 verify -q -m first fs
}

@test "a disk that is gone from the start, under files that are known" {
	take_medium
	bad_sectors
	serve
	mount_served
	# The names are in the cache, the content is not.
	find fs -printf '%s' >/dev/null
	kill_server
	for verb in run "run -j1" verify; do
		# shellcheck disable=SC2086 # words
		expect 8 $verb --json --state state fs
		damage ""
		json 'select(.event == "trouble" and (has("path") | not)) | .message' \
			"the device does not answer: stopped; none of this counts as damage"
		summary files_damaged 0
	done
	# Nor is anything recorded in a first pass.
	expect 8 run --json --state new fs
	damage ""
	expect 0 list --json --state new fs
	json 'select(.event == "list") | .path' ""
	back_again
}

@test "a disk that is gone before a single name was read" {
	take_medium
	bad_sectors
	serve
	mount_served
	kill_server
	expect 8 run --json --state state fs
	damage ""
	json 'select(.event == "trouble") | "\(.path) \(.errno) \(.message)"' ". EIO cannot look at it"
	tally "skipped=34 trouble=1"
	cmp state/manifest first || expect 0 list --state state fs
	back_again
}

@test "a directory that can't be read: damage where the disk answers, and what is in it stays recorded" {
	take_medium
	need debugfs
	size=$(debugfs -R stats fs.img 2>/dev/null | sed -n 's/^Block size: *//p')
	block=$(debugfs -R "blocks /d" fs.img 2>/dev/null | awk '{ print $1 }')
	# shellcheck disable=SC2046 # words
	bad_sectors $(for ((i = 0; i < size; i += 512)); do echo $((block * size + i)); done)
	serve
	mount_served
	expect 4 run --json --state state fs
	damage "unreadable d - -"
	tally "ok=4 skipped=30 files_damaged=1"
	summary complete false
	expect 4 run --state state fs
	has "fs: d: unreadable (Input/output error), known since 20"
	hasnt "No damage"
	expect 4 status --json --state state fs
	json 'select(.event == "status") | "\(.files_damaged) \(.unseen) \(.last_pass_exit)"' "1 1 4"
	expect 4 list --damaged --state state fs
	[[ $output == "d: unreadable, since 20"* ]]
	expect 4 verify --json --state state fs
	json 'select(.event == "damage" and .path == "d") | "\(.kind) \(has("since"))"' "unreadable true"
	unserve
	bad_sectors
	serve
	mount_served
	expect 4 status --state state fs
	expect 0 verify --state state fs
	expect 4 status --state state fs
	expect 0 run --json --state state fs
	tally "ok=34"
	expect 0 status --state state fs
}

@test "a single file of which nothing can be read is damage" {
	take_medium
	# shellcheck disable=SC2046 # words
	bad_sectors $(for ((i = 0; i < 5000; i += 512)); do at small $i; done)
	serve
	mount_served
	expect 4 run --json --state state fs
	damage "unreadable small 0+2 0+5000"
	mkdir one
	cp fs/f one/
	expect 4 run --json --state one/state fs/small
	damage "unreadable small 0+2 0+5000"
}

@test "--cached on bad sectors: what the cache can't get is unreadable, and no more than a page around it" {
	take_medium
	bad_sectors "$(at f 100000)" "$(at big 1048576)"
	serve
	mount_served
	expect 4 verify --json --verbose --cached --state state fs
	tally "ok=32 unreadable=2 blocks_damaged=2 files_damaged=2"
	json 'select(.event == "damage") | (.length <= 4096),
		(.offset <= if .path == "f" then 99840 else 1048576 end),
		(.offset + .length >= if .path == "f" then 100352 else 1049088 end)' \
		"true true true true true true"
	# Directly, to the sector.
	expect 4 verify --json --state state fs
	damage "unreadable big 16+1 1048576+512; unreadable f 6+1 99840+512"
}

@test "an edit beside a bad sector closes nothing; one that writes the sector does" {
	take_medium
	bad_sectors "$(at f 100000)"
	serve
	mount_served
	expect 4 run -q --state state fs
	for at in 10 50000; do
		unserve
		mount_fs fs
		edit fs/f $at
		touch -d "@$at" fs/f
		unmount_fs fs
		serve
		mount_served
		expect 4 run --json --verbose --state state fs
		damage "unreadable f 6+1 99840+512 carried known"
		verdict f unreadable
		tally "ok=33 unreadable=1 blocks_damaged=1 files_damaged=1"
	done
	unserve
	mount_fs fs
	data 50 4096 | dd of=fs/f bs=4096 seek=24 conv=notrunc status=none
	unmount_fs fs
	bad_sectors
	serve
	mount_served
	expect 0 run --json --verbose --state state fs
	verdict f changed
}
