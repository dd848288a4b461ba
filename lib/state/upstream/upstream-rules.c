// SPDX-License-Identifier: Apache-2.0
// The rules of what is offered, of the configuration and of the state: they are read, and followed while they change.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/advisories/advisories.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/offering.h"
#include "lib/state/upstream/right-clock.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/state/upstream/upstream-row.h"

enum { DENIED_TEXT = 1000 }; // bytes of a line of `deny`

// --- the rules ---

// The holds that were read, shared by the rules that are made while they count.
struct read_holds {
	atomic_uint refs;
	struct holds holds;
};

static void drop_holds(struct read_holds *h)
{
	if (!h || atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) != 1)
		return;
	holds_release(&h->holds);
	free(h);
}

void upstream_rules_drop(struct upstream_rules *r)
{
	if (!r || atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < r->count; i++) {
		rule_list_unref(r->deny[i]);
		rule_list_unref(r->allow[i]);
		free((char *)(uintptr_t)r->of[i].upstream);
		free((char *)(uintptr_t)r->of[i].exempt);
	}
	drop_holds(r->holds);
	free(r->holds_error);
	rule_list_unref(r->denied);
	free(r->of);
	free(r->deny);
	free(r->allow);
	free(r->contact);
	advisories_unref(r->lists);
	free(r);
}

static void cleanup_rules(struct upstream_rules **r)
{
	upstream_rules_drop(*r);
}

static int open_rule_list(const char *path, const char *key, struct rule_list *before, struct rule_list **out,
	struct err *e)
{
	*out = before ? rule_list_renew(before) : NULL;
	if (before || rule_list_open(path, key, out, e) == 0)
		return 0;
	e->kind = ERR_USAGE;
	return -1;
}

static int keep_holds(struct upstream_rules *r, const struct upstream_rules *before, struct err *e)
{
	if (!before || !before->offers)
		return -1;
	drop_holds(r->holds);
	r->holds = before->holds;
	atomic_fetch_add_explicit(&r->holds->refs, 1, memory_order_relaxed);
	r->holds_error = xstrdup(e->msg);
	r->holds_failed = before->holds_error ? before->holds_failed : clock_wall_seconds();
	if (!before->holds_error || strcmp(before->holds_error, e->msg) != 0)
		log_error("%s; what it said before counts", e->msg);
	*e = (struct err)ERR_INIT;
	return 0;
}

static int read_holds(struct upstream_rules *r, uint64_t *mark, const struct upstream_rules *before, struct err *e)
{
	r->holds = xcalloc(1, sizeof(*r->holds));
	atomic_init(&r->holds->refs, 1);
	if (!r->offers)
		return 0;
	bool is_read = holds_mark(r->offers, mark, e) == 0 && holds_read(r->offers, &r->holds->holds, e) == 0;
	return is_read ? 0 : keep_holds(r, before, e);
}

static enum offering_unknown unknown_named(const char *name)
{
	enum offering_unknown i = OFFERING_FIRST_SEEN;
	while (name && i + 1 < OFFERING_UNKNOWN_COUNT && strcmp(name, offering_unknown_name[i]) != 0)
		i++;
	return i;
}

static int make_one(struct upstream_rules *r, size_t i, const struct config_upstream *c,
	const struct upstream_rules *before, struct err *e)
{
	r->count++;
	if (open_rule_list(c->deny, "deny", before ? before->deny[i] : NULL, &r->deny[i], e) < 0 ||
		open_rule_list(c->allow, "allow", before ? before->allow[i] : NULL, &r->allow[i], e) < 0)
		return -1;
	r->of[i] = (struct offering_rules){.upstream = xstrdup(c->name),
		.cooldown = (int64_t)c->cooldown,
		.exempt = name_list_normal(c->cooldown_exempt, NULL),
		.unknown = unknown_named(c->cooldown_unknown),
		.denied = rule_list_lines(r->denied),
		.deny = rule_list_lines(r->deny[i]),
		.allow = rule_list_lines(r->allow[i]),
		.lists = advisories_concern(r->lists, c->name) ? r->lists : NULL,
		.holds = &r->holds->holds,
		.contact = r->contact};
	return 0;
}

// What cannot be read is taken from the rules before; NULL: that is an error. With change_lock held.
static struct upstream_rules *make_rules(struct upstreams *u, const struct config *c,
	const struct upstream_rules *before, struct err *e)
{
	uint64_t mark = 0;
	CLEANUP(cleanup_rules) struct upstream_rules *r = xcalloc(1, sizeof(*r));
	atomic_init(&r->refs, 1);
	r->number = ++u->rules_made;
	r->clock = u->clock;
	r->of = xcalloc(u->count + 1, sizeof(*r->of));
	r->deny = xcalloc(u->count + 1, sizeof(*r->deny));
	r->allow = xcalloc(u->count + 1, sizeof(*r->allow));
	r->lists = advisories_ref(u->lists);
	r->contact = c->contact ? xstrdup(c->contact) : NULL;
	r->offers = u->offers;
	if (read_holds(r, &mark, before, e) < 0 ||
		open_rule_list(c->deny, NULL, before ? before->denied : NULL, &r->denied, e) < 0)
		return NULL;
	r->are_none = true;
	for (size_t i = 0; i < u->count; i++) {
		if (make_one(r, i, config_upstreams_named(&c->upstreams, u->item[i].name), before, e) < 0)
			return NULL;
		r->are_none = r->are_none && offering_rules_are_none(&r->of[i]);
	}
	u->holds_mark = mark;
	return STEAL_PTR(r);
}

// With change_lock held.
static void set_rules(struct upstreams *u, struct upstream_rules *rules)
{
	pthread_mutex_lock(&u->lock);
	struct upstream_rules *before = u->offer_rules;
	u->offer_rules = rules;
	pthread_mutex_unlock(&u->lock);
	upstream_rules_drop(before);
}

// Whether it names all of u: which upstreams there are takes effect after a restart.
static bool names_all(const struct upstreams *u, const struct config *c)
{
	for (size_t i = 0; i < u->count; i++)
		if (!config_upstreams_named(&c->upstreams, u->item[i].name))
			return false;
	return true;
}

int upstream_rules_configure(struct upstreams *u, const struct config *c, struct err *e)
{
	if (!names_all(u, c))
		return err_set(e, ERR_USAGE, "other upstreams take effect after a restart");
	pthread_mutex_lock(&u->change_lock);
	struct upstream_rules *rules = make_rules(u, c, NULL, e);
	if (rules) {
		set_rules(u, rules);
		config_release(&u->config);
		config_copy(c, &u->config);
	}
	pthread_mutex_unlock(&u->change_lock);
	return rules ? 0 : -1;
}

// Of a command, which must not decide by an old list where no server follows it.
static int open_lists(struct upstreams *u, const char *catalog, struct err *e)
{
	const struct config where = {.state = u->state, .upstreams = u->config.upstreams};
	return advisories_open_renewed(&where, catalog, &u->lists, e);
}

static int open_rules(struct upstreams *u, struct catalog *c, struct err *e)
{
	const struct config where = {.state = u->state};
	CLEANUP(mem_free) char *path = state_file(&where, catalog_path(c), STATE_FILE_OFFERS);
	struct right_clock *clock;
	if (right_clock_open(path, &clock, e) < 0)
		return -1;
	if (!u->lists && open_lists(u, catalog_path(c), e) < 0) {
		right_clock_close(clock);
		return -1;
	}
	u->clock = clock;
	u->offers = STEAL_PTR(path);
	struct upstream_rules *rules = make_rules(u, &u->config, u->offer_rules, e);
	if (!rules) {
		right_clock_close(u->clock);
		free(u->offers);
		u->clock = NULL;
		u->offers = NULL;
		return -1;
	}
	set_rules(u, rules);
	atomic_store(&u->has_offers, true);
	return 0;
}

int upstream_rules_open(struct upstreams *u, struct catalog *c, struct err *e)
{
	if (atomic_load(&u->has_offers))
		return 0;
	pthread_mutex_lock(&u->change_lock);
	int opened = u->offers ? 0 : open_rules(u, c, e);
	pthread_mutex_unlock(&u->change_lock);
	return opened;
}

void upstream_rules_release(struct upstreams *u)
{
	if (u->clock && u->offer_rules && !u->offer_rules->are_none)
		right_clock_save(u->clock);
	upstream_rules_drop(u->offer_rules);
	right_clock_close(u->clock);
	config_release(&u->config);
	advisories_unref(u->lists);
	free(u->offers);
}

struct right_clock *upstreams_clock(struct upstreams *u)
{
	return atomic_load(&u->has_offers) ? u->clock : NULL;
}

static struct upstream_rules *take_rules(struct upstreams *u, bool also_none)
{
	pthread_mutex_lock(&u->lock);
	struct upstream_rules *r = u->offer_rules && (also_none || !u->offer_rules->are_none) ? u->offer_rules : NULL;
	if (r)
		atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
	pthread_mutex_unlock(&u->lock);
	return r;
}

struct upstream_rules *upstream_rules_take(struct upstreams *u)
{
	return take_rules(u, false);
}

int64_t upstream_rules_young_since(struct upstreams *u)
{
	int64_t since = INT64_MAX;
	CLEANUP(cleanup_rules) struct upstream_rules *r = upstream_rules_take(u);
	if (!r || !r->clock)
		return since;
	int64_t now = right_clock_now(r->clock);
	for (size_t i = 0; i < r->count; i++) {
		const struct holds *h = r->of[i].holds;
		if (r->of[i].cooldown && now - r->of[i].cooldown < since)
			since = now - r->of[i].cooldown;
		if (h->holds && h->hold[0].after < since)
			since = h->hold[0].after;
	}
	return since;
}

static bool has_upstream(const struct upstreams *u, const char *name)
{
	for (size_t i = 0; i < u->count; i++)
		if (strcmp(u->item[i].name, name) == 0)
			return true;
	return false;
}

bool upstreams_hide_version(struct upstreams *u, const char *upstream, uint32_t seen, const char *project,
	const struct version *version, struct arena *a, const char **denied)
{
	static const struct requirements none;
	bool hides = upstream && !has_upstream(u, upstream);
	struct upstream_rules *r = upstream_rules_take(u);
	CLEANUP(buf_release) struct buf why = buf_up_to(DENIED_TEXT);
	*denied = NULL;
	for (size_t i = 0; r && i < r->count; i++) {
		struct offering o;
		struct offering_project p;
		struct offering_version looked;
		struct offering_rules rules = r->of[i];
		rules.contact = NULL; // the operator asks
		if (!(seen & (uint32_t)1 << i))
			rules.deny = &none;
		if (upstream && strcmp(rules.upstream, upstream) != 0)
			continue;
		offering_project_init(&p, &rules, project, r->clock ? right_clock_now(r->clock) : clock_wall_seconds());
		offering_look_up(&p, version, &looked);
		offering_judge(&p, &(struct offering_file){.version = &looked}, &o);
		hides |= o.hides & (1u << OFFERING_DENY | 1u << OFFERING_RECORD);
		if (!o.deny || *denied)
			continue;
		offering_write(&o, OFFERING_DENY, &why);
		*denied = arena_copy(a, buf_view(&why));
	}
	upstream_rules_drop(r);
	return hides;
}

// --- following changes ---

static bool holds_have_changed(const struct upstreams *u)
{
	uint64_t mark;
	struct holds now;
	struct err e = ERR_INIT; // make_rules() says it where it matters
	bool was_wrong = u->offer_rules->holds_error;
	if (holds_mark(u->offers, &mark, &e) < 0)
		return !was_wrong;
	if (mark != u->holds_mark)
		return true;
	if (!was_wrong || holds_read(u->offers, &now, &e) < 0)
		return false;
	holds_release(&now);
	return true;
}

// With change_lock held. Looks at each.
static bool rules_have_changed(struct upstreams *u)
{
	bool has_changed = holds_have_changed(u);
	has_changed |= rule_list_has_changed(u->offer_rules->denied);
	for (size_t i = 0; i < u->offer_rules->count; i++) {
		has_changed |= rule_list_has_changed(u->offer_rules->deny[i]);
		has_changed |= rule_list_has_changed(u->offer_rules->allow[i]);
	}
	return has_changed;
}

// What cannot be read stays as it was; all else is new. With change_lock held.
static bool renew_rules(struct upstreams *u)
{
	struct err e = ERR_INIT;
	struct upstream_rules *rules = make_rules(u, &u->config, u->offer_rules, &e);
	if (rules)
		set_rules(u, rules);
	else
		log_error("the rules of what is offered stay as they were: %s", e.msg);
	return rules;
}

void upstreams_use_lists(struct upstreams *u, struct advisories *lists)
{
	pthread_mutex_lock(&u->change_lock);
	struct advisories *before = u->lists;
	u->lists = advisories_ref(lists);
	if (before != lists)
		renew_rules(u);
	pthread_mutex_unlock(&u->change_lock);
	advisories_unref(before);
}

bool upstreams_look(struct upstreams *u)
{
	pthread_mutex_lock(&u->change_lock);
	uint64_t clock = u->clock && !u->offer_rules->are_none ? right_clock_follow(u->clock) : u->clock_changes;
	bool is_stepping = clock != u->clock_changes;
	u->clock_changes = clock;
	bool is_new = u->offers && rules_have_changed(u) && renew_rules(u);
	pthread_mutex_unlock(&u->change_lock);
	return is_stepping || is_new;
}

// --- lists that cannot be read ---

static void tell_list(const struct rule_list *list, const char *upstream, size_t number, const char *key,
	upstreams_list_fn *fn, void *ctx)
{
	struct upstreams_list l = {.upstream = upstream, .number = number, .key = key};
	if (!list)
		return;
	rule_list_tell(list, &l.path, &l.error, &l.failed);
	fn(ctx, &l);
}

void upstreams_lists(struct upstreams *u, upstreams_list_fn *fn, void *ctx)
{
	CLEANUP(cleanup_rules) struct upstream_rules *r = take_rules(u, true);
	for (size_t i = 0; r && i < r->count; i++) {
		tell_list(r->deny[i], r->of[i].upstream, i, "deny", fn, ctx);
		tell_list(r->allow[i], r->of[i].upstream, i, "allow", fn, ctx);
	}
	if (r && r->offers)
		fn(ctx, &(struct upstreams_list){NULL, 0, "holds", r->offers, r->holds_error, r->holds_failed});
}

static void check_list(const char *path, const char *upstream, const char *key, upstreams_list_fn *fn, void *ctx)
{
	struct err e = ERR_INIT;
	CLEANUP(rule_list_cleanup) struct rule_list *list = NULL;
	bool is_read = rule_list_open(path, upstream ? key : NULL, &list, &e) == 0;
	const struct upstreams_list l = {upstream, 0, key, path, is_read ? NULL : e.msg, 0};
	if (path)
		fn(ctx, &l);
}

void upstreams_check_lists(const struct config *c, upstreams_list_fn *fn, void *ctx)
{
	check_list(c->deny, NULL, "deny", fn, ctx);
	for (size_t i = 0; i < c->upstreams.count; i++) {
		const struct config_upstream *u = &c->upstreams.item[i];
		check_list(u->deny, u->name, "deny", fn, ctx);
		check_list(u->allow, u->name, "allow", fn, ctx);
	}
}

int upstreams_rules(struct upstreams *u, struct catalog *c, upstreams_rules_fn *fn, void *ctx, struct err *e)
{
	if (upstream_rules_open(u, c, e) < 0)
		return -1;
	CLEANUP(cleanup_rules) struct upstream_rules *r = take_rules(u, true);
	if (r)
		fn(ctx, r->of, r->count);
	return 0;
}

void upstreams_end_waivers(struct upstreams *u, upstreams_waiver_fn *fn, void *ctx)
{
	struct err e = ERR_INIT;
	CLEANUP(cleanup_rules) struct upstream_rules *r = upstream_rules_take(u);
	for (size_t i = 0; r && r->clock && i < r->holds->holds.waivers; i++) {
		const struct waiver *w = &r->holds->holds.waiver[i];
		if (w->until >= right_clock_now(r->clock))
			continue;
		int ended = holds_end(u->offers, w->id, &e);
		if (ended < 0)
			log_error("waiver %s: %s", w->id, e.msg);
		else if (ended)
			fn(ctx, w);
	}
}

bool upstreams_offered_names(struct upstreams *u, const struct upstream *upstream, struct str names, struct buf *out)
{
	size_t i = (size_t)(upstream - u->item);
	CLEANUP(cleanup_rules) struct upstream_rules *r = upstream_rules_take(u);
	if (!r || (!r->of[i].lists && !r->of[i].deny->count && !r->of[i].denied->count))
		return false;
	while (names.len) {
		struct offering_project p;
		char name[LIMIT_FILE_NAME + 1];
		struct str line = str_cut(&names, '\n');
		if (line.len > LIMIT_FILE_NAME)
			continue; // no project has such a name
		memcpy(name, line.ptr, line.len);
		name[line.len] = '\0';
		offering_project_init(&p, &r->of[i], name, 0);
		if (offering_is_blocked(&p))
			continue;
		buf_str(out, line);
		buf_putc(out, '\n');
	}
	return true;
}
