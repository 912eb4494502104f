#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# bitscrub.conf: targets and their options, what is refused, and where state is found.

load helper
load pass
load alone

setup() {
	two_targets
}

conf() {
	cat >c.conf
}

# refused LINE TEXT: the configuration on stdin is a usage error of that line, and nothing is run.
refused() {
	conf
	for verb in run verify status; do
		expect 16 $verb --all --config=c.conf
		says "scrub: c.conf:$1: $2"
		says "Nothing was read or written."
		[ -z "$output" ]
	done
	[ ! -e a/.bitscrub ]
}

@test "--all goes through the targets in their order" {
	expect 0 run -q b a
	printf '# both\n\n[%s/b]\n\n; and\n[%s/a/]\n' "$W" "$W" | conf
	for verb in run verify status; do
		expect 0 $verb --json --all --config=c.conf
		json 'select(.event == "summary") | .target' "$W/b $W/a"
	done
}

@test "the exit status is that of all targets, and a failure stops none" {
	expect 0 run -q a
	mkdir c d
	echo three >c/z
	printf '[%s]\n' "$W/gone" "$W/a" "$W/c" | conf
	expect 8 run --json --all --config=c.conf
	json 'select(.event == "summary") | "\(.target) \(.exit)"' "$W/gone 8 $W/a 0 $W/c 8"
	# No target is begun by --all: c has no manifest, and gets none.
	[ ! -e c/.bitscrub ]
	rm a/x
	echo other >a/q
	expect 12 verify --json --all --config=c.conf
	json 'select(.event == "summary") | "\(.target) \(.exit)"' "$W/gone 8 $W/a 4 $W/c 8"
}

@test "options: of a section, of [defaults], and the command line wins" {
	need strace
	expect 0 run -q a b
	conf <<-END
		[defaults]
		jobs = 1
		cached
		[$W/a]
		cached = no
		[$W/b]
	END
	expect 0 run --json --all --config=c.conf
	# What was read through the cache was certainly from there; the other from the medium or not known.
	json 'select(.event == "summary") | .bytes_from_cache' "0 4"
	expect 0 run --json --all --cached --config=c.conf
	json 'select(.event == "summary") | .bytes_from_cache' "4 4"
	strace -f -e trace=clone,clone3 -o trace "$SCRUB" run -q --all --config=c.conf
	one=$(grep -c ^ trace)
	strace -f -e trace=clone,clone3 -o trace "$SCRUB" run -q --all --config=c.conf -j 7
	[ "$(grep -c ^ trace)" -gt "$one" ]
}

@test "an option that the verb does not take is left out for it" {
	expect 0 run -q a
	printf '[defaults]\nrepair\n[%s/a]\nwait\n' "$W" | conf
	expect 0 run -q --all --config=c.conf
	expect 0 verify -q --all --config=c.conf
	expect 0 status -q --all --config=c.conf
}

@test "state: a target that is named is found where the file says, by any of its names" {
	conf <<-END
		[$W/a]
		state = $W/s
	END
	expect 0 run -q --config=c.conf a
	[ -f s/manifest ]
	[ ! -e a/.bitscrub ]
	ln -s a link
	for name in a ./a a/ "$W/a" "$W/../${W##*/}/a" link; do
		expect 0 status --json --config=c.conf "$name"
		json 'select(.event == "status") | .state' "$W/s"
	done
	expect 0 list --config=c.conf a
	[ "$output" = x ]
	expect 0 config --config=c.conf a ctime=use
	expect 0 export --config=c.conf --format=sfv a
	expect 0 run --config=c.conf a
	has "Next: $SCRUB run --config c.conf a"
	expect 8 list a
}

@test "--state or -m decides alone" {
	conf <<-END
		[$W/a]
		state = $W/s
	END
	expect 0 run -q --config=c.conf --state=other a
	[ -f other/manifest ]
	[ ! -e s ]
	expect 0 list --config=c.conf -m other/manifest a
	[ "$output" = x ]
}

@test "the installed file: not there, there, broken, and --state does without" {
	need_root
	need unshare
	installed=$(strings "$SCRUB" | grep '/bitscrub\.conf$')
	[[ $installed == /* ]]
	[ ! -e "$installed" ] || skip "this machine has a $installed"
	expect 8 run --all
	says "scrub: $installed: No such file or directory"
	expect 0 run -q a
	# In a mount namespace of its own, so that no other test sees it.
	printf '[%s/b]\nstate = %s/s\n' "$W" "$W" | conf
	cat >inside <<-'END'
		mount -t tmpfs -o mode=755 none "$1" && cp "$2" "$1/bitscrub.conf" && shift 2 && exec "$@"
	END
	dir=${installed%/*}
	[ -d "$dir" ] || skip "needs $dir"
	run -0 alone sh inside "$dir" c.conf "$SCRUB" run -q b
	[ -f s/manifest ]
	[ ! -e b/.bitscrub ]
	run -0 alone sh inside "$dir" c.conf "$SCRUB" run -q --all
	echo broken >c.conf
	run -16 alone sh inside "$dir" c.conf "$SCRUB" run -q b
	[[ $output == *"$installed:1: "* ]]
	run -0 alone sh inside "$dir" c.conf "$SCRUB" run -q --state="$W/s" b
}

@test "errors name file and line" {
	refused 2 "unknown key 'jbos'; did you mean 'jobs'?" <<-END
		[defaults]
		jbos = 3
	END
	refused 2 "unknown key 'colour'" <<-END
		[defaults]
		colour = red
	END
	refused 3 "jobs: '0' is no number from 1 to 65536" <<-END
		[$W/a]
		# a comment
		jobs = 0
	END
	refused 2 "cached is yes or no, not 'maybe'" <<-END
		[$W/a]
		cached = maybe
	END
	refused 2 "a value is missing for 'jobs'" <<-END
		[$W/a]
		jobs
	END
	refused 2 "a value is missing for 'jobs'" <<-END
		[$W/a]
		jobs =
	END
	refused 3 "set twice: 'jobs'" <<-END
		[$W/a]
		jobs = 1
		jobs = 2
	END
	refused 3 "there is a section already for '$W/a'" <<-END
		[$W/a]
		[$W/b]
		[$W/a//]
	END
	refused 2 "there is a second section 'defaults'" <<-END
		[defaults]
		[defaults]
	END
	refused 1 "a target is an absolute path, not 'a'" <<-END
		[a]
	END
	refused 2 "state is an absolute path, not 's'" <<-END
		[$W/a]
		state = s
	END
	refused 1 "a section, [TARGET] or [defaults], comes before 'jobs'" <<-END
		jobs = 1
	END
	refused 1 "a section is [TARGET] or [defaults], not '[$W/a'" <<-END
		[$W/a
	END
	refused 1 "a section is [TARGET] or [defaults], not '[]'" <<-END
		[]
	END
}

@test "the slash that ends a label is a part of it, that of a path is not" {
	printf '[%s/a///]\n[LABEL=/]\n[LABEL=no-such/]\n[LABEL=no-such]\n' "$W" | conf
	expect 8 status --json --all --config=c.conf
	json 'select(.event == "summary") | .target' "$W/a LABEL=/ LABEL=no-such/ LABEL=no-such"
	printf '[LABEL=/]\n[LABEL=/]\n' | refused 2 "there is a section already for 'LABEL=/'"
	printf '[%s/a]\n[%s/a/]\n' "$W" "$W" | refused 2 "there is a section already for '$W/a'"
}

@test "what can't be in the file, and why" {
	refused 2 "a setting is kept with the target, see 'init' and 'config': 'exclude'" <<-END
		[$W/a]
		exclude = *.o
	END
	refused 2 "a guard is overridden on the command line, once, not here: 'allow-missing'" <<-END
		[$W/a]
		allow-missing
	END
	refused 2 "an option of the command line only: 'quiet'" <<-END
		[$W/a]
		quiet
	END
	refused 2 "it is for all targets, and belongs to [defaults]: 'metrics'" <<-END
		[$W/a]
		metrics = /tmp/x
	END
	refused 2 "each target has its own, so it can't be in [defaults]: 'state'" <<-END
		[defaults]
		state = /tmp/x
	END
	refused 2 "unknown key 'dry-run'" <<-END
		[$W/a]
		dry-run
	END
}

@test "a control character in the file can't forge a line of the message" {
	printf '[%s/a]\nx\033[2J\ry = 1\n' "$W" | conf
	expect 16 run --all --config=c.conf
	says 'c.conf:2: unknown key '"'"'x\033[2J\ry'"'"
	printf '[%s/a]\njobs = 1\0\n' "$W" | conf
	expect 16 run --all --config=c.conf
	says "c.conf:2: a NUL byte after 'jobs = 1'"
}

@test "a file that others can write is refused, or that is no file, or is not there" {
	printf '[%s/a]\n' "$W" | conf
	chmod g+w c.conf
	expect 8 run --all --config=c.conf
	says "c.conf: refused: others can write to it"
	chmod 646 c.conf
	expect 8 run --config=c.conf a
	says "c.conf: refused: others can write to it"
	[ ! -e a/.bitscrub ]
	expect 8 run --all --config=a
	says "a: no regular file"
	mkfifo fifo
	expect 8 run --all --config=fifo
	says "fifo: no regular file"
	expect 8 run --all --config=none
	says "none: No such file or directory"
	chmod 644 c.conf
	need_root
	chown 12345 c.conf
	expect 8 run --all --config=c.conf
	says "c.conf: refused: it belongs to neither root nor you"
}

@test "--all takes no operand, no state, and needs a target in the file" {
	printf '[%s/a]\n' "$W" | conf
	expect 16 run --all --config=c.conf a
	says "--all takes the targets of bitscrub.conf, and no operand"
	expect 16 run --all --config=c.conf --state=s
	says "--state and -m take exactly one TARGET"
	expect 16 verify --all --config=c.conf -m m
	echo '[defaults]' | conf
	expect 16 run --all --config=c.conf
	says "c.conf names no target"
	expect 16 run --config=c.conf
	says "'run' needs TARGET..., or --all"
	for verb in init repair accept list export config; do
		expect 16 $verb --all
		says "'$verb' takes no option --all"
	done
}
