#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Passes that look at a part only, and what status then knows.

load helper
load pass

# Files of 10000 bytes, recorded when nothing is racy any more.
make_tree() {
	local i
	mkdir t
	for i in $(seq -w "$1"); do
		data "$i" 10000 >"t/f$i"
		touch -d '2020-01-02 03:04:05' "t/f$i"
	done
	settle
	expect 0 run -q t
}

@test "--portion: so much of all, the oldest first, and everything after so many passes" {
	make_tree 20
	for n in $(seq -w 20); do
		expect 0 run -j1 --reads-in-flight=1 --json --verbose --portion=5% t
		tally "ok=1"
		verdict "f$n" ok
		summary complete false
		summary limited portion
		summary bytes_left 190000
	done
	# And again from the start.
	expect 0 run -j1 --reads-in-flight=1 --json --verbose --portion=5% t
	verdict f01 ok
	# All of it is no limit.
	expect 0 run --json --portion=100% t
	tally "ok=20"
	summary complete true
	summary limited null
}

@test "--max-bytes: as many files as it takes to reach it; the rest keeps its place" {
	make_tree 10
	expect 0 run -j1 --reads-in-flight=1 --json --max-bytes=25000 t
	tally "ok=3"
	summary bytes_read 30000
	summary limited max-bytes
	summary bytes_left 70000
	expect 0 run -j1 --reads-in-flight=1 --json --verbose --max-bytes=20000 t
	tally "ok=2"
	verdict f04 ok
	verdict f05 ok
	expect 0 run --json --max-bytes=1G t
	summary complete true
}

@test "what is left, and how old the oldest check is, in words; no bit of the exit status" {
	make_tree 4
	expect 0 run --max-bytes=1 t
	has "t: a part of a pass"
	has "4 files, 39 KiB: 1 ok"
	has "left by --max-bytes: 29 KiB; the oldest check was today"
	hasnt "No damage"
	expect 0 run -q --max-bytes=1 t
	[ -z "$output$stderr" ]
}

@test "--max-time: reads for so long and publishes" {
	make_tree 30
	start=$EPOCHSECONDS
	expect 0 run --json --max-time=1s --rate=50K t
	[ $((EPOCHSECONDS - start)) -lt 5 ]
	summary limited max-time
	[ "$(jq .ok <<<"$output")" -gt 2 ]
	[ "$(jq .ok <<<"$output")" -lt 30 ]
	[ ! -e t/.bitscrub/journal ]
	expect 0 run --json --max-time=1h t
	tally "ok=30"
	summary complete true
}

@test "a new file comes before what is recorded; a limit below it leaves it for the next pass" {
	make_tree 6
	data 77 10000 >t/z1
	data 78 10000 >t/z2
	expect 0 run -j1 --reads-in-flight=1 --json --verbose --max-bytes=1 t
	# One of each kind.
	tally "ok=1 new=1"
	verdict z1 new
	expect 0 run -j1 --reads-in-flight=1 --json --verbose --max-bytes=20000 t
	tally "ok=1 new=1"
	verdict z2 new
	expect 0 list t
	[ "$(wc -l <<<"$output")" -eq 8 ]
}

@test "--older-than: nothing that was checked lately; what is new in any case" {
	make_tree 5
	data 77 10000 >t/new
	expect 0 run --json --older-than=1d t
	tally "new=1"
	summary limited older-than
	summary bytes_left 50000
	sleep 1.1
	expect 0 run --json --older-than=1s t
	tally "ok=6"
	summary complete true
	expect 0 run --older-than=4w t
	has "left by --older-than: 59 KiB"
}

@test "--only=new and --only=damaged, apart and together" {
	make_tree 5
	edit_quietly t/f2 5000
	expect 4 run -q t
	data 77 10000 >t/new
	edit t/f3 100
	expect 4 run --json --verbose --only=new t
	tally "new=1 changed=1 blocks_damaged=1 files_damaged=1"
	summary limited only
	expect 4 run --json --verbose --only=damaged t
	tally "altered=1 blocks_damaged=1 files_damaged=1"
	verdict f2 altered
	data 78 10000 >t/new2
	expect 4 run --json --only=damaged,new t
	tally "new=1 altered=1 blocks_damaged=1 files_damaged=1"
	data 79 10000 >t/new3
	expect 4 run --json --only=damaged --only=new t
	tally "new=1 altered=1 blocks_damaged=1 files_damaged=1"
}

@test "limits combine: the first that is reached ends it" {
	make_tree 10
	sleep 1.1
	expect 0 run --json --max-bytes=30000 --portion=50% --older-than=1s t
	summary limited max-bytes
	tally "ok=3"
	sleep 1.1
	expect 0 run --json --max-bytes=1G --portion=50% --max-time=1h --older-than=1s t
	summary limited portion
	tally "ok=5"
}

@test "damage in the part is found, and that in the rest stays to be found" {
	make_tree 4
	edit_quietly t/f1 5000
	edit_quietly t/f4 5000
	expect 4 run -j1 --reads-in-flight=1 --json --max-bytes=1 t
	damage "altered f1 1+1 4096+4096"
	expect 4 run -j1 --reads-in-flight=1 --json --max-bytes=20000 t
	tally "ok=2 blocks_damaged=1 files_damaged=1"
	expect 4 run -j1 --reads-in-flight=1 --json --max-bytes=1 t
	damage "altered f4 1+1 4096+4096"
	summary files_damaged 2
}

@test "what is gone leaves the manifest, and hard links count with the file that stands for them" {
	make_tree 6
	ln t/f2 t/link
	expect 0 run -q t
	rm t/f6
	expect 0 run -j1 --reads-in-flight=1 --json --verbose --max-bytes=1 t
	tally "ok=1 removed=1"
	expect 0 run -j1 --reads-in-flight=1 --json --verbose --max-bytes=1 t
	tally "ok=2"
	verdict f2 ok
	verdict link ok
}

@test "a file that moved is carried along until its turn comes" {
	make_tree 4
	mv t/f4 t/a
	expect 0 run -j1 --reads-in-flight=1 --json --max-bytes=1 t
	expect 0 list t
	[ "$(paste -sd ' ' <<<"$output")" = "a f1 f2 f3" ]
	expect 0 run --json t
	summary "ok + .touched" 4
}

@test "a large file gets on extent by extent, in a new and in a recorded state" {
	mkdir t
	data 1 3000 >t/a
	expect 0 run -q t
	data 2 90000000 >t/large
	for n in 1 2 3 4 5; do
		expect 0 run -q --max-bytes=1 t
		expect 0 status --json t
		json 'select(.event == "status") | .extents' $((1 + n))
	done
	expect 0 verify -q t
	# Two or three of its five extents: the last is longer, and the order among threads is open.
	expect 0 run --json --max-bytes=40M t
	summary 'bytes_read | . >= 41943040 and . < 66000000' true
	summary limited max-bytes
}

@test "status: ages as bars, coverage, and the rate from the second day on" {
	make_tree 10
	expect 0 run -q t
	expect 0 status t
	has "checked      oldest today, newest today"
	has "ages         below     1 day   #################### 98 KiB, 100 % up to here"
	hasnt "at this rate"
	expect 0 status --json t
	json 'select(.event == "status") | .coverage[0] | "\(.days) \(.bytes) \(.percent)"' "1 100000 100"
	json 'select(.event == "status") | .cycle_days' null
}

@test "bad values name the value and the forms that are accepted" {
	mkdir t
	for bad in max-time=1y max-time=0 older-than=soon max-bytes=lots max-bytes=0 portion=5 portion=0% \
		portion=101% rate=0 rate=fast wait=never; do
		expect 16 run "--$bad" t
		says "--${bad%%=*}: '${bad#*=}' is no "
		says " such as "
	done
	for bad in old "" "new," ",new"; do
		expect 16 run "--only=$bad" t
		says "--only: '$bad' is no kind: 'new', 'damaged', or 'new,damaged'"
	done
	# As a script has it whose variable is not set.
	for empty in metrics on-damage config state; do
		expect 16 run "--$empty=" t
		says "--$empty: '' is no value"
	done
	expect 16 verify --max-time=1h t
	[ ! -e t/.bitscrub ]
}

@test "status after a first pass that was stopped: what it came to, in all lines" {
	mkdir t
	for i in 1 2 3 4 5 6 7 8; do data "$i" 200000 >"t/f$i"; done
	"$SCRUB" run -j1 --reads-in-flight=1 --rate=400K t >out 2>err &
	pid=$!
	sleep 2
	kill -TERM $pid
	wait $pid || [ $? -eq 32 ]
	expect 0 status --json t
	n=$(jq 'select(.event == "status") | .files' <<<"$output")
	[ "$n" -ge 1 ]
	[ "$n" -le 7 ]
	json 'select(.event == "status") | "\(.files) \(.bytes) \(.blocks) \(.extents)"' \
		"$n $((n * 200000)) $((n * 13)) $n"
	json 'select(.event == "status") | "\(.bytes_never_checked) \(.coverage[0].percent)"' "0 100"
	expect 0 status t
	has "recorded     $n file"
	has "checked      oldest today, newest today"
	hasnt "never"
	expect 0 status --history t
	[ "$(tail -n 1 <<<"$output" | awk '{ print $5, $8, $9 }')" = "- 32 stopped" ]
}

@test "open damage that a limited pass did not come to is in the exit status that status tells" {
	make_tree 3
	edit_quietly t/f3 5000
	expect 4 run -q t
	expect 4 run -j1 --reads-in-flight=1 --json --max-bytes=1 t
	tally "ok=1 blocks_damaged=1 files_damaged=1"
	expect 4 status --json t
	json 'select(.event == "status") | .last_pass_exit' 4
}

@test "what is settled before anything is read is told once, however many bands it is in" {
	mkdir t
	data 1 100000000 >t/large
	data 2 10000 >t/small
	touch -d '2020-01-02 03:04:05' t/large t/small
	settle
	expect 0 run -q --no-parity t
	# Ages of its own for each extent.
	for n in 1 2 3; do expect 0 run -q --max-bytes=1 t; done
	for f in large small; do edit_quietly "t/$f" 5000; done
	expect 4 run -q t
	edit t/large 90000000
	edit t/small 9000
	for limit in max-bytes=1 max-bytes=40M portion=50%; do
		expect 4 run --json "--$limit" t
		json 'select(.event == "damage") | .path' "large small"
		tally "altered=2 blocks_damaged=2 files_damaged=2"
	done
}

@test "the oldest get the budget, whichever thread is faster" {
	mkdir t
	for i in $(seq -w 300); do head -c 10000 /dev/urandom >"t/s$i"; done
	expect 0 run -q t
	head -c 120000000 /dev/urandom >t/zlarge
	expect 0 run -q --only=new t
	# Copies in one state: each time the small files are older than any extent of the large one.
	for n in 1 2 3 4 5; do
		rm -rf state
		cp -a t/.bitscrub state
		expect 0 run --state state --json --verbose --reads-in-flight=16 --max-bytes=2950000 t
		tally "ok=295"
		verdict zlarge none
	done
}

@test "a file that has another size than its record is looked at whole" {
	mkdir tree
	data 1 200000 >tree/f
	data 2 40000000 >tree/g
	touch -d 2020-01-01 tree/f tree/g
	sleep 2.1
	expect 0 run -q --state=s tree
	cp -a s limited
	: >tree/f
	data 2 17000000 >tree/g
	touch -d 2020-01-01 tree/f tree/g
	expect 4 run --json --state=s tree
	all=$(jq -c 'select(.event == "damage") | [.path, .kind, .block, .blocks, .offset, .length]' \
		<<<"$output" | sort)
	[ "$(wc -l <<<"$all")" -ge 3 ]
	expect 4 run --json --max-bytes=1G --state=limited tree
	diff <(echo "$all") <(jq -c 'select(.event == "damage") |
		[.path, .kind, .block, .blocks, .offset, .length]' <<<"$output" | sort)
	# And one that grew by more extents than it had.
	data 3 300000 >tree/f
	data 4 90000000 >tree/g
	expect 0 accept -q --state=limited tree .
	expect 0 verify --state=limited tree
}
