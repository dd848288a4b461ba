// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/owned-names.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/search.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/place/record.h"

enum { SETTLE_MS = 2000 };

struct list {
	char *text;        // NULL: it was never read
	const char **name; // sorted; in text: "<project>", or "<project> <upstream>"
	size_t count, room;
};

struct owned_names {
	char *path;
	owned_names_fn *moved; // NULL: none
	void *ctx;             // of moved
	pthread_mutex_t lock;
	struct place_version seen, shorter; // of the file that was read, and of a shorter one; zeros: none
	int64_t shorter_ms;                 // since when it is shorter; 0: it is not
	struct list list;
};

static void release_list(struct list *l)
{
	free(l->name);
	free(l->text);
	*l = (struct list){0};
}

static const struct str upstream_is = STR("upstream=");

// Makes the name of a list of a line "<project> <when> upstream=<name>", in its place. What else is behind the project
// is of the operator.
static char *name_of_line(char *line)
{
	struct str rest = str_from(line), project = str_cut(&rest, ' ');
	rest = str_trim(rest);
	str_cut(&rest, ' ');
	rest = str_trim(rest);
	struct str upstream = str_starts(rest, upstream_is) ? str_slice(rest, upstream_is.len, rest.len) : (struct str){0};
	line[project.len] = '\0';
	if (!name_is_valid(project) || !name_is_normal(project))
		return NULL;
	if (upstream.len) {
		memmove(line + project.len + 1, upstream.ptr, upstream.len);
		line[project.len] = ' ';
		line[project.len + 1 + upstream.len] = '\0';
	}
	return line;
}

// Takes ownership of the text.
static struct list index_text(char *text)
{
	struct list l = {.text = text};
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		bool is_last = !*end;
		*end = '\0';
		for (char *c = line; *c; c++)
			*c = *c == '\t' || *c == '\r' ? ' ' : *c;
		const char *name = name_of_line(line);
		if (name) {
			GROW(l.name, l.count, l.room);
			l.name[l.count++] = name;
		}
		end += !is_last;
	}
	if (l.count)
		qsort(l.name, l.count, sizeof(*l.name), compare_strings);
	return l;
}

static bool list_has(const struct list *l, const char *name)
{
	return l->count && bsearch(&name, l->name, l->count, sizeof(*l->name), compare_strings);
}

static char *make_name(const char *project, const char *upstream)
{
	return xasprintf("%s%s%s", project, upstream ? " " : "", upstream ? upstream : "");
}

static bool list_has_of(const struct list *l, const char *project, const char *upstream)
{
	CLEANUP(mem_free) char *own = make_name(project, upstream);
	return list_has(l, project) || (upstream && list_has(l, own));
}

// Names that this process adds.
struct added {
	struct owned_names *to;
	const char *const *project;
	size_t count;
	const char *upstream; // NULL: of all
};

static bool is_added(const struct added *a, const char *name)
{
	size_t i = 0;
	bool is_there = false;
	for (; i < a->count && !is_there; i++) {
		CLEANUP(mem_free) char *own = make_name(a->project[i], a->upstream);
		is_there = strcmp(own, name) == 0;
	}
	return is_there;
}

// Reports the names of one list that the other does not have.
static void report_moved(const struct list *one, const struct list *other, const struct added *added)
{
	const struct owned_names *o = added->to;
	for (size_t i = 0; o->moved && i < one->count; i++) {
		CLEANUP(mem_free) char *project = xstrndup(one->name[i], strcspn(one->name[i], " "));
		if (!list_has(other, one->name[i]) && !is_added(added, one->name[i]))
			o->moved(o->ctx, project);
	}
}

static bool is_same(const struct place_version *a, const struct place_version *b)
{
	return place_version_match(a, b) == PLACE_SAME;
}

// An editor that writes a file may truncate or rename it first.
static bool is_being_written(struct owned_names *o, const struct place_version *now)
{
	if (!o->list.text || now->size >= o->seen.size)
		return false;
	if (!o->shorter_ms || !is_same(now, &o->shorter)) {
		o->shorter = *now;
		o->shorter_ms = clock_ms();
	}
	return clock_ms() - o->shorter_ms < SETTLE_MS;
}

// Under the lock.
static int reload_names(const struct added *added, struct err *e)
{
	struct owned_names *o = added->to;
	struct place_version now;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_OWNED_NAMES);
	if (record_version(o->path, &now, e) < 0)
		return -1;
	if ((is_same(&now, &o->seen) && o->list.text) || is_being_written(o, &now))
		return 0;
	if (now.id && safefile_read(o->path, &text, e) < 0)
		return -1;
	buf_putc(&text, '\0');
	struct list before = o->list;
	o->list = index_text(buf_steal(&text));
	o->seen = now;
	o->shorter_ms = 0;
	report_moved(&before, &o->list, added);
	report_moved(&o->list, &before, added);
	release_list(&before);
	return 0;
}

int owned_names_open(const char *path, struct owned_names **out, struct err *e)
{
	CLEANUP(owned_names_cleanup) struct owned_names *o = xcalloc(1, sizeof(*o));
	o->path = xstrdup(path);
	pthread_mutex_init(&o->lock, NULL);
	if (reload_names(&(struct added){.to = o}, e) < 0)
		return -1;
	*out = STEAL_PTR(o);
	return 0;
}

void owned_names_close(struct owned_names *o)
{
	if (!o)
		return;
	pthread_mutex_destroy(&o->lock);
	release_list(&o->list);
	free(o->path);
	free(o);
}

void owned_names_cleanup(struct owned_names **o)
{
	owned_names_close(*o);
}

void owned_names_watch(struct owned_names *o, owned_names_fn *moved, void *ctx)
{
	o->moved = moved;
	o->ctx = ctx;
}

// Under the lock.
static void reload_if_changed(const struct added *added)
{
	struct err e = ERR_INIT;
	if (reload_names(added, &e) < 0)
		log_error("cannot read the names that are ours: %s", e.msg);
}

void owned_names_look(struct owned_names *o)
{
	pthread_mutex_lock(&o->lock);
	reload_if_changed(&(struct added){.to = o});
	pthread_mutex_unlock(&o->lock);
}

bool owned_names_has(struct owned_names *o, const char *project, const char *upstream)
{
	pthread_mutex_lock(&o->lock);
	reload_if_changed(&(struct added){.to = o});
	bool is_there = list_has_of(&o->list, project, upstream);
	pthread_mutex_unlock(&o->lock);
	return is_there;
}

// Appends the lines of those that the list does not have.
static void write_missing(const struct added *a, struct buf *out)
{
	char when[CLOCK_TEXT];
	clock_write(clock_wall_seconds(), when);
	reload_if_changed(&(struct added){.to = a->to});
	for (size_t i = 0; i < a->count; i++)
		if (!list_has_of(&a->to->list, a->project[i], a->upstream))
			buf_printf(out, "%s %s%s%s%s\n", a->project[i], when, a->upstream ? " " : "",
				a->upstream ? upstream_is.ptr : "", a->upstream ? a->upstream : "");
}

static int add_lines(void *ctx, struct str before, struct place_write *now, struct err *e)
{
	const struct added *a = ctx;
	bool is_torn = before.len && !str_ends(before, STR("\n"));
	CLEANUP(buf_release) struct buf lines = buf_up_to(LIMIT_OWNED_NAMES);
	write_missing(a, &lines);
	if (!lines.len)
		return 0;
	if (a->to->shorter_ms) // what is put in its place now would lack what the editor still writes
		return err_set(e, ERR_BUSY, "%s: somebody else is writing it", a->to->path);
	return place_write_add(now, before, e) < 0 || place_write_add(now, is_torn ? STR("\n") : STR(""), e) < 0 ||
			       place_write_add(now, buf_view(&lines), e) < 0
		       ? -1
		       : 1;
}

int owned_names_add(struct owned_names *o, const char *const *project, size_t count, const char *upstream, struct err *e)
{
	struct added a = {o, project, count, upstream};
	CLEANUP(buf_release) struct buf lines = buf_up_to(LIMIT_OWNED_NAMES);
	pthread_mutex_lock(&o->lock);
	write_missing(&a, &lines);
	int added = lines.len ? record_change(o->path, false, LIMIT_OWNED_NAMES, add_lines, &a, e) : 0;
	if (lines.len && added == 0)
		reload_if_changed(&a);
	pthread_mutex_unlock(&o->lock);
	return added;
}

// --- the rules of the configuration ---

const char *const name_rule_text[NAME_RULE_COUNT] = {
	[NAME_RULE_MERGE] = "merge",
	[NAME_RULE_PRIVATE] = "private",
	[NAME_RULE_LOCAL] = "local-only",
	[NAME_RULE_NOT_ASKED] = "projects or not-projects",
	[NAME_RULE_UPSTREAM] = "upstream-only",
	[NAME_RULE_SHARED] = "shared",
};

// Normalises "Foo_Bar-*" like a project name; the special characters of a glob stay. NULL: both are.
char *name_list_normal(const char *names, const char *more)
{
	struct buf out;
	if (!names && !more)
		return NULL;
	CLEANUP(mem_free) char *both = xasprintf("%s%s%s", names ? names : "", names && more ? " " : "", more ? more : "");
	buf_init(&out, LIMIT_CONFIG);
	name_normalize(str_from(both), &out);
	return buf_steal(&out);
}

// A name that the plain [upstream] keeps from all upstreams is kept from those that list others, too.
void name_rules_init(struct name_rules *r, const struct config *c)
{
	const struct config_upstream *all = &c->upstream;
	*r = (struct name_rules){0};
	for (size_t i = 0; i < c->upstreams.count; i++) {
		const struct config_upstream *own = &c->upstreams.item[i];
		r->names[i][NAME_RULE_PRIVATE] = name_list_normal(all->private_names, own->private_names);
		r->names[i][NAME_RULE_LOCAL] = name_list_normal(all->local_only, own->local_only);
		r->names[i][NAME_RULE_NOT_ASKED] = name_list_normal(own->not_projects, NULL);
		r->names[i][NAME_RULE_UPSTREAM] = name_list_normal(all->upstream_only, own->upstream_only);
		r->names[i][NAME_RULE_SHARED] = name_list_normal(all->shared, own->shared);
		r->projects[i] = name_list_normal(own->projects, NULL);
	}
}

void name_rules_release(struct name_rules *r)
{
	for (size_t i = 0; i < LIMIT_UPSTREAMS; i++) {
		for (int k = 0; k < NAME_RULE_COUNT; k++)
			free(r->names[i][k]);
		free(r->projects[i]);
	}
	*r = (struct name_rules){0};
}

bool name_list_has(const char *names, const char *project)
{
	struct str rest = str_from(names);
	while (rest.len) {
		char glob[LIMIT_FILE_NAME + 1];
		struct str one = str_cut(&rest, ' ');
		if (one.len >= sizeof(glob))
			continue;
		memcpy(glob, one.ptr, one.len);
		glob[one.len] = '\0';
		if (fnmatch(glob, project, 0) == 0)
			return true;
	}
	return false;
}

enum name_rule name_rules_find(const struct name_rules *r, size_t upstream, const char *project)
{
	for (int i = 0; i < NAME_RULE_COUNT; i++) {
		const char *names = r->names[upstream][i], *projects = r->projects[upstream];
		if ((names && name_list_has(names, project)) || (i == NAME_RULE_NOT_ASKED && projects && !name_list_has(projects, project)))
			return (enum name_rule)i;
	}
	return NAME_RULE_MERGE;
}

enum name_rule name_rules_admit(const struct name_rules *r, const char *project, struct config_order *order)
{
	const struct config_order all = *order;
	enum name_rule rule = NAME_RULE_MERGE;
	for (size_t i = order->count = 0; i < all.count; i++) {
		enum name_rule own = name_rules_find(r, all.item[i], project);
		if (!name_rule_asks_upstream(own)) {
			rule = order->count || i ? rule : own;
			continue;
		}
		bool is_first = !order->count;
		order->item[order->count++] = all.item[i];
		if (is_first || own == NAME_RULE_UPSTREAM)
			rule = own;
		else if (rule != own && rule != NAME_RULE_UPSTREAM)
			rule = NAME_RULE_MERGE;
	}
	return rule;
}

bool name_rule_asks_upstream(enum name_rule rule)
{
	return rule != NAME_RULE_PRIVATE && rule != NAME_RULE_LOCAL && rule != NAME_RULE_NOT_ASKED;
}
