#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Two at once: who waits, who refuses, and what those see who only look.

load helper
load robust

# A pass that stands still in the middle: it is stopped with some of its journal written.
stand_still() {
	need_strace
	tree tree 300
	expect 0 init --state=s tree
	start_slow openat2 5000 run -j1 --reads-in-flight=1 --state=s tree
	until_true 20 size_above s/journal 5000
	kill -STOP "$pid"
}

go_on() {
	kill -CONT "$pid"
	# The delays are no longer of use.
	finish 0 30 "$tracer"
}

@test "a second pass exits with 8, and says who holds the state and since when" {
	stand_still
	for verb in run init "accept ." "config block-size=4K"; do
		# shellcheck disable=SC2086 # words
		set -- $verb
		expect 8 "$1" --state=s tree "${@:2}"
		says "$W/s is in use by process $pid (scrub, running since 20"
		says "--wait"
	done
	go_on
	expect 0 run -q --state=s tree
}

@test "--wait waits for the pass that runs" {
	stand_still
	"$SCRUB" run --wait --json --state=s tree >waited 2>waited.err 3>&- &
	second=$!
	PIDS+=("$second")
	sleep 1
	kill -0 "$second"
	[ ! -s waited ]
	go_on
	r=0
	wait "$second" || r=$?
	[ "$r" -eq 0 ]
	output=$(cat waited)
	[ "$(summary ok)" -eq 300 ]
}

@test "a signal ends the waiting" {
	stand_still
	attentive "$SCRUB" run --wait --state=s tree >waited 2>waited.err 3>&- &
	second=$!
	PIDS+=("$second")
	sleep 0.5
	kill -INT "$second"
	r=0
	wait "$second" || r=$?
	[ "$r" -eq 32 ]
	grep "stopped while waiting for $W/s" waited.err
	go_on
}

@test "status and list during a pass answer at once, and say what they show" {
	stand_still
	begin=$SECONDS
	expect 0 status --state=s tree
	says "in use by process $pid"
	says "last published manifest"
	expect 0 status --json --state=s tree
	json 'select(.event == "status") | .pass_running, .running_pid, .files' "true $pid 0"
	expect 0 list --state=s tree
	says "last published manifest"
	[ -z "$output" ]
	expect 0 config --state=s tree
	has "block-size=65536"
	[ $((SECONDS - begin)) -le 3 ]
	go_on
	expect 0 status --json --state=s tree
	json 'select(.event == "status") | .pass_running, .files' "false 300"
	saysnt "in use"
}

@test "verify and export during a pass exit with 8, or wait" {
	stand_still
	expect 8 verify --state=s tree
	says "in use by process $pid"
	expect 8 export --format=sfv --state=s tree
	says "in use by process $pid"
	hasnt f0
	"$SCRUB" export --wait --format=sfv --state=s tree >sfv 2>sfv.err 3>&- &
	second=$!
	"$SCRUB" verify --wait --json --state=s tree >verified 2>verified.err 3>&- &
	third=$!
	PIDS+=("$second" "$third")
	go_on
	wait "$second"
	wait "$third"
	[ "$(grep -vc '^;' sfv)" -eq 300 ]
	output=$(cat verified)
	[ "$(summary ok)" -eq 300 ]
}

@test "those who only read don't hinder each other, but a pass" {
	need_strace
	tree tree 200
	expect 0 run -q --state=s tree
	start_slow openat2 5000 verify -j1 --reads-in-flight=1 --state=s tree
	sleep 0.5
	kill -STOP "$pid"
	expect 0 verify -q --state=s tree
	expect 0 export --format=sfv --state=s tree
	expect 0 list --state=s tree
	saysnt "in use"
	expect 0 status --state=s tree
	saysnt "in use"
	expect 8 run --state=s tree
	says "in use by process $pid (scrub"
	kill -CONT "$pid"
	finish 0 20 "$tracer"
}

@test "a lock that a killed pass held is gone with it" {
	stand_still
	kill -KILL "$pid"
	wait "$tracer" || true
	expect 0 run --json --state=s tree
	[ "$(summary files)" -eq 300 ]
}

@test "two first passes at once: one state, and nobody's work is lost" {
	tree tree 400
	for round in 1 2 3 4 5; do
		"$SCRUB" run --json --state="s$round" tree >a 2>a.err 3>&- &
		first=$!
		"$SCRUB" run --json --state="s$round" tree >b 2>b.err 3>&- &
		second=$!
		r1=0 r2=0
		wait "$first" || r1=$?
		wait "$second" || r2=$?
		echo "$r1 $r2"
		cat a.err b.err
		# One of them may have been too late or too early, not both.
		[ "$r1" -eq 0 ] || [ "$r2" -eq 0 ]
		[ "$r1" -eq 0 ] || [ "$r1" -eq 8 ]
		[ "$r2" -eq 0 ] || [ "$r2" -eq 8 ]
		expect 0 run --json --state="s$round" tree
		[ "$(summary ok)" -eq 400 ]
	done
}

@test "targets with states of their own don't hinder each other" {
	need_strace
	tree tree 200
	tree other 50
	start_slow openat2 5000 run -j1 --reads-in-flight=1 --state=s tree
	until_true 20 size_above s/journal 5000
	kill -STOP "$pid"
	expect 0 run -q --state=t other
	expect 0 run -q --state=t2 tree
	go_on
}

@test "a read-only state directory is read without a fuss" {
	need_root
	tree tree 20
	mkdir fs
	mount -t tmpfs -o size=4m,mode=0755 tmpfs fs || skip "needs to mount a tmpfs"
	MOUNTS+=("$W/fs")
	expect 0 run -q --state=fs/s tree
	mount -o remount,ro fs
	expect 0 verify --json --state=fs/s tree
	[ "$(summary ok)" -eq 20 ]
	expect 0 list --state=fs/s tree
	expect 0 status --state=fs/s tree
	expect 8 run --state=fs/s tree
	says "Read-only file system"
	says "$W/fs/s"
}
