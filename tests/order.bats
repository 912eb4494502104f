#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a power cut needs: each write is on the medium before the one that relies on it. The exact order
# of writes and syncs of a pass and of a repair.

load helper
load robust

# in_order ARGUMENT...: scrub's writes, syncs and renames, one a line and repeated ones once, are in
# $calls, with names as seen from the tree.
in_order() {
	need_strace
	strace -f -y -qq -o trace -e trace=write,pwrite64,fsync,fdatasync,renameat,renameat2 \
		"$SCRUB" "$@" >out
	calls=$(sed -nE "s!^[0-9]+ +!!; s!^pwrite64!write!; s!^renameat2!renameat!
		s!^renameat\(.*\"([^\"]*)\", [0-9]+<[^>]*>, \"([^\"]*)\".*!rename \1 \2!p
		s!^(\w+)\([0-9]+<$W/tree/?([^>]*)>.*!\1 \2!p" trace | grep -v '#' | uniq)
}

make_tree() {
	mkdir tree
	data 1 170000 >tree/a
	touch -d '2025-01-31 12:00' tree/a
	sleep 2.1
}

publish="write .bitscrub/manifest.tmp
@fsync .bitscrub/manifest.tmp
rename manifest.1.tmp manifest.1
rename manifest.tmp manifest
fsync .bitscrub"

@test "a pass: parity, then the journal, then the manifest, each synced with its directory" {
	make_tree
	"$SCRUB" init -q tree
	in_order run -q -j 1 tree
	diff <(echo "$calls") <(cat <<-END
		fsync .bitscrub
		write .bitscrub/journal
		fsync .bitscrub
		fdatasync a
		write .bitscrub/parity/00000001
		write .bitscrub/journal
		fdatasync .bitscrub/parity/00000001
		fsync .bitscrub/parity
		fdatasync .bitscrub/journal
		${publish/@/$'fdatasync .bitscrub/parity/00000001\n'}
		write .bitscrub/history.tmp
		fsync .bitscrub/history.tmp
		rename history.tmp history
		fsync .bitscrub
	END
	)
}

@test "a repair: the undo entry, its state, the file, its time, the journal, the new state" {
	make_tree
	"$SCRUB" run -q tree
	cp -p tree/a good
	flip tree/a 5000 3
	touch -r good tree/a
	in_order repair -q --force tree a || [ $? -eq 1 ]
	cmp good tree/a
	diff <(echo "$calls") <(cat <<-END
		fsync .bitscrub
		write .bitscrub/undo/00000001
		fsync .bitscrub/undo/00000001
		write .bitscrub/undo/00000001
		fsync .bitscrub/undo/00000001
		fsync .bitscrub/undo
		write a
		fsync a
		write .bitscrub/journal
		fsync .bitscrub
		write .bitscrub/journal
		fdatasync .bitscrub/journal
		write .bitscrub/undo/00000001
		fsync .bitscrub/undo/00000001
		fdatasync .bitscrub/journal
		${publish/@/}
	END
	)
}
