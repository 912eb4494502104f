#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Hard links: an inode is read once, whatever happens to its names.

load helper
load pass

# b owns: the first in the order of the walk. 13 blocks of 16384.
populate() {
	mkdir -p t/d
	data 1 200000 >t/b
	ln t/b t/c
	ln t/b t/d/e
	data 2 5000 >t/other
}

# links OWNER PATH...: what list says about who has the record.
links() {
	local owner=$1 want
	shift
	want=$(printf "%s=$owner\n" "$@" | paste -sd ' ')
	expect "${LIST_STATUS:-0}" list --json t
	json 'select(.link_to) | "\(.path)=\(.link_to)"' "$want"
}

@test "read once, counted by names" {
	populate
	expect 0 run --json --verbose t
	tally "new=4"
	summary files 4
	summary bytes 205000
	summary bytes_read 205000
	links b c d/e
	expect 0 list --long t
	has "c = b"
	expect 0 run --json --verbose t
	tally "ok=4"
	summary bytes_read 205000
	verdict d/e ok
	expect 0 status --json t
	json 'select(.event == "status") | "\(.files) \(.links) \(.bytes)"' "2 2 205000"
}

@test "the owner is removed: the next name has the record" {
	populate
	settle
	expect 0 run -q t
	rm t/b
	expect 0 run --json --verbose t
	verdict b removed
	verdict c touched
	summary bytes_read 205000
	links c d/e
	rm t/c
	expect 0 run --json --verbose t
	verdict d/e touched
	expect 0 list --json t
	json 'select(.link_to) | .path' ""
	expect 0 run --json t
	tally "ok=2"
}

@test "a new name before the owner takes over; one behind it is a link" {
	populate
	settle
	expect 0 run -q t
	ln t/b t/a
	ln t/b t/z
	expect 0 run --json --verbose t
	summary files 6
	summary removed 0
	summary changed 0
	summary bytes_read 205000
	links a b c d/e z
	expect 0 run --json t
	tally "ok=6"
}

@test "an edit through one name changes all" {
	populate
	expect 0 run -q t
	edit t/c 100000
	expect 0 run --json --verbose t
	verdict b "changed bit_flip"
	verdict c changed
	verdict d/e changed
	tally "ok=1 changed=3"
}

@test "rot of an inode is one piece of damage under its first name, and follows the names" {
	populate
	settle
	expect 0 run -q t
	expect 0 config -q t ctime=ignore
	edit_quietly t/c 100000
	expect 4 run --json --verbose t
	damage "rot b 6+1 98304+16384"
	tally "ok=1 rot=3 blocks_damaged=1 files_damaged=1"
	rm t/b
	expect 4 run --json --verbose t
	damage "rot c 6+1 98304+16384 known"
	saysnt "open damage"
	ln t/c t/a
	expect 4 run --json t
	damage "rot a 6+1 98304+16384 known"
	LIST_STATUS=4 links a c d/e
	# The last name.
	rm t/a t/c
	mv t/d/e t/e
	expect 4 run --json t
	damage "rot e 6+1 98304+16384 known"
	rm t/e
	expect 0 run t
	says "e: removed with open damage"
}

@test "an edit launders no rot because the first name went at the same time" {
	populate
	settle
	expect 0 run -q t
	expect 0 config -q t ctime=ignore
	edit_quietly t/c 100000
	expect 4 run -q t
	rm t/b
	edit t/c 10
	expect 4 run --json --verbose t
	verdict c altered
	damage "altered c 6+1 98304+16384 carried known"
	# Nor because there is another first name.
	ln t/c t/a
	edit t/c 20
	expect 4 run --json t
	damage "altered a 6+1 98304+16384 carried known"
}

@test "accept through any of the names" {
	populate
	settle
	expect 0 run -q t
	edit_quietly t/b 100000
	expect 4 run -q t
	expect 0 accept -q t d/e
	expect 0 run --json t
	tally "ok=4"
}

@test "a name that becomes a file of its own, equal and other" {
	populate
	settle
	expect 0 run -q t
	cp -p t/c copy
	rm t/c t/d/e
	mv copy t/c
	data 3 200000 >t/d/e
	expect 0 run --json --verbose t
	verdict b touched
	verdict d/e changed
	expect 0 list --json t
	json 'select(.link_to) | .path' ""
	expect 0 run --json t
	tally "ok=4"
	summary bytes_read 605000
}

@test "the owner becomes a file of its own: the others keep the record" {
	populate
	settle
	expect 0 run -q t
	rm t/b
	data 3 7000 >t/b
	expect 0 run --json --verbose t
	verdict b changed
	verdict c touched
	links c d/e
	expect 0 run --json t
	tally "ok=4"
}

@test "names that become links of one inode" {
	mkdir t
	data 1 5000 >t/a
	data 1 5000 >t/b
	expect 0 run -q t
	ln -f t/a t/b
	expect 0 run --json --verbose t
	summary files 2
	summary removed 0
	verdict a touched
	links a b
	expect 0 run --json t
	tally "ok=2"
}

@test "renames of one name, and of all" {
	populate
	settle
	expect 0 run -q t
	mv t/d/e t/e
	expect 0 run --json --verbose t
	verdict d/e removed
	links b c e
	mv t/b t/x
	mv t/c t/y
	mv t/e t/z
	expect 0 run --json --verbose t
	verdict x "moved from b"
	links x y z
	expect 0 run --json t
	tally "ok=4"
}

@test "verify on a copy where links became files, equal and damaged" {
	populate
	expect 0 run -q t
	cp -r t copy
	rm -r copy/.bitscrub
	expect 0 verify --json -m t/.bitscrub/manifest copy
	summary bytes_read 605000
	flip copy/d/e 100000
	rm copy/c
	expect 4 verify --json --verbose -m t/.bitscrub/manifest copy
	damage "changed d/e 6+1 98304+16384; missing c - -"
	tally "changed=1 touched=2 missing=1 blocks_damaged=1 files_damaged=2"
	# Where the owner is missing the others are still compared.
	rm copy/b
	expect 4 verify --json -m t/.bitscrub/manifest copy
	damage "changed d/e 6+1 98304+16384; missing b - -; missing c - -"
}

@test "more names than any list" {
	mkdir t
	data 1 5000 >t/0
	for i in {1..300}; do ln t/0 "t/$i"; done
	expect 0 run --json t
	tally "new=301"
	summary bytes_read 5000
	rm t/0 t/1 t/2
	expect 0 run --json t
	summary removed 3
	summary bytes_read 5000
	expect 0 run --json t
	tally "ok=298"
}
