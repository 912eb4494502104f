#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Files that a pass doesn't look at: excluded, not readable, frozen and gone.

load helper
load pass

teardown() {
	[ -z "$OPEN" ] || rm -rf "$OPEN"
	helper_teardown
}

# An unprivileged user, in a directory and with a command that it can reach.
nobody() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	else
		"$@"
	fi
}

# A tree of that user in t.
give_tree() {
	need setpriv
	OPEN=$(mktemp -d)
	cd "$OPEN" || return 1
	mkdir -p t/d/deep
	data 1 5000 >t/a
	data 2 5000 >t/d/b
	data 3 5000 >t/d/deep/c
	cp "$SCRUB" scrub
	[ "$(id -u)" != 0 ] || chown -R 65534:65534 "$OPEN"
}

# expect_nobody STATUS ARGUMENT...: like expect.
expect_nobody() {
	local want=$1
	shift
	run --separate-stderr nobody ./scrub "$@"
	[ "$status" -eq "$want" ] || { echo "scrub $*: exit $status, not $want"; show; return 1; }
}

@test "excluded at a first pass: not recorded, not read" {
	mkdir -p t/d t/cache
	data 1 5000 >t/a
	data 2 5000 >t/b.tmp
	data 3 5000 >t/d/c.tmp
	data 4 5000 >t/cache/x
	expect 0 run --json --exclude='*.tmp' --exclude=cache/ t
	tally "new=1"
	summary bytes_read 5000
	expect 0 list t
	[ "$output" = a ]
	expect 0 config t
	has "exclude=*.tmp"
	has "exclude=cache/"
	rm -r t/d/c.tmp t/cache
	expect 0 run --json t
	tally "ok=1"
}

@test "excluded later: leaves the manifest, is counted, is not removed" {
	mkdir -p t/d
	data 1 5000 >t/a
	data 2 5000 >t/d/b
	data 3 5000 >t/d/c.tmp
	expect 0 run -q t
	expect 16 run --exclude='*.tmp' t
	says "config"
	expect 0 list t
	has "d/c.tmp"
	expect 0 config -q t 'exclude=*.tmp'
	expect 0 run --json --verbose t
	tally "ok=2 excluded=1"
	verdict d/c.tmp excluded
	summary files 2
	expect 0 list t
	[ "$output" = "a
d/b" ]
	expect 0 run --json t
	tally "ok=2"
	# Excluded no more: new.
	expect 0 config -q t exclude=
	expect 0 run --json t
	tally "ok=2 new=1"
}

@test "everything may be excluded: that is no missing disk" {
	mkdir t
	data 1 5000 >t/a
	data 2 5000 >t/b
	expect 0 run -q t
	expect 0 config -q t 'exclude=*'
	expect 0 run --json t
	tally "excluded=2"
	summary files 0
}

@test "open damage of a file that is excluded is listed once" {
	mkdir t
	data 1 5000 >t/a
	data 2 5000 >t/b
	settle
	expect 0 run -q t
	edit_quietly t/a 10
	expect 4 run -q t
	expect 4 config -q t exclude=a
	expect 0 run -q t
	says "t: a: excluded with open damage"
	expect 0 run -q t
	[ -z "$output$stderr" ]
}

@test "no permission: trouble, skipped, the record stays" {
	give_tree
	expect_nobody 0 run -q t
	nobody chmod 000 t/a
	expect_nobody 8 run --json --verbose t
	tally "ok=2 skipped=1 trouble=1"
	verdict a skipped
	summary complete false
	json 'select(.event == "trouble") | "\(.path) \(.errno)"' "a EACCES"
	expect_nobody 0 list t
	has "a"
	nobody chmod 644 t/a
	expect_nobody 0 run --json t
	tally "ok=2 touched=1"
}

@test "a directory that can't be listed makes nothing below it removed" {
	give_tree
	expect_nobody 0 run -q t
	nobody chmod 000 t/d
	expect_nobody 8 run --json --verbose t
	tally "ok=1 skipped=2 trouble=1"
	verdict d/b skipped
	verdict d/deep/c skipped
	json 'select(.event == "trouble") | "\(.path) \(.errno)"' "d EACCES"
	nobody chmod 755 t/d
	expect_nobody 0 run --json t
	tally "ok=3"
}

@test "nothing readable at all is trouble, and no record goes" {
	give_tree
	expect_nobody 0 run -q t
	nobody chmod 000 t/a t/d
	expect_nobody 8 run --json t
	tally "skipped=3 trouble=2"
	expect_nobody 8 run t
	hasnt "No damage"
	has "pass NOT complete"
	nobody chmod 755 t/a t/d
	expect_nobody 0 run --json t
	summary removed 0
	summary files 3
}

@test "a frozen file that changes is altered, one that goes is missing; both stay" {
	mkdir -p t/f
	data 1 5000 >t/f/a
	data 2 5000 >t/f/b
	data 3 5000 >t/c
	settle
	expect 0 run -q t
	expect 0 config -q t frozen=f/
	edit t/f/a 10
	edit t/c 10
	rm t/f/b
	expect 4 run --json --verbose t
	tally "changed=1 altered=1 missing=1 blocks_damaged=1 files_damaged=2"
	verdict f/a altered
	verdict f/b missing
	damage "altered f/a 0+1 0+4096; missing f/b - -"
	expect 4 run -q t
	has "f/a: altered, still damaged since"
	has "f/b: missing, still damaged since"
	# As it was, but with another time.
	flip t/f/a 10
	data 2 5000 >t/f/b
	expect 0 run --json t
	tally "ok=1 touched=2"
	expect 0 run --json t
	tally "ok=3"
}

@test "that a file could not be opened once is not carried along by an edit" {
	need strace
	mkdir tree
	data 1 20000 >tree/f
	touch -d 2020-01-01 tree/f
	settle
	expect 0 run -q --state=state tree
	expect 0 run -q --state=state tree
	edit_quietly tree/f 5000
	expect 4 run -q --state=state tree
	edit tree/f 15000
	settle
	run -4 strace -f -qq -o trace -P f -e trace=openat,openat2 \
		-e inject=openat,openat2:error=EIO "$SCRUB" run --json --state=state tree
	damage "unreadable f - -"
	expect 4 run --json --state=state tree
	damage "altered f 1+1 4096+4096 carried known"
}
