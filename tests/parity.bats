#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Parity in a pass: what is stored, checked, rebuilt, collected; and what it says about damage.

load helper

# file NAME SEED BYTES: with an old time; with ctime ignored it is never racy.
file() {
	data "$2" "$3" >"t/$1"
	touch -d 2001-01-01 "t/$1"
}

# record OPTION...: a first pass in which mtime alone decides.
record() {
	expect 0 init t "$@"
	expect 0 config t ctime=ignore
	expect 0 run -q t
}

# put NAME OFFSET: writes stdin there, and puts the time back.
put() {
	dd of="t/$1" bs=64K oflag=seek_bytes seek="$2" conv=notrunc status=none
	touch -d 2001-01-01 "t/$1"
}

bytes() {
	perl -e 'print chr(hex $ARGV[0]) x $ARGV[1]' "$1" "$2"
}

# The one segment there is.
segment() {
	ls t/.bitscrub/parity/*
}

stored() {
	cat t/.bitscrub/parity/* | wc -c
}

@test "the parity of a file has the size that the manual says" {
	mkdir t
	file one 1 1
	file page 2 4096
	file more 3 4097
	file mid 4 1000000
	file big 5 17825792
	record
	# 1 + 4096 + 4096 + roundup(62500, 4096) + roundup(17825792 / 16, 4096)
	[ "$(stored)" -eq $((1 + 4096 + 4096 + 65536 + 1114112)) ]
	expect 0 status --json t
	json 'select(.event == "status") | "\(.parity) \(.columns) \(.parity_bytes) \(.parity_stored)"' \
		"true 16 1187841 1187841"
}

@test "other numbers of columns, none, and parity switched on later" {
	mkdir t
	file f 1 1000000
	record --parity=4
	[ "$(stored)" -eq 253952 ]
	rm -r t/.bitscrub
	record --no-parity
	[ ! -e t/.bitscrub/parity ]
	expect 0 config t parity=on
	expect 0 run --json t
	json 'select(.event == "summary") | "\(.ok) \(.new)"' "1 0"
	[ "$(stored)" -eq 65536 ]
	expect 0 verify -q t
	expect 16 config t parity=off
	expect 16 config t parity=8
}

@test "zeros and holes take no parity" {
	mkdir t
	bytes 00 300000 >t/zeros
	truncate -s 100M t/hole
	touch -d 2001-01-01 t/*
	record
	[ "$(stored)" -eq 0 ]
	bytes 01 1 | put hole 70000000
	expect 4 run --json t
	json 'select(.event == "damage") | "\(.kind) \(.repairable) \(.pattern) \(.differ_first)"' \
		"rot yes bitflip 70000000"
}

@test "damaged parity over sound data: verify tells, run rebuilds" {
	mkdir t
	file f 1 1000000
	file g 2 1000000
	record
	bytes 55 100 | dd of="$(segment)" bs=1 seek=70000 conv=notrunc status=none
	expect 4 verify --json t
	json 'select(.event == "damage") | "\(.kind) \(.path) \(.offset) \(.length) \(.repaired)"' \
		"parity g 0 1000000 false"
	expect 4 verify t
	has "t: g: parity of bytes 0 to 999999 is damaged; the data is sound, and 'run' rebuilds it"
	expect 1 run t
	has "t: g: parity of bytes 0 to 999999 was damaged and has been rebuilt; the data is sound"
	expect 0 verify -q t
	[ -z "$output" ]
	# Gone altogether.
	rm t/.bitscrub/parity/*
	expect 1 run --json t
	json 'select(.event == "summary") | "\(.repaired) \(.ok)"' "2 2"
	expect 0 run -q t
}

@test "what both checksums missed, the fold sees" {
	mkdir t
	# x^32 + ... + 1 is a codeword of the CRC: with and without it a block has the same CRC, and
	# moved by whole words it leaves the sum as it was.
	perl -e '
		my $w = "1" . sprintf("%032b", 0x04c11db7) . "0000000";
		print pack("b*", $w), "\0" x 59, "\0" x 64, "x" x 65000' >t/f
	file g 1 1000
	touch -d 2001-01-01 t/f
	record
	dd if=t/f of=word bs=64 count=1 status=none
	bytes 00 64 | put f 0
	put f 64 <word
	expect 4 run --json t
	json 'select(.event == "damage") | "\(.kind) \(.path) \(.inconsistent) \(.repaired)"' \
		"parity f true false"
	json 'select(.event == "summary") | "\(.ok) \(.rot) \(.repaired)"' "2 0 0"
	expect 4 verify t
	has "t: f: parity of bytes 0 to 65127 does not fit the data, though all checksums do"
	# Nothing was rebuilt over it: put back, all is well.
	put f 0 <word
	bytes 00 64 | put f 64
	expect 0 run -q t
}

@test "what a diagnosis says" {
	mkdir t
	file a 1 1048576
	file b 2 1048576
	file c 3 1048576
	cp -p t/a t/c .
	record --block-size=64K
	flip t/a 201344 6
	touch -d 2001-01-01 t/a
	bytes 00 4096 | put a 409600
	bytes ff 512 | put a 614400
	data 9 512 | put a 819200
	dd if=t/b bs=65536 skip=3 count=1 status=none | put c $((65536 * 15))
	expect 4 run --json -j1 --reads-in-flight=1 t
	json 'select(.event == "damage") | "\(.block) \(.pattern) \(.repairable)"' \
		"3 bitflip yes 6 zeroed yes 9 0xff yes 12 sector yes 15 misdirected yes"
	json 'select(.event == "damage" and .block == 3) | "\(.bits_flipped) \(.differ_first)"' \
		"1 201344"
	json 'select(.event == "damage" and .block == 15) | "\(.holds) \(.holds_block)"' "b 3"
	expect 4 run t
	was=$(od -An -tx1 -j201344 -N1 a | tr -d ' ') is=$(od -An -tx1 -j201344 -N1 t/a | tr -d ' ')
	has "t: a: rot in block 3: 65536 bytes at offset 196608"
	has "; 1 bit flipped at byte 201344 (0x$was -> 0x$is); repairable"
	has "reads as zeros; repairable"
	has "; holds block 3 of b; repairable"
	expect 1 repair -q t
	cmp a t/a
	cmp c t/c
	expect 0 run -q t
}

@test "hit twice is hit twice: not repairable, and said so" {
	mkdir t
	file a 1 2000000
	record
	# The same positions of two columns: 2000000 bytes in columns of 126976.
	data 3 4096 | put a 8192
	data 4 4096 | put a $((126976 * 5 + 8192))
	cp -p t/a damaged
	expect 4 run --json t
	json 'select(.event == "damage") | .repairable' "no no"
	expect 4 repair t
	has "NOT repaired"
	cmp damaged t/a
}

@test "what parity can't give, another file with the same content can" {
	mkdir t
	file a 1 2000000
	file b 9 70000
	cp t/a t/copy
	touch -d 2001-01-01 t/copy
	cp t/a right
	record
	data 3 4096 | put a 8192
	data 4 4096 | put a $((126976 * 5 + 8192))
	expect 4 run -q t
	expect 1 repair --json t
	json 'select(.event == "repair") | "\(.how) \(.path)"' "duplicate a duplicate a"
	cmp right t/a
	expect 0 run -q t
	# A copy that has changed too is no source.
	data 3 4096 | put a 8192
	data 4 4096 | put a $((126976 * 5 + 8192))
	data 5 100 | put copy 8192
	data 5 100 | put copy $((126976 * 5 + 8192))
	expect 4 run -q t
	expect 4 repair t a
	has "NOT repaired"
}

@test "segments that nothing refers to are removed, those half empty are copied" {
	mkdir t
	for i in 1 2 3 4 5 6 7 8; do
		file "f$i" "$i" 100000
	done
	record
	first=$(segment)
	before=$(stored)
	rm t/f[1-6]
	expect 0 run -q t
	expect 0 run -q t
	[ ! -e "$first" ]
	[ "$(stored)" -eq $((before / 4)) ]
	expect 0 verify -q t
	file f7 70 100000
	touch -d 2002-01-01 t/f7
	rm t/f8
	expect 0 run -q t
	expect 0 run -q t
	[ "$(stored)" -eq $((before / 8)) ]
	flip t/f7 5
	touch -d 2002-01-01 t/f7
	expect 4 run -q t
	expect 1 repair -q t
	expect 0 run -q t
}

@test "too little room for parity is noticed before anything is read" {
	need_root
	mkdir t state
	file a 1 8000000
	mount -t tmpfs -o size=256K none state
	MOUNTS+=("$W/state")
	expect 8 run --state=state/s t
	says "parity needs up to"
	says "--no-parity"
	expect 0 status --state=state/s t
	has "recorded     nothing" || has "recorded     0 files"
	# What is advised works, although there is a manifest by now.
	expect 0 run -q --no-parity --state=state/s t
	expect 0 config --state=state/s t
	has "parity=off"
	expect 16 run --parity=64 --state=state/s t
	says "use 'config'"
}
