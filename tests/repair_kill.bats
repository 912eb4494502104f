#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# repair and undo killed at each of their writing system calls: the next command ends it right.

load helper
load pass
load repair

CALLS="pwrite64 write fsync fdatasync ftruncate utimensat renameat unlinkat linkat"

# An image with damage in three files, in one of them in two extents; GOOD and BAD are checksums.
setup_image() {
	need strace
	make_fs ext4 64
	mkdir fs/t
	data 1 300000 >fs/t/a
	data 2 34000000 >fs/t/b
	data 3 100 >fs/t/c
	sync
	settle
	expect 0 run fs/t
	settle
	expect 0 run fs/t
	GOOD=$(cat fs/t/? | cksum)
	rot fs/t/a 123456 1
	rot fs/t/b 10000000 9000
	rot fs/t/b 30000000 7000
	rot fs/t/c 50 3
	rot_now fs
	expect 4 run -q fs/t
	BAD=$(cat fs/t/? | cksum)
}

REPAIR=(repair) UNDO=(repair --undo) RUN=(run)

# once CALL N KILLED NEXT: does KILLED until its Nth CALL, then NEXT. False: it was not killed.
# KILLED and NEXT are the names of the arrays above.
once() {
	local -n killed=$3 next=$4
	rm -f fs.img
	cp --sparse=always base.img fs.img
	mount_fs fs
	run strace -f -qq -o trace -e trace="$1" -e inject="$1:signal=KILL:when=$2" \
		"$SCRUB" "${killed[@]}" -q fs/t
	[ "$status" -eq 137 ] || return 1
	run "$SCRUB" "${next[@]}" -q fs/t
	"$SCRUB" "${killed[@]}" -q fs/t >out 2>&1 || true
}

# sweep KILLED WANT EXIT: WANT is what the files must hold in the end, EXIT what a pass must say.
sweep() {
	local call n total=0 after
	for call in $CALLS; do
		for ((n = 1; ; n++)); do
			total=$((total + 1))
			# What comes next is a pass, or the same again.
			after=$1
			((total % 2)) && after=RUN
			once "$call" "$n" "$1" "$after" || break
			run --separate-stderr "$SCRUB" run --json fs/t
			if [ "$status" -ne "$3" ] || [ "$(cat fs/t/? | cksum)" != "$2" ]; then
				echo "killed at $call $n, then $after: exit $status"
				cat trace out
				show
				return 1
			fi
			unmount_fs fs
		done
		unmount_fs fs
	done
	# Else nothing was tested.
	[ "$total" -gt 60 ] || { echo "only $total"; return 1; }
}

@test "repair, killed at each step" {
	setup_image
	unmount_fs fs
	mv fs.img base.img
	sweep REPAIR "$GOOD" 0
}

@test "undo, killed at each step" {
	setup_image
	expect 1 repair -q fs/t
	unmount_fs fs
	mv fs.img base.img
	sweep UNDO "$BAD" 4
}

# cut_short COMMAND...: killed before it puts an mtime back for the first time.
cut_short() {
	run strace -f -qq -o trace -e trace=utimensat -e inject=utimensat:signal=KILL:when=1 "$SCRUB" "$@"
	[ "$status" -eq 137 ]
}

@test "completing is killed too, seconds later, and goes on from there" {
	setup_image
	times=$(stat -c '%n %.Y' fs/t/?)
	cut_short repair -q fs/t
	settle
	cut_short run -q fs/t
	settle
	"$SCRUB" run -q fs/t || true
	expect 1 repair -q fs/t
	[ "$(cat fs/t/? | cksum)" = "$GOOD" ]
	[ "$(stat -c '%n %.Y' fs/t/?)" = "$times" ]

	cut_short repair --undo -q fs/t
	settle
	cut_short run -q fs/t
	settle
	"$SCRUB" run -q fs/t || true
	"$SCRUB" repair --undo -q fs/t || true
	[ "$(cat fs/t/? | cksum)" = "$BAD" ]
	[ "$(stat -c '%n %.Y' fs/t/?)" = "$times" ]
}
