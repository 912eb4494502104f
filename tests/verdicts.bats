#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a pass says about files whose content, times and names did or did not change.

load helper
load pass

# Blocks: a file of 200000 bytes is cut into 12 of 16384 and one of 3392; one of 5000 into 4096 + 904.
populate() {
	mkdir -p t/sub/deep
	data 1 200000 >t/kept
	data 2 200000 >t/edited
	data 3 5000 >t/sub/appended
	data 4 5000 >t/sub/shrunk
	data 5 5000 >t/sub/deep/touched
	data 6 5000 >t/chmodded
	data 7 200000 >t/renamed
	data 8 5000 >t/removed
	data 9 200000 >t/altered
	: >t/empty
	: >t/filled
	data 10 5000 >t/emptied
}

@test "a first pass records and says so; the second compares" {
	populate
	expect 0 run t
	has "t: first pass: recorded, nothing was compared"
	has "  12 files, "
	has ": 12 new"
	hasnt "No damage"
	[ -z "$stderr" ]
	expect 0 run t
	has "t: pass complete"
	has ": 12 ok"
	has "No damage."
	hasnt "first pass"
}

@test "the summary of a first pass and of the second" {
	populate
	expect 0 run --json t
	tally "new=12"
	json 'select(.event == "summary") | [.schema, .verb, .target, .complete, .first, .files,
		.bytes, .blocks, .bytes_read, .exit] | join(" ")' \
		"1 run t true true 12 830000 64 830000 0"
	json .event summary
	expect 0 run --json t
	tally "ok=12"
	summary first false
	summary bytes_read 830000
}

@test "every verdict in one pass" {
	populate
	settle
	expect 0 run --json t
	edit t/edited 70000
	data 11 200 >>t/sub/appended
	truncate -s 4999 t/sub/shrunk
	touch t/sub/deep/touched
	chmod 600 t/chmodded
	mv t/renamed t/sub/moved
	rm t/removed
	edit_quietly t/altered 100000
	echo text >t/filled
	: >t/emptied
	data 12 777 >t/sub/fresh
	expect 4 run --json --verbose t
	tally "ok=2 new=1 changed=5 touched=2 moved=1 removed=1 altered=1 blocks_damaged=1 files_damaged=1"
	summary complete true
	summary exit 4
	verdict kept ok
	verdict empty ok
	verdict edited "changed bit_flip"
	verdict sub/appended changed
	verdict sub/shrunk changed
	verdict sub/deep/touched touched
	verdict chmodded touched
	verdict sub/moved "moved from renamed"
	verdict removed removed
	verdict renamed none
	verdict altered altered
	verdict filled changed
	verdict emptied changed
	verdict sub/fresh new
	damage "altered altered 6+1 98304+16384"
	# What was taken is sound now, what was damage still is.
	expect 4 run --json --verbose t
	tally "ok=11 altered=1 blocks_damaged=1 files_damaged=1"
	damage "altered altered 6+1 98304+16384 known"
}

@test "the same in text" {
	populate
	settle
	expect 0 run -q t
	[ -z "$output$stderr" ]
	edit_quietly t/altered 100000
	mv t/renamed t/sub/moved
	data 2 200001 >t/edited
	expect 4 run --verbose t
	has "t: altered: altered in block 6: 16384 bytes at offset 98304, under an unchanged modification time"
	has "t: sub/moved: moved from renamed"
	has "t: edited: changed"
	has "t: empty: ok"
	has "t: DAMAGE: 1 block in 1 file"
	has "Next: "
	has "accept t PATH..."
	hasnt "No damage"
	expect 4 run -q t
	[[ ${lines[1]} =~ ^t:\ altered:\ altered,\ still\ damaged\ since\ 20[0-9-]+\ [0-9:]+$ ]]
	[ "$(grep -c "t: altered" <<<"$output")" -eq 1 ]
	[ -z "$stderr" ]
}

@test "a change by one bit is told as such, by more it is not" {
	populate
	expect 0 run -q t
	edit t/edited 70000 3
	edit t/sub/appended 4999 7
	edit t/chmodded 1
	flip t/kept 5
	edit t/kept 9
	flip t/altered 5
	edit t/altered 150000
	expect 0 run t
	has "t: edited: changed, looks like a bit flip"
	has "t: sub/appended: changed, looks like a bit flip"
	has "t: chmodded: changed, looks like a bit flip"
	hasnt "kept:"
	hasnt "altered:"
	has "5 changed"
}

@test "a new size with the time put back is altered, over the whole file" {
	populate
	settle
	expect 0 run -q t
	when=$(times_of t/altered)
	truncate -s 150000 t/altered
	times_back t/altered "$when"
	expect 4 run --json --verbose t
	verdict altered altered
	json 'select(.event == "damage" and has("size_was")) | "\(.kind) \(.size_was) \(.size_now)"' \
		"altered 200000 150000"
	summary altered 1
}

@test "moved, with as much of it as matches" {
	mkdir t
	data 1 200000 >t/half
	data 2 200000 >t/less
	data 3 200000 >t/same
	settle
	expect 0 run -q t
	# 13 blocks: 6 of them other are fewer than half, 7 are more. The move explains the new ctime.
	for i in 0 2 4 6 8 10; do edit_quietly t/half $((i * 16384)); done
	for i in 0 2 4 6 8 10 12; do edit_quietly t/less $((i * 16384)); done
	mkdir t/d
	mv t/half t/d/half
	mv t/less t/d/less
	mv t/same t/d/same
	expect 4 run --json --verbose t
	verdict d/same "moved from same"
	verdict d/half "rot from half"
	verdict d/less new
	verdict less removed
	tally "new=1 moved=1 removed=1 rot=1 blocks_damaged=6 files_damaged=1"
	json 'select(.event == "damage") | "\(.kind) \(.path) \(.block)+\(.blocks) \(.metadata_changed)"' "$(
		for i in 0 2 4 6 8 10; do echo "rot d/half $i+1 true"; done | paste -sd ' ')"
	expect 4 run --json t
	tally "ok=2 rot=1 blocks_damaged=6 files_damaged=1"
}

@test "two names swapped are two changes" {
	mkdir t
	data 1 5000 >t/a
	data 2 6000 >t/b
	touch -d 2020-02-02 t/a
	expect 0 run -q t
	mv t/a t/x
	mv t/b t/a
	mv t/x t/b
	# Both paths stay recorded, so each is compared with what was there.
	expect 0 run --json t
	tally "changed=2"
	expect 0 run --json t
	tally "ok=2"
}

@test "a file becomes a directory, a link, a fifo, and back" {
	mkdir t
	for f in keep dir link fifo; do data 1 5000 >t/$f; done
	expect 0 run -q t
	rm t/dir t/link t/fifo
	mkdir t/dir
	data 2 100 >t/dir/inside
	ln -s keep t/link
	mkfifo t/fifo
	expect 0 run --json --verbose t
	tally "ok=1 new=1 removed=3"
	verdict dir/inside new
	verdict fifo removed
	rm -r t/dir t/link t/fifo
	for f in dir link fifo; do data 1 5000 >t/$f; done
	expect 0 run --json t
	tally "ok=1 new=3 removed=1"
}

@test "a racy record is never rot and never adopted" {
	mkdir t
	data 1 5000 >t/f
	data 1 5000 >t/sure
	expect 0 run -q t
	expect 0 config -q t ctime=ignore
	# Recorded within two seconds of being written.
	edit_quietly t/f 10
	expect 4 run --json t
	damage "altered f 0+1 0+4096"
	edit_quietly t/f 10
	# An equal check long enough after the writing clears the mark.
	settle
	expect 0 run -q t
	edit_quietly t/sure 4999
	expect 4 run --json t
	damage "rot sure 1+1 4096+904"
}

@test "another file under the same name with the same mtime is altered, not a change" {
	mkdir t
	data 1 5000 >t/f
	touch -d 2020-02-02 t/f
	settle
	expect 0 run -q t
	data 2 5000 >t/g
	touch -d 2020-02-02 t/g
	mv t/g t/f
	expect 4 run --json t
	damage "altered f 0+2 0+5000"
}
