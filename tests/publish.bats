#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Journal and publishing: killed at, and failed by, each system call in turn. The manifest is a whole
# one at every moment, the old or the new, and the next pass ends right.

load helper
load robust

# A recorded tree that was edited since, with one rotten file: base is its state, ref that of a pass
# that nothing disturbed.
prepare() {
	need_strace
	tree tree 12
	expect 0 run -q --state=base tree
	echo more >>tree/d000/f00003
	echo new >tree/d000/new
	rm tree/d000/f00004
	mv tree/d000/f00005 tree/d000/moved
	flip_quietly tree/d000/f00006 100
	cp -a base ref
	expect 4 run -q --state=ref tree
	records --state=base tree >old
	records --state=ref tree >new
}

# disturbed CALL WHAT N: a pass over a copy of base, disturbed at the N-th such call of a thread.
disturbed() {
	rm -rf s
	cp -a base s
	r=0
	traced -f -qq -o trace -e trace="$1" -e inject="$1:$2:when=$3" \
		"$SCRUB" run -j1 --reads-in-flight=1 --state=s tree >out 2>err || r=$?
}

# Whole, readable, and with the old or the new content; parts of a journal may lie between.
usable() {
	records --state=s tree >now
	run --separate-stderr "$SCRUB" list --state=s tree
	[ "$status" -eq 0 ] || [ "$status" -eq 4 ] || { show; return 1; }
	run --separate-stderr "$SCRUB" status --state=s tree
	[ "$status" -eq 0 ] || [ "$status" -eq 4 ] || { show; return 1; }
	[ -s s/journal ] || cmp now old || cmp now new
}

ends_right() {
	expect 4 run -q --state=s tree
	records --state=s tree | cmp - new
	tidy "s"
}

# at_each CALL WHAT LEAST CHECK: until a pass gets through; it must be disturbed at least that often.
at_each() {
	local n
	for ((n = 1; n < 100; n++)); do
		disturbed "$1" "$2" "$n"
		echo "$1 $2 $n: exit $r"
		"$4"
		usable
		ends_right
		[ "$r" -eq 137 ] || grep -q INJECTED trace || break
	done
	[ "$n" -gt "$3" ]
}

is_killed() { [ "$r" -eq 137 ] || [ "$r" -eq 4 ]; }

@test "killed before each renameat, linkat and unlinkat" {
	prepare
	at_each renameat signal=KILL 2 is_killed
	at_each linkat signal=KILL 1 is_killed
	at_each unlinkat signal=KILL 2 is_killed
}

@test "killed before each fsync and fdatasync" {
	prepare
	at_each fsync signal=KILL 3 is_killed
	at_each fdatasync signal=KILL 1 is_killed
}

@test "killed before each write" {
	prepare
	at_each write signal=KILL 3 is_killed
}

# Trouble, and said; damage is known or not.
is_trouble() {
	[ "$r" -eq 4 ] && return
	[ "$r" -eq 8 ] || [ "$r" -eq 12 ] || return
	grep -q "$expected" err || { cat err; return 1; }
}

@test "a full disk at each write" {
	prepare
	expected="No space left on device"
	at_each write error=ENOSPC 3 is_trouble
}

@test "an error at each write, fsync and fdatasync" {
	prepare
	expected="Input/output error"
	at_each write error=EIO 3 is_trouble
	at_each fsync error=EIO 3 is_trouble
	at_each fdatasync error=EIO 1 is_trouble
}

@test "an error at each renameat and linkat" {
	prepare
	expected="Input/output error"
	at_each renameat error=EIO 2 is_trouble
	at_each linkat error=EIO 1 is_trouble
	expected="No space left on device"
	at_each renameat error=ENOSPC 2 is_trouble
	at_each linkat error=ENOSPC 1 is_trouble
}

@test "where hard links can't be made, there is one manifest" {
	prepare
	disturbed linkat error=EPERM 1
	[ "$r" -eq 4 ]
	tidy s manifest
	records --state=s tree | cmp - new
}

@test "a manifest that did not reach the disk as it was written is not published" {
	prepare
	# The system says that it was written, and it was not.
	cp -a base s
	r=0
	traced -f -qq -o trace -P "$W/s/manifest.tmp" -e trace=write -e inject=write:retval=16384 \
		"$SCRUB" run -j1 --reads-in-flight=1 --state=s tree >out 2>err || r=$?
	grep -q INJECTED trace
	[ "$r" -eq 12 ]
	grep "cannot write the new manifest" err
	cmp s/manifest base/manifest
	usable
	ends_right
}

@test "accept and config, killed before each system call that matters" {
	prepare
	expect 4 run -q --state=base tree
	cp -a base accepted
	expect 0 accept -q --state=accepted tree .
	records --state=accepted tree >after
	for call in renameat linkat fsync fdatasync unlinkat; do
		for ((n = 1; n < 20; n++)); do
			rm -rf s
			cp -a base s
			r=0
			traced -f -qq -o trace -e trace=$call -e inject=$call:signal=KILL:when=$n \
				"$SCRUB" accept -j1 --reads-in-flight=1 --state=s tree . >out 2>err || r=$?
			expect 0 accept -q --state=s tree . || expect 8 accept -q --state=s tree .
			records --state=s tree | cmp - after
			expect 0 run -q --state=s tree
			[ "$r" -eq 137 ] || break
		done
		[ "$n" -gt 1 ]
		r=0
		traced -f -qq -o trace -e trace=$call -e inject=$call:signal=KILL:when=1 \
			"$SCRUB" config --state=s tree stale-after=60 >out 2>err || r=$?
		expect 0 config --state=s tree
		[[ $output == *stale-after=30* || $output == *stale-after=60* ]]
		expect 0 run -q --state=s tree
	done
}
