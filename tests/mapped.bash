# SPDX-License-Identifier: LGPL-2.1-or-later
# Stores through a shared mapping. Load it after helper, and call mapped_teardown from teardown.
# shellcheck shell=bash

# map FILE: a process that has it mapped, one at a time.
map() {
	need python3
	rm -f map.in map.out
	mkfifo map.in map.out
	python3 -c '
import mmap, sys
f = open(sys.argv[1], "r+b")
m = mmap.mmap(f.fileno(), 0)
for line in iter(sys.stdin.readline, ""):
    at, bits = map(int, line.split())
    m[at] ^= bits
    print("stored", flush=True)' "$1" <map.in >map.out 3>&- &
	MAPPER=$!
	exec {MAP_IN}>map.in {MAP_OUT}<map.out
}

# store OFFSET [BITS]: flips bits of this byte by a store, and nothing else.
store() {
	local line
	echo "$1 ${2:-1}" >&"$MAP_IN"
	read -r -t 20 line <&"$MAP_OUT" && [ "$line" = stored ]
}

unmap() {
	exec {MAP_IN}>&- {MAP_OUT}<&-
	wait "$MAPPER" || :
	MAPPER=
}

mapped_teardown() {
	[ -z "$MAPPER" ] || unmap
	helper_teardown
}
