#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# What is read by somebody who is woken by it: reports of a whole pass, as text, mail and JSON.

load helper

# rotten NAME...: a tree on ext4 in $W/fs, recorded, in which one bit of each of these files then
# flips underneath, without anybody writing to it.
rotten() {
	local name places=()
	make_fs ext4 32
	for name in one two three 'a b' $'n\nl'; do
		data "${#name}" 200000 >"fs/$name"
	done
	sleep 2.5 # a record of a file that was written just now would be racy
	expect 0 run fs
	for name; do
		places+=("$(place "fs/$name" 100000)")
	done
	unmount_fs fs
	for name in "${places[@]}"; do
		flip fs.img "$name" 6
	done
	mount_fs fs
}

@test "rot is found at its block, and the closing block says what to do" {
	rotten two
	expect 4 run fs
	[[ ${lines[0]} == "fs: two: rot in block 6: 16384 bytes at offset 98304; 1 bit flipped at byte 100000 ("* ]]
	[ "${lines[1]}" = "fs: pass complete" ]
	[ "${lines[2]}" = "  5 files, 977 KiB: 4 ok, 1 rot" ]
	[ "${lines[4]}" = "fs: DAMAGE: 1 block in 1 file" ]
	has "Next: $SCRUB repair fs"
	hasnt "No damage"
	[ -z "$stderr" ]
	expect 4 list --damaged fs
	[[ $output == "two: rot, 1 block, since "* ]]
	run -4 --separate-stderr "$SCRUB" status fs
	has "damage       OPEN: 1 block (16 KiB) in 1 file"
	# What it told to type can be typed.
	expect 4 run fs
	run -1 bash -c "$(sed -n 's/^Next: //p' <<<"$output")"
	has "fs: two: repaired from another block with the same content: block 6"
	expect 0 run fs
	has "No damage."
}

@test "the mail from cron: nothing, then the damage, then one line as long as it is open" {
	rotten one three
	expect 4 run -q --existing fs
	[ "$(grep -c 'rot in block 6: 16384 bytes at offset 98304;' <<<"$output")" = 2 ]
	has "fs: DAMAGE: 2 blocks in 2 files"
	[ "${#lines[@]}" -eq 6 ]
	expect 4 run -q --existing fs
	has "fs: one: rot, still damaged since "
	has "fs: three: rot, still damaged since "
	[ "${#lines[@]}" -eq 6 ]
	rm fs/one fs/three
	expect 0 run -q --existing fs
	[ -z "$output" ]
	expect 0 run -q --existing fs
	[ -z "$output$stderr" ]
}

@test "names are quoted so that a shell takes them back" {
	rotten 'a b' $'n\nl'
	expect 4 run fs
	has "fs: 'a b': rot in block 6"
	has "fs: 'n'\$'\\n''l': rot in block 6"
	expect 4 list --damaged fs
	eval "names=($(cut -d: -f1 <<<"$output" | paste -sd ' '))"
	[ "${names[0]}" = "a b" ]
	[ "${names[1]}" = $'n\nl' ]
	expect 0 accept fs "${names[@]}"
	expect 0 run fs
	has "No damage."
}

@test "JSON Lines: every line an object, damage exact, one summary and it is the last" {
	need jq
	rotten $'n\nl'
	expect 4 run --json fs
	json '.event' "damage summary"
	json 'select(.event == "damage") | .path | @json' '"n\nl"'
	json 'select(.event == "damage") | "\(.target) \(.kind) \(.block) \(.offset) \(.length)"' \
		"fs rot 6 98304 16384"
	json 'select(.event == "summary") | "\(.verb) \(.complete) \(.files) \(.ok) \(.rot) \(.exit)"' \
		"run true 5 4 1 4"
	expect 4 list --json --damaged fs
	json 'select(.event == "list") | "\(.damage) \(.damaged_blocks)"' "rot 1"
	expect 4 status --json fs
	json '"\(.event) \(.files_damaged)"' "status 1 summary 1"
	expect 4 run --json --verbose fs
	json 'select(.event == "file" and .verdict == "rot") | .path | @json' '"n\nl"'
	[ "$(jq -r 'select(.verdict? == "ok") | .path' <<<"$output" | sort | paste -sd ' ')" = \
		"a b one three two" ]
}

@test "each target has its own report, and the exit status is that of all" {
	rotten one
	mkdir good
	echo content >good/file
	expect 0 run good
	expect 4 run good fs
	has "good: pass complete"
	has "fs: pass complete"
	expect 12 run good fs nonexistent
	says "scrub: nonexistent: "
	expect 12 run --json nonexistent fs
	json 'select(.event == "summary") | "\(.target) \(.exit)"' "nonexistent 8 fs 4"
}

@test "first pass, then pass: what is claimed" {
	mkdir dir
	echo content >dir/file
	expect 0 run dir
	has "dir: first pass: recorded, nothing was compared"
	hasnt "No damage"
	expect 0 run dir
	has "No damage."
	expect 0 run -q dir
	[ -z "$output$stderr" ]
}

@test "a name that is no UTF-8 is exact in JSON and can't move the cursor in text" {
	need jq
	mkdir dir
	echo content >dir/$'\xff\e[2J'
	expect 0 run dir
	expect 0 list dir
	[ "$output" = "''\$'\\377\\033''[2J'" ]
	expect 0 list --json dir
	json 'select(.event == "list") | .path_bytes' "%FF%1B%5B2J"
}
