#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# What passes there were.

load helper
load pass

setup() {
	W=$BATS_TEST_TMPDIR
	cd "$W" || return 1
	mkdir t
	data 1 100000 >t/a
	echo two >t/b
}

@test "a line a pass, oldest first, with what happened" {
	expect 0 run -q t
	expect 0 run -q t
	echo three >t/c
	rm t/b
	expect 0 run -q t
	edit_quietly t/a 10
	expect 4 run -q t
	expect 4 status --history t
	[ "${#lines[@]}" = 6 ]
	[ "${lines[0]}" = t ]
	[[ ${lines[1]} =~ ^\ \ started\ +took\ +files\ +read\ +exit\ +pass$ ]]
	d="  $(date +%Y)-[0-9-]+ [0-9:]+ +[0-9.]+ s +"
	[[ ${lines[2]} =~ ^${d}2\ +"98 KiB"\ +0\ \ "first  2 new"$ ]]
	[[ ${lines[3]} =~ ^${d}2\ +"98 KiB"\ +0\ \ complete$ ]]
	[[ ${lines[4]} =~ ^${d}2\ +"98 KiB"\ +0\ \ "complete  1 new, 1 removed"$ ]]
	[[ ${lines[5]} =~ ^${d}2\ +[0-9.]+\ KiB\ +4\ \ "complete  1 altered"$ ]]
}

@test "JSON has all counts" {
	need jq
	expect 0 run -q t
	edit t/b 0
	expect 0 run -q t
	expect 0 status --json --history t
	json .event "pass pass summary"
	json 'select(.event == "pass") | "\(.generation) \(.complete) \(.first) \(.limited) \(.files) \(.bytes) \(.ok) \(.new) \(.changed) \(.exit)"' \
		"2 true true false 2 100004 0 2 0 0 3 true false false 2 100004 1 0 1 0"
	json 'select(.event == "pass") | .seconds < 60 and (.started | startswith("20"))' "true true"
}

@test "only passes of run that came as far as reading" {
	need jq
	expect 0 init t
	expect 0 status --json --history t
	json .event summary
	expect 0 run -q t
	expect 0 verify -q t
	rm t/a t/b
	expect 8 run -q t
	expect 0 status --json --history t
	json .event "pass summary"
}

@test "one that was stopped is told as such" {
	need_root
	need strace jq
	expect 0 run -q t
	data 2 3000000 >t/big
	# Each read of it takes its time, so that the signal comes while it is read.
	reads=pread64,preadv,preadv2,mmap
	ASAN_OPTIONS=detect_leaks=0 "$(type -P strace)" -f -qq -o /dev/null -P "$W/t/big" -e trace=$reads \
		-e inject=$reads:delay_enter=1500000 "$SCRUB" run -q -j1 t &
	pid=$!
	for _ in {1..200}; do
		[ -z "$(find /proc/[0-9]*/fd -lname "$W/t/big" 2>/dev/null)" ] || break
		sleep 0.05
	done
	pkill -TERM -P $pid
	status=0
	wait $pid || status=$?
	[ "$status" = 32 ]
	expect 0 status --history t
	[[ ${lines[3]} == *" 32  stopped"* ]]
}

@test "a damaged record is skipped, and said; the next pass goes on from what is left" {
	need jq
	for i in 1 2 3; do expect 0 run -q t; done
	[ "$(stat -c %s t/.bitscrub/history)" = 636 ]
	flip t/.bitscrub/history 300 3
	expect 8 status --json --history t
	json 'select(.event == "pass") | .generation' "2 4"
	json 'select(.event == "trouble") | .message' "$W/t/.bitscrub/history is damaged in 1 place; what was recorded there of earlier passes is lost, and nothing else"
	expect 0 run -q t
	expect 0 status --json --history t
	json 'select(.event == "pass") | .generation' "2 4 5"
}

@test "one that is no history at all does not stop a pass" {
	expect 0 run -q t
	head -c 3000000 /dev/zero >t/.bitscrub/history
	expect 8 status --history t
	says "cannot read $W/t/.bitscrub/history"
	expect 0 run -q t
	says "warning: t: the history of passes is lost: cannot read $W/t/.bitscrub/history"
	expect 0 status --history t
	[ "${#lines[@]}" = 3 ]
}

@test "without it there is nothing to tell; a manifest alone has none" {
	expect 0 run -q t
	rm t/.bitscrub/history
	expect 0 status --history t
	[ -z "$output" ]
	expect 16 status --history -m t/.bitscrub/manifest t
	says "a manifest alone has no history"
	expect 8 status --history nothing
}

@test "it is a part of the state: safe, and skipped in that of others" {
	need jq
	expect 0 run -q t
	[ "$(stat -c %a t/.bitscrub/history)" = 600 ]
	mkdir outer
	mv t outer
	expect 0 run --json outer
	tally "new=2"
	cp outer/t/.bitscrub/history h
	ln -sf "$W/h" outer/t/.bitscrub/history
	expect 8 run -q outer/t
	says "outer/t/.bitscrub/history is a symbolic link, which state never is: remove it"
}

@test "one that can't be read now is kept, and one on bad sectors begun anew" {
	need_root
	need strace jq
	expect 0 run -q t
	cp -p t/.bitscrub/history before
	run --separate-stderr strace -f -qq -o trace -P history -e trace=openat \
		-e inject=openat:error=EMFILE:when=1 "$SCRUB" run --json t
	[ "$status" = 8 ] || { cat trace; show; false; }
	json 'select(.event == "trouble") | .message' "the pass is done, but could not be added to its history: cannot open $W/t/.bitscrub/history: Too many open files"
	cmp t/.bitscrub/history before
	[ ! -e t/.bitscrub/history.tmp ]
	run --separate-stderr strace -f -qq -o trace -P "$W/t/.bitscrub/history" -e trace=pread64 \
		-e inject=pread64:error=EIO "$SCRUB" run -q t
	[ "$status" = 0 ] || { cat trace; show; false; }
	says "the history of passes is lost: cannot read $W/t/.bitscrub/history"
	expect 0 status --json --history t
	json .event "pass summary"
}

@test "that it could not be written is trouble, and the pass is published" {
	need_root
	need strace jq
	expect 0 run -q t
	echo new >t/c
	run --separate-stderr strace -f -o trace -e trace=renameat -e inject=renameat:error=EIO:when=3 \
		"$SCRUB" run --json t
	[ "$status" = 8 ] || { cat trace; show; false; }
	json 'select(.event == "trouble") | "\(.errno) \(.message)"' \
		"EIO the pass is done, but could not be added to its history: $W/t/.bitscrub"
	expect 0 list t
	[ "${lines[2]}" = c ]
	[ ! -e t/.bitscrub/history.tmp ]
}
