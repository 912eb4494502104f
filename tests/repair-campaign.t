#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Some hundreds of damaged files, repaired by whole passes; some thousands in CI.
campaign=${top_builddir:-.}/tests/campaign
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

run 400 1 1000000
run 100 2
[ -z "${CI:-}" ] || run 3000 3 300000
echo "1..$n"
