#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# The early no: what a state has no room for, or can't be written, is known before anything is read.

load helper
load pass

# room KIB: a tmpfs of that size at fs.
room() {
	need_root
	mkdir -p fs
	mount -t tmpfs -o "size=$1k,mode=0755" tmpfs fs || skip "needs to mount a tmpfs"
	MOUNTS+=("$W/fs")
}

make_tree() {
	local i
	mkdir -p t
	for i in $(seq "$1"); do
		echo "$i" >"t/f$i"
	done
}

# nothing_read: by the trace of the last run: no file of the tree was opened.
refused() {
	need strace
	run --separate-stderr strace -f -qq -o trace -e trace=openat,openat2 "$SCRUB" run "$@"
	[ "$status" -eq 8 ] || { show; return 1; }
	if grep -E '"f[0-9]+"' trace; then
		return 1
	fi
}

@test "a full disk: how much is needed, where, how much is free" {
	room 400
	make_tree 1000
	expect 0 init --no-parity --state=fs/s t
	refused --state=fs/s t
	says "the pass needs up to "
	says " KiB in $W/fs/s, where "
	says " KiB are free: nothing was read"
	says "--state DIR"
	says "No space left on device"
	mount -o remount,size=4000k fs
	expect 0 run --json --state=fs/s t
	summary new 1000
}

@test "a pass that is limited needs less" {
	room 8000
	mkdir t
	for i in {1..300}; do data "$i" 100000 >"t/f$i"; done
	expect 0 run -q --no-parity --block-size=512 --state=fs/s t
	# Room for the plan, the next manifest, and a quarter of a journal.
	size=$(($(stat -c %s fs/s/manifest) / 1024))
	free=$(df --output=avail -k fs | tail -n 1)
	head -c $(((free - size * 3 / 2) * 1024)) /dev/zero >fs/filler
	refused --state=fs/s t
	expect 0 run --json --max-bytes=500K --state=fs/s t
	summary limited max-bytes
}

@test "a state that can't be written" {
	make_fs ext4 20
	cd fs
	make_tree 5
	cd "$W"
	expect 0 run -q fs/t
	mount -o remount,ro fs
	refused fs/t
	says "cannot write in $W/fs/t/.bitscrub: nothing was read: Read-only file system"
	expect 0 verify -q fs/t
}

@test "a huge hole needs no room" {
	room 400
	mkdir t
	truncate -s 8T t/hole
	expect 0 run --json --state=fs/s t
	summary new 1
}
