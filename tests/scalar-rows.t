#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The scalar rows are scalar: their disassembly has no vector register. And to show that this test
# can fail: the vector rows have them.
objects=${top_builddir:-.}/lib/kernels

case $(uname -m) in
x86_64) vector='%[xyz]mm' ;;
aarch64) vector='[^a-z0-9][vq][0-9]+([.,]|$)' ;;
*) vector= ;;
esac
if [ -z "$vector" ] || ! command -v objdump >/dev/null; then
	echo "1..0 # SKIP needs objdump, and an architecture whose registers are known here"
	exit 0
fi
if grep -q '^COV_CFLAGS = .*-O0\|^SAN_CFLAGS = .*-f' "${top_builddir:-.}/Makefile"; then
	echo 1..1
	echo "ok 1 - instrumented build: not looked at"
	exit 0
fi

# count OBJECT: instructions on vectors, but for moves between a general register and a vector one:
# gcc -O3 -march=native keeps pointers there when it runs out of registers.
count() {
	objdump -d --no-show-raw-insn "$objects/$1" | grep -E "$vector" |
		grep -cvE '[[:space:]]v?mov(q|d|dqa)[[:space:]]'
}

echo 1..4
n=0
for o in inet_scalar crc32_scalar xor_scalar; do
	n=$((n + 1))
	found=$(count $o.o)
	if [ "$found" -eq 0 ]; then
		echo "ok $n - $o has no vector instructions"
	else
		echo "not ok $n - $o has $found vector instructions"
	fi
done
any=xor_sse2.o
[ -e "$objects/$any" ] || any=xor_neon.o
if [ "$(count $any)" -gt 0 ]; then
	echo "ok 4 - $any has some"
else
	echo "not ok 4 - $any has none: this test is blind"
fi
