/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One command at work: its options, the library's context, and who watches and reports. */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>
#include <stddef.h>

#include <bitscrub.h>

#include "conf.h"
#include "console.h"
#include "options.h"
#include "report.h"
#include "told.h"
#include "watch.h"

struct command;

struct job;

/* Work on one target; returns 0 or -errno. */
typedef int job_call(struct job *job, const char *target, struct scr_summary *out);
/* A call of the library that takes paths within its target. */
typedef int job_paths_call(struct scr_ctx *ctx, const char *target, const char *const *paths,
			   size_t npaths, struct scr_summary *out);

struct job {
	const struct command *cmd;
	struct options opt;         /* of the command line; for --all over [defaults] */
	int argc;                   /* the command line, which goes over each section */
	char **argv;
	struct conf conf;
	struct options target_opt;  /* of the present target */
	bool owned;                 /* target_opt is to be freed: not a copy of opt */
	struct console console;
	struct report report;
	struct watch watch;
	struct told told;
	bool mute;                  /* a question of our own: events are not the user's */
	struct scr_ctx *ctx;
	job_paths_call *paths_call; /* while job_paths() goes through --all */
	int exit; /* so far: SCR_EXIT_* bits */
};

/* Runs the verb with its options and operands; argv[0] is the verb. Returns the exit status. */
int job_main(const struct command *cmd, int argc, char **argv);

/* Makes the context and starts the watch. Returns 0, or exit status bits after saying why. */
int job_begin(struct job *job);
/* Takes the options for @target, which bitscrub.conf may add to. Before the call on it. 0, or exit
 * status bits. */
int job_aim(struct job *job, const char *target, const struct conf_section *section);
/* Takes in the result @r of a call on @target. */
void job_target(struct job *job, const char *target, int r, const struct scr_summary *s);
/* Begins and does the work on each target, with --all those of bitscrub.conf, until it is stopped;
 * returns exit status bits. */
int job_each(struct job *job, job_call *call, char **targets, size_t n);
/* The same for a target, args[0], and paths in it; with --all for each target as a whole. */
int job_paths(struct job *job, job_paths_call *call, char **args, size_t n);

#endif
