// SPDX-License-Identifier: Apache-2.0
#include "lib/os/sigpipe.h"

#include <time.h>

static sigset_t sigpipe_alone(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	return set;
}

static bool is_pending(void)
{
	sigset_t pending;
	return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

void sigpipe_hold(struct sigpipe *s)
{
	sigset_t alone = sigpipe_alone();
	s->was_pending = is_pending();
	pthread_sigmask(SIG_BLOCK, &alone, &s->before);
}

void sigpipe_release(struct sigpipe *s)
{
	sigset_t alone = sigpipe_alone();
	const struct timespec at_once = {0};
	while (!s->was_pending && is_pending() && sigtimedwait(&alone, NULL, &at_once) == SIGPIPE)
		;
	pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}
