// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/audit-refusals.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/format/digest.h"
#include "lib/net/address.h"
#include "lib/os/clock.h"
#include "lib/os/timer-thread.h"

enum { NAME = 160, ACTION = 32 };

// The lines of one token, or address, in its window. The last of each table is that of all for which no other is free.
struct refuser {
	char key[NAME], peer[NAME], action[ACTION]; // key "": free
	uint64_t lines;
	int64_t end_ms; // of the window
};

struct audit_refusals {
	int64_t window_ms;
	audit_unwritten_fn *report;
	void *ctx;
	struct timer_thread *timer;
	pthread_mutex_t lock;
	struct refuser token[LIMIT_AUDIT_REFUSERS + 1], address[LIMIT_AUDIT_REFUSERS + 1];
};

static const char others[] = "\n"; // the key of the shared ones: no name has a line end

// Takes the next refuser whose window is over out of the table. Under the lock.
static bool cut_ended(struct refuser *all, int64_t now, struct refuser *out)
{
	for (size_t i = 0; i <= LIMIT_AUDIT_REFUSERS; i++)
		if (*all[i].key && all[i].end_ms <= now) {
			*out = all[i];
			all[i] = (struct refuser){0};
			return true;
		}
	return false;
}

static void report_ended(struct audit_refusals *r, int64_t now)
{
	struct refuser *const table[] = {r->token, r->address};
	struct refuser one;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		for (;;) {
			pthread_mutex_lock(&r->lock);
			bool is_found = cut_ended(table[i], now, &one);
			pthread_mutex_unlock(&r->lock);
			if (!is_found)
				break;
			bool is_shared = strcmp(one.key, others) == 0;
			const struct audit_unwritten what = {.who = !is_shared && table[i] == r->token ? one.key : NULL,
				.peer = is_shared || !*one.peer ? NULL : one.peer,
				.action = one.action,
				.lines = one.lines - LIMIT_AUDIT_REFUSED};
			if (one.lines > LIMIT_AUDIT_REFUSED)
				r->report(r->ctx, &what);
		}
}

static int64_t report_windows(void *ctx)
{
	struct audit_refusals *r = ctx;
	report_ended(r, clock_ms());
	return r->window_ms / 6;
}

struct audit_refusals *audit_refusals_new(int64_t window_ms, audit_unwritten_fn *report, void *ctx)
{
	struct audit_refusals *r = xcalloc(1, sizeof(*r));
	r->window_ms = window_ms;
	r->report = report;
	r->ctx = ctx;
	pthread_mutex_init(&r->lock, NULL);
	r->timer = timer_thread_new(report_windows, r);
	timer_thread_start(r->timer, window_ms);
	return r;
}

void audit_refusals_free(struct audit_refusals *r)
{
	if (!r)
		return;
	timer_thread_free(r->timer);
	report_ended(r, INT64_MAX);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

// The refuser with this key, else a free one, else the shared one. Under the lock.
static struct refuser *find_refuser(struct refuser *all, const char *key)
{
	struct refuser *chosen = &all[LIMIT_AUDIT_REFUSERS];
	for (size_t i = LIMIT_AUDIT_REFUSERS; i-- > 0;) {
		if (strcmp(all[i].key, key) == 0)
			return &all[i];
		if (!*all[i].key)
			chosen = &all[i];
	}
	if (!*chosen->key)
		snprintf(chosen->key, NAME, "%s", chosen == &all[LIMIT_AUDIT_REFUSERS] ? others : key);
	return chosen;
}

bool audit_refusals_take(struct audit_refusals *r, const char *who, const char *peer, const char *action)
{
	char key[NAME] = "";
	uint8_t client[ADDRESS_SIZE];
	address_client(peer ? peer : "", client);
	if (who)
		snprintf(key, sizeof(key), "%s", who);
	else
		hex_encode(client, sizeof(client), key);
	pthread_mutex_lock(&r->lock);
	struct refuser *one = find_refuser(who ? r->token : r->address, key);
	if (!one->lines++)
		one->end_ms = clock_ms() + r->window_ms;
	snprintf(one->peer, NAME, "%s", peer ? peer : "");
	snprintf(one->action, ACTION, "%s", action ? action : "");
	bool is_written = one->lines <= LIMIT_AUDIT_REFUSED;
	pthread_mutex_unlock(&r->lock);
	return is_written;
}
