#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Where the bytes come from: the medium, the cache, or nobody knows; and that a pass leaves the cache
# as it found it.

load helper
load pass

# 5 MiB and a bit: several windows of reading, a partial page at the end.
populate() {
	data 1 5000001 >cold
	data 2 5000001 >warm
	data 3 3000 >small
}
BYTES=10003002

# counts MEDIUM UNKNOWN CACHE: of the last summary.
counts() {
	json 'select(.event == "summary") | [.bytes_from_medium, .bytes_unknown, .bytes_from_cache] |
		join(" ")' "$*"
}

# cached FILE: how many bytes of it are in the cache.
cached() {
	fincore -nb -o RES "$1" | tr -d ' '
}

# evict FILE...
evict() {
	local f
	for f; do
		sync "$f"
		dd if="$f" iflag=nocache count=0 status=none
	done
}

# On a file system where the pass reads the medium.
of_medium() {
	need fincore
	make_fs "$1" "$2"
	(cd fs && populate)
	# What was just written is recorded as it was written.
	expect 0 run --json fs
	counts 0 0 $BYTES
	evict fs/cold fs/warm fs/small
	[ "$(cached fs/cold)" = 0 ]
	cat fs/warm >/dev/null
	before=$(cached fs/warm)
	[ "$before" -ge 5000001 ]
	expect 0 run --json fs
	tally "ok=3"
	counts $BYTES 0 0
	expect 0 verify --json fs
	counts $BYTES 0 0
	[ "$(cached fs/cold)" = 0 ]
	[ "$(cached fs/small)" = 0 ]
	[ "$(cached fs/warm)" = "$before" ]
	expect 0 run fs
	has "all from the medium"
	# New content that is not in the cache comes from the medium, and does not get into it.
	cp fs/cold fs/new
	evict fs/new fs/cold
	expect 0 run --json fs
	tally "ok=3 new=1"
	counts 15003003 0 0
	[ "$(cached fs/new)" = 0 ]
	# Partly there: the rest from the medium.
	data 4 8388608 >fs/half
	evict fs/half
	dd if=fs/half of=/dev/null bs=64K count=1 status=none
	before=$(cached fs/half)
	[ "$before" -ge 65536 ]
	[ "$before" -lt 8388608 ]
	expect 0 run --json fs
	tally "ok=4 new=1"
	# Reading what is cached may make the kernel read ahead a little.
	json "select(.event == \"summary\") | .bytes_unknown, (.bytes_from_cache >= $before),
		(.bytes_from_cache + .bytes_from_medium == .bytes_read)" "0 true true"
}

@test "ext4: from the medium, and the cache stays as it was" {
	of_medium ext4 64
}

@test "xfs: from the medium, and the cache stays as it was" {
	of_medium xfs 300
}

@test "--cached reads through the cache, and drops what it brought there" {
	need fincore
	make_fs ext4 64
	(cd fs && populate)
	settle
	expect 0 run -q fs
	evict fs/cold fs/small fs/warm
	cat fs/warm >/dev/null
	before=$(cached fs/warm)
	expect 0 run --json --cached fs
	tally "ok=3"
	counts 0 5003001 5000001
	[ "$(cached fs/cold)" = 0 ]
	[ "$(cached fs/warm)" = "$before" ]
	expect 0 verify --json --cached fs
	counts 0 5003001 5000001
	# A second look at the cache does not see what is wrong on the disk.
	at=$(place fs/warm 4000000)
	dev=$(findmnt -no SOURCE fs)
	flip "$dev" "$at"
	sync "$dev"
	expect 0 verify -q --cached fs
	expect 4 verify --json fs
	damage "rot warm 61+1 3997696+65536"
}

@test "data=journal: ext4 reads such files through the cache, and it is not called the medium" {
	need fincore
	make_fs ext4 64
	unmount_fs fs
	mount_fs fs data=journal
	(cd fs && populate)
	expect 0 run -q fs
	evict fs/cold fs/small fs/warm
	expect 0 run --json fs
	tally "ok=3"
	json 'select(.event == "summary") | .bytes_from_medium' 0
}

@test "overlay: nobody knows" {
	need_root
	mkdir lower upper work fs
	(cd lower && populate)
	mount -t overlay -o "lowerdir=lower,upperdir=upper,workdir=work" none fs 2>/dev/null ||
		skip "needs overlay over this file system"
	MOUNTS+=("$W/fs")
	evict lower/cold lower/small lower/warm
	expect 0 run --json fs
	tally "new=3"
	counts 0 $BYTES 0
	settle
	expect 0 run --json fs
	tally "ok=3"
	counts 0 $BYTES 0
	# A copy-up is a new inode with the same times and content.
	chmod 600 fs/cold
	expect 0 run --json --verbose fs
	verdict cold touched
	edit fs/warm 4000000
	expect 0 run --json --verbose fs
	verdict warm "changed bit_flip"
	edit_quietly fs/cold 0
	expect 4 run --json fs
	damage "altered cold 0+1 0+65536"
}

@test "FUSE: nobody knows; inodes and ctime are ignored" {
	need_root
	need bindfs
	[ -c /dev/fuse ] || skip "needs FUSE"
	mkdir real fs
	(cd real && populate)
	evict real/cold real/small real/warm
	bindfs real fs 3>&-
	MOUNTS+=("$W/fs")
	expect 0 run --json fs
	tally "new=3"
	counts 0 $BYTES 0
	expect 0 config fs
	has "ctime=ignore"
	has "inode=ignore"
	settle
	expect 0 run --json fs
	tally "ok=3"
	counts 0 $BYTES 0
	cp -a real/cold real/other
	mv real/other real/cold
	expect 0 run -q fs
	edit_quietly real/warm 4000000
	umount fs
	bindfs real fs 3>&-
	expect 4 run --json fs
	damage "rot warm 61+1 3997696+65536"
}

@test "squashfs: a read-only copy is verified with the manifest of the original" {
	need_loop
	need mksquashfs
	grep -q squashfs /proc/filesystems || skip "needs squashfs"
	mkdir t fs
	(cd t && populate)
	expect 0 run -q t
	cp t/.bitscrub/manifest m
	mksquashfs t fs.img -quiet -no-progress -e .bitscrub >/dev/null
	mount_fs fs ro
	expect 0 verify --json -m m fs
	tally "touched=3"
	json 'select(.event == "summary") | .bytes_from_medium' 0
	expect 8 run fs
	says "Read-only file system"
	unmount_fs fs
	edit_quietly t/warm 4000000
	rm t/small fs.img
	mksquashfs t fs.img -quiet -no-progress -e .bitscrub >/dev/null
	mount_fs fs ro
	# Seconds are all that it keeps of a time.
	expect 4 verify --json -m m fs
	damage "changed warm 61+1 3997696+65536; missing small - -"
}
