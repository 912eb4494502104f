#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# The command line: verbs, options, help, what is refused. Nothing here reads a target.

load helper

@test "no argument is a usage error" {
	expect 16
	says "a verb and a target are needed"
	[ -z "$output" ]
}

@test "a target without a verb is refused, untouched, and the other scrub is mentioned" {
	mkdir dir
	echo content >dir/file
	for arg in "$W/dir" dir dir/file /dev/null; do
		expect 16 "$arg"
		says "a verb is needed"
		says "Nothing was read or written."
		says "ERASES"
		[ -z "$output" ]
	done
	[ "$(cat dir/file)" = content ]
	[ "$(find dir | sort | paste -sd ' ')" = "dir dir/file" ]
}

@test "an unknown verb is named, with the nearest one" {
	expect 16 rnu dir
	says "unknown verb rnu; did you mean 'run'?"
	expect 16 stat dir
	says "did you mean 'status'?"
	expect 16 vreify dir
	says "did you mean 'verify'?"
	expect 16 frobnicate dir
	saysnt "did you mean"
}

@test "a verb comes before the options" {
	expect 16 -q dir
	says "a verb comes first"
	expect 16 --existing run dir
	says "a verb comes first"
}

@test "none of the options of the program that erases exists" {
	mkdir dir
	for verb in init run verify accept status list export config; do
		for letter in n f r b p s t v S L R T X D; do
			expect 16 $verb -$letter dir
			says "unknown option -$letter"
			saysnt "needs an argument"
		done
	done
	[ -z "$(ls -A dir)" ]
}

@test "an unknown option is named, with the nearest one of the verb" {
	expect 16 run --exsiting dir
	says "unknown option --exsiting; did you mean --existing?"
	expect 16 run --allow-m dir
	says "did you mean --allow-m"
	expect 16 run --nothing-like-it dir
	saysnt "did you mean"
	expect 16 list --existing dir
	says "'list' takes no option --existing"
}

@test "arguments of options are checked" {
	expect 16 run --state
	says "option --state needs an argument"
	expect 16 run --block-size=3Q dir
	says "'3Q' is no size"
	expect 16 run --block-size=99999999999T dir
	says "is no size"
	for n in 0 -1 x 1x 99999999999999999999; do
		expect 16 run -j $n dir
		says "--jobs: '$n' is no number"
	done
	expect 16 run --quiet=yes dir
	says "takes no option --quiet with an argument"
}

@test "operands are counted" {
	expect 16 run
	expect 16 init
	expect 16 init a b
	expect 16 accept a
	says "'accept' needs TARGET PATH..."
	expect 16 export --format=sfv a b
	expect 16 export a
	says "--format=F is needed"
	expect 16 config a b
	says "'b' is no KEY=VALUE"
	expect 16 help run verify
}

@test "--state and -m take one target and exclude each other" {
	expect 16 run --state=s a b
	says "exactly one TARGET"
	expect 16 status -m m a b
	says "exactly one TARGET"
	expect 16 verify --state=s -m m a
	says "exclude each other"
}

@test "help goes to stdout, for all and for each verb" {
	expect 0 --help
	has "Usage: scrub VERB"
	all=$output
	expect 0 help
	[ "$output" = "$all" ]
	for verb in init run verify accept status list export config help; do
		[[ $all == *"  $verb "* ]]
		expect 0 help $verb
		has "Usage: scrub $verb "
		text=$output
		expect 0 $verb --help
		[ "$output" = "$text" ]
	done
	expect 16 help nothing
}

@test "the version" {
	expect 0 --version
	[[ $output =~ ^scrub\ \(bitscrub\)\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "the command goes by the name it was called by" {
	ln -s "$SCRUB" bitscrub
	SCRUB=$W/bitscrub
	expect 0 --help
	has "Usage: bitscrub VERB"
	hasnt " scrub "
	expect 0 run --help
	has "Usage: bitscrub run "
	expect 16 rnu
	says "bitscrub: unknown verb"
	expect 0 --version
	has "bitscrub (bitscrub) "
}

@test "what the command line had is shown without its escapes" {
	expect 16 $'\e[31mred\nline'
	says "''\$'\\033''[31mred'\$'\\n''line'"
	saysnt $'\e'
	expect 16 run --$'\e'x dir
	saysnt $'\e'
}

@test "stdout that can't be written is trouble" {
	to_full() { "$SCRUB" --help >/dev/full; }
	to_nothing() { "$SCRUB" --version >&-; }
	run -8 to_full
	[[ $output == *"cannot write to standard output: No space left on device"* ]]
	run -8 to_nothing
	[[ $output == *"cannot write to standard output: Bad file descriptor"* ]]
}
