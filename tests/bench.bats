#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# scrub bench, and the choice of kernels as the command shows it.

load helper

@test "bench measures every kernel and marks one of each class" {
	SECONDS=0
	expect 0 bench
	[ "$SECONDS" -le 20 ]
	[ -z "$stderr" ]
	has "Blocks of 64 KiB."
	[ "$(grep -c '^\*' <<<"$output")" -eq 4 ]
	for kernel in memcpy load serial parallel_prefetch zlib slice8 8regs 32regs separate; do
		grep -qE "^[* ] [a-z0-9]+ +$kernel +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9]+ " <<<"$output"
	done
	hasnt FAILED
}

@test "bench: JSON, block size, features left unused, a forced kernel" {
	need jq
	expect 0 bench --json --block-size=4K --kernel xor=8regs \
		--kernel without=sse2,avx2,avx512,asimd
	json 'select(.class == "memory") | .kernel' "memcpy load"
	json 'select(.class == "xor" and .chosen) | [.kernel, .forced] | @csv' '"8regs",true'
	json 'select(.class == "inet" and .chosen) | (.kernel | test("parallel")), .forced' "true null"
	json 'select(.kernel == "zlib") | (.passed and .cache_mb_per_s > 0 and .memory_mb_per_s > 0
		and .cache_to_memcpy > 0 and .memory_to_load > 0)' true
	json 'select(.kernel == "avx512" or .kernel == "neon") | .supported' \
		"$(jq -r 'select(.kernel == "avx512" or .kernel == "neon") | "false"' <<<"$output" |
			paste -sd ' ')"
	json 'select(.chosen and .forced != true) | .margin_percent >= 0' "true true true"
}

@test "bench --classic has both experiments and the published figures" {
	expect 0 bench --classic
	has "   8regs           : "
	has "ThunderX2: 12345, by ticks: 12050"
	has "xor: using function: "
	grep -qE '^  1 ns +bitscrub +300 of 300' <<<"$output"
	grep -qE '^  32 kHz +bitscrub +300 of 300' <<<"$output"
	for figure in 875 781 510 494; do
		grep -qE "^  (serial|prefetch|parallel|parallel_prefetch) .* $figure " <<<"$output"
	done
	expect 0 bench --classic --json
	json 'select(.event == "classic_inet" and .kernel == "parallel") | .published_ns' 510
	json 'select(.event == "classic_xor" and .chosen) | .event' classic_xor
}

@test "bench refuses what it cannot do" {
	expect 16 bench --kernel cycle
	says "all kernels are measured anyway"
	expect 16 bench --kernel inet=nosuch
	says "no kernel nosuch"
	expect 16 bench --kernel without=nosuch
	for size in 256 3000 2M; do
		expect 16 bench --block-size=$size
		says "a power of two from 512 to 1M"
	done
	expect 16 bench dir
	says "'bench' takes no operand"
}

@test "all kernels in turn and the plainest ones agree on a tree" {
	mkdir tree
	for i in 1 2 3 4 5 6 7 8 9; do
		data "$i" $((i * i * 12345)) >tree/$i
	done
	data 10 3000001 >tree/big
	plain="--kernel inet=serial --kernel crc32=zlib --kernel xor=8regs --kernel fused=separate"
	# shellcheck disable=SC2086 # words
	expect 0 run $plain tree
	mv tree/.bitscrub plain
	expect 0 run --kernel cycle tree
	mv tree/.bitscrub cycled
	expect 0 verify --state plain --kernel cycle tree
	# shellcheck disable=SC2086
	expect 0 verify --state cycled $plain tree
	[ "$("$SCRUB" export --format=sfv --state plain tree | grep -v '^;')" = \
		"$("$SCRUB" export --format=sfv --state cycled tree | grep -v '^;')" ]
	flip tree/big 1234567
	expect 4 verify --state plain --kernel cycle tree
}

@test "--verbose tells the race in the kernel's form" {
	mkdir tree
	echo content >tree/file
	expect 0 run --verbose tree
	says "xor: measuring speed on 4096 bytes"
	says "   8regs            : "
	says "xor: using function: "
	expect 0 run --verbose --kernel xor=32regs tree
	says "xor: using function: 32regs (as asked)"
	says "inet: using function: "
}
