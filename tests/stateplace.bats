#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Whose state it is, and where root keeps it when others can write in the tree.

load helper
load robust

# as ROOT-COMMAND: expect, but by the command that was there before as_nobody.
as_root() {
	SCRUB=$W/scrub expect "$@"
}

@test "state of another user is not used by root, and his own is not hindered by it" {
	as_nobody
	mkdir tree
	tree tree/data 10
	chown -R 65534 tree
	expect 0 run -q tree
	[ "$(stat -c %u tree/.bitscrub tree/.bitscrub/manifest | paste -sd ' ')" = "65534 65534" ]
	cp -a tree before
	as_root 8 run tree
	says "$W/tree/.bitscrub belongs to user 65534"
	as_root 8 accept tree .
	diff -r before tree
	# Nor is it believed, but for a manifest that root names himself.
	for verb in verify list status "export --format=sfv"; do
		# shellcheck disable=SC2086 # words
		as_root 8 $verb tree
		says "$W/tree/.bitscrub belongs to user 65534, neither root nor you (user 0)"
		says "-m FILE"
		[ -z "$output" ]
	done
	as_root 0 verify -q -m tree/.bitscrub/manifest tree
	as_root 0 list -m tree/.bitscrub/manifest tree
	[ "$(wc -l <<<"$output")" -eq 10 ]
	diff -r before tree
	expect 0 run -q tree
}

@test "a state that was forged to fit damaged files gives root no all-clear" {
	private_root
	tree tree 10
	expect 0 run -q tree
	# The owner of the tree makes a file another one, and a state that says so.
	cp -a tree evil
	rm -r evil/.bitscrub
	flip evil/d000/f00003 7
	expect 0 run -q evil
	flip_quietly tree/d000/f00003 7
	mv tree/.bitscrub good
	mv evil/.bitscrub tree/
	chown -R 12345 tree
	expect 8 verify tree
	says "$W/tree/.bitscrub belongs to user 12345"
	hasnt "No damage"
	expect 8 verify --state=tree/.bitscrub tree
	hasnt "No damage"
	# One file of theirs in a directory of root's is no better.
	chown 0 tree/.bitscrub
	expect 8 verify --state=tree/.bitscrub tree
	says "$W/tree/.bitscrub/manifest belongs to user 12345"
	expect 4 verify --state=good tree
}

@test "a manifest of another user in one's own directory is refused" {
	need_root
	tree tree 10
	expect 0 run -q tree
	chown 12345 tree/.bitscrub/manifest
	expect 8 run tree
	says "$W/tree/.bitscrub/manifest belongs to user 12345"
	chown 0 tree/.bitscrub/manifest
	chown 12345 tree/.bitscrub
	expect 8 run tree
	says "belongs to user 12345"
}

@test "an ordinary user reads root's state where he may, and changes nothing" {
	as_nobody
	tree tree 10
	as_root 0 run -q tree
	expect 8 run tree
	says "$W/tree/.bitscrub"
	says "Permission denied"
	expect 8 list tree
	chmod 755 tree/.bitscrub
	chmod 644 tree/.bitscrub/manifest
	expect 8 run tree
	says "$W/tree/.bitscrub belongs to user 0"
	cp -a tree before
	expect 0 list tree
	[ "$(wc -l <<<"$output")" -eq 10 ]
	# The data is compared, what is not is said.
	expect 8 verify --json tree
	[ "$(summary ok)" -eq 10 ]
	json 'select(.event == "trouble") | .errno' EACCES
	expect 8 verify tree
	says "$W/tree/.bitscrub/parity: Permission denied"
	chmod -R a+rX tree/.bitscrub before/.bitscrub
	expect 0 verify --json tree
	[ "$(summary ok)" -eq 10 ]
	expect 0 status tree
	expect 0 export --format=sfv tree
	diff -r before tree
}

@test "an ordinary user keeps state in his tree, and is told where he can't" {
	as_nobody
	tree mine 10
	chown -R 65534 mine
	expect 0 run -q mine
	[ -s mine/.bitscrub/manifest ]
	expect 0 run -q mine
	tree roots 10
	expect 8 run roots
	says "$W/roots/.bitscrub"
	says "Permission denied"
	mkdir own
	chown 65534 own
	expect 0 run -q --state=own/s roots
	[ -s own/s/manifest ]
}

@test "where others can write in the target, root keeps the state elsewhere" {
	private_root
	for mode in 777 1777 775; do
		tree "tree$mode" 10
		chmod $mode "tree$mode"
		expect 0 run -q "tree$mode"
		[ ! -e "tree$mode/.bitscrub" ]
		expect 0 run --json "tree$mode"
		[ "$(summary ok)" -eq 10 ]
		expect 0 status "tree$mode"
		has "$ROOT_NAME/"
	done
	tree owned 10
	chown 12345 owned
	expect 0 run -q owned
	[ ! -e owned/.bitscrub ]
	[ "$(stat -c %a "$ROOT")" = 700 ]
	[ "$(find "$ROOT" -mindepth 1 -maxdepth 1 | wc -l)" -eq 4 ]
	[ -z "$(find "$ROOT" -mindepth 1 \( -type d ! -perm 700 -o -type f ! -perm 600 \))" ]
}

@test "the name below the state root is the path, escaped; long ones are cut and stay apart" {
	private_root
	long=$(printf 'x%.0s' {1..150})
	mkdir -p "My - Files" "$long/$long/a" "$long/$long/b"
	echo data | tee "My - Files/f" "$long/$long/a/f" >"$long/$long/b/f"
	chmod 777 "My - Files" "$long/$long/a" "$long/$long/b"
	expect 0 run -q "My - Files"
	name=$(systemd-escape --path "$W/My - Files" 2>/dev/null) || skip "needs systemd-escape"
	[ -s "$ROOT/$name/manifest" ]
	expect 0 run -q "$long/$long/a"
	expect 0 run -q "$long/$long/b"
	[ "$(find "$ROOT" -mindepth 1 -maxdepth 1 | wc -l)" -eq 3 ]
	[ "$(find "$ROOT" -mindepth 1 -maxdepth 1 -printf '%f\n' | awk 'length > 210' | wc -l)" -eq 0 ]
	expect 0 run --json "$long/$long/a"
	[ "$(summary ok)" -eq 1 ]
}

@test "a file in a directory that others can write" {
	private_root
	mkdir -m 1777 dir
	large dir/image 2
	expect 0 run -q dir/image
	[ ! -e dir/image.bitscrub ]
	[ "$(find "$ROOT" -name manifest | wc -l)" -eq 1 ]
	expect 0 run --json dir/image
	[ "$(summary ok)" -eq 1 ]
}

@test "what others put into their tree as state is not believed by root" {
	private_root
	mkdir tree
	tree tree/data 10
	expect 0 run -q tree
	mv tree/.bitscrub planted
	chown -R 12345 tree planted
	# Where root has none of his own he is told, and nothing is made behind his back.
	cp -a planted tree/.bitscrub
	expect 8 run tree
	says "$W/tree/.bitscrub belongs to user 12345"
	says "--state DIR"
	[ ! -e "$ROOT" ]
	for verb in verify status list; do
		expect 8 "$verb" tree
		says "$W/tree/.bitscrub belongs to user 12345"
		says "-m FILE"
		[ -z "$output" ]
	done
	# Where he has, nobody can get in its way.
	rm -r tree/.bitscrub
	expect 0 run -q tree
	mv planted tree/.bitscrub
	cp -a tree before
	expect 0 run --json tree
	[ "$(summary ok)" -eq 10 ]
	diff -r before tree
	[ "$(find "$ROOT" -name manifest | wc -l)" -eq 1 ]
}

@test "root's state in a tree that others can write by now is refused, and where to move it is said" {
	private_root
	tree tree 10
	expect 0 run -q tree
	chmod 777 tree
	expect 8 run tree
	says "$W/tree/.bitscrub"
	says "$ROOT_NAME/"
	chmod 755 tree
	expect 0 run -q tree
}

@test "two states are refused, and both are named" {
	private_root
	tree tree 10
	expect 0 run -q tree
	chmod 777 tree
	mv tree/.bitscrub aside
	expect 0 run -q tree
	mv aside tree/.bitscrub
	chmod 755 tree
	expect 8 run tree
	says "there is state in $W/tree/.bitscrub and in $ROOT_NAME/"
	for verb in verify status list; do
		expect 8 $verb tree
		says "there is state in"
	done
	expect 0 run -q --state=tree/.bitscrub tree
	rm -r tree/.bitscrub
	expect 0 run -q tree
}

@test "a state root that others can write is refused" {
	private_root
	tree tree 10
	chmod 777 tree
	mkdir -m 777 "$ROOT"
	expect 8 run tree
	says "$ROOT_NAME can be written by others"
	[ -z "$(ls "$ROOT")" ]
	[ ! -e tree/.bitscrub ]
}
