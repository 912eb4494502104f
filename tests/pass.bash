# SPDX-License-Identifier: LGPL-2.1-or-later
# What tests of a pass share: times, summaries and events in short. Load it after helper.
# shellcheck shell=bash disable=SC2016 # $ is for jq

# Until nothing that was written before is racy any more. Set up all cases, then wait once.
settle() {
	sleep 2.1
}

# times_of FILE, times_back FILE TIMES: an edit in between leaves no trace in mtime.
times_of() {
	stat -c %.Y "$1"
}
times_back() {
	touch -d "@$2" "$1"
}

# edit_quietly FILE OFFSET [BIT]: flips a bit through the file system and puts mtime back.
edit_quietly() {
	local when
	when=$(times_of "$1")
	flip "$1" "$2" "${3:-0}"
	times_back "$1" "$when"
}

# edit FILE OFFSET [BIT]: flips a bit with an mtime that is surely another one.
edit() {
	flip "$1" "$2" "${3:-0}"
	touch -d '2021-03-04 05:06:07.89' "$1"
}

# tally "KEY=N ...": the counters of the summary that are not zero, in the order of the schema.
tally() {
	json 'select(.event == "summary") | . as $s | [
		("ok", "new", "changed", "touched", "moved", "removed", "excluded", "skipped",
		 "rot", "altered", "unreadable", "missing", "transient", "repaired",
		 "blocks_damaged", "files_damaged", "trouble")
		| select($s[.] != 0) | "\(.)=\($s[.])"] | join(" ")' "$1"
}

# summary KEY WANT: one field of it.
summary() {
	json "select(.event == \"summary\") | .$1" "$2"
}

# damage "KIND PATH BLOCK+BLOCKS OFFSET+LENGTH[ FLAG]...": all damage events, in their order,
# joined by "; ". FLAGs: carried, known, metadata_changed. Damage of a whole file has "- -".
damage() {
	json '[., inputs] | map(select(.event == "damage") | [.kind, .path,
		(if has("block") then "\(.block)+\(.blocks)", "\(.offset)+\(.length)" else "-", "-" end),
		(if has("size_was") then "\(.size_was)>\(.size_now)" else empty end),
		(("carried", "known", "metadata_changed") as $k | select(.[$k] == true) | $k)]
		| join(" ")) | sort | join("; ")' "$1"
}

# verdict PATH WANT: of the file events (--verbose); "none" if there is none.
verdict() {
	local got
	got=$(jq -r --arg p "$1" 'select(.event == "file" and .path == $p) | .verdict +
		(if has("from") then " from " + .from else "" end) +
		(if .bit_flip then " bit_flip" else "" end)' <<<"$output" | paste -sd ' ')
	[ "${got:-none}" = "$2" ] || { echo "$1: verdict ${got:-none}, not $2"; show; return 1; }
}

# rot FILE OFFSET [BIT]: flips a bit of fs/FILE in the image underneath, in fs.img, while it is not
# mounted: no time moves.
rot() {
	local at
	at=$(place "fs/$1" "$2") || return 1
	unmount_fs fs || return 1
	flip fs.img "$at" "${3:-0}" || return 1
	mount_fs fs
}

# make_base TYPE MIB, in setup_file(): a file system with the files that populate() makes in the
# current directory, recorded when nothing was racy any more. Each test then takes a copy of it.
make_base() {
	W=$BATS_FILE_TMPDIR
	cd "$W" || return 1
	[ "$(id -u)" = 0 ] && command -v losetup "mkfs.$1" >/dev/null && losetup -f >/dev/null || return 0
	local status=0
	fill_base "$1" "$2" || status=$?
	helper_teardown
	return $status
}
fill_base() {
	make_fs "$1" "$2" && (cd fs && populate) && settle && "$SCRUB" run -q fs && unmount_fs fs &&
		mv fs.img base.img
}

# take_base, in a test: the copy, mounted at fs.
take_base() {
	need_loop
	[ -f "$BATS_FILE_TMPDIR/base.img" ] || skip "no file system of that kind can be made here"
	cp --sparse=always "$BATS_FILE_TMPDIR/base.img" fs.img
	mkdir fs
	mount_fs fs
}
