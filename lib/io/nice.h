/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Letting everybody else go first. */
#ifndef SCR_IO_NICE_H
#define SCR_IO_NICE_H

/* Gives this thread, and those that it makes from now on, the least CPU priority (nice 19, batch
 * scheduling) and the idle class of I/O, see ioprio_set(2). 0, or the first -errno; the rest is
 * tried. */
int scr_nice(void);

#endif
