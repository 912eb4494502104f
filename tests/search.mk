# SPDX-License-Identifier: LGPL-2.1-or-later
# The repair search.
if HAVE_CMOCKA
search_trial = tests/search_trial.c tests/search_expect.c tests/search_trial.h

search_checks = tests/search_checks.c tests/search_checks.h $(search_trial)
cmocka_tests += tests/search.test tests/search_parity.test tests/search_examples.test
tests_search_test_SOURCES = tests/search.c $(search_checks)
tests_search_parity_test_SOURCES = tests/search_parity.c $(search_checks)
tests_search_examples_test_SOURCES = tests/search_examples.c $(search_checks)

check_PROGRAMS += tests/search_campaign
spoil = tests/spoil.c tests/spoil.h
tests_search_campaign_SOURCES = tests/search_campaign.c $(spoil) $(search_trial)
TESTS += tests/search-campaign.t

# And of whole repairs.
check_PROGRAMS += tests/campaign
tests_campaign_SOURCES = tests/campaign.c tests/campaign.h tests/campaign_case.c \
	tests/campaign_judge.c tests/campaign_medium.c $(spoil) $(search_trial)
TESTS += tests/repair-campaign.t
endif
EXTRA_DIST += tests/repair-campaign.t tests/search-campaign.t
