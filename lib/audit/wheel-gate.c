// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/wheel-gate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"

// What a platform provides.
struct gate_offer {
	char *platform, *path;
	bool was_read;
	struct platform_offer *offer; // NULL: it was not read, or cannot be read
};

struct wheel_gate {
	atomic_uint references;
	bool refuses;
	struct audit_policy policy;
	struct gate_offer *offer;
	size_t offers;
	pthread_mutex_t lock; // of the offers
};

int wheel_gate_new(const struct config *c, struct wheel_gate **out, struct err *e)
{
	struct audit_policy policy;
	*out = NULL;
	if (strcmp(c->upload_audit, "off") == 0)
		return 0;
	if (audit_policy_read(&policy, c->upload_audit_policy, e) < 0) {
		e->kind = ERR_USAGE; // also for a missing one: who is started again misses it again
		return err_prefix(e, "[upload] audit-policy: ");
	}
	struct wheel_gate *g = xcalloc(1, sizeof(*g));
	atomic_init(&g->references, 1);
	g->refuses = strcmp(c->upload_audit, "refuse") == 0;
	g->policy = policy;
	g->offer = xcalloc(c->platform_count + 1, sizeof(*g->offer));
	for (size_t i = 0; i < c->platform_count; i++)
		if (c->platforms[i].provides)
			g->offer[g->offers++] = (struct gate_offer){
				.platform = xstrdup(c->platforms[i].name), .path = xstrdup(c->platforms[i].provides)};
	pthread_mutex_init(&g->lock, NULL);
	*out = g;
	return 0;
}

struct wheel_gate *wheel_gate_ref(struct wheel_gate *g)
{
	if (g)
		atomic_fetch_add(&g->references, 1);
	return g;
}

void wheel_gate_unref(struct wheel_gate *g)
{
	if (!g || atomic_fetch_sub(&g->references, 1) > 1)
		return;
	for (size_t i = 0; i < g->offers; i++) {
		platform_offer_free(g->offer[i].offer);
		free(g->offer[i].platform);
		free(g->offer[i].path);
	}
	free(g->offer);
	audit_policy_release(&g->policy);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

void wheel_gate_cleanup(struct wheel_gate **g)
{
	wheel_gate_unref(STEAL_PTR(*g));
}

bool wheel_gate_refuses(const struct wheel_gate *g)
{
	return g && g->refuses;
}

// With the lock held. What cannot be read is unknown, and said once.
static void read_offer(struct gate_offer *one)
{
	struct err e = ERR_INIT;
	one->was_read = true;
	if (platform_offer_open(one->path, &one->offer, &e) < 0)
		log_warn("[platform %s] provides: %s: it is unknown what the platform offers to wheels", one->platform,
			e.msg);
}

static const struct platform_offer *find_offer(struct wheel_gate *g, const char *platform)
{
	const struct platform_offer *found = NULL;
	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; platform && i < g->offers; i++)
		if (strcmp(g->offer[i].platform, platform) == 0) {
			if (!g->offer[i].was_read)
				read_offer(&g->offer[i]);
			found = g->offer[i].offer;
		}
	pthread_mutex_unlock(&g->lock);
	return found;
}

void wheel_gate_judge(struct wheel_gate *g, const char *platform, const struct filename *name,
	const struct wheel_facts *facts, struct audit_report *out)
{
	const struct audit_options options = {
		.policy = &g->policy, .platform = platform, .offer = find_offer(g, platform)};
	audit_wheel(facts, name, &options, out);
}

void wheel_gate_print(const struct audit_finding *f, struct buf *out)
{
	buf_printf(out, "%s %s", audit_level_name[f->level], audit_code_name[f->code]);
	if (f->rule)
		buf_printf(out, " of the rule %s", f->rule);
	if (f->member)
		buf_printf(out, " in %s", f->member);
	buf_printf(out, ": %s", f->why);
}

int wheel_gate_check(const struct audit_report *report, struct err *e)
{
	CLEANUP(buf_release) struct buf words = buf_up_to(2 * LIMIT_PATH + LIMIT_AUDIT_WHY);
	if (!report->errors)
		return report->is_incomplete ? err_set(e, ERR_INVALID, "the audit cannot judge all of it") : 0;
	for (size_t i = 0; i < report->count && report->finding[i].level == AUDIT_ERROR && words.len < ERR_MSG_SIZE;
		i++) {
		buf_puts(&words, i ? "; " : "");
		wheel_gate_print(&report->finding[i], &words);
	}
	return err_set(e, ERR_INVALID, "the audit finds %s: %s", COUNTED(report->errors, "error|errors"), words.data);
}
