#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Names are bytes: what text and JSON make of nasty ones, and that they come back the same.

load helper
load pass

# Each nasty in its own way.
# shellcheck disable=SC2016 # names, not variables
names=(
	$'new\nline' $'tab\there' "a'quote" 'double"quote' 'back\slash' $'esc\e[31mred' $'bad\xff\xfeutf8'
	'two  spaces ' '-rf' '$HOME' '*' '#hash' $'del\x7f' $'rtl\xe2\x80\xae.txt' 'é' $'\xc3' '{"json":1}'
)

populate() {
	local i=0 name
	mkdir t
	for name in "${names[@]}"; do
		i=$((i + 1))
		data $i $((5000 + i)) >"t/$name"
	done
	data 99 100 >"t/$(printf 'x%.0s' {1..255})"
}

@test "nasty names are recorded and found again, byte by byte" {
	populate
	expect 0 run --json t
	tally "new=18"
	expect 0 run --json t
	tally "ok=18"
	expect 0 list --json t
	jq -r 'select(.event == "list") | .path_bytes // (.path | @uri)' <<<"$output" |
		perl -pe 's/%([0-9A-F]{2})/chr hex $1/ge; s/\n\z/\0/' | sort -z >listed
	(cd t && find . -type f -not -path './.bitscrub/*' -printf '%P\0' | sort -z) >there
	cmp there listed
}

@test "text quotes them so that a shell takes them back" {
	populate
	expect 0 run -q t
	expect 0 list t
	echo "$output" >text
	[ "$(wc -l <text)" -eq 18 ]
	LC_ALL=C run ! grep -q $'[\x01-\x09\x0b-\x1f\x7f]' text
	iconv -f utf-8 -t utf-8 text >/dev/null
	while IFS= read -r line; do
		eval "word=$line"
		[ -f "t/$word" ] || { echo "not taken back: $line"; return 1; }
	done <text
}

@test "damage under such names" {
	mkdir t
	f=$'bad\xff\n\e[2K'
	data 1 5000 >"t/$f"
	settle
	expect 0 run -q t
	edit_quietly "t/$f" 100
	expect 4 run t
	has "t: 'bad'$'\\377\\n\\033''[2K': altered in block 0"
	expect 4 run -q t
	has "t: 'bad'$'\\377\\n\\033''[2K': altered, still damaged"
	[[ $output != *$'\e'* ]]
	expect 4 run --json t
	json 'select(.event == "damage") | .path_bytes' "bad%FF%0A%1B%5B2K"
	json 'select(.event == "damage") | .path | explode | map(tostring) | join(",")' \
		"98,97,100,65533,10,27,91,50,75"
	expect 4 list --damaged t
	[[ $output == "'bad'$'\\377\\n\\033''[2K': altered, 1 block, since "* ]]
	expect 0 accept -q t "$f"
	expect 0 run -q t
}

@test "a name that is UTF-8 has no path_bytes" {
	mkdir t
	data 1 10 >"t/naïve ☃"
	expect 0 run --json --verbose t
	json 'select(.event == "file") | [.path, has("path_bytes")] | map(tostring) | join(" ")' \
		"naïve ☃ false"
}

@test "a target under such a name" {
	d=$'t\e\xff x'
	mkdir "$d"
	data 1 10 >"$d/f"
	expect 0 run "$d"
	has "'t'$'\\033\\377'' x': first pass"
	expect 0 run --json "$d"
	json .target_bytes "t%1B%FF%20x"
	tally "ok=1"
}

@test "names that walk order and byte order sort differently" {
	mkdir -p t/a t/a.b t/a-b
	for f in a/x a.b/x a-b/x a0 aa 'a '; do data 1 100 >"t/$f"; done
	expect 0 run -q t
	expect 0 list t
	[ "$output" = "a/x
'a '
a-b/x
a.b/x
a0
aa" ]
	expect 0 run --json t
	tally "ok=6"
}

@test "paths up to the longest" {
	mkdir t
	# 20 times 200 bytes and a file: 4221 bytes, more than the kernel takes in one path.
	perl -e '
		chdir "t" or die; my $d = "d" x 200;
		for (1 .. 20) { mkdir $d or die "$!"; chdir $d or die "$!" }
		open my $f, ">", "deep" or die; print $f "deep down"; close $f;'
	data 1 100 >t/flat
	expect 0 run --json t
	tally "new=2"
	expect 0 run --json t
	tally "ok=2"
	expect 0 verify --json t
	tally "ok=2"
}
