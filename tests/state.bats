#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Where state is kept, and what is refused there: nothing that others can change is ever believed.

load helper
load robust

setup() {
	W=$BATS_TEST_TMPDIR
	cd "$W" || return 1
	umask 022
}

# What each verb says to a state that must not be used; nothing in it is changed.
refused_by() {
	local verb before after
	before=$(find . -path './*bitscrub*' -printf '%p %m %s %T@ %l\n' | sort)
	for verb in "$@"; do
		case $verb in
		export) expect 8 export --format=sfv tree ;;
		accept) expect 8 accept tree . ;;
		*) expect 8 "$verb" tree ;;
		esac
		says "$why"
		hasnt f00001
	done
	after=$(find . -path './*bitscrub*' -printf '%p %m %s %T@ %l\n' | sort)
	[ "$before" = "$after" ]
}

refused() { refused_by run accept verify list status export config; }

recorded() {
	tree tree 10
	expect 0 run -q tree
}

@test "modes are 0700 and 0600 whatever the umask, also of the journal" {
	need_strace
	for mask in 000 022 077 777; do
		tree "t$mask" 200
		(umask $mask && "$SCRUB" run -q "$W/t$mask")
		[ "$(stat -c %a "t$mask/.bitscrub")" = 700 ]
		[ "$(stat -c %a "t$mask/.bitscrub/manifest")" = 600 ]
		[ "$(stat -c %a "t$mask/.bitscrub/manifest.1")" = 600 ]
		expect 0 run -q "t$mask"
	done
	umask 000
	start_slow openat2 10000 run -j1 --reads-in-flight=1 t000
	until_true 20 size_above t000/.bitscrub/journal 1000
	[ "$(stat -c %a t000/.bitscrub/journal)" = 600 ]
	kill -INT "$pid"
	finish 32 2 "$tracer"
}

@test "a default ACL of the target does not open the state to anybody" {
	need setfacl
	tree tree 5
	setfacl -d -m u:12345:rwx,g::rwx tree || skip "needs ACLs"
	expect 0 run -q tree
	expect 0 run -q tree
	[ "$(stat -c %a tree/.bitscrub)" = 700 ]
	[ "$(getfacl -cnp tree/.bitscrub/manifest | grep -c 'user:12345:rwx$')" -eq 0 ]
}

@test "a state directory that group or others can write is refused" {
	recorded
	for mode in 720 770 702 777 1777; do
		chmod $mode tree/.bitscrub
		why="$W/tree/.bitscrub can be written by others"
		refused
	done
	chmod 755 tree/.bitscrub
	expect 0 run -q tree
}

@test "a state directory that an ACL lets somebody else write is refused" {
	need setfacl
	recorded
	setfacl -m u:12345:rwx tree/.bitscrub || skip "needs ACLs"
	why="$W/tree/.bitscrub can be written by user 12345 through an ACL"
	refused
	setfacl -b -m g:54321:rwx tree/.bitscrub
	why="$W/tree/.bitscrub can be written by group 54321 through an ACL"
	refused
	setfacl -b tree/.bitscrub
	chmod 700 tree/.bitscrub
	setfacl -m u:12345:rw tree/.bitscrub/manifest
	why="$W/tree/.bitscrub/manifest can be written by others"
	refused
	setfacl -b tree/.bitscrub/manifest
	chmod 600 tree/.bitscrub/manifest
	setfacl -m u:12345:r tree/.bitscrub/manifest
	chmod g-w tree/.bitscrub/manifest
	expect 0 run -q tree
}

@test "files in it that others can write are refused" {
	recorded
	for file in manifest manifest.1; do
		chmod 620 tree/.bitscrub/$file
		why="$W/tree/.bitscrub/$file can be written by others"
		refused
		chmod 602 tree/.bitscrub/$file
		refused
		chmod 600 tree/.bitscrub/$file
	done
	: >tree/.bitscrub/journal
	chmod 666 tree/.bitscrub/journal
	why="$W/tree/.bitscrub/journal can be written by others"
	refused
	rm tree/.bitscrub/journal
	expect 0 run -q tree
}

@test "symbolic links are refused, wherever they lead" {
	recorded
	mv tree/.bitscrub elsewhere.bitscrub
	ln -s ../elsewhere.bitscrub tree/.bitscrub
	why="$W/tree/.bitscrub is a symbolic link"
	refused
	rm tree/.bitscrub
	ln -s nowhere tree/.bitscrub
	refused
	[ ! -e tree/nowhere ]
	rm tree/.bitscrub
	mv elsewhere.bitscrub tree/.bitscrub
	for file in manifest manifest.1 journal history; do
		[ ! -e tree/.bitscrub/$file ] || mv tree/.bitscrub/$file moved
		ln -s ../../moved tree/.bitscrub/$file
		why="$W/tree/.bitscrub/$file is a symbolic link"
		refused
		rm tree/.bitscrub/$file
		[ ! -e moved ] || mv moved tree/.bitscrub/$file
	done
	expect 0 run -q tree
}

@test "a symbolic link under a temporary name is not followed" {
	recorded
	echo precious >precious
	ln -s ../../precious tree/.bitscrub/manifest.tmp
	run --separate-stderr "$SCRUB" run -q tree
	[ "$status" -eq 0 ] || [ "$status" -eq 8 ]
	[ "$(cat precious)" = precious ]
	[ -f tree/.bitscrub/manifest ]
	[ ! -L tree/.bitscrub/manifest ]
}

@test "a FIFO, a device or a directory in the place of a file is refused, and not opened" {
	recorded
	for file in manifest journal; do
		[ ! -e tree/.bitscrub/$file ] || mv tree/.bitscrub/$file moved
		mkfifo tree/.bitscrub/$file
		why="$W/tree/.bitscrub/$file is no regular file"
		refused
		rm tree/.bitscrub/$file
		mkdir tree/.bitscrub/$file
		refused
		rmdir tree/.bitscrub/$file
		[ ! -e moved ] || mv moved tree/.bitscrub/$file
	done
	mv tree/.bitscrub tree/moved
	: >tree/.bitscrub
	why="$W/tree/.bitscrub is no directory"
	refused
}

@test "a hard-linked manifest is refused, but a publish cut short is completed" {
	recorded
	ln tree/.bitscrub/manifest outside
	why="$W/tree/.bitscrub/manifest has 2 links"
	refused
	rm outside

	# Killed between the two renames of a publish.
	cp tree/.bitscrub/manifest before
	rm tree/.bitscrub/manifest.1
	ln tree/.bitscrub/manifest tree/.bitscrub/manifest.1
	expect 0 list tree
	expect 0 verify -q tree
	cmp before tree/.bitscrub/manifest.1
	expect 0 run -q tree
	[ "$(stat -c %h tree/.bitscrub/manifest tree/.bitscrub/manifest.1 | paste -sd ' ')" = "1 1" ]
	cmp before tree/.bitscrub/manifest.1

	# And before the first of them, with one that was written behind it.
	ln tree/.bitscrub/manifest tree/.bitscrub/manifest.1.tmp
	cp tree/.bitscrub/manifest tree/.bitscrub/manifest.tmp
	expect 0 status tree
	expect 0 run -q tree
	tidy "tree/.bitscrub"
}

@test "--state takes any directory, makes the last component, and says where it can't" {
	tree tree 10
	expect 0 run -q --state=there tree
	tidy "there"
	[ ! -e tree/.bitscrub ]
	expect 0 run -q --state="$W/there/" tree
	expect 8 run --state=not/there tree
	says "$W/not"
	[ ! -e not ]
	expect 8 verify tree
	says "no manifest"
	expect 8 run --state=tree/d000/f00001 tree
	says "is no directory"
	chmod 777 there
	expect 8 run --state=there tree
	says "$W/there can be written by others"
}

@test "a state directory within the tree, of this pass, is not walked" {
	tree tree 10
	expect 0 run -q --state=tree/d000/mine tree
	expect 0 run --json --state=tree/d000/mine tree
	[ "$(summary ok)" -eq 10 ]
	[ "$(summary files)" -eq 10 ]
}

@test "of foreign state the names of the format are passed over, all else is walked" {
	tree tree 10
	expect 0 run -q tree/d000
	# What somebody put there is his data.
	echo data >tree/d000/.bitscrub/holiday.jpg
	mkdir tree/d000/.bitscrub/more tree/fake.bitscrub
	echo data >tree/d000/.bitscrub/more/manifest
	# No state at all: it only looks like that.
	echo data >tree/fake.bitscrub/manifest
	echo data >tree/fake.bitscrub/journal
	echo data >tree/single
	expect 0 run -q tree/single
	expect 0 run -q tree
	expect 0 list tree
	[ "$(grep -v '^d000/f' <<<"$output")" = "d000/.bitscrub/holiday.jpg
d000/.bitscrub/more/manifest
fake.bitscrub/journal
fake.bitscrub/manifest
single" ]
	expect 0 run -q tree/d000
	expect 0 run --json tree
	[ "$(summary ok)" -eq 15 ]
}
