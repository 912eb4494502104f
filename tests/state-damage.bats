#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Damage to what scrub itself keeps, as the command sees it: named, mended where it can be, and never
# taken for something else.

load helper

recorded() {
	mkdir tree
	data 1 170000 >tree/a
	data 2 5000 >tree/b
	touch -d '2025-01-31 12:00' tree/a tree/b
	sleep 2.1
	"$SCRUB" run -q -j 1 tree
}

# A repair of a, whose undo entry is there then.
repaired() {
	recorded
	cp -p tree/a good
	flip tree/a 5000 3
	touch -r good tree/a
	expect 1 repair -q --force tree a
	cp tree/.bitscrub/undo/00000001 entry
}

@test "a bit of an undo entry: it stays, is named by every verb that needs it, and is not followed" {
	repaired
	for at in 3 40 130 160 2000 4290; do
		cp entry tree/.bitscrub/undo/00000001
		flip tree/.bitscrub/undo/00000001 "$at" 5
		cp tree/.bitscrub/undo/00000001 damaged
		expect 8 repair --undo tree
		says "undo entry"
		cmp good tree/a
		"$SCRUB" run -q tree >/dev/null 2>&1 || [ $? -eq 8 ]
		cmp damaged tree/.bitscrub/undo/00000001
	done
	cp entry tree/.bitscrub/undo/00000001
	expect 0 run -q tree
	expect 4 repair -q --undo tree
	run cmp good tree/a
	[ "$status" -eq 1 ]
}

@test "an undo entry that was cut short before its state is removed: nothing was written" {
	repaired
	head -c 4000 entry >tree/.bitscrub/undo/00000001
	expect 0 run -q tree
	[ ! -e tree/.bitscrub/undo/00000001 ]
}

@test "a bit of parity: found, and built anew over sound data" {
	recorded
	cp tree/.bitscrub/parity/00000001 parity
	flip tree/.bitscrub/parity/00000001 100 2
	expect 4 verify -q tree
	expect 1 run -q tree
	expect 0 verify -q tree
	# That of a comes first: 16 columns of 12288 bytes.
	cmp -n 12288 parity tree/.bitscrub/parity/00000002
}

@test "a bit of the manifest: mended in memory by verify, on disk by run" {
	recorded
	for at in 100 5000 9000 15000; do
		cp tree/.bitscrub/manifest sound
		flip tree/.bitscrub/manifest "$at" 7
		cp tree/.bitscrub/manifest damaged
		expect 8 verify -q tree
		cmp damaged tree/.bitscrub/manifest
		expect 1 run -q tree
		expect 0 verify -q tree
	done
}

@test "a file that changed since its repair: undo leaves it alone" {
	repaired
	flip tree/a 5001 1
	touch -r good tree/a
	cp tree/a now
	"$SCRUB" repair --undo tree >out 2>&1 || :
	grep -q "does not hold what the repair wrote" out || { cat out; false; }
	cmp now tree/a
}
