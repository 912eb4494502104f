/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One command at work: its options, the library's context, and who watches and reports. */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>
#include <stddef.h>

#include <bitscrub.h>

#include "console.h"
#include "options.h"
#include "report.h"
#include "watch.h"

struct command;

struct job {
	const struct command *cmd;
	struct options opt;
	struct console console;
	struct report report;
	struct watch watch;
	struct scr_ctx *ctx;
	int exit; /* so far: SCR_EXIT_* bits */
};

/* Work on one target; returns 0 or -errno. */
typedef int job_call(struct job *job, const char *target, struct scr_summary *out);
/* A call of the library that takes paths within its target. */
typedef int job_paths_call(struct scr_ctx *ctx, const char *target, const char *const *paths,
			   size_t npaths, struct scr_summary *out);

/* Runs the verb with its options and operands; argv[0] is the verb. Returns the exit status. */
int job_main(const struct command *cmd, int argc, char **argv);

/* Makes the context and starts the watch. Returns 0, or exit status bits after saying why. */
int job_begin(struct job *job);
/* Takes in the result @r of a call on @target. */
void job_target(struct job *job, const char *target, int r, const struct scr_summary *s);
/* Begins and does the work on each target, until it is stopped; returns exit status bits. */
int job_each(struct job *job, job_call *call, char **targets, size_t n);
/* The same for a target, args[0], and paths in it. */
int job_paths(struct job *job, job_paths_call *call, char **args, size_t n);

#endif
