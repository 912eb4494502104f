#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# How a pass behaves towards whoever watches it: status line, signals, a reader that goes away.

load helper

# The leak detector of a sanitized build can't work under ptrace.
export ASAN_OPTIONS=detect_leaks=0
# slow MICROSECONDS: sets SLOW, a prefix that makes each read of a file in dir take so long.
slow() {
	local i reads=pread64,preadv,preadv2
	SLOW=("$(type -P strace)" -f -qq -o /dev/null -e "trace=$reads" -e "inject=$reads:delay_enter=$1")
	for i in "$W"/dir/*; do
		SLOW+=(-P "$i")
	done
}

# Until the pass on dir, whose output is in out and err, has begun to read.
wait_for_reading() {
	local i
	for ((i = 0; i < 100; i++)); do
		[ -e dir/.bitscrub/journal ] && break
		sleep 0.1
	done
	sleep 0.3
}

setup() {
	W=$BATS_TEST_TMPDIR
	cd "$W" || return 1
	mkdir dir
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		data "$i" 5000 >"dir/file $i"
	done
}

need_slow() {
	need strace
	strace -f -qq -o /dev/null true 2>/dev/null || skip "needs ptrace"
	slow 100000
}

# on_terminal COMMAND...: what a terminal gets is in the file seen; $status is the exit status.
on_terminal() {
	local words
	printf -v words '%q ' "$@"
	status=0
	TERM=xterm script -qec "$words" /dev/null </dev/null >seen || status=$?
}

# The lines that stay on the screen: what is behind the last clearing of each.
screen() {
	tr -d '\r' <seen | sed 's/.*\x1b\[K//'
}

@test "a status line on a terminal, gone when other lines come" {
	need_slow
	on_terminal "${SLOW[@]}" "$SCRUB" run -j1 --reads-in-flight=1 dir
	[ "$status" -eq 0 ]
	grep -q $'\r\e\[K.*\[#*\.*\] [0-9]* % [0-9.]* of 59 KiB' seen
	grep -q "'file [0-9]*'" seen
	screen >shown
	run ! grep -q ' % ' shown
	head -n 1 shown | grep -q '^dir: first pass: recorded, nothing was compared$'
}

@test "no status line without a terminal" {
	need_slow
	"${SLOW[@]}" "$SCRUB" run -j1 --reads-in-flight=1 dir >out 2>err
	run ! grep -q $'\r\|\e' out err
	[ ! -s err ]
}

@test "no status line under -q, with --json, and on a dumb terminal" {
	need_slow
	on_terminal "${SLOW[@]}" "$SCRUB" run -q -j1 --reads-in-flight=1 dir
	[ "$status" -eq 0 ]
	[ ! -s seen ]
	on_terminal "${SLOW[@]}" "$SCRUB" run --json -j1 --reads-in-flight=1 dir
	run ! grep -q $'\e' seen
	on_terminal env TERM=dumb "${SLOW[@]}" "$SCRUB" run -j1 --reads-in-flight=1 dir
	run ! grep -q $'\e' seen
}

@test "damage is red on a terminal, unless NO_COLOR is set" {
	expect 0 run dir
	touch -r "dir/file 3" stamp
	flip "dir/file 3" 100
	touch -r stamp "dir/file 3"
	on_terminal "$SCRUB" run dir
	[ "$status" -eq 4 ]
	grep -q $'\e\[1;31maltered\e\[m' seen
	on_terminal env NO_COLOR=1 "$SCRUB" run dir
	run ! grep -q $'\e\[1' seen
	grep -q altered seen
	expect 4 run dir
	hasnt $'\e'
}

@test "SIGUSR1 tells at once how far it is, even under -q" {
	need_slow
	"${SLOW[@]}" "$SCRUB" run -q -j1 --reads-in-flight=1 dir 2>err &
	wait_for_reading
	pkill -USR1 -f "run -q -j1 --reads-in-flight=1 dir" -P $!
	wait $!
	grep -q '^scrub: [0-9]* % .* of 59 KiB' err
}

@test "SIGINT and SIGTERM stop, exit 32, and keep what was done" {
	need_slow
	for sig in INT TERM; do
		rm -rf dir/.bitscrub
		# A shell's background job ignores SIGINT, env puts that right.
		env --default-signal=INT "${SLOW[@]}" "$SCRUB" run -j1 --reads-in-flight=1 dir >out 2>err &
		wait_for_reading
		pkill -$sig -f "run -j1 --reads-in-flight=1 dir" -P $!
		status=0
		wait $! || status=$?
		[ "$status" -eq 32 ] || { echo "exit $status"; cat out err; }
		[ "$status" -eq 32 ]
		grep -q 'stopping; what was done is kept' err
		grep -q '^dir: stopped; what was done is kept$' out
		grep -q '(goes on from here)$' out
	done
	[ -e dir/.bitscrub/journal ]
	expect 0 run dir
	has "12 files"
	says "going on from a pass that was stopped"
}

@test "a second SIGINT ends it at once; the next pass goes on" {
	need_slow
	slow 3000000
	env --default-signal=INT "${SLOW[@]}" "$SCRUB" run -j1 --reads-in-flight=1 dir >out 2>err &
	wait_for_reading
	pkill -INT -f "run -j1 --reads-in-flight=1 dir" -P $!
	sleep 0.3
	pkill -INT -f "run -j1 --reads-in-flight=1 dir" -P $!
	status=0
	wait $! || status=$?
	[ "$status" -eq 130 ]
	grep -q 'again: end at once' err
	expect 0 run dir
	has "12 files"
}

@test "signals that were ignored stay ignored" {
	need_slow
	(trap '' INT HUP; exec "${SLOW[@]}" "$SCRUB" run -j1 --reads-in-flight=1 dir >out 2>err) &
	wait_for_reading
	pkill -INT -f "run -j1 --reads-in-flight=1 dir" -P $!
	pkill -HUP -f "run -j1 --reads-in-flight=1 dir" -P $!
	wait $!
	grep -q '^dir: first pass' out
}

@test "a pass whose reader goes away ends, is complete, and is trouble" {
	to_nobody() { "$SCRUB" run dir | true; return "${PIPESTATUS[0]}"; }
	run --separate-stderr to_nobody
	[ "$status" -eq 8 ]
	says "cannot write to standard output: Broken pipe"
	expect 0 run dir
	has "12 ok"
}

@test "a pass whose output can't be written ends, is complete, and is trouble" {
	to_full() { "$SCRUB" run dir >/dev/full; }
	run --separate-stderr to_full
	[ "$status" -eq 8 ]
	says "cannot write to standard output: No space left on device"
	to_closed() { "$SCRUB" run dir >&-; }
	run --separate-stderr to_closed
	[ "$status" -eq 8 ]
	says "cannot write to standard output: Bad file descriptor"
	expect 0 run dir
	has "12 ok"
}

@test "a list that nobody reads to its end ends without a word" {
	expect 0 run dir
	to_head() { "$SCRUB" list dir | head -n 0; return "${PIPESTATUS[0]}"; }
	run --separate-stderr to_head
	[ "$status" -eq 141 ] || [ "$status" -eq 0 ]
	[ -z "$stderr" ]
}

@test "with all of 0, 1 and 2 closed nothing is written into the state" {
	all_closed() { "$SCRUB" run dir <&- >&- 2>&-; }
	run all_closed
	[ "$status" -eq 8 ]
	expect 0 run dir
	has "12 ok"
}
