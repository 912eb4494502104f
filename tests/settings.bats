#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Which times and numbers count: ctime, inode, mtime-window, their defaults, and ctime moves that
# something else explains.

load helper
load pass

setup_file() {
	make_base ext4 16
}

populate() {
	local i
	for i in a b c d e f g; do data "$(printf %d "'$i")" 200000 >"$i"; done
	ln c c2
}

# rot_files FILE...: a bit in block 6 of each, underneath.
rot_files() {
	local i at
	for i; do at+=("$(place "fs/$i" 100000)"); done
	unmount_fs fs
	for i in "${at[@]}"; do flip fs.img "$i"; done
	mount_fs fs
}

D="6+1 98304+16384"

@test "each explained ctime move leaves rot what it is; one that nothing explains does not" {
	take_base
	rot_files a b c d e f g
	chmod 640 fs/a
	chown 7:7 fs/b
	rm fs/c2
	ln fs/d fs/d2
	mv fs/e fs/x
	chgrp 5 fs/f
	times_back fs/g "$(times_of fs/g)"
	expect 4 run --json --verbose fs
	tally "new=1 removed=1 rot=6 altered=1 blocks_damaged=7 files_damaged=7"
	damage "altered g $D; rot a $D metadata_changed; rot b $D metadata_changed; \
rot c $D metadata_changed; rot d $D metadata_changed; rot f $D metadata_changed; \
rot x $D metadata_changed"
	verdict d2 new
	verdict x "rot from e"
	expect 4 run fs
	has "fs: a: rot in block 6: 16384 bytes at offset 98304, metadata changed since, known since 20"
}

@test "after an equal check the moved metadata is the record" {
	take_base
	chmod 640 fs/a
	chown 7:7 fs/b
	mv fs/e fs/x
	times_back fs/g "$(times_of fs/g)"
	settle
	expect 0 run --json --verbose fs
	tally "ok=4 touched=3 moved=1"
	expect 0 run --json fs
	tally "ok=8"
	rot_files a b x g
	expect 4 run --json fs
	damage "rot a $D; rot b $D; rot g $D; rot x $D"
}

@test "an attribute or ACL moves ctime, and nothing recorded explains it: altered" {
	take_base
	need setfattr
	rot_files a
	setfattr -n user.x -v y fs/a
	setfattr -n user.x -v y fs/b
	expect 4 run --json --verbose fs
	verdict b touched
	damage "altered a $D"
}

@test "ctime=ignore: what only ctime tells apart is rot" {
	take_base
	expect 0 config -q fs ctime=ignore
	settle
	expect 0 run -q fs
	edit_quietly fs/a 100000
	edit fs/b 100000
	chmod 600 fs/d
	expect 4 run --json --verbose fs
	damage "rot a $D"
	verdict b "changed bit_flip"
	verdict d touched
	expect 4 config -q fs ctime=
	expect 4 config fs
	has "ctime=use"
}

@test "inode: another one under the same times is altered, ignored it is not looked at" {
	take_base
	cp -a fs/a fs/n
	mv fs/n fs/a
	cp -a fs/b fs/n
	edit_quietly fs/n 100000
	mv fs/n fs/b
	expect 4 run --json --verbose fs
	verdict a touched
	damage "altered b $D"
	expect 0 accept -q fs b
	# The number alone: ctime ignored as well, as it moves with it.
	expect 0 config -q fs ctime=ignore inode=ignore
	settle
	expect 0 run -q fs
	cp -a fs/d fs/n
	edit_quietly fs/n 100000
	mv fs/n fs/d
	mv fs/e fs/x
	expect 4 run --json --verbose fs
	damage "rot d $D"
	# Without inodes nothing says that this was a move.
	verdict x new
	verdict e removed
}

@test "mtime-window: times that are about equal, up to the very second" {
	take_base
	expect 0 config -q fs mtime-window=2 ctime=ignore
	for i in a b c d; do touch -d '2024-05-05 12:00:00.5' fs/$i; done
	settle
	expect 0 run -q fs
	expect 0 run --json fs
	tally "ok=8"
	for i in a b c d; do flip fs/$i 100000; done
	touch -d '2024-05-05 12:00:02.5' fs/a
	touch -d '2024-05-05 11:59:58.5' fs/b
	touch -d '2024-05-05 12:00:02.6' fs/c
	touch -d '2024-05-05 11:59:58.4' fs/d
	expect 4 run --json --verbose fs
	damage "rot a $D; rot b $D"
	verdict c "changed bit_flip"
	verdict c2 "changed"
	verdict d "changed bit_flip"
	expect 16 config -q fs mtime-window=-1
	expect 16 config -q fs mtime-window=1.5
	expect 16 config -q fs ctime=maybe
}

@test "a time zone that moved: whole quarter hours with equal content are touched" {
	take_base
	expect 0 config -q fs ctime=ignore inode=ignore
	settle
	expect 0 run -q fs
	when=$(stat -c %Y fs/a)
	touch -d "@$((when + 3600))" fs/a
	touch -d "@$((when - 86400))" fs/b
	touch -d "@$((when + 900))" fs/d
	touch -d "@$((when + 901))" fs/e
	expect 0 run --json --verbose fs
	tally "ok=4 touched=4"
	expect 0 run --json fs
	tally "ok=8"
	# With other content it is a change like any other.
	edit fs/a 100000
	touch -d "@$((when + 7200))" fs/a
	expect 0 run --json --verbose fs
	verdict a "changed bit_flip"
}

@test "FAT: ctime and inodes are ignored, times have steps of two seconds, zones move" {
	need_loop
	need mkfs.vfat
	grep -qw vfat /proc/filesystems || skip "this kernel has no vfat"
	truncate -s 32M fat.img
	mkfs.vfat fat.img >/dev/null
	mkdir fat
	mount_fs fat tz=UTC
	data 1 200000 >fat/a
	data 2 200000 >fat/b
	settle
	expect 0 run -q --state state fat
	expect 0 config --state state fat
	has "ctime=ignore"
	has "inode=ignore"
	unmount_fs fat
	mount_fs fat time_offset=60
	expect 0 run --json --state state fat
	tally "touched=2"
	edit_quietly fat/b 100000
	expect 4 run --json --state state fat
	damage "rot b $D"
}
