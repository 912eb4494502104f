#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Files and directories that can't even be looked at: damage that is known until it is over.

load helper
load pass

# faulty PATTERN SYSCALL,... ARGUMENT...: scrub, with EIO (or $ERROR) from these calls where they are about the
# path PATTERN (as it is given to the call, with or without d/ before it, or of its descriptor).
faulty() {
	local path=$1 calls=$2
	shift 2
	run --separate-stderr strace -f -qq -o trace -P "$path" -P "d/$path" -e trace="$calls" \
		-e inject="$calls:error=${ERROR:-EIO}" "$SCRUB" "$@"
}

# want STATUS: of faulty.
want() {
	[ "$status" -eq "$1" ] || { echo "exit $status, not $1"; show; return 1; }
}

setup() {
	W=$BATS_TEST_TMPDIR
	cd "$W" || return 1
	need strace
	mkdir -p tree/d/sub
	data 1 20000 >tree/a
	data 2 20000 >tree/d/b
	data 3 20000 >tree/d/sub/c
	data 4 20000 >tree/z
	find tree -exec touch -d 2020-01-01 {} +
}

# known EXIT UNSEEN DAMAGED: what status, list and the metrics say without reading anything.
known() {
	expect "$1" status --json --state=s tree
	json 'select(.event == "status") | "\(.unseen) \(.files_damaged)"' "$2 $3"
	expect "$1" list --json --damaged --state=s tree
	json '[., inputs] | map(select(.event == "list")) | length' "$3"
}

@test "a directory that can't be listed is known until it is listed again" {
	expect 0 run -q --state=s tree
	faulty "$W/tree/d" getdents64 run --json --metrics=m --state=s tree
	want 4
	damage "unreadable d - -"
	tally "ok=2 skipped=2 files_damaged=1"
	grep -q 'bitscrub_damaged_files{.*kind="unreadable"} 1$' m
	known 4 1 1
	expect 4 list --damaged --state=s tree
	[[ $output == "d: unreadable, since 20"* ]]
	expect 4 list --json --state=s tree
	json 'select(.event == "list") | .path + (if .unseen then " \(.directory) \(.damage)" else "" end)' \
		"d true unreadable a d/b d/sub/c z"
	# The same again: since the first time.
	since=$("$SCRUB" list --json --damaged --state=s tree | jq -r 'select(.event == "list").damaged_since')
	faulty "$W/tree/d" getdents64 run --json --state=s tree
	want 4
	damage "unreadable d - - known"
	json 'select(.event == "damage") | .since' "$since"
	# Passes that look at a part look at all names.
	faulty "$W/tree/d" getdents64 run --json --only=damaged --state=s tree
	want 4
	damage "unreadable d - - known"
	known 4 1 1
	faulty "$W/tree/d" getdents64 verify --json --state=s tree
	want 4
	damage "unreadable d - - known"
	# verify writes nothing; repair and accept have nothing to do with it.
	expect 0 verify -q --state=s tree
	expect 4 verify -q --state=s tree a
	expect 4 repair -q --state=s tree
	expect 4 accept -q --state=s tree .
	expect 4 export --format=json --state=s tree
	json 'select(.record == "unseen") | "\(.path) \(.directory)"' "d true"
	known 4 1 1
	expect 0 run --json --only=damaged --state=s tree
	damage ""
	known 0 0 0
}

@test "what another error hides stays known, and what is gone or excluded is over" {
	expect 0 run -q --state=s tree
	faulty "$W/tree/d/sub" getdents64 run -q --state=s tree
	want 4
	known 4 1 1
	# The directory above is closed: nobody looked.
	ERROR=EACCES faulty d openat,openat2 run --json --state=s tree
	want 12
	damage ""
	tally "ok=2 skipped=2 files_damaged=1 trouble=1"
	known 4 1 1
	# Closed by the medium too: both.
	faulty d openat,openat2 run -q --state=s tree
	want 4
	known 4 2 2
	faulty "$W/tree/d/sub" getdents64 run -q --state=s tree
	want 4
	known 4 1 1
	cp -r s excluded
	expect 4 config --state=excluded tree exclude=/d/sub
	expect 0 run -q --state=excluded tree
	expect 0 status --state=excluded tree
	rm -r tree/d/sub
	expect 0 run -q --state=s tree
	known 0 0 0
}

@test "a recorded file that can't be looked at: its record says it" {
	expect 0 run -q --state=s tree
	faulty b newfstatat run --json --state=s tree
	want 4
	damage "unreadable d/b - -"
	tally "ok=3 skipped=1 files_damaged=1"
	known 4 0 1
	since=$("$SCRUB" list --json --damaged --state=s tree | jq -r 'select(.event == "list").damaged_since')
	faulty b newfstatat run --json --state=s tree
	want 4
	damage "unreadable d/b - - known"
	json 'select(.event == "damage") | .since' "$since"
	known 4 0 1
	# What else is rotten in it stays known.
	expect 0 run --json --only=damaged --state=s tree
	tally "ok=1"
	known 0 0 0
	when=$(times_of tree/d/b)
	flip tree/d/b 5000
	times_back tree/d/b "$when"
	expect 4 run -q --state=s tree
	faulty b newfstatat run -q --state=s tree
	want 4
	expect 4 run --json --state=s tree
	damage "altered d/b 1+1 4096+4096 known"
}

@test "a new file that can't be looked at, or opened" {
	faulty b newfstatat run --json --state=s tree
	want 4
	damage "unreadable d/b - -"
	known 4 1 1
	expect 0 run --json --state=s tree
	tally "ok=3 new=1"
	known 0 0 0
	data 5 20000 >tree/d/new
	touch -d 2020-01-01 tree/d/new
	faulty new openat,openat2 run --json --state=s tree
	want 4
	damage "unreadable d/new - -"
	tally "ok=4 unreadable=1 files_damaged=1"
	known 4 0 1
	faulty new openat,openat2 run --json --only=damaged --state=s tree
	want 4
	damage "unreadable d/new - - known"
	# Nothing of it is known that could be compared.
	expect 4 list --json --damaged --state=s tree
	json 'select(.event == "list") | "\(.path) \(.unrecorded) \(.crc32)"' "d/new true null"
	expect 0 run --json --verbose --only=damaged --state=s tree
	verdict d/new new
	known 0 0 0
	expect 0 verify -q --state=s tree
}

@test "an empty file, a further link, and the target itself" {
	: >tree/empty
	ln tree/a tree/link
	expect 0 run -q --state=s tree
	data 7 20000 >tree/d/b
	faulty empty openat,openat2 run --json --state=s tree
	want 4
	damage "unreadable empty - -"
	known 4 0 1
	expect 0 run --json --only=damaged --state=s tree
	tally "ok=1"
	known 0 0 0
	faulty link newfstatat run --json --state=s tree
	want 4
	damage "unreadable link - -"
	known 4 1 1
	expect 4 list --json --state=s tree
	json 'select(.event == "list" and .link_to) | "\(.path) \(.link_to)"' "link a"
	faulty "$W/tree" getdents64 run --json --state=s tree
	# Nothing could be read: trouble, and no news about the link.
	want 12
	damage ""
	json 'select(.event == "trouble") | "\(.path) \(.errno)"' ". EIO"
	known 4 1 1
	expect 0 run -q --state=s tree
	known 0 0 0
}

@test "a stopped pass and what it left: places stay known" {
	expect 0 run -q --state=s tree
	faulty "$W/tree/d" getdents64 run -q --state=s tree
	known 4 1 1
	data 9 20000 >tree/z
	run --separate-stderr strace -f -qq -o trace -e trace=renameat -e inject=renameat:signal=KILL \
		"$SCRUB" run -q --state=s tree
	[ -f s/journal ]
	known 4 1 1
	faulty "$W/tree/d" getdents64 run --json --state=s tree
	want 4
	damage "unreadable d - - known"
	known 4 1 1
}
