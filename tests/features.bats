#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Whatever this processor lacks, and whichever kernels run: the same manifest and the same parity to
# the byte, and the same repair.

load helper

# Every feature that this program knows, of any processor.
features() {
	sed -n 's/^SCR_CPU_FEATURE(.*"\(.*\)")$/\1/p' "$BATS_TEST_DIRNAME/../lib/cpu/features.def"
}

# Lengths and contents that take all ways through a kernel: tails, whole vectors, holes, many extents.
make_tree() {
	mkdir -p tree/d
	for i in 1 7 63 64 65 511 513 4095 4096 4097 65535 65537 200003; do
		data "$i" "$i" >"tree/d/$i"
	done
	head -c 300000 /dev/zero | tr '\0' '\377' >tree/ones
	data 2 36000001 >tree/large
	truncate -s 40M tree/hole
	data 3 100 | dd of=tree/hole bs=1 seek=20000001 conv=notrunc status=none
}

# Makes state $1 under the --kernel options that follow.
record() {
	local state=$1
	shift
	expect 0 run -q -j 1 --state "$state" "$@" tree
	[ -z "$stderr" ]
}

# A manifest as text, without times, generation and the number of the writing.
plain_dump() {
	"$BATS_TEST_DIRNAME/../contrib/bitscrub-manifest-dump" "$1/manifest" |
		sed -E 's/ (writing|created|published|recorded|checked|body-crc|[a-z-]*-(check|start)|pass[a-z-]*)=[^ ]*//g
			s/^  parity segment=[^ ]* length=([^ ]*) .*/  parity length=\1/
			s/^(trailer .*|  ages.*|  pass.*|  last.*)$//'
}

# The bytes of parity of each extent, in order of files: where they are depends on when they were read.
parity_of() {
	"$BATS_TEST_DIRNAME/../contrib/bitscrub-manifest-dump" "$1/manifest" | perl -ne '
		/^  parity segment=(\d+) length=(\d+) offset=(\d+)/ or next;
		open my $h, "<", "$dir/parity/" . sprintf("%08u", $1) or die "$!";
		seek $h, $3, 0; read($h, my $p, $2) == $2 or die "short"; print $p;
		BEGIN { $dir = shift }' "$1"
}

# list --long without the time of the last check.
long_list() {
	"$SCRUB" list --long --state "$1" tree |
		sed -E 's/(  [0-9]{4}-[0-9-]+ [0-9:]+)  [0-9]{4}-[0-9-]+ [0-9:]+ /\1 /'
}

# The state made with other kernels is the same as that in plain/.
same() {
	diff <(plain_dump plain) <(plain_dump "$1")
	cmp <(parity_of plain) <(parity_of "$1")
	diff <(long_list plain) <(long_list "$1")
}

plain="--kernel inet=serial --kernel crc32=zlib --kernel xor=8regs --kernel fused=separate"

@test "each feature left out, all of them, and all kernels in turn: one manifest, one parity" {
	make_tree
	sleep 2.1
	# shellcheck disable=SC2086 # words
	record plain $plain
	[ "$(plain_dump plain | grep -c '^  checks ')" -ge 15 ]
	[ "$(parity_of plain | wc -c)" -gt 2000000 ]
	record default
	same default
	record cycled --kernel cycle
	same cycled
	for f in $(features); do
		record "w-$f" --kernel "without=$f"
		same "w-$f"
		rm -r "w-$f"
	done
	record none --kernel "without=$(features | paste -sd ,)"
	same none
	[ "$(long_list plain | wc -l)" -eq 16 ]
	# What one recorded, any other takes for right.
	expect 0 verify -q --state none tree
	# shellcheck disable=SC2086
	expect 0 verify -q --state default $plain tree
}

@test "each feature left out: the same repair" {
	make_tree
	sleep 2.1
	# shellcheck disable=SC2086
	record plain $plain
	cp -p tree/large good
	for k in cycle $(features | sed 's/^/without=/') "without=$(features | paste -sd ,)"; do
		for at in 5 16777216 35999999; do
			flip tree/large "$at" 6
		done
		touch -r good tree/large
		expect 1 repair -q --force --state plain --kernel "$k" tree large
		cmp good tree/large
	done
}
