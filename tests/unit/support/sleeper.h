// SPDX-License-Identifier: Apache-2.0
// A continuation (server/message/stream.h) that counts how often it was resumed, and a semaphore to wait for that.
#pragma once

#include <semaphore.h>
#include <stdatomic.h>

#include "server/message/stream.h"

struct sleeper {
	struct continuation base;
	atomic_int woken;
	sem_t is_woken;
};

static inline void sleeper_wake(struct continuation *w)
{
	struct sleeper *s = (struct sleeper *)w;
	atomic_fetch_add(&s->woken, 1);
	sem_post(&s->is_woken);
}

static inline void sleeper_init(struct sleeper *s)
{
	*s = (struct sleeper){.base.resume = sleeper_wake};
	sem_init(&s->is_woken, 0, 0);
}
