#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# verify: copies, read-only media, other users; it compares all the same and writes nothing.

load helper
load pass

setup_file() {
	make_base ext4 16
}

teardown() {
	[ -z "$OPEN" ] || rm -rf "$OPEN"
	helper_teardown
}

populate() {
	data 1 200000 >f
	mkdir d
	data 2 200000 >d/g
	data 3 5000 >d/small
	: >empty
}

# Names, inodes, sizes and all times but atime of a tree.
listing() {
	find "$1" -printf '%p %i %s %T@ %C@ %m %n\n' | sort
}

@test "verify names differences by their times; all of them are damage" {
	take_base
	data 4 5000 >fs/extra
	rot f 100000
	edit_quietly fs/d/small 4999
	edit fs/d/g 0
	cp fs/.bitscrub/manifest before
	listing fs >listed
	expect 4 verify --json --verbose fs
	damage "altered d/small 1+1 4096+904; changed d/g 0+1 0+16384; rot f 6+1 98304+16384"
	tally "ok=1 changed=1 rot=1 altered=1 blocks_damaged=3 files_damaged=3"
	verdict extra none
	expect 4 verify -q fs
	has "fs: f: rot in block 6: 16384 bytes at offset 98304"
	has "fs: d/g: changed in block 0"
	listing fs | diff listed -
	cmp before fs/.bitscrub/manifest
	# Nothing of it is known to the next pass, and verify says the same again.
	expect 4 verify --json fs
	damage "altered d/small 1+1 4096+904; changed d/g 0+1 0+16384; rot f 6+1 98304+16384"
}

@test "missing is damage; touched and extra files are not" {
	take_base
	touch fs/f
	chmod 600 fs/d/g
	data 4 5000 >fs/extra
	expect 0 verify --json --verbose fs
	tally "ok=2 touched=2"
	rm fs/d/small
	expect 4 verify --json --verbose fs
	damage "missing d/small - -"
	tally "ok=1 touched=2 missing=1 files_damaged=1"
	expect 4 verify fs
	has "fs: d/small: missing"
	hasnt "No damage"
	rm -r fs/d
	mkdir fs/d fs/d/g
	expect 4 verify --json fs
	damage "missing d/g - -; missing d/small - -"
	expect 4 verify --json fs d/g
	damage "missing d/g - -"
	expect 0 verify --json fs f empty
	tally "ok=1 touched=1"
	expect 8 verify fs nothing
	says "nothing is recorded under this path"
}

@test "other sizes" {
	take_base
	when=$(times_of fs/f)
	echo more >>fs/f
	times_back fs/f "$when"
	truncate -s 100000 fs/d/g
	expect 4 verify --json --verbose fs
	verdict f altered
	verdict d/g changed
	damage "altered f - - 200000>200005; changed d/g - - 200000>100000; changed d/g 6+7 98304+101696"
	expect 4 verify fs
	has "fs: d/g: changed, size was 200000, is 100000"
}

@test "a copy elsewhere, with the manifest alone" {
	take_base
	cp fs/.bitscrub/manifest m
	cp -r fs copy
	rm -r copy/.bitscrub
	listing copy >listed
	expect 0 verify --json -m m copy
	tally "touched=4"
	flip copy/d/g 199999
	expect 4 verify --json -m m copy
	damage "changed d/g 12+1 196608+3392"
	expect 4 verify -m m copy
	has "copy: d/g: changed in block 12"
	has "verify -m m copy"
	flip copy/d/g 199999
	rm copy/empty
	expect 4 verify -q -m m copy
	[ "${lines[0]}" = "copy: DAMAGE: 1 file" ]
	[ "${lines[1]}" = "copy: empty: missing" ]
	expect 0 verify -q -m m copy d
	: >copy/empty
	[ ! -e copy/.bitscrub ]
	# Times put back, as rsync -t does: still other inodes, so altered at worst.
	cp -a fs/. copy2
	rm -r copy2/.bitscrub
	expect 0 verify -q -m m copy2
	edit_quietly copy2/f 0
	expect 4 verify --json -m m copy2
	damage "altered f 0+1 0+16384"
}

@test "a single file, and a manifest made for something else" {
	data 1 200000 >one
	expect 0 run -q one
	[ -f one.bitscrub/manifest ]
	cp one two
	expect 0 verify -q -m one.bitscrub/manifest two
	flip two 5
	expect 4 verify --json -m one.bitscrub/manifest two
	damage "changed two 0+1 0+16384"
	mkdir dir
	expect 8 verify -m one.bitscrub/manifest dir
	says "single file"
	expect 8 verify -m nothing dir
	says "cannot open the manifest nothing: No such file"
	expect 8 verify -m two dir
	says "cannot use the manifest"
}

@test "a read-only mount with its state inside: works, and not one byte is written" {
	take_base
	rot f 100000
	unmount_fs fs
	cksum <fs.img >sum
	mount_fs fs ro,noload
	listing fs >listed
	expect 4 verify --json fs
	damage "rot f 6+1 98304+16384"
	expect 0 list fs
	expect 0 status fs
	expect 0 export --format=sfv fs
	expect 8 run fs
	says "Read-only file system"
	listing fs | diff listed -
	unmount_fs fs
	cksum <fs.img | diff sum -
}

@test "another user, with a copy of the manifest" {
	need_root
	need setpriv
	OPEN=$(mktemp -d)
	chmod 755 "$OPEN"
	cd "$OPEN" || return 1
	mkdir t
	(cd t && populate)
	cp "$SCRUB" scrub
	expect 0 run -q t
	install -m 644 t/.bitscrub/manifest m
	as_nobody() {
		run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups ./scrub "$@"
	}
	# The state of root is closed to others.
	as_nobody verify t
	[ "$status" -eq 8 ]
	says "Permission denied"
	listing t >listed
	as_nobody verify --json -m m t
	[ "$status" -eq 0 ]
	tally "ok=4"
	flip t/f 10
	chmod 600 t/empty
	listing t >listed
	as_nobody verify --json -m m t
	[ "$status" -eq 12 ]
	damage "changed f 0+1 0+16384"
	json 'select(.event == "trouble") | "\(.path) \(.errno)"' "empty EACCES"
	listing t | diff listed -
}

@test "the state of a user, verified by that user" {
	need setpriv
	need_root
	OPEN=$(mktemp -d)
	cd "$OPEN" || return 1
	mkdir t
	(cd t && populate)
	cp "$SCRUB" scrub
	chown -R 65534:65534 "$OPEN"
	as_nobody() {
		run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups ./scrub "$@"
	}
	as_nobody run -q t
	[ "$status" -eq 0 ]
	[ "$(stat -c '%U:%a' t/.bitscrub t/.bitscrub/manifest | paste -sd ' ')" = "nobody:700 nobody:600" ]
	chmod -R a-w t
	as_nobody verify --json t
	[ "$status" -eq 0 ]
	tally "touched=4"
}
