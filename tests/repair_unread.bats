#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# An undo entry that can't be read says of no file that it is under repair: what may be, is not
# recorded; what can't be, is.

load helper
load pass

# An undo of t/a that was killed when all but its time was written; t/b and t/c are edited.
setup_tree() {
	need_root
	need strace
	need jq
	mkdir t
	data 1 100000 >t/a
	data 2 5000 >t/b
	data 3 5000 >t/c
	touch -d 2020-01-01 t/?
	settle
	expect 0 run -q t
	settle
	expect 0 run -q t
	edit_quietly t/a 50000
	BAD=$(cksum <t/a)
	expect 4 run -q t
	expect 1 repair -q --force t a
	expect 0 run -q t
	GOOD=$(cksum <t/a)
	[ "$GOOD" != "$BAD" ]
	run strace -f -qq -o trace -e trace=utimensat -e inject=utimensat:signal=KILL:when=1 \
		"$SCRUB" repair --undo -q t
	[ "$status" -eq 137 ]
	[ "$(cksum <t/a)" = "$BAD" ]
	[ "$(stat -c %Y t/a)" -gt 1600000000 ]
}

# run_blind ERROR ARGUMENT...: without the undo entry.
run_blind() {
	local error=$1
	shift
	run --separate-stderr strace -f -qq -o trace -P 00000001 -e trace=openat \
		-e "inject=openat:error=$error:when=1" "$SCRUB" "$@"
	grep -q INJECTED trace
}

@test "what an undo left half done is not recorded while its entry can't be read" {
	setup_tree
	for error in EIO EMFILE; do
		run_blind $error run --json --verbose t
		[ "$status" -eq 8 ] || { show; false; }
		verdict a skipped
		tally "ok=2 skipped=1 trouble=1"
		json 'select(.event == "trouble") | .message' "the undo entry $W/t/.bitscrub/undo/00000001 is damaged or can't be read; files that were changed when it was written may be half repaired, and are not recorded as long as it is there: cannot open $W/t/.bitscrub/undo/00000001: $([ $error = EIO ] && echo Input/output error || echo Too many open files)"
		run_blind $error accept -q t .
		[ "$status" -eq 8 ] || { show; false; }
	done
	# As soon as it can be read, the undo ends.
	expect 4 run --json t
	damage "altered a 6+1 49152+8192 known"
	[ "$(cksum <t/a)" = "$BAD" ]
	[ "$(stat -c %Y t/a)" -eq "$(date -d 2020-01-01 +%s)" ]
	expect 1 repair -q --force t a
	[ "$(cksum <t/a)" = "$GOOD" ]
}

@test "an undo entry that is damaged holds what was changed then, and nothing else" {
	setup_tree
	flip t/.bitscrub/undo/00000001 40
	edit t/b 10
	data 4 100 >t/new
	settle
	expect 8 run --json --verbose t
	verdict a skipped
	verdict b skipped
	verdict c ok
	tally "ok=1 skipped=3 trouble=1"
	# What was written an hour after the entry, the repair did not write.
	rm t/a
	touch -d '1 hour ago' t/.bitscrub/undo/00000001
	expect 8 run --json --verbose t
	verdict b "changed bit_flip"
	verdict new new
	rm t/.bitscrub/undo/00000001
	expect 0 run --json --verbose t
	tally "ok=3"
}
