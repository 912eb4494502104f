#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a target may be, and by which names it is known.

load helper
load robust

@test "a single file: its state is beside it, and its record goes by its name" {
	large image 3
	expect 0 run image
	has "first pass"
	[ "$(find . -name '*bitscrub*' -type d)" = ./image.bitscrub ]
	[ "$(stat -c %a image.bitscrub)" = 700 ]
	expect 0 run --json --verbose image
	json 'select(.event == "file") | .path, .verdict' "image ok"
	expect 0 list image
	[ "$output" = image ]
	expect 0 export --format=sfv image
	has "image "
	expect 0 verify image
	expect 0 status image
	has "1 file"
}

@test "a single file that rots: where, and accepted by name and by '.'" {
	large image 3
	expect 0 run -q image
	flip_quietly image 70000
	expect 4 run image
	has "image: altered in block 1: 65536 bytes at offset 65536"
	expect 4 verify image
	expect 4 list --damaged image
	has "image: altered"
	expect 0 accept image image
	expect 0 run -q image
	flip_quietly image 70001
	expect 4 run -q image
	expect 0 accept image .
	expect 0 run -q image
}

@test "a single file that is edited, truncated, or gone" {
	large image 3
	expect 0 run -q image
	echo more >>image
	expect 0 run --json image
	[ "$(summary changed)" -eq 1 ]
	: >image
	touch -d 2020-01-01 image
	expect 0 run --json image
	[ "$(summary changed)" -eq 1 ]
	rm image
	expect 8 run image
	says "cannot find the target"
	says "No such file"
	expect 8 verify image
	[ -s image.bitscrub/manifest ]
}

@test "a single file that is renamed leaves its state behind, and takes it along with it" {
	large image 3
	expect 0 run -q image
	mv image renamed
	expect 8 run --existing renamed
	says "no manifest"
	mv image.bitscrub renamed.bitscrub
	expect 0 run --json renamed
	[ "$(summary ok)$(summary touched)$(summary moved)" != 000 ]
	[ "$(summary new)" -eq 0 ]
	expect 0 list renamed
	[ "$output" = renamed ]
}

@test "a copy of a single file under another name is verified with -m" {
	large image 3
	expect 0 run -q image
	mkdir backup
	cp -p image backup/copy
	expect 0 verify --json -m image.bitscrub/manifest backup/copy
	[ "$(summary ok)$(summary touched)" != 00 ]
	[ "$(summary complete)" = true ]
	flip_quietly backup/copy 200000
	expect 4 verify --json -m image.bitscrub/manifest backup/copy
	json 'select(.event == "damage") | .path, .block, .offset' "copy 3 196608"
	expect 8 verify -m image.bitscrub/manifest backup
	says "the manifest was made for a single file, the target is a directory"
	[ "$(ls -A backup)" = copy ]
}

@test "a copy of a tree is verified with -m, also by those who can't write it" {
	as_nobody
	tree tree 50
	chmod -R a+rX tree
	SCRUB=$W/scrub expect 0 run -q tree
	cp -a tree copy
	rm -r copy/.bitscrub
	cp tree/.bitscrub/manifest manifest
	chmod 644 manifest
	expect 0 verify --json -m manifest copy
	[ $(($(summary ok) + $(summary touched))) -eq 50 ]
	rm copy/d000/f00003
	flip_quietly copy/d000/f00004 7
	echo new >copy/new
	expect 4 verify --json -m manifest copy
	[ "$(summary missing)" -eq 1 ]
	json 'select(.event == "damage") | .path' "d000/f00003 d000/f00004"
	[ "$(ls -A copy)" = $'d000\nnew' ]
	for verb in status list "export --format=sfv"; do
		# shellcheck disable=SC2086 # words
		expect 0 $verb -m manifest copy
	done
}

@test "a target by symlink, relative path, with slashes and dots: always the same state" {
	tree tree 20
	ln -s tree link
	ln -s link link2
	expect 0 run -q tree
	for name in tree/ tree// ./tree "$W/tree" "$W//tree/." link link/ link2 tree/d000/..; do
		expect 0 run --json "$name"
		[ "$(summary ok)" -eq 20 ]
		[ "$(summary target)" = "$name" ]
	done
	cd tree
	expect 0 run --json .
	[ "$(summary ok)" -eq 20 ]
	cd d000
	expect 0 run --json ..
	[ "$(summary ok)" -eq 20 ]
	expect 0 verify -q "$W/link" "$W/tree/d000/f00003" d000/f00004
	cd "$W"
	[ "$(find . -name .bitscrub)" = ./tree/.bitscrub ]
	large image 1
	ln -s image imagelink
	expect 0 run -q imagelink
	[ -d image.bitscrub ]
	[ ! -e imagelink.bitscrub ]
}

@test "what is no directory and no file is refused: exit 8, and it is not opened" {
	mkfifo fifo
	for verb in run verify status list init; do
		r=0
		timeout 10 "$SCRUB" $verb fifo 2>err || r=$?
		[ "$r" -eq 8 ]
		grep "fifo: the target is neither a directory, a regular file nor a block device" err
	done
	expect 8 run /dev/null
	says "neither a directory, a regular file nor a block device"
	ln -s loop loop
	expect 8 run loop
	says "Too many levels of symbolic links"
	ln -s nowhere dangling
	expect 8 run dangling
	says "No such file"
	expect 8 run nowhere
	says "nowhere: cannot find the target: No such file or directory"
	expect 8 run fifo/below
	[ -z "$(find . -name '*bitscrub*')" ]
}

@test "several targets: each is done, and the bits of all are in the exit status" {
	tree good 10
	tree rotten 10
	expect 0 run -q good rotten
	flip_quietly rotten/d000/f00001 1
	expect 12 run --json good nowhere rotten
	[ "$(jq -r 'select(.event == "summary") | .target, .exit' <<<"$output" | paste -sd ' ')" = \
		"good 0 nowhere 8 rotten 4" ]
	expect 4 status good rotten
}

@test "an empty target makes nothing, and neither does one that holds no file" {
	mkdir empty
	mkdir -p hollow/a/b
	ln -s nowhere hollow/a/link
	mkfifo hollow/a/fifo
	for name in empty hollow; do
		expect 8 run $name
		says "nothing to record"
		[ ! -e $name/.bitscrub ]
	done
	expect 0 init empty
	expect 0 run empty
	hasnt "No damage"
	expect 0 run empty
	hasnt "No damage"
}

@test "a lost manifest is no fresh start" {
	tree tree 10
	expect 0 run -q tree
	for left in manifest.1 journal parity undo; do
		rm -rf tree/.bitscrub/*
		mkdir -p tree/.bitscrub
		case $left in
		parity | undo) mkdir -m 700 tree/.bitscrub/$left ;;
		*) (umask 077; echo x >tree/.bitscrub/$left) ;;
		esac
		for verb in run init verify status list; do
			expect 8 $verb tree
			says "manifest"
		done
		[ "$(ls tree/.bitscrub)" = $left ]
	done
	# Names that a kill leaves count as none.
	rm -rf tree/.bitscrub/*
	echo x >tree/.bitscrub/manifest.tmp
	expect 0 run --json tree
	[ "$(summary new)" -eq 10 ]
}
