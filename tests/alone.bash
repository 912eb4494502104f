# SPDX-License-Identifier: LGPL-2.1-or-later
# A command with mounts of its own, that no other test sees. Load it after helper.
# shellcheck shell=bash

# alone COMMAND...: its copies of what other tests have mounted go first, else they would keep loop
# devices busy that those tests let go of meanwhile.
alone() {
	# shellcheck disable=SC2016 # $ is for sh
	unshare -m --propagation slave sh -c '
		findmnt -rno TARGET,SOURCE | while read -r target source; do
			case $source in /dev/loop*) umount -l "$target" 2>/dev/null ;; esac
		done
		exec "$@"' sh "$@"
}
