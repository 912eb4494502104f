#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# make install: where things go, under which name, and that no other scrub is overwritten.

load helper

# Flags of the make that runs this would make ours a part of it.
make_quietly() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "${top_builddir:?}" "$@"
}

# The same, with the names that --program-prefix=bit gives; transform is what configure makes of it.
make_bit() {
	# shellcheck disable=SC2016 # $$ is for make
	make_quietly transform='s&^&bit&' program_transform_name='s&^&bit&' "$@"
}

installed() {
	(cd "$1" && find . ! -type d | sort | grep -v '\.5$' | paste -sd ' ')
}

# The files below docdir where the command has this name, as installed() lists them.
examples() {
	printf "./share/doc/bitscrub/examples/%s\n" bitscrub bitscrub-weekly bitscrub.conf \
		"$1-failed@.service" "$1@.service" "$1@.timer" | sort | paste -sd ' '
}

setup() {
	W=$BATS_TEST_TMPDIR
	P=/opt/x
	cd "$W" || return 1
	[ -n "$top_builddir" ] || skip "needs a build directory in top_builddir"
}

@test "DESTDIR and prefix" {
	make_quietly install DESTDIR="$W/d" prefix="$P"
	[ "$(installed "$W/d$P")" = "./bin/scrub ./share/bash-completion/completions/scrub $(examples scrub) ./share/fish/vendor_completions.d/scrub.fish ./share/man/man8/scrub.8 ./share/zsh/site-functions/_scrub" ]
	[ "$(ls "$W/d")" = opt ]
	cmp "$top_srcdir/man/scrub.8" "$W/d$P/share/man/man8/scrub.8"
	cmp "$top_builddir/contrib/completion/scrub.bash" "$W/d$P/share/bash-completion/completions/scrub"
	make_quietly uninstall DESTDIR="$W/d" prefix="$P"
	[ -z "$(installed "$W/d$P")" ]
}

@test "installing again over our own is fine" {
	make_quietly install DESTDIR="$W/d" prefix="$P"
	make_quietly install DESTDIR="$W/d" prefix="$P"
	make_quietly install-strip DESTDIR="$W/d" prefix="$P"
	make_quietly install DESTDIR="$W/d" prefix="$P"
}

@test "another scrub is not overwritten and not executed" {
	mkdir -p "$W/d$P/bin"
	printf '#!/bin/sh\ntouch %s/executed\n' "$W" >"$W/d$P/bin/scrub"
	chmod +x "$W/d$P/bin/scrub"
	cp "$W/d$P/bin/scrub" other
	run make_quietly install DESTDIR="$W/d" prefix="$P"
	[ "$status" -ne 0 ]
	[[ $output == *"$W/d$P/bin/scrub is another program and is not overwritten."* ]]
	[[ $output == *"--program-prefix=bit"* ]]
	cmp other "$W/d$P/bin/scrub"
	[ ! -e executed ]
	[ "$(installed "$W/d$P")" = ./bin/scrub ]
	# A parallel make is no way round it.
	run make_quietly -j4 install DESTDIR="$W/d" prefix="$P"
	[ "$status" -ne 0 ]
	cmp other "$W/d$P/bin/scrub"
}

@test "a dangling link of that name is not replaced" {
	mkdir -p "$W/d$P/bin"
	ln -s /nonexistent/scrub "$W/d$P/bin/scrub"
	run make_quietly install DESTDIR="$W/d" prefix="$P"
	[ "$status" -ne 0 ]
	[ -L "$W/d$P/bin/scrub" ]
}

@test "under another name it lives beside the other scrub" {
	mkdir -p "$W/d$P/bin"
	echo other >"$W/d$P/bin/scrub"
	make_bit install DESTDIR="$W/d" prefix="$P"
	[ "$(cat "$W/d$P/bin/scrub")" = other ]
	[ "$(installed "$W/d$P")" = "./bin/bitscrub ./bin/scrub ./share/bash-completion/completions/bitscrub $(examples bitscrub) ./share/fish/vendor_completions.d/bitscrub.fish ./share/man/man8/bitscrub.8 ./share/zsh/site-functions/_bitscrub" ]
	run "$W/d$P/bin/bitscrub" --help
	[[ $output == "Usage: bitscrub VERB"* ]]
	make_bit uninstall DESTDIR="$W/d" prefix="$P"
	[ "$(installed "$W/d$P")" = "./bin/scrub" ]
}

@test "configure --program-prefix=bit gives these names" {
	# What make_bit says is what configure would say: ask it.
	mkdir b
	cd b
	run "$top_srcdir/configure" --quiet --program-prefix=bit
	[ "$status" -eq 0 ] || { echo "$output"; false; }
	grep -qx "transform = s&^&bit&\|program_transform_name = s&^&bit&" Makefile
}

@test "under another name manual and completion say that name" {
	make_bit install DESTDIR="$W/d" prefix="$P"
	man=$W/d$P/share/man/man8/bitscrub.8
	grep -qx '.Nm bitscrub' "$man"
	grep -qx '.Dt BITSCRUB 8' "$man"
	grep -qx '.Dl bitscrub run /srv' "$man"
	# All that is left of the old name is the other program.
	[ "$(sed '/^\.\\"/d' "$man" | grep -w scrub)" = ".Pa /usr/bin/scrub ," ]
	grep -qx '#compdef bitscrub' "$W/d$P/share/zsh/site-functions/_bitscrub"
	[ -z "$(grep -v "^complete -c bitscrub \|^#" "$W/d$P/share/fish/vendor_completions.d/bitscrub.fish")" ]
	grep -qx '.Dl bitscrub run --existing --nice --quiet --all' "$W/d$P/share/man/man5/bitbitscrub.conf.5"
	bash -c '. "$1"; complete -p bitscrub && ! complete -p scrub 2>/dev/null' - \
		"$W/d$P/share/bash-completion/completions/bitscrub"
}
