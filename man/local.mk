# SPDX-License-Identifier: LGPL-2.1-or-later
dist_man_MANS += man/bitscrub-manifest.5 man/bitscrub.conf.5 man/scrub.8
include man/rename.mk
