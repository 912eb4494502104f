#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The checkers that come from elsewhere: shellcheck on all scripts, mandoc on all manual pages.
top=${top_srcdir:-..}
cd "$top" || exit 1
n=0

# report NAME STATUS TEXT
report() {
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "$3" | sed 's/^/# /'
	fi
}

skip() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP needs $2"
}

scripts() {
	for f in autogen.sh .ci/run contrib/* contrib/completion/* tests/* tests/fuzz/*; do
		[ -f "$f" ] || continue
		case $(head -n 1 "$f") in
		'#!'*sh | '#!'*bats) echo "$f" ;;
		*) case $f in *.bash | */packages) echo "$f" ;; esac ;;
		esac
	done
}

for f in $(scripts); do
	case $f in
	# Tests may be terse where the words are their own.
	*.bats) set -- -s bats -S warning ;;
	*.bash) set -- -s bash ;;
	*) set -- ;;
	esac
	if command -v shellcheck >/dev/null; then
		# The helper's variables are used in files that are checked one at a time: SC2034,
		# SC2154. bats runs each test in a subshell: SC2030, SC2031. SC1091: not followed.
		# SC2012: ls is fine where the names are known. SC2119, SC2120: optional arguments.
		text=$(shellcheck -e SC1091,SC2012,SC2034,SC2154,SC2030,SC2031,SC2119,SC2120 "$@" "$f" 2>&1)
		report "shellcheck $f" $? "$text"
	else
		skip "shellcheck $f" shellcheck
	fi
done

for f in man/*.[58]; do
	if command -v mandoc >/dev/null; then
		# Pages of other packages may or may not be there.
		text=$(mandoc -T lint "$f" 2>&1 | grep -v 'referenced manual not found\|outdated mandoc.db')
		report "mandoc $f" "$([ -z "$text" ]; echo $?)" "$text"
	else
		skip "mandoc $f" mandoc
	fi
done
echo "1..$n"
