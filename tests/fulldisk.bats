#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# A full disk under the state: trouble that is said, and nothing is lost.

load helper
load robust

# small KIB: a tmpfs of that size at $W/fs.
small() {
	need_root
	mkdir fs
	mount -t tmpfs -o "size=$1k,mode=0755" tmpfs fs || skip "needs to mount a tmpfs"
	MOUNTS+=("$W/fs")
}

room() { mount -o "remount,size=$1k" fs; }

# fills_up BYTES STATUS OPTION...: a run, slow enough that the disk is full when its journal has so many.
# It ends with that status.
fills_up() {
	local r=0 size=$1 want=$2
	shift 2
	"$SCRUB" run --rate=300K --state=fs/s "$@" tree >out 2>err &
	until_true 20 size_above fs/s/journal "$size"
	head -c 30M /dev/zero >fs/filler 2>/dev/null || true
	wait $! || r=$?
	rm fs/filler
	[ "$r" -eq "$want" ] || { echo "exit $r"; cat out err; return 1; }
	grep "No space left on device" err
}

# A run that fails for want of room: said, with the place, exit 8.
fails() {
	expect 8 run "$@" --state=fs/s tree
	says "No space left on device"
	says "$W/fs/s"
}

@test "nothing fits: the plan, the journal, the manifest" {
	small 256
	tree tree 3000
	expect 0 init --no-parity --state=fs/s tree
	fails
	# What there is, is whole: nothing, or a manifest with nothing in it.
	expect 0 list --state=fs/s tree
	[ -z "$output" ]
	fails
	room 20480
	expect 0 run --json --state=fs/s tree
	[ "$(summary new)" -eq 3000 ]
	tidy "fs/s"
	expect 0 run -q --no-parity --state=ref tree
	same_records ref fs/s tree
}

@test "no room for the first manifest" {
	small 8
	tree tree 10
	fails
	[ -z "$(find fs -type f -not -name '*.tmp')" ]
	expect 8 status --state=fs/s tree
	room 1024
	expect 0 run --json --state=fs/s tree
	[ "$(summary new)" -eq 10 ]
}

@test "the journal does not fit: what was finished before counts" {
	small 20480
	tree tree 1500
	expect 0 init --no-parity --state=fs/s tree
	fills_up 25000 8 -j1 --reads-in-flight=1
	[ -s fs/s/journal ]
	expect 0 status --json --state=fs/s tree
	left=$(jq .journal_records <<<"$output" | head -n 1)
	[ "$left" -gt 100 ]
	[ "$left" -lt 1500 ]
	expect 0 list --state=fs/s tree
	[ "$(wc -l <<<"$output")" -eq "$left" ]
	expect 0 verify --json --state=fs/s tree
	[ "$(summary ok)" -eq "$left" ]
	room 20480
	expect 0 run --json --state=fs/s tree
	[ "$(summary new)" -eq $((1500 - left)) ]
	[ "$(summary ok)" -eq "$left" ]
	expect 0 run -q --no-parity --state=ref tree
	same_records ref fs/s tree
}

@test "a file of many extents whose journal does not fit" {
	small 128
	mkdir tree
	large tree/large 500
	expect 0 init --no-parity --state=fs/s tree
	fails -j2
	room 20480
	expect 0 run -q --state=fs/s tree
	expect 0 run -q --no-parity --state=ref tree
	same_records ref fs/s tree
}

@test "no room for the next manifest: what was published stays usable" {
	small 20480
	tree tree 2000
	flip tree/d000/f00007 1
	expect 0 run -q --no-parity --state=fs/s tree
	flip_quietly tree/d000/f00007 1
	failed=0
	for size in 800 900 1000 1200 1400; do
		room "$size" 2>/dev/null || continue
		run --separate-stderr "$SCRUB" run --state=fs/s tree
		echo "$size KiB: exit $status"
		[ "$status" -ne 4 ] || break
		[ "$status" -eq 8 ] || [ "$status" -eq 12 ] || { show; return 1; }
		says "No space left on device"
		failed=$((failed + 1))
		run --separate-stderr "$SCRUB" list --json --state=fs/s tree
		[ "$status" -eq 0 ] || [ "$status" -eq 4 ]
		[ "$(jq -c 'select(.event == "list")' <<<"$output" | wc -l)" -eq 2000 ]
		expect 4 verify -q --state=fs/s tree
	done
	[ "$failed" -ge 3 ]
	room 20480
	expect 4 run --json --state=fs/s tree
	[ "$(summary altered)" -eq 1 ]
	[ "$(summary new)" -eq 0 ]
	tidy "fs/s"
}

@test "a disk that is full for a moment only costs that pass" {
	small 20480
	tree tree 500
	expect 0 run -q --state=fs/s tree
	cp fs/s/manifest before
	head -c 30M /dev/zero >fs/filler 2>/dev/null || true
	fails
	cmp fs/s/manifest before
	expect 0 verify -q --state=fs/s tree
	rm fs/filler
	expect 0 run --json --state=fs/s tree
	[ "$(summary ok)" -eq 500 ]
}

@test "no room for parity: nothing is read, and what to do is said" {
	small 2048
	mkdir tree
	large tree/large 100
	fails
	says "--no-parity"
	says "--parity=N"
	says "--state"
	expect 0 list --state=fs/s tree
	[ -z "$output" ]
	tidy fs/s "manifest"
	room 20480
	expect 0 run --json --state=fs/s tree
	[ "$(summary new)" -eq 1 ]
	tidy fs/s
}

@test "the disk becomes full while parity is written: what was finished before counts" {
	small 20480
	tree tree 100
	large tree/z1 100
	large tree/z2 100 2
	# It fits by what is free at first, not by what is free then.
	need_strace
	uncached tree/z1
	uncached tree/z2
	SLOW_PATH=$W/tree/z1 start_slow pread64 30000 run -j1 --reads-in-flight=1 --state=fs/s tree
	until_true 20 size_above fs/s/journal 25000
	head -c 30M /dev/zero >fs/filler 2>/dev/null || true
	r=0
	wait "$tracer" || r=$?
	[ "$r" -eq 8 ] || { cat out err; return 1; }
	grep "No space left on device" err
	rm fs/filler
	expect 0 list --state=fs/s tree
	[ "$(wc -l <<<"$output")" -ge 90 ]
	expect 0 verify -q --state=fs/s tree
	expect 0 run -q --state=fs/s tree
	expect 0 run -q --state=ref tree
	same_records ref fs/s tree
	expect 0 verify -q --state=fs/s tree
	tidy fs/s
}

# limited KIB STATUS COMMAND...: no file may become larger than that.
limited() {
	local kib=$1 want=$2
	shift 2
	(trap '' XFSZ; ulimit -f "$kib"; exec "$@") >out 2>err && return 1
	[ $? -eq "$want" ]
}

@test "parity of small files that fits in part: those files count, the others do not" {
	mkdir tree
	for i in $(seq 100 159); do
		head -c 4096 <(yes "$i") >"tree/$i"
	done
	expect 0 init --state=s tree
	limited 100 8 "$SCRUB" run -j1 --reads-in-flight=1 --state=s tree
	grep "cannot write parity in .*: File too large" err
	expect 0 list --state=s tree
	left=$(wc -l <<<"$output")
	[ "$left" -ge 25 ]
	[ "$left" -lt 60 ]
	expect 0 verify --json --state=s tree
	[ "$(summary ok)" -eq "$left" ]
	expect 0 run --json --state=s tree
	[ "$(summary new)" -eq $((60 - left)) ]
	[ "$(summary ok)" -eq "$left" ]
	expect 0 run -q --state=ref tree
	same_records ref s tree
	expect 0 verify -q --state=s tree
	tidy s
}

@test "parity of a large file that fits in part: its extents count" {
	mkdir tree
	head -c 40M <(yes "what it says") >tree/a
	expect 0 init --state=s tree
	# Of 16 MiB, 1 MiB: the second extent does not fit any more.
	limited 1500 8 "$SCRUB" run -j1 --reads-in-flight=1 --state=s tree
	grep "cannot write parity in .*: File too large" err
	run ! grep "cannot read" err
	expect 0 status --json --state=s tree
	[ "$(jq .journal_records <<<"$output" | head -n 1)" -eq 1 ]
	expect 0 run --json --state=s tree
	[ "$(summary new)" -eq 1 ]
	expect 0 run -q --state=ref tree
	same_records ref s tree
}

@test "damage that could not be written down is told all the same" {
	small 20480
	tree tree 300
	expect 0 run -q --state=fs/s tree
	flip_quietly tree/d000/f00003 5
	fills_up 5000 12
	grep "d000/f00003: altered" out
	expect 4 run --state=fs/s tree
	has "d000/f00003: altered"
}

@test "stdout that is full is trouble, and the pass is done nevertheless" {
	tree tree 50
	to_full() { "$SCRUB" run --state=s tree >/dev/full; }
	run -8 to_full
	expect 0 run --json --state=s tree
	[ "$(summary ok)" -eq 50 ]
}
