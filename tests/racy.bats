#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Content that changes and moves no time: through mappings, in the same tick of the clock, with times
# from the future. It is never rot and never adopted.

load helper
load pass
load mapped

teardown() {
	mapped_teardown
}

# 12 blocks of 16384 and one of 3392.
take_fs() {
	make_fs "$1" "$2"
	data 1 200000 >fs/f
	data 2 200000 >fs/g
}

times() {
	stat -c '%.Y %.Z' "$1"
}

# stored OFFSET: a store that moved no time; false if the kernel has written the page back meanwhile.
stored() {
	local was
	was=$(times fs/f)
	store "$1" || return 1
	[ "$(times fs/f)" = "$was" ]
}

# unsynced ARGUMENT...: a run whose fdatasync of fs/f is refused, so that f stays dirty.
unsynced() {
	run --separate-stderr strace -f -o trace -P "$W/fs/f" -e inject=fdatasync:error=EROFS \
		"$SCRUB" "$@"
	grep -q 'fdatasync.*INJECTED' trace
}

# On a busy machine somebody may sync everything between: then the times move, and it is done again.
record_unsynced() {
	local i
	need strace
	strace -o /dev/null true 2>/dev/null || skip "needs ptrace"
	map fs/f
	for i in 1 2 3 4 5; do
		rm -rf fs/.bitscrub
		store 100
		settle
		unsynced run -q fs
		[ "$status" -eq 0 ]
		! stored 100000 || return 0
	done
	skip "this kernel writes everything back at once"
}

@test "a store that moves no time, after a record that could not be synced: altered, not rot" {
	take_fs ext4 32
	record_unsynced
	expect 4 run --json fs
	damage "altered f 6+1 98304+16384"
	expect 4 run --json fs
	damage "altered f 6+1 98304+16384 known"
}

# checked COMMAND: an equal check by COMMAND, then rot; what that is called.
checked() {
	local at
	stored 100000 || skip "written back meanwhile"
	"$1" run -q fs
	unmap
	at=$(place fs/f 100000)
	unmount_fs fs
	flip fs.img "$at"
	mount_fs fs
	expect 4 run --json fs
	json 'select(.event == "damage") | .kind' "$2"
}

@test "the first equal check that was synced clears the mark" {
	take_fs ext4 32
	record_unsynced
	checked "$SCRUB" rot
}

@test "an equal check that could not be synced keeps the mark" {
	take_fs ext4 32
	record_unsynced
	checked unsynced altered
}

# later_stores TYPE MIB
later_stores() {
	local i
	take_fs "$1" "$2"
	map fs/f
	store 100
	expect 0 run -q fs
	for i in 1 2 3; do
		store 100000
		expect 0 run --json --verbose fs
		verdict f "changed bit_flip"
	done
	store 100000
	store 100000
	expect 0 run --json --verbose fs
	verdict f touched
}

@test "ext4: a pass syncs what is young, so that later stores move the times" {
	later_stores ext4 32
}

@test "xfs: a pass syncs what is young, so that later stores move the times" {
	later_stores xfs 300
}

@test "btrfs: a pass syncs what is young, so that later stores move the times" {
	later_stores btrfs 128
}

@test "lazytime: a pass syncs all the same; what is recorded since the system was started can rot" {
	take_fs ext4 32
	mount -o remount,lazytime fs
	map fs/f
	store 100
	expect 0 run -q fs
	store 100000
	expect 0 run --json --verbose fs
	verdict f "changed bit_flip"
	unmap
	settle
	expect 0 run -q fs
	at=$(place fs/g 5)
	unmount_fs fs
	flip fs.img "$at"
	mount_fs fs lazytime
	expect 4 run --json fs
	damage "rot g 0+1 0+16384"
}

@test "lazytime: a record from before the system was started is never rot" {
	take_fs ext4 32
	unshare --time --boottime 1 true 2>/dev/null || skip "needs time namespaces"
	settle
	expect 0 run -q fs
	at=$(place fs/g 5)
	unmount_fs fs
	flip fs.img "$at"
	mount_fs fs lazytime
	# As if the system had been started just now.
	sleep 1.1
	after_boot() {
		run --separate-stderr unshare --time \
			--boottime "-$(($(cut -d. -f1 /proc/uptime)))" "$SCRUB" "$@"
		[ "$status" -eq 4 ]
	}
	after_boot verify --json fs
	damage "altered g 0+1 0+16384"
	expect 4 verify --json fs
	damage "rot g 0+1 0+16384"
	mount -o remount,nolazytime fs
	after_boot verify --json fs
	damage "rot g 0+1 0+16384"
	mount -o remount,lazytime fs
	after_boot run --json fs
	damage "altered g 0+1 0+16384"
}

@test "tmpfs, where stores never move a time: always racy" {
	need_root
	mkdir fs
	mount -t tmpfs -o mode=0755 none fs
	MOUNTS+=("$W/fs")
	data 1 200000 >fs/f
	data 2 200000 >fs/g
	map fs/f
	store 100
	settle
	expect 0 run --json fs
	summary bytes_from_medium 0
	expect 0 run --json fs
	summary bytes_from_cache 400000
	stored 100000
	edit_quietly fs/g 0
	expect 4 run --json fs
	damage "altered f 6+1 98304+16384; altered g 0+1 0+16384"
	stored 100000
	expect 4 run --json fs
	damage "altered g 0+1 0+16384 known"
	expect 0 accept -q fs g
	expect 0 run --json fs
	tally "ok=2"
}

@test "times from the future, with ctime ignored: near ones are racy, far ones mean nothing" {
	mkdir t
	for i in near far old; do data 1 5000 >t/$i; done
	expect 0 init -q t
	expect 0 config -q t ctime=ignore
	touch -d '2 days' t/far
	touch -d '2020-02-02' t/old
	settle
	touch -d '40 seconds' t/near
	expect 0 run -q t
	for i in near far old; do edit_quietly t/$i 10; done
	expect 4 run --json t
	damage "altered near 0+1 0+4096; rot far 0+1 0+4096; rot old 0+1 0+4096"
}

@test "a future mtime makes nothing sure where ctime is used" {
	mkdir t
	data 1 5000 >t/f
	touch -d '2 days' t/f
	# Its ctime is now: racy, whatever its mtime says.
	expect 0 run -q t
	expect 0 config -q t ctime=ignore
	edit_quietly t/f 10
	expect 4 run --json t
	damage "altered f 0+1 0+4096"
}
