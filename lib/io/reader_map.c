/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a file where it lies in the page cache, and surviving that it goes away meanwhile.
 *
 * A page of a mapping that can't be had is a SIGBUS to the thread that looks at it: there is no
 * other way to be told. The handler leaves the guarded call; outside of one it does what would have
 * happened without it. Which call a thread is in is the one thing here that can hang off no
 * context, since a handler is given none.
 */
#include <config.h>
#include "io/reader_internal.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

static _Thread_local sigjmp_buf *guard;

static void on_sigbus(int sig)
{
	if (guard)
		siglongjmp(*guard, 1);
	/* Not ours: it will happen again, and then end the process. */
	signal(sig, SIG_DFL);
}

int scr_guard_install(void)
{
	/* SA_NODEFER: the signal is not blocked within the handler, so that leaving it by a jump
	 * need not restore a mask. */
	struct sigaction ours = {.sa_handler = on_sigbus, .sa_flags = SA_NODEFER | SA_ONSTACK};

	sigemptyset(&ours.sa_mask);
	return sigaction(SIGBUS, &ours, NULL) < 0 ? -errno : 0;
}

/* The thread sanitizer has all signals blocked while a handler runs, whatever was asked for. */
#ifdef __SANITIZE_THREAD__
#define SAVE_MASK 1
#else
#define SAVE_MASK 0
#endif

int scr_guarded(void (*fn)(void *arg), void *arg)
{
	sigjmp_buf here;
	int r = 0;

	if (sigsetjmp(here, SAVE_MASK) == 0) {
		guard = &here;
		fn(arg);
	} else {
		r = -EFAULT;
	}
	guard = NULL;
	return r;
}

const uint8_t *scr_reader_map(struct scr_reader *r, uint64_t offset, size_t len)
{
	if (r->mode == SCR_READ_CHECK || !r->ops->map || !r->ops->unmap || r->map || len == 0)
		return NULL;
	r->map = r->ops->map(r->ops->arg, r->fd, (off_t)offset, len);
	r->map_len = len;
	return r->map;
}

void scr_reader_unmap(struct scr_reader *r)
{
	if (r->map)
		r->ops->unmap(r->ops->arg, r->map, r->map_len);
	r->map = NULL;
}

void scr_reader_count_mapped(struct scr_reader *r, uint64_t len)
{
	r->counts.total += len;
	r->counts.cache += len;
}
