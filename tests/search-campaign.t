#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Some hundreds of damaged extents of all sizes, and some of odd geometries: nothing may go wrong.
campaign=${top_builddir:-.}/tests/search_campaign
n=0

run() {
	n=$((n + 1))
	if out=$("$campaign" "$@" 2>&1); then
		echo "ok $n - campaign $*"
	else
		echo "not ok $n - campaign $*"
	fi
	printf '%s\n' "$out" | sed 's/^/# /'
}

run 400 1
run 200 2 16:4096:65536:70000
run 200 3 64:64:512:9000
run 100 4 2:4096:65536:300000
run 100 5 256:64:512:100000
echo "1..$n"
