// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-losses.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "promoter/member-losses.h"
#include "lib/state/access/audit-recent.h"

// The last line of the audit log about a file that a command removed.
struct removal {
	const char *platform, *filename, *action, *by, *reason, *when; // by, reason: "": not said
};

struct known_removals {
	struct removal *item; // the oldest first
	size_t count, room;
	struct arena text;
};

static void release_removals(struct known_removals *r)
{
	free(r->item);
	arena_release(&r->text);
}

// --- what the audit log knows ---

static bool is_removal(const char *action)
{
	static const char *const removes[] = {"remove", "prune", "purge", "retain", "retire"};
	for (size_t i = 0; i < ARRAY_SIZE(removes); i++)
		if (strcmp(action, removes[i]) == 0)
			return true;
	return false;
}

static int take_removal(void *ctx, const struct audit_entry *a, const char *time, struct err *e UNUSED)
{
	struct known_removals *r = ctx;
	struct arena *text = &r->text;
	if (!a->platform || !a->file || !a->action || a->view || !is_removal(a->action) || !a->result ||
		strcmp(a->result, "done") != 0)
		return 0;
	GROW(r->item, r->count, r->room);
	r->item[r->count++] = (struct removal){.platform = arena_copy(text, str_from(a->platform)),
		.filename = arena_copy(text, str_from(a->file)),
		.action = arena_copy(text, str_from(a->action)),
		.by = arena_copy(text, str_from(a->who ? a->who : "")),
		.reason = arena_copy(text, str_from(a->reason ? a->reason : "")),
		.when = arena_copy(text, str_from(time))};
	return 0;
}

// A log that cannot be read hides nothing else.
static void read_removals(const struct explain_losses *x, struct known_removals *out)
{
	struct err e = ERR_INIT;
	bool is_whole;
	const struct audit_query q = {.path = x->audit_path, .project = x->project, .most = LIMIT_AUDIT_READ};
	if (x->audit_path && audit_recent(&q, take_removal, out, &is_whole, &e) < 0)
		log_warn("%s", e.msg);
}

static const struct removal *find_removal(const struct known_removals *r, const struct member_loss *l)
{
	for (size_t i = r->count; i-- > 0;)
		if (strcmp(r->item[i].filename, l->filename) == 0 && strcmp(r->item[i].platform, l->platform) == 0)
			return &r->item[i];
	return NULL;
}

// --- the documents ---

static bool sees_names_on(const struct explain_losses *x, const char *platform)
{
	const struct platform *p = site_platform(x->site, str_from(platform));
	return p && explain_sees_names(x->reader, p);
}

static void put_removal(struct jsondoc *doc, const struct removal *r, bool sees_names)
{
	jsondoc_put_str(doc, "since", r->when);
	jsondoc_put_str(doc, "action", r->action);
	if (sees_names && *r->by)
		jsondoc_put_str(doc, "by", r->by);
	if (sees_names && *r->reason)
		jsondoc_put_str(doc, "reason", r->reason);
}

static struct jsondoc *loss_doc(const struct explain_losses *x, const struct view *v, const struct member_loss *l,
	const struct removal *r)
{
	char sha256[SHA256_HEX + 1] = "";
	struct jsondoc *doc = jsondoc_object();
	hex_encode(l->sha256, SHA256_SIZE, sha256);
	jsondoc_put_str(doc, "view", v->name);
	jsondoc_put_str(doc, "platform", l->platform);
	jsondoc_put_str(doc, "filename", l->filename);
	jsondoc_put_str(doc, "sha256", sha256);
	jsondoc_put_int(doc, "generation", l->generation);
	if (r)
		put_removal(doc, r, sees_names_on(x, l->platform));
	else
		jsondoc_put_known_time(doc, "since", l->since);
	CLEANUP(mem_free)
	char *why = r ? xasprintf("wheelcache %s took it off the pages", r->action)
		      : xstrdup("the store does not have these bytes any more, and no command of wheelcache removed them");
	CLEANUP(mem_free)
	char *advice = xasprintf("%scopy the file with SHA-256 %s back to its platform; or take it out of the view: "
				 "wheelcache demote --from %s %s",
		r ? "wheelcache prune restore lists it again while its bytes are there, else " : "", sha256, v->name,
		l->filename);
	jsondoc_put_str(doc, "why", why);
	jsondoc_put_str(doc, "advice", advice);
	return doc;
}

static int add_losses_of(const struct explain_losses *x, const struct view *v, struct known_removals *known, bool *is_read,
	struct jsondoc *list, struct err *e)
{
	CLEANUP(member_losses_release) struct member_losses lost = {0};
	if (member_losses_read(x->catalog, v->membership, x->project, &lost, e) < 0)
		return -1;
	if (lost.count && !*is_read)
		read_removals(x, known);
	*is_read |= lost.count > 0;
	for (size_t i = 0; i < lost.count; i++)
		jsondoc_add(list, loss_doc(x, v, &lost.item[i], find_removal(known, &lost.item[i])));
	return 0;
}

int explain_losses_read(const struct explain_losses *x, struct jsondoc **out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *list = jsondoc_array();
	CLEANUP(release_removals) struct known_removals known = {0};
	const struct config *c = &x->site->config;
	bool is_read = false;
	for (size_t i = 0; i < c->view_count; i++) {
		const struct view *v = c->views[i].from ? site_view(x->site, str_from(c->views[i].name)) : NULL;
		if (!v || !v->membership || (v->is_private && !explain_may_read(x->reader, v)))
			continue;
		if (add_losses_of(x, v, &known, &is_read, list, e) < 0)
			return -1;
	}
	*out = STEAL_PTR(list);
	return 0;
}
