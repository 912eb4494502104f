# SPDX-License-Identifier: LGPL-2.1-or-later
noinst_LIBRARIES += lib/libbitscrub.a
lib_libbitscrub_a_SOURCES = lib/bitscrub.h
EXTRA_DIST += lib/FLOORS

include lib/base/local.mk
include lib/cpu/local.mk
include lib/kernels/local.mk
include lib/select/local.mk
include lib/bench/local.mk
include lib/fold/local.mk
include lib/io/local.mk
include lib/dev/local.mk
include lib/walk/local.mk
include lib/manifest/local.mk
include lib/parity/local.mk
include lib/pass/local.mk
include lib/api/local.mk
