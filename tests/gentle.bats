#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Getting in nobody's way: the rate, the niceness, and waiting for the lock.

load helper
load pass
load robust

make_tree() {
	mkdir t
	data 1 "$1" >t/a
	data 2 "$1" >t/b
	settle
	expect 0 run -q t
}

# seconds COMMAND...: how long it takes, in tenths.
tenths() {
	local from=${EPOCHREALTIME/[.,]/}
	"$@" || return
	took=$(((${EPOCHREALTIME/[.,]/} - from) / 100000))
}

@test "--rate: 4 MiB at 2 MiB a second, with any number of threads" {
	make_tree 2097152
	for jobs in 1 4; do
		tenths expect 0 run --json -j "$jobs" --rate=2M t
		tally "ok=2"
		echo "$took tenths"
		[ "$took" -ge 15 ]
		[ "$took" -lt 60 ]
	done
	tenths expect 0 verify -q --rate=2M t
	[ "$took" -ge 15 ]
}

@test "time in which the process was stopped is no part of the rate that the closing block tells" {
	make_tree 1000000
	"$SCRUB" run --rate=1M t >out 2>err &
	pid=$!
	sleep 0.5
	kill -STOP $pid
	sleep 6
	kill -CONT $pid
	wait $pid
	cat out
	# With the six seconds it would be 7 s and 280 KiB/s.
	grep -Eq 'read 1.9 MiB in [0-4](\.[0-9]+)? s, ([5-9][0-9][0-9] KiB|[1-9](\.[0-9])? MiB)/s' out
	# What is data counts all of it.
	expect 0 status --json t
	json 'select(.event == "status") | .last_pass_seconds > 6' true
}

@test "holes cost nothing at any rate" {
	mkdir t
	truncate -s 10G t/hole
	tenths expect 0 run -q --rate=1M t
	[ "$took" -lt 50 ]
}

@test "a signal does not wait for the rate" {
	make_tree 3000000
	"$SCRUB" run --rate=10K t >out 2>err &
	pid=$!
	sleep 1
	kill -TERM $pid
	finish 32 3
}

@test "--nice: niceness 19 and the idle class of I/O, for the threads that read" {
	need ionice
	mkdir t
	head -c 200000000 /dev/urandom >t/large
	expect 0 run -q --no-parity t
	"$SCRUB" run --nice --rate=100K -j2 t >out 2>err &
	pid=$!
	sleep 1.5
	nices=$(cat /proc/$pid/task/*/stat | sed 's/.*) //' | cut -d ' ' -f 17 | sort -n | uniq -c)
	classes=$(for t in /proc/"$pid"/task/*; do ionice -p "${t##*/}"; done | sort | uniq -c)
	kill -TERM $pid
	wait $pid || [ $? -eq 32 ]
	echo "$nices; $classes"
	# Two that read; the thread that watches is not among them.
	[ "$(awk '$2 == 19 { print $1 }' <<<"$nices")" -ge 2 ]
	[ "$(awk '/idle/ { print $1 }' <<<"$classes")" -ge 2 ]
	run ! grep cannot err
}

@test "--wait=TIME: so long at most, then trouble; --wait alone: until it is free" {
	make_tree 10000
	flock t/.bitscrub sleep 4 &
	until ! flock -n t/.bitscrub true; do sleep 0.05; done
	tenths expect 8 run --wait=1 t
	says "is in use"
	says "waited for it in vain"
	[ "$took" -ge 10 ]
	[ "$took" -lt 25 ]
	tenths expect 0 run --json --wait t
	tally "ok=2"
	[ "$took" -ge 10 ]
	flock t/.bitscrub sleep 2 &
	until ! flock -n t/.bitscrub true; do sleep 0.05; done
	expect 0 run -q --wait=1m t
}
