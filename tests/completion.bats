#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the shells offer at the end of a line.

load helper

# offers WORD...: the words of the line, the last one being completed; prints what is offered.
offers() {
	bash -c '
		. "$1/contrib/completion/scrub.bash"; shift
		COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _scrub
		[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' \
		- "${top_builddir:?}" "$@" | paste -sd ' '
}

@test "verbs first" {
	[ "$(offers scrub "")" = "init run verify repair accept status list export config bench help --help --version" ]
	[ "$(offers scrub ve)" = "verify" ]
	[ "$(offers scrub help st)" = "status" ]
}

@test "the options of the verb" {
	[ "$(offers scrub list --)" = "--quiet --json --state --manifest --config --damaged --long --help" ]
	[ "$(offers scrub run --al)" = "--all --allow-missing --allow-moved" ]
	[ "$(offers scrub nothing --)" = "" ]
}

@test "values, apart from their option or behind =" {
	[ "$(offers scrub export --format s)" = "sfv" ]
	[ "$(offers scrub export --format =)" = "sfv json ddrescue" ]
	[ "$(offers scrub run --kernel = cy)" = "cycle" ]
	mkdir dir
	touch somefile
	[ "$(offers scrub run --state "")" = "dir" ]
	[ "$(offers scrub verify -m some)" = "somefile" ]
}

@test "settings" {
	[ "$(offers scrub config /srv par)" = "parity= parity-unit=" ]
}

@test "a table that changes changes what is offered" {
	mkdir -p top/src top/contrib/completion
	cp "$BATS_TEST_DIRNAME"/../src/{options.h,options.def,commands.def} top/src
	cp "$BATS_TEST_DIRNAME"/../contrib/completion/{tail.bash,values} top/contrib/completion
	sed -i 's/"damaged", 0/"hurt", 0/; s/^COMMAND(bench,/COMMAND(race,/' top/src/*.def
	for shell in bash zsh fish; do
		"$BATS_TEST_DIRNAME/../contrib/completion/generate" $shell name top >$shell
		grep -q -- '\(--\|-l \)hurt' $shell
		run ! grep -q "damaged.*only files" $shell
		grep -q race $shell
		grep -q '\bname$\|-c name ' $shell
	done
	run -2 --separate-stderr "$BATS_TEST_DIRNAME/../contrib/completion/generate" bash name /nonexistent
	[ -z "$output" ]
}

# fish_offers LINE: what fish offers at its end, without the explanations.
fish_offers() {
	mkdir -p home
	HOME=$W/home XDG_CONFIG_HOME=$W/home fish --no-config -c '
		source $argv[1]; complete -C $argv[2]' "$top_builddir/contrib/completion/scrub.fish" "$1" |
		cut -f1 | sort | paste -sd ' '
}

@test "fish" {
	need fish
	fish -n "$top_builddir/contrib/completion/scrub.fish"
	[ "$(fish_offers 'scrub ')" = "accept bench config export help init list repair run status verify" ]
	[ "$(fish_offers 'scrub run --allow')" = "--allow-missing --allow-moved" ]
	[ "$(fish_offers 'scrub list --allow')" = "" ]
	[ "$(fish_offers 'scrub export --format=')" = "--format=ddrescue --format=json --format=sfv" ]
	[ "$(fish_offers 'scrub run --parity=')" = "--parity=16 --parity=32 --parity=64 --parity=8" ]
	[ "$(fish_offers 'scrub help st')" = "status" ]
	mkdir dir
	touch somefile
	[ "$(fish_offers 'scrub run --state=')" = "--state=dir/ --state=home/" ]
	[ "$(fish_offers 'scrub verify -m some')" = "somefile" ]
}

# zsh_offers LINE: what zsh offers at its end, taken from the calls of compadd.
zsh_offers() {
	mkdir -p home
	cat >home/ask.zsh <<-'END'
		zmodload zsh/zpty
		zpty z "HOME=$1 PS1= zsh -f -i"
		zpty -w z "fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; compdef _scrub scrub"
		zpty -w z 'zstyle ":completion:*" list-prompt ""; LISTMAX=9999; setopt noauto_menu nolist_beep; stty cols 200'
		zpty -w z 'compadd() { local -a m; builtin compadd -O m "$@"; print -rl -- offer:${^m} >>$HOME/offers; builtin compadd "$@" }'
		zpty -w z 'print ready >$HOME/ready'
		for ((i = 0; i < 200 && ! $+READY; i++)); do [[ -e $1/ready ]] && break; sleep 0.05; done
		zpty -w -n z "$2"$'\t'
		for ((i = 0; i < 100; i++)); do
			[[ -s $1/offers ]] && break
			sleep 0.05
		done
		sleep 0.3
		zpty -d z
	END
	rm -f home/offers home/ready
	cp "$top_builddir/contrib/completion/scrub.zsh" home/_scrub
	timeout 60 zsh -f home/ask.zsh "$W/home" "$1" >/dev/null 2>&1
	sed -n 's/^offer://p' home/offers | grep . | sort -u | paste -sd ' '
}

@test "zsh" {
	need zsh
	zsh -n "$top_builddir/contrib/completion/scrub.zsh"
	[ "$(zsh_offers 'scrub ')" = "accept bench config export help init list repair run status verify" ]
	[ "$(zsh_offers 'scrub run --allow-m')" = "--allow-missing --allow-moved" ]
	[ "$(zsh_offers 'scrub run --parity=')" = "16 32 64 8" ]
}
