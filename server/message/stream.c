// SPDX-License-Identifier: Apache-2.0
#include "server/message/stream.h"

void waiter_wake_all(struct waiter *first)
{
	for (struct waiter *w = first, *next; w; w = next) {
		next = w->next;
		w->wake(w);
	}
}

struct waiter *waiter_take_left(struct waiter **first)
{
	struct waiter *left = NULL;
	for (struct waiter **at = first; *at;) {
		struct waiter *w = *at;
		if (!waiter_has_left(w)) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		w->next = left;
		left = w;
	}
	return left;
}
