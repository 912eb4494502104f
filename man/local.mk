# SPDX-License-Identifier: LGPL-2.1-or-later
# man pages
dist_man_MANS += man/bitscrub-manifest.5
