# SPDX-License-Identifier: LGPL-2.1-or-later
# The repair search.
if HAVE_CMOCKA
search_trial = tests/search_trial.c tests/search_expect.c tests/search_trial.h

check_PROGRAMS += tests/search_campaign
tests_search_campaign_SOURCES = tests/search_campaign.c $(search_trial)
endif
