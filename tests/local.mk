# SPDX-License-Identifier: LGPL-2.1-or-later
# TAP everywhere: cmocka programs (.test), bats files (.bats) and scripts (.t), in parallel.
TEST_EXTENSIONS = .test .bats .t
tap_driver = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_LOG_DRIVER = $(tap_driver)
BATS_LOG_DRIVER = $(tap_driver)
T_LOG_DRIVER = $(tap_driver)
BATS_LOG_COMPILER = bats
AM_BATS_LOG_FLAGS = --tap
AM_TESTS_ENVIRONMENT = \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	SCRUB='$(abs_top_builddir)/src/scrub'; export SCRUB; \
	CC='$(CC)'; export CC;

LDADD = lib/libbitscrub.a $(CMOCKA_LIBS) $(ZLIB_LIBS) $(BLKID_LIBS)

if HAVE_CMOCKA
# One line a test: tests/NAME.test is built from tests/NAME.c unless it says otherwise.
cmocka_tests =
endif
include tests/kernels.mk
include tests/cli.mk
include tests/t1.mk
include tests/t2.mk
include tests/t4.mk
include tests/told.mk
include tests/speed.mk
include tests/store.mk
include tests/night.mk
include tests/pass.mk
include tests/device.mk
include tests/search.mk
include tests/faults.mk
include tests/proof.mk
include tests/fuzz.mk
include tests/memory.mk
if HAVE_CMOCKA
include tests/repair.mk
include tests/sys.mk
include tests/dev.mk
check_PROGRAMS += $(cmocka_tests)
TESTS += $(cmocka_tests)
endif
