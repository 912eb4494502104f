# SPDX-License-Identifier: LGPL-2.1-or-later
# What tests of repair share: rot made in the image of an unmounted file system.
# shellcheck shell=bash

# rot FILE OFFSET BYTES: notes bytes of a file to be damaged by rot_now.
rot() {
	local at=$2 end=$(($2 + $3)) n where
	while ((at < end)); do
		n=$((4096 - at % 4096))
		((at + n <= end)) || n=$((end - at))
		where=$(place "$1" "$at") || return 1
		ROT+=("$where $n")
		at=$((at + n))
	done
}
ROT=()

# rot_now NAME: inverts the noted bytes in the image of NAME, and mounts it again.
rot_now() {
	local at len pair
	unmount_fs "$1"
	for pair in "${ROT[@]}"; do
		read -r at len <<<"$pair"
		perl -e '
			my ($f, $at, $len) = @ARGV;
			open my $h, "+<", $f or die "$f: $!";
			seek $h, $at, 0; read $h, my $c, $len; seek $h, $at, 0;
			print $h $c ^ "\x5a" x $len; close $h or die "$f: $!";' \
			"$W/$1.img" "$at" "$len"
	done
	ROT=()
	mount_fs "$1"
}

# repairs "HOW PATH BLOCK+BLOCKS ...": all repair events, sorted, joined by "; ".
repairs() {
	json '[., inputs] | map(select(.event == "repair") | [.how, .path,
		(if has("block") then "\(.block)+\(.blocks)" else empty end)] | join(" "))
		| sort | join("; ")' "$1"
}

# why TEXT: the reason of the last repair event contains it.
why() {
	local got
	got=$(jq -r 'select(.event == "repair") | .why // empty' <<<"$output")
	[[ $got == *"$1"* ]] || { echo "why: $got, not $1"; show; return 1; }
}
