// SPDX-License-Identifier: Apache-2.0
#include "server/stream.h"

void waiter_wake_all(struct waiter *first)
{
	for (struct waiter *w = first, *next; w; w = next) {
		next = w->next;
		w->wake(w);
	}
}
