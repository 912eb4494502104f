#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# What bash offers at the end of a line.

load helper

# offers WORD...: the words of the line, the last one being completed; prints what is offered.
offers() {
	bash -c '
		. "$1/../contrib/completion/scrub.bash"; shift
		COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _scrub
		[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' \
		- "$BATS_TEST_DIRNAME" "$@" | paste -sd ' '
}

@test "verbs first" {
	[ "$(offers scrub "")" = "init run verify repair accept status list export config bench help --help --version" ]
	[ "$(offers scrub ve)" = "verify" ]
	[ "$(offers scrub help st)" = "status" ]
}

@test "the options of the verb" {
	[ "$(offers scrub list --)" = "--quiet --json --state --manifest --damaged --long --help" ]
	[ "$(offers scrub run --al)" = "--allow-missing --allow-moved" ]
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
