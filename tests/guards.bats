#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# When too much is gone, or the wrong disk is there: nothing changes, and the way on is named.

load helper
load pass

# many N BYTES: files t/1 to t/N.
many() {
	mkdir -p t
	perl -e 'for (1 .. $ARGV[0]) { open my $f, ">", "t/$_" or die; print $f $_ x $ARGV[1] }' "$1" "${2:-1}"
}

# refused TEXT OPTION: a run of t says both, exits 8 and changes nothing in the state.
refused() {
	cp t/.bitscrub/manifest before
	find t/.bitscrub -printf '%P %i %s %T@\n' | sort >state
	expect 8 run t
	says "$1"
	says "nothing was read or changed; if this is right, use $2"
	hasnt "No damage"
	expect 8 run --json t
	summary complete false
	summary bytes_read 0
	summary removed 0
	expect 8 run -q t
	says "$1"
	cmp before t/.bitscrub/manifest
	find t/.bitscrub -printf '%P %i %s %T@\n' | sort | diff state -
}

@test "every recorded file gone" {
	many 5
	expect 0 run -q t
	rm t/[0-9]*
	refused "all 5 of 5 recorded files are gone" --allow-missing
	# Others in their place don't change that.
	echo other >t/other
	refused "all 5 of 5 recorded files are gone" --allow-missing
	expect 0 run --json --allow-missing t
	tally "new=1 removed=5"
	expect 0 run --json t
	tally "ok=1"
}

@test "the only recorded file gone" {
	many 1
	expect 0 run -q t
	rm t/1
	refused "1 of 1 recorded files is gone" --allow-missing
	expect 0 run --json --allow-missing t
	tally "removed=1"
	summary files 0
}

@test "every file renamed is nobody gone" {
	many 5
	expect 0 run -q t
	mkdir t/d
	mv t/[0-9]* t/d
	expect 0 run --json t
	tally "moved=5"
}

@test "more than 40 % of at least 100 gone" {
	many 100
	expect 0 run -q t
	for i in {1..41}; do rm "t/$i"; done
	refused "41 of 100 recorded files are gone" --allow-missing
	touch t/1
	expect 0 run --json t
	# 40 are few enough. The empty one is a replacement for another.
	summary removed 40
}

@test "of fewer than 100 files all but one may go" {
	many 99
	expect 0 run -q t
	for i in {2..99}; do rm "t/$i"; done
	expect 0 run --json t
	tally "ok=1 removed=98"
}

@test "moved files and excluded ones don't count as gone" {
	many 100
	expect 0 run -q t
	mkdir t/d
	for i in {1..60}; do mv "t/$i" "t/d/$i"; done
	for i in {70..99}; do rm "t/$i"; done
	expect 0 run --json t
	tally "ok=10 moved=60 removed=30"
	many 200
	expect 0 run -q t
	expect 0 config -q t 'exclude=1*' 'exclude+=d/'
	expect 0 run --json t
	summary removed 0
}

@test "more than ten and 1 % newly empty" {
	many 1000
	expect 0 run -q t
	for i in {1..11}; do : >"t/$i"; done
	refused "11 recorded files are newly empty" --allow-missing
	echo 11 >t/11
	expect 0 run --json t
	tally "ok=989 changed=11"
	many 1200
	expect 0 run -q t
	for i in {21..32}; do : >"t/$i"; done
	# 12 of 1200 are not more than 1 %.
	expect 0 run --json t
	summary changed 12
	expect 0 run --json t
	for i in {41..53}; do : >"t/$i"; done
	refused "13 recorded files are newly empty" --allow-missing
	expect 0 run --json --allow-missing t
	summary changed 13
}

@test "an empty target without state: nothing is created" {
	mkdir t
	expect 8 run t
	says "nothing to record"
	says "is the disk mounted?"
	[ -z "$(ls -A t)" ]
	mkdir -p t/only/dirs
	ln -s nowhere t/link
	mkfifo t/fifo
	touch t/ignored.tmp
	expect 8 run --exclude='*.tmp' t
	[ ! -e t/.bitscrub ]
	# init may, and then the first file is simply new.
	expect 0 init -q t
	echo x >t/x
	expect 0 run --json t
	tally "new=2"
}

@test "a target that is not there, or is no target" {
	expect 8 run nothing
	says "nothing: "
	says "No such file or directory"
	mkfifo fifo
	expect 8 run fifo
	expect 8 run /dev/null
	[ ! -e fifo.bitscrub ]
	[ ! -e /dev/null.bitscrub ]
}

@test "--existing does not make a manifest" {
	mkdir t
	echo x >t/x
	expect 8 run --existing t
	says "there is no manifest for this target: is the disk mounted?"
	[ "$(ls -A t)" = x ]
	expect 0 run -q t
	expect 0 run -q --existing t
	for verb in verify status list; do
		mkdir -p other
		expect 8 $verb other
		says "there is no manifest"
	done
	[ -z "$(ls -A other)" ]
}

@test "a lost manifest is no fresh start; --from-previous goes on" {
	many 20
	expect 0 run -q t
	echo 21 >t/21
	expect 0 run -q t
	rm t/.bitscrub/manifest
	cp t/.bitscrub/manifest.1 before
	for verb in "run" "run --existing" "verify" "status" "list"; do
		# shellcheck disable=SC2086 # words
		expect 8 $verb t
		says "cannot use the manifest"
		says "it is missing"
		says "'run --from-previous' goes on from "
		says "manifest.1"
	done
	[ ! -e t/.bitscrub/manifest ]
	cmp before t/.bitscrub/manifest.1
	expect 0 run --json --from-previous t
	tally "ok=20 new=1"
	expect 0 run --json t
	tally "ok=21"
}

@test "a lost manifest without a previous one" {
	many 3
	expect 0 run -q t
	rm t/.bitscrub/manifest t/.bitscrub/manifest.1
	echo junk >t/.bitscrub/journal
	expect 8 run t
	says "it is missing"
	saysnt "from-previous"
	expect 8 run --from-previous t
	[ ! -e t/.bitscrub/manifest ]
	[ ! -e t/.bitscrub/manifest.1 ]
	[ "$(cat t/.bitscrub/journal)" = junk ]
}

@test "manifests that are cut, empty or something else are refused, and stay" {
	many 200
	expect 0 run -q t
	cp t/.bitscrub/manifest good
	for size in 0 1 100 $(($(stat -c %s good) / 2)) $(($(stat -c %s good) - 1)); do
		head -c "$size" good >t/.bitscrub/manifest
		cp t/.bitscrub/manifest before
		expect 8 run t
		says "cannot use the manifest"
		cmp before t/.bitscrub/manifest
	done
	data 1 10000 >t/.bitscrub/manifest
	expect 8 run t
	says "cannot use the manifest"
	cp good t/.bitscrub/manifest
	expect 0 run --json t
	tally "ok=200"
}

@test "--from-previous where nothing is lost, and where nothing is" {
	many 3
	expect 0 run -q t
	data 4 10 >t/4
	expect 0 run -q t
	expect 0 run --json --from-previous t
	tally "ok=3 new=1"
	expect 0 run --json t
	tally "ok=4"
	mkdir other
	echo x >other/x
	expect 8 run --from-previous other
	[ "$(ls -A other)" = x ]
}
