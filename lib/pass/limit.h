/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pass that looks at a part only: which extents, in which order, and when it is enough.
 *
 *	survey    after planning: the bytes of everything there is to read, by the time of its last
 *	          check, in two queues:
 *	            fresh   what has no record yet (since its ctime), or another stamp than its file
 *	            known   the rest, what is recorded and looks unchanged
 *	bands     each queue is cut into bands of some share of it; fresh bands come first
 *	visits    the plan is gone through once a band, in walk order; a file with extents in
 *	          several bands is visited in each
 *	due       extent by extent, as they are handed out: whether it belongs to the band of the
 *	          visit, and is still paid for; so the oldest get what there is, whichever thread
 *	          is faster
 *	in_time   when its turn comes: whether there is time left
 *
 * Fresh data gets at most half of the budget (bytes or time) while known data that is overdue would
 * not get the rest otherwise. Of each queue at least one extent is read, whatever the limits. So
 * nothing waits for ever: what was looked at goes to the end of its queue, and no queue is left
 * out.
 */
#ifndef SCR_PASS_LIMIT_H
#define SCR_PASS_LIMIT_H

#include "pass/ages.h"
#include "pass/planner.h"
#include "pass/work.h"

/* Overdue, for who says nothing else with --older-than. */
#define SCR_OVERDUE_NS (30 * 86400 * SCR_NS_PER_S)

enum scr_queue { SCR_QUEUE_FRESH, SCR_QUEUE_KNOWN, SCR_QUEUES };

struct scr_limit {
	struct scr_pass *p;
	const struct scr_planned *planned;
	struct scr_ages *ages[SCR_QUEUES];
	uint64_t all;          /* bytes there are to read, wanted or not */
	uint64_t overdue;      /* of the known ones */
	bool missing_first;    /* see scr_limit_key() */
	bool filtered;         /* something was left out for its age or kind */
	int64_t wanted_before; /* known extents checked later are not wanted; INT64_MAX: all are */
	/* The budget. */
	uint64_t budget;         /* bytes; UINT64_MAX: any number */
	const char *budget_name; /* the option that it comes from */
	int64_t reading_ns;      /* monotonic: when reading began */
	int64_t deadline_ns;     /* monotonic; INT64_MAX: none */
	/* The present band: under the feed's lock. */
	struct scr_band band;
	uint64_t share; /* bytes of a band */
	bool ended;     /* no band is left */
	/* What was taken: under lock. */
	pthread_mutex_t lock;
	uint64_t used[SCR_QUEUES];
	bool any[SCR_QUEUES]; /* an extent of the queue was taken */
	uint64_t begun[SCR_QUEUES]; /* bytes of those whose turn has come */
	const char *refused;  /* the option for which one was not; NULL: none */
};

/* Whether the options of the pass limit it. */
bool scr_limit_wanted(const struct scr_options *opt);
/* Surveys what is planned and goes to the first band. 0 or -errno. */
int scr_limit_new(struct scr_pass *p, const struct scr_planned *planned, struct scr_limit **out);
void scr_limit_free(struct scr_limit *l);

/* The bytes that the pass will read at most. */
uint64_t scr_limit_total(const struct scr_limit *l);
/* Whether the queue of the present band may get more of what is left; if not, this is its last
 * band. */
bool scr_limit_open(struct scr_limit *l);
/* Goes to the next band; false at the end. */
bool scr_limit_next_band(struct scr_limit *l);
/* Whether something of the entry may be in the present band. */
bool scr_limit_visits(const struct scr_limit *l, const struct scr_plan_entry *e);
/* Whether the extent of @w at @cut (@run of them, if they are holes), @base as it is recorded or
 * NULL, is to be read in this visit. If so it is paid for. Called in the order of the visits. */
bool scr_limit_due(struct scr_limit *l, struct scr_work *w, const struct scr_cut *cut, uint64_t run,
		   const struct scr_extent *base);
/* The turn of what was due has come: whether there still is time. If not, what was paid goes back. */
bool scr_limit_in_time(struct scr_limit *l, struct scr_work *w, const struct scr_cut *cut,
		       uint64_t run, const struct scr_extent *base);
/* @w could not be looked at: what was paid for it may go to others. */
void scr_limit_give_back(struct scr_limit *l, struct scr_work *w);
/* Puts into the summary why the pass is not complete, and what is left. */
void scr_limit_tell(struct scr_limit *l);

/* limit_survey.c */
/* What due() and the survey must agree about. */
enum scr_queue scr_limit_queue(const struct scr_plan_entry *e, const struct scr_file_record *base,
			       const struct scr_extent *x);
int64_t scr_limit_key(const struct scr_limit *l, const struct scr_plan_entry *e,
		      const struct scr_file_record *base, const struct scr_extent *x);
bool scr_limit_wants(const struct scr_limit *l, enum scr_queue q, int64_t key, bool damaged);
int scr_limit_survey(struct scr_limit *l);

#endif
