#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# The life of damage that is known: found, told again, carried by edits, and how it ends. On a real
# ext4 whose bits flip underneath.

load helper
load pass

setup_file() {
	make_base ext4 16
}

# f and g: 12 blocks of 16384 bytes and one of 3392; small: 4096 + 904.
populate() {
	data 1 200000 >f
	data 2 200000 >g
	data 3 5000 >small
}

# The recorded checksums don't change as long as nobody takes new content.
recorded() {
	"$SCRUB" list --json fs | jq -r --arg p "$1" 'select(.path == $p) | .crc32'
}

@test "rot: the exact block, once in full, then as known, until it is gone" {
	take_base
	cp -p fs/f backup
	crc=$(recorded f)
	[ "$crc" = "$(rhash --simple -C backup | cut -c1-8)" ]
	rot f 100000 6
	expect 4 run --json --verbose fs
	tally "ok=2 rot=1 blocks_damaged=1 files_damaged=1"
	damage "rot f 6+1 98304+16384"
	verdict f rot
	summary complete true
	expect 4 run --json fs
	damage "rot f 6+1 98304+16384 known"
	expect 4 run -q fs
	[[ ${lines[0]} == "fs: DAMAGE: 1 block in 1 file"* ]]
	[[ ${lines[1]} == "fs: f: rot, still damaged since 20"* ]]
	[ "$(grep -c 'fs: f' <<<"$output")" -eq 1 ]
	expect 4 run fs
	has "fs: f: rot in block 6: 16384 bytes at offset 98304, known since 20"
	[ "$(recorded f)" = "$crc" ]
	# Every verb says that there is damage.
	expect 4 status fs
	expect 4 verify --json fs
	damage "rot f 6+1 98304+16384 known"
	expect 4 list fs
	expect 4 list --damaged fs
	[[ $output == "f: rot, 1 block, since 20"* ]]
	expect 4 list --json --damaged fs
	json 'select(.event == "list") | "\(.path) \(.damaged_blocks) \(.damage)"' "f 1 rot"
	# The bit flips back.
	rot f 100000 6
	expect 0 run --json fs
	tally "ok=3"
	expect 0 list --damaged fs
	[ -z "$output" ]
}

@test "blocks side by side are one run, others are runs of their own" {
	take_base
	rot f 16384
	rot f 32768
	rot f 49151
	rot f 199999
	rot g 0
	rot small 4999 7
	expect 4 run --json fs
	tally "rot=3 blocks_damaged=5 files_damaged=3"
	damage "rot f 1+2 16384+32768; rot f 12+1 196608+3392; rot g 0+1 0+16384; rot small 1+1 4096+904"
	expect 4 run fs
	has "fs: f: rot in blocks 1 to 2: 32768 bytes at offset 16384"
	has "fs: DAMAGE: 5 blocks in 3 files"
}

@test "more damage later: each has its own date" {
	take_base
	rot f 0
	expect 4 run -q fs
	rot f 50000
	expect 4 run --json fs
	damage "rot f 0+1 0+16384 known; rot f 3+1 49152+16384"
	expect 4 run -q fs
	[ "$(grep -c 'fs: f' <<<"$output")" -eq 1 ]
}

@test "a chmod does not make rot anything else, before it is found or after" {
	take_base
	rot f 100000
	chmod 600 fs/f
	expect 4 run --json fs
	damage "rot f 6+1 98304+16384 metadata_changed"
	rot g 100000
	expect 4 run -q fs
	chmod 600 fs/g
	chown 1:1 fs/f
	expect 4 run --json --verbose fs
	verdict g rot
	verdict f rot
	damage "rot f 6+1 98304+16384 known metadata_changed; rot g 6+1 98304+16384 known metadata_changed"
}

@test "a touch of a rotten file before rot was found" {
	take_base
	rot f 100000
	touch fs/f
	# The times say that somebody wrote it, and one bit says how likely that is.
	expect 0 run --json --verbose fs
	verdict f "changed bit_flip"
}

@test "an edit elsewhere carries the damage along, and ten passes do not launder it" {
	take_base
	cp -p fs/f backup
	crc=$(recorded f)
	rot f 100000
	expect 4 run -q fs
	edit fs/f 10
	expect 4 run --json --verbose fs
	verdict f altered
	tally "ok=2 altered=1 blocks_damaged=1 files_damaged=1"
	damage "altered f 6+1 98304+16384 carried known"
	for i in 1 2 3 4 5 6 7 8 9 10; do
		edit fs/f $((i * 1000))
		expect 4 run -q fs
		[ "$(recorded f)" = "$crc" ]
	done
	expect 4 run fs
	has "fs: f: altered in block 6: 16384 bytes at offset 98304, older than the last edit of the file, known since 20"
	cp -p backup fs/f
	expect 0 run --json --verbose fs
	verdict f touched
	expect 0 run --json fs
	tally "ok=3"
}

@test "an append and a cut behind it carry it too; a cut before it closes it" {
	take_base
	rot f 100000
	rot g 100000
	expect 4 run -q fs
	echo more >>fs/f
	truncate -s 150000 fs/g
	expect 4 run --json --verbose fs
	verdict f altered
	verdict g altered
	damage "altered f 6+1 98304+16384 carried known; altered g 6+1 98304+16384 carried known"
	truncate -s 1000000 fs/f
	expect 4 run -q fs
	truncate -s 50000 fs/g
	expect 4 run --json --verbose fs
	verdict g changed
	damage "altered f 6+1 98304+16384 carried known"
	truncate -s 0 fs/f
	expect 0 run --json --verbose fs
	verdict f changed
	expect 0 run --json fs
	tally "ok=3"
}

@test "an edit of the damaged block itself is taken" {
	take_base
	rot f 100000
	expect 4 run -q fs
	data 7 16384 | dd of=fs/f bs=16384 seek=6 conv=notrunc status=none
	expect 0 run --json --verbose fs
	verdict f changed
	expect 0 run --json fs
	tally "ok=3"
}

@test "one of two damaged blocks overwritten: the other keeps the record" {
	take_base
	rot f 100000
	rot f 0
	expect 4 run -q fs
	data 7 16384 | dd of=fs/f bs=16384 seek=6 conv=notrunc status=none
	expect 4 run --json --verbose fs
	verdict f altered
	has '"offset":0,"length":16384'
	data 8 16384 | dd of=fs/f bs=16384 seek=0 conv=notrunc status=none
	expect 0 run --json --verbose fs
	verdict f changed
}

@test "deleted: told once" {
	take_base
	rot f 100000
	expect 4 run -q fs
	rm fs/f
	expect 0 run -q fs
	[ -z "$output" ]
	says "fs: f: removed with open damage"
	expect 0 run -q fs
	[ -z "$output$stderr" ]
}

@test "replaced by rename, and by an equal file of another time" {
	take_base
	cp fs/f good
	rot f 100000
	rot g 100000
	cp fs/g bad
	expect 4 run -q fs
	data 9 200000 >fs/new
	touch -d 2020-02-02 fs/new
	mv fs/new fs/f
	expect 4 run --json --verbose fs
	verdict f changed
	damage "rot g 6+1 98304+16384 known"
	# A copy of what is bad is no replacement.
	cp bad fs/new
	touch -d 2020-02-02 fs/new
	mv fs/new fs/g
	expect 4 run --json --verbose fs
	verdict g altered
	damage "altered g 6+1 98304+16384 carried known"
	flip fs/g 100000
	touch -d 2020-02-02 fs/g
	expect 0 run --json --verbose fs
	verdict g touched
}

@test "restored with its times: healed" {
	take_base
	cp -p fs/f backup
	rot f 100000
	expect 4 run -q fs
	cp -p backup fs/f
	expect 0 run --json --verbose fs
	verdict f touched
	tally "ok=2 touched=1"
	settle
	expect 0 run --json fs
	tally "ok=3"
	# And damage that comes after that is rot again.
	rot f 100000
	expect 4 run --json fs
	damage "rot f 6+1 98304+16384"
}

@test "renamed: the damage follows" {
	take_base
	rot f 100000
	rot g 20000
	expect 4 run -q fs
	mkdir fs/d
	mv fs/f fs/d/x
	expect 4 run --json --verbose fs
	verdict d/x "rot from f"
	verdict f none
	damage "rot d/x 6+1 98304+16384 known metadata_changed; rot g 1+1 16384+16384 known"
	tally "ok=1 rot=2 blocks_damaged=2 files_damaged=2"
	mv fs/d/x fs/y
	mv fs/g fs/d/g
	expect 4 run --json fs
	damage "rot d/g 1+1 16384+16384 known metadata_changed; rot y 6+1 98304+16384 known metadata_changed"
	expect 4 list --damaged fs
	[ "$(cut -d: -f1 <<<"$output" | paste -sd ' ')" = "d/g y" ]
}
