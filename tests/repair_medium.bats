#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# A sector that really can't be read, repaired once the device can be written again.

load helper
load pass
load repair
load medium

teardown() {
	medium_teardown
}

@test "an unreadable sector is repaired when the device is writable" {
	need_medium
	make_fs ext4 64
	data 1 300000 >fs/a
	data 2 100 >fs/b
	sync
	settle
	expect 0 run --state=state fs
	map_files fs >places
	unmount_fs fs
	bad_sectors "$(at a 123456)" "$(at b 0)"
	serve
	mount_served
	expect 4 run --state=state --json fs
	tally "unreadable=2 blocks_damaged=2 files_damaged=2"
	expect 12 repair --state=state --json fs
	repairs "not a 6+1; not b 0+1"
	why "read-only"
	unserve

	# The disk has new sectors in their place.
	for i in "$(at a 123456)" "$(at b 0)"; do
		dd if=/dev/zero of=fs.img bs=512 seek=$((i / 512)) count=1 conv=notrunc status=none
	done
	mount_fs fs
	expect 1 repair --state=state --json fs
	repairs "parity a 6+1; parity b 0+1"
	expect 0 run --state=state --json fs
	tally "ok=2"
	cmp fs/a <(data 1 300000)
	cmp fs/b <(data 2 100)
}
