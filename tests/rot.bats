#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# A corpus of real rot, made underneath ext4 and xfs: each kind found at its place, and none of it
# laundered by the passes that follow.

load helper
load pass
load medium

# Blocks: large has 65536, the others 16384 and 3392 at the end; each file is one extent.
populate() {
	local i n=0
	for i in bit byte ff hole last page sector short stale swap1 swap2 zeroed; do
		data $((n += 1)) 200000 >"$i"
	done
	data 20 1310720 >large
	data 21 5000 >sound
	# As it was once.
	data 22 200000 >stale
	sync stale
	dd if=stale of=../stale.old bs=4096 count=1 skip=24 status=none
	data 23 200000 | dd of=stale conv=notrunc status=none
}

# bytes FILE OFFSET LENGTH: of the image. put FILE OFFSET: standard input goes there.
bytes() {
	dd if=fs.img iflag=skip_bytes,count_bytes skip="$(at "$1" "$2")" count="$3" status=none
}
put() {
	dd of=fs.img oflag=seek_bytes seek="$(at "$1" "$2")" conv=notrunc status=none
}

rot_all() {
	flip fs.img "$(at bit 100000)" 5
	bytes byte 199990 1 | perl -pe '$_ = ~$_' | put byte 199990
	flip fs.img "$(at last 199999)"
	head -c 512 /dev/zero | put sector 20480
	head -c 16384 /dev/zero | put zeroed 16384
	head -c 4096 /dev/zero | tr '\0' '\377' | put ff 8192
	data 30 4096 | put page 65536
	data 31 200000 | put large 983040
	put stale 98304 <stale.old
	bytes swap1 32768 16384 >one
	bytes swap2 49152 16384 >two
	put swap1 32768 <two
	put swap2 49152 <one
}

ROTTEN="rot bit 6+1 98304+16384; rot byte 12+1 196608+3392; rot ff 0+1 0+16384; rot hole 0+1 0+16384; \
rot large 15+4 983040+262144; rot last 12+1 196608+3392; \
rot page 4+1 65536+16384; rot sector 1+1 16384+16384; rot short - - 200000>150000; \
rot short 9+4 147456+52544; rot stale 6+1 98304+16384; rot swap1 2+1 32768+16384; \
rot swap2 3+1 49152+16384; rot zeroed 1+1 16384+16384"
PATTERNS="bit bitflip
byte bits
ff 0xff
hole zeroed
last bitflip
page page
sector zeroed
stale page
swap1 misdirected swap2 3
swap2 misdirected swap1 2
zeroed zeroed"

recorded() {
	"$SCRUB" list --json fs | jq -r 'select(.event == "list") |
		"\(.path) \(.size) \(.crc32) \(.mtime_ns) \(.recorded)"'
}

# corpus TYPE MIB COMMAND: COMMAND cuts short to 150000 bytes and takes the first 4096 bytes from hole.
corpus() {
	local i known
	make_fs "$1" "$2"
	(cd fs && populate)
	sync -f fs
	settle
	expect 0 run -q fs
	map_files fs >places
	ino_short=$(stat -c %i fs/short) ino_hole=$(stat -c %i fs/hole)
	unmount_fs fs
	cp --sparse=always fs.img good.img
	rot_all
	"$3"
	mount_fs fs
	recorded >before
	expect 4 run --json fs
	damage "$ROTTEN"
	tally "ok=1 rot=13 blocks_damaged=19 files_damaged=13"
	[ "$(jq -r 'select(.pattern and .path != "large") | "\(.path) \(.pattern) \(.holds // "") \(.holds_block // "")"' \
		<<<"$output" | sed 's/ *$//' | sort)" = "$PATTERNS" ]
	known=$(sed 's/;/ known;/g; s/$/ known/' <<<"$ROTTEN")
	for i in 1 2 3 4 5 6 7 8 9 10; do
		expect 4 run --json fs
		damage "$known"
		tally "ok=1 rot=13 blocks_damaged=19 files_damaged=13"
	done
	recorded | diff before -
	expect 4 verify --json fs
	damage "$known"
	# All of that was said of the image, none of it of the record.
	cp fs/.bitscrub/manifest later
	unmount_fs fs
	mv good.img fs.img
	mount_fs fs
	expect 0 verify --json -m later fs
	tally "ok=14"
}

lose_ext4() {
	local size
	size=$(debugfs -R stats fs.img 2>/dev/null | sed -n 's/^Block size: *//p')
	debugfs -w -R "set_inode_field <$ino_short> size 150000" fs.img 2>/dev/null
	debugfs -w -R "punch <$ino_hole> 0 $((4096 / size - 1))" fs.img 2>/dev/null
}

lose_xfs() {
	local start count
	xfs_db -x -c "inode $ino_short" -c "write core.size 150000" fs.img >/dev/null
	start=$(xfs_db -c "inode $ino_hole" -c "p u3.bmx[0].startblock" fs.img | sed 's/.*= //; s/ .*//')
	count=$(xfs_db -c "inode $ino_hole" -c "p u3.bmx[0].blockcount" fs.img | sed 's/.*= //')
	xfs_db -x -c "inode $ino_hole" -c "write u3.bmx[0].startoff 1" \
		-c "write u3.bmx[0].startblock $((start + 1))" \
		-c "write u3.bmx[0].blockcount $((count - 1))" fs.img >/dev/null
}

@test "ext4: every kind of rot at its place, and the same after ten more passes" {
	need debugfs
	corpus ext4 32 lose_ext4
}

@test "xfs: every kind of rot at its place, and the same after ten more passes" {
	need xfs_db
	corpus xfs 300 lose_xfs
}
