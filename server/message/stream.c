// SPDX-License-Identifier: Apache-2.0
#include "server/message/stream.h"

void continuation_resume_all(struct continuation *first)
{
	for (struct continuation *w = first, *next; w; w = next) {
		next = w->next;
		w->resume(w);
	}
}

struct continuation *continuation_take_left(struct continuation **first)
{
	struct continuation *left = NULL;
	for (struct continuation **at = first; *at;) {
		struct continuation *w = *at;
		if (!continuation_has_left(w)) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		w->next = left;
		left = w;
	}
	return left;
}
