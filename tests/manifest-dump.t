#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# contrib/bitscrub-manifest-dump, written from the manual page alone, against the library.
top=${top_srcdir:-$(dirname "$0")/..}
build=${top_builddir:-.}
dump=$top/contrib/bitscrub-manifest-dump
tool=$build/tests/manifest-tool
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
n=0

# report NAME STATUS
report() {
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
	fi
}

# same NAME FILE [OPTION]: the script prints FILE as the library does, and finds it sound.
same() {
	"$tool" print "$2" >"$dir/want"
	want=$?
	perl "$dump" ${3:+"$3"} "$2" >"$dir/have" 2>"$dir/err"
	have=$?
	[ $want -eq 0 ] && [ $have -eq 0 ] && [ ! -s "$dir/err" ] &&
		cmp "$dir/want" "$dir/have" >&2
	report "$1" $?
}

# flip FILE OFFSET: changes one byte.
flip() {
	perl -e 'open my $f, "+<:raw", $ARGV[0] or die; seek $f, $ARGV[1], 0; read $f, my $c, 1;
		seek $f, $ARGV[1], 0; print $f $c ^ "\x10"' "$1" "$2"
}

# damaged NAME OFFSET PATTERN [LINES]: with that byte changed, the script says PATTERN and exits 1;
# what it prints has all lines of the sound one if LINES is "all".
damaged() {
	cp "$dir/sound" "$dir/bad"
	flip "$dir/bad" "$2"
	perl "$dump" "$dir/bad" >"$dir/have" 2>"$dir/err"
	[ $? -eq 1 ] && grep -q "$3" "$dir/err" &&
		{ [ "$4" != all ] || cmp "$dir/want" "$dir/have" >&2; }
	report "$1" $?
}

if ! [ -x "$tool" ]; then
	echo "1..0 # SKIP needs cmocka"
	exit 0
fi

for seed in 1 2 3 4 5; do
	"$tool" manifest $seed "$dir/m" || exit 1
	same "manifest $seed" "$dir/m"
	cat "$dir/have" >>"$dir/lines"
	"$tool" journal $seed "$dir/j" || exit 1
	same "journal $seed" "$dir/j"
	cat "$dir/have" >>"$dir/lines"
done
"$tool" manifest 1 "$dir/m"
same "manifest without zlib" "$dir/m" --pure

# What was compared has everything that a record can have.
for word in '^container groups=1 ' '^container groups=2 ' '^header ' '^  setting ' '^  identity ' \
	'^  device ' '^file ' '^link ' '^extent ' '^holes ' '^  parity ' '^  parity-checks ' \
	'^  holes ' '^trailer ' '^  segment ' '^journal ' '^update done=0' '^update done=1' \
	'flags=0x1 ' 'flags=0x2 ' 'flags=0x4 ' 'flags=0x5 ' 'block=- ' 'kind=rot' 'kind=altered' \
	'kind=unreadable' 'kind=missing' ' run=[2-9]' '\\x0a' '\\xff' '\\x22' '\\x5c'; do
	grep -q -e "$word" "$dir/lines"
	report "there are lines with $word" $?
done

"$tool" manifest 2 "$dir/sound"
perl "$dump" "$dir/sound" >"$dir/want"
size=$(wc -c <"$dir/sound")
damaged "a damaged head" 20 'head is damaged' all
damaged "a damaged tail" $((size - 5)) 'tail is damaged' all
damaged "a damaged parity" $((size - 4096 - 1)) 'block [0-9]* is damaged' all
damaged "a damaged block" $((4096 + 30)) 'block 0 is damaged'
damaged "a damaged record" $((4096 * 2)) 'record at [0-9]* of the stream is damaged'

head -c $((size - 4096)) "$dir/sound" >"$dir/bad"
perl "$dump" "$dir/bad" >"$dir/have" 2>"$dir/err"
[ $? -eq 1 ] && [ -s "$dir/err" ] && [ ! -s "$dir/have" ]
report "a manifest that was cut short is refused" $?

: >"$dir/bad"
perl "$dump" "$dir/bad" >"$dir/have" 2>"$dir/err"
[ $? -eq 1 ] && grep -q empty "$dir/err"
report "an empty one is refused" $?

"$tool" journal 2 "$dir/bad"
flip "$dir/bad" $(($(wc -c <"$dir/bad") - 1))
perl "$dump" "$dir/bad" >"$dir/have" 2>"$dir/err"
[ $? -eq 1 ] && grep -q 'journal ends at' "$dir/err" && grep -q '^update' "$dir/have"
report "a journal with a bad end" $?

perl "$dump" --help >"$dir/have" 2>"$dir/err" && grep -q '^usage:' "$dir/have"
report "--help" $?
perl "$dump" >"$dir/have" 2>"$dir/err"
[ $? -eq 2 ] && grep -q '^usage:' "$dir/err"
report "no operand is a usage error" $?

# The manual page and --help agree on what is printed.
lines='/^  container/,/^  update/p'
perl "$dump" --help | sed -n "$lines" >"$dir/want"
sed -n "$lines" "$top/man/bitscrub-manifest.5" >"$dir/have"
[ "$(wc -l <"$dir/want")" -gt 30 ] && cmp "$dir/want" "$dir/have" >&2
report "the manual page and --help list the same lines" $?

echo "1..$n"
