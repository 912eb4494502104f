#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# export: an SFV that another program takes, with CRCs of files combined from those of blocks.

load helper
load pass

checked() {
	"$SCRUB" export --format=sfv t >sums.sfv
	(cd t && rhash --check ../sums.sfv) >checked || { cat checked; return 1; }
	[ "$(grep -a ' OK' checked | grep -avc '^Everything OK')" -eq "$1" ] || { cat checked; return 1; }
}

@test "sizes around blocks, units, columns and extents" {
	need rhash
	mkdir t
	n=0
	for size in 0 1 2 3 4095 4096 4097 8191 8192 65535 65536 65537 131071 131072 131073 \
		1048575 1048576 1048577 16777215 16777216 16777217 33554431 33554432 33554433; do
		n=$((n + 1))
		data $n $size >t/$size
	done
	expect 0 run -q t
	checked 24
	# It does notice.
	flip t/65537 65536
	(cd t && run ! rhash --check ../sums.sfv)
	# export tells what is recorded, not what is there.
	cp sums.sfv before
	run -0 "$SCRUB" export --format=sfv t
	diff before - <<<"$output"
}

@test "other block sizes and units" {
	need rhash
	for options in --block-size=512 "--block-size=1M --parity=2" "--parity-unit=64 --parity=256" \
		"--block-size=4K --parity=3"; do
		rm -rf t
		mkdir t
		for size in 0 1 511 512 513 100000 1048577 17000001; do
			data $size $size >t/$size
		done
		# shellcheck disable=SC2086 # words
		expect 0 run -q $options t
		checked 8
		expect 0 run --json t
		tally "ok=8"
	done
}

@test "holes and links" {
	need rhash
	mkdir -p t/d
	truncate -s 50000000 t/sparse
	data 1 5000 | dd of=t/sparse bs=1M seek=20 conv=notrunc status=none
	data 2 100000 >t/b
	ln t/b t/c
	ln t/b t/d/e
	expect 0 run -q t
	checked 4
	grep -q '^d/e ' sums.sfv
	# Through every stage of a record's life.
	rm t/b
	echo more >>t/sparse
	mv t/d/e t/a
	expect 0 run -q t
	checked 3
}

@test "odd names that SFV can express" {
	need rhash
	mkdir t
	for name in 'two  spaces' "quote'" 'double"quote' '-rf' 'a;b#c*d' $'bad\xff' é $'tab\there' \
		'with 12345678' 12345678 '%41' '(a)' 'CRC (b) = x' "$(printf 'y%.0s' {1..255})"; do
		data 1 100 >"t/$name"
	done
	expect 0 run -q t
	checked 14
}

@test "names that it can't are left out, and said" {
	need rhash
	mkdir -p t/d
	data 1 100 >t/fine
	for name in $'new\nline' $'carriage\rreturn' ';comment' '#comment' '*star' ' lead' 'trail ' \
		$'tab\t' 'back\slash' $'esc\e[31m'; do
		data 2 100 >"t/$name"
	done
	for name in ';fine' '#fine' '*fine' ' fine'; do
		data 3 100 >"t/d/$name"
	done
	expect 0 run -q t
	expect 8 export --format=sfv t
	[ "$(grep -c "left out: SFV can't express this name" <<<"$stderr")" -eq 10 ]
	says "'new'$'\\n''line': left out: SFV can't express this name"
	says "';comment': left out"
	[ "$(wc -l <<<"$output")" -eq 6 ]
	"$SCRUB" export --format=sfv t >sums.sfv 2>/dev/null || :
	(cd t && rhash --check ../sums.sfv) >checked
	[ "$(grep -ac '  OK' checked)" -eq 5 ]
}

@test "a single file, by its name" {
	need rhash
	data 1 300000 >one
	expect 0 run -q one
	expect 0 export --format=sfv one
	echo "$output" >sums.sfv
	grep -q '^one ' sums.sfv
	rhash --check sums.sfv
}

@test "from a manifest alone, and with open damage" {
	need rhash
	mkdir t
	data 1 100000 >t/f
	cp t/f good
	settle
	expect 0 run -q t
	edit_quietly t/f 0
	expect 4 run -q t
	cp t/.bitscrub/manifest m
	# What is exported is right; that there is damage is in the status.
	expect 4 export --format=sfv -m m t
	echo "$output" >sums.sfv
	cp good t/f
	(cd t && rhash --check ../sums.sfv)
	expect 16 export --format=nothing t
	says "there are: sfv, json, ddrescue"
}
