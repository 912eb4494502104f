#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Holes are content that needs no reading: zeros, by arithmetic.

load helper
load pass

G=$((1 << 30))

need_holes() {
	truncate -s 1M probe
	[ "$(stat -c %b probe)" -eq 0 ] || skip "needs a file system with holes"
	rm probe
}

# quickly COMMAND...: in less than ten seconds, which reading 5 GiB would hardly do.
quickly() {
	local start=$SECONDS
	"$@" || return 1
	[ $((SECONDS - start)) -lt 10 ] || { echo "$* took $((SECONDS - start)) s"; return 1; }
}

@test "a sparse file of 5 GiB with an island of data" {
	need_holes
	mkdir t
	truncate -s $((5 * G)) t/f
	data 1 5000 | dd of=t/f bs=1M seek=3000 conv=notrunc status=none
	settle
	quickly expect 0 run --json t
	tally "new=1"
	summary bytes $((5 * G))
	summary blocks $((5 * G / 65536))
	# One block with the island, at most a few with it.
	json 'select(.event == "summary") | .bytes_read <= 1048576 and .bytes_read >= 5000' true
	expect 0 status --json t
	json 'select(.event == "status") | .hole_bytes >= 5368709120 - 1048576' true
	expect 0 list --json t
	json 'select(.event == "list") | .unrecorded' false
	quickly expect 0 run --json t
	tally "ok=1"
	json 'select(.event == "summary") | .bytes_read <= 1048576 and .bytes_read >= 5000' true
	quickly expect 0 verify --json t
	tally "ok=1"
	# The island, and a bit in a hole far from it.
	edit_quietly t/f $((3000 << 20))
	edit_quietly t/f $((5 * G - 1)) 7
	edit_quietly t/f 70000
	quickly expect 4 run --json t
	damage "altered f 1+1 65536+65536; altered f 48000+1 3145728000+65536; altered f 81919+1 5368643584+65536"
}

@test "the checksum of a sparse file is right" {
	need_holes
	need rhash
	mkdir t
	truncate -s 100000001 t/f
	data 1 70000 | dd of=t/f bs=1 seek=50000001 conv=notrunc status=none
	truncate -s 17000000 t/none
	expect 0 run -q t
	expect 0 list --json t
	json 'select(.path == "f") | .crc32' "$(rhash --simple -C t/f | cut -c1-8)"
	json 'select(.path == "none") | .crc32' "$(rhash --simple -C t/none | cut -c1-8)"
}

@test "holes that are written with zeros, and zeros that become holes, are ok" {
	need_holes
	need fallocate
	mkdir t
	truncate -s 40M t/f
	data 1 5000 | dd of=t/f bs=1M seek=20 conv=notrunc status=none
	truncate -s 100M t/big
	head -c 40M /dev/zero >t/zeros
	settle
	expect 0 run -q t
	for f in f big; do
		when=$(times_of t/$f)
		dd if=/dev/zero of=t/$f bs=1M count=18 conv=notrunc status=none
		times_back t/$f "$when"
	done
	when=$(times_of t/zeros)
	fallocate --punch-hole --offset 0 --length 33M t/zeros
	times_back t/zeros "$when"
	[ "$(stat -c %b t/zeros)" -lt $((8 << 11)) ]
	expect 0 run --json t
	tally "touched=3"
	expect 0 run --json t
	tally "ok=3"
}

@test "data that became a hole is found, even if the times are as recorded" {
	need_holes
	need fallocate
	mkdir t
	data 1 $((20 << 20)) >t/f
	data 2 $((60 << 20)) >t/whole
	settle
	expect 0 run -q t
	expect 0 config -q t ctime=ignore
	for f in f whole; do when=$(times_of t/$f)
		case $f in
		f) fallocate --punch-hole --offset 65536 --length 196608 t/f ;;
		# Whole extents of nothing but hole.
		whole) fallocate --punch-hole --offset 0 --length 48M t/whole ;;
		esac
		times_back t/$f "$when"
	done
	expect 4 run --json t
	tally "rot=2 blocks_damaged=771 files_damaged=2"
	damage "rot f 1+3 65536+196608; rot whole 0+256 0+16777216; rot whole 256+256 16777216+16777216; rot whole 512+256 33554432+16777216" ||
		damage "rot f 1+3 65536+196608; rot whole 0+768 0+50331648"
}

@test "a hole within a block, and one at the end" {
	need_holes
	need fallocate
	mkdir t
	data 1 200000 >t/f
	fallocate --punch-hole --offset 20480 --length 4096 t/f
	data 2 5000 >t/tail
	truncate -s 1000000 t/tail
	expect 0 run --json t
	tally "new=2"
	expect 0 list --json t
	json 'select(.event == "list") | .crc32' \
		"$(for f in f tail; do rhash --simple -C t/$f | cut -c1-8; done | paste -sd ' ')"
	expect 0 run --json t
	tally "ok=2"
}

@test "a huge file of nothing but hole" {
	make_fs xfs 300
	truncate -s 8T fs/huge
	settle
	# Well under a second; the rest is for a busy machine.
	quickly expect 0 run --json fs
	tally "new=1"
	summary bytes_read 0
	summary bytes $((8 << 40))
	[ "$(stat -c %s fs/.bitscrub/manifest)" -lt 100000 ]
	quickly expect 0 run --json fs
	tally "ok=1"
	quickly expect 0 verify --json fs
	tally "ok=1"
	# A bit in the midst of it, with the time put back, and the hole goes on behind it.
	edit_quietly fs/huge $((5 << 40))
	quickly expect 4 run --json fs
	damage "altered huge $((5 << 40 >> 16))+1 $((5 << 40))+65536"
	quickly expect 4 run --json fs
	damage "altered huge $((5 << 40 >> 16))+1 $((5 << 40))+65536 known"
	quickly expect 0 accept -q fs .
	quickly expect 0 run --json fs
	tally "ok=1"
	truncate -s 9T fs/huge
	quickly expect 0 run --json fs
	tally "changed=1"
	[ "$(stat -c %s fs/.bitscrub/manifest)" -lt 100000 ]
}
