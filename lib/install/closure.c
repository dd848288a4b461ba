// SPDX-License-Identifier: Apache-2.0
#include "lib/install/closure.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/limits.h"
#include "lib/domain/machine/marker.h"
#include "lib/domain/text/specifier.h"
#include "lib/state/store/store.h"

enum { PAIRS_OF = 64 }; // different specifiers of a project whose pairs are tried, to name a conflict

// A specifier of a project, and the version that wants it.
struct narrowing {
	struct narrowing *next;
	const char *text, *source;
	const char *by, *version; // by NULL: a root
};

// A project that is wanted.
struct met {
	struct closure_choice choice;
	struct narrowing *first, *last;
	const char **extra;
	size_t extras, extra_room;
	size_t read; // one more than the extras with which its requirements were read; 0: they were not
	bool is_chosen, is_waiting;
};

// What narrowed a version after it was chosen. It counts from the beginning of the next pass on.
struct kept_narrowing {
	struct narrowing of;
	const char *project;
	bool is_final; // without it there is no choice, or it comes back
};

struct closing {
	const struct closure_order *order;
	struct arena pass; // of all passes: narrowings that are kept borrow from earlier ones
	struct met *met;
	uint64_t *hash; // of their names
	size_t count, room, hash_room;
	struct kept_narrowing *kept;
	size_t kepts, kept_room;
	// What was kept before one of them was left out, because nothing that is taken wants it any more; NULL: none
	// is.
	struct kept_narrowing *before;
	size_t befores, left_out;
	struct kept_narrowing *gone; // which were left out rightly: one that comes back stays
	size_t gones, gone_room;
	unsigned steps;
	uint64_t split; // 0: none
	bool waits, begins_again;
};

static bool is_too_long(const struct closing *x)
{
	return x->steps > LIMIT_RESOLVE_STEPS || x->count > LIMIT_RESOLVE_STEPS;
}

// --- what is wanted ---

static struct met *find_met(const struct closing *x, const char *project)
{
	uint64_t hash = hash_of(str_from(project), 0);
	for (size_t i = 0; i < x->count; i++)
		if (x->hash[i] == hash && strcmp(x->met[i].choice.project, project) == 0)
			return &x->met[i];
	return NULL;
}

static void add_narrowing(struct closing *x, struct met *m, const struct narrowing *of)
{
	if (!*of->text)
		return;
	for (const struct narrowing *n = m->first; n; n = n->next)
		if (strcmp(n->text, of->text) == 0 && strcmp(n->source, of->source) == 0)
			return;
	struct narrowing *added = arena_memdup(&x->pass, of, sizeof(*of));
	added->next = NULL;
	if (m->last)
		m->last->next = added;
	else
		m->first = added;
	m->last = added;
}

static const struct fits_place *place_in_order(const struct closing *x)
{
	return &x->order->fits->place[x->order->place];
}

// The micro versions of those that are asked about on which a requirement holds. NULL, or why it cannot be told.
static const char *find_micros(struct closing *x, const struct closure_need *need, const struct met *of, uint64_t *micros)
{
	struct err e = ERR_INIT;
	const struct marker_choice choice = {.extra = of ? of->extra : NULL, .extras = of ? of->extras : 0};
	const struct fits_place *place = place_in_order(x);
	*micros = x->order->micros;
	if (!*need->marker)
		return NULL;
	if (marker_micros_chosen(str_from(need->marker), place->machine, &place->environment->python, &choice, micros, &e) < 0)
		return arena_strdup(&x->pass, e.msg);
	*micros &= x->order->micros;
	return NULL;
}

// Whether it holds; where it does on a part of the micro versions alone, they are to be split.
static bool holds(struct closing *x, const struct closure_need *need, const struct met *of, const char **fault)
{
	uint64_t micros;
	*fault = find_micros(x, need, of, &micros);
	if (*fault)
		return false;
	if (micros && micros != x->order->micros)
		x->split = micros;
	return micros == x->order->micros;
}

static void add_known_narrowings(struct closing *x, struct met *m)
{
	const char *unsaid;
	for (size_t i = 0; i < x->order->roots; i++) {
		const struct closure_need *root = &x->order->root[i];
		if (root->is_constraint && strcmp(root->project, m->choice.project) == 0 && holds(x, root, NULL, &unsaid))
			add_narrowing(x, m, &(struct narrowing){.text = root->specifier, .source = root->source});
	}
	for (size_t i = 0; i < x->kepts; i++)
		if (strcmp(x->kept[i].project, m->choice.project) == 0)
			add_narrowing(x, m, &x->kept[i].of);
}

static struct met *find_or_add_met(struct closing *x, const struct closure_need *need, const struct narrowing *of,
	unsigned line)
{
	struct met *found = find_met(x, need->project);
	if (found)
		return found;
	GROW(x->met, x->count, x->room);
	x->hash = x->count == x->hash_room ? xreallocarray(x->hash, x->room, sizeof(*x->hash)) : x->hash;
	x->hash_room = x->room;
	x->hash[x->count] = hash_of(str_from(need->project), 0);
	struct met *m = &x->met[x->count++];
	*m = (struct met){.choice = {.project = need->project, .by = of->source, .line = line}};
	add_known_narrowings(x, m);
	return m;
}

static void add_extra(struct closing *x, struct met *m, const char *extra)
{
	for (size_t i = 0; i < m->extras; i++)
		if (strcmp(m->extra[i], extra) == 0)
			return;
	if (m->extras == LIMIT_RESOLVE_EXTRAS) {
		x->steps = LIMIT_RESOLVE_STEPS + 1;
		return;
	}
	ARENA_GROW(&x->pass, m->extra, m->extras, m->extra_room);
	m->extra[m->extras++] = extra;
}

// It was not right to leave it out.
static void put_back(struct closing *x)
{
	free(x->kept);
	x->kept = STEAL_PTR(x->before);
	x->kepts = x->kept_room = x->befores;
	x->kept[x->left_out].is_final = true;
	x->begins_again = true;
}

static bool is_same_narrowing(const struct kept_narrowing *a, const struct kept_narrowing *b)
{
	return strcmp(a->project, b->project) == 0 && strcmp(a->of.text, b->of.text) == 0 &&
	       strcmp(a->of.source, b->of.source) == 0;
}

// Remembers what narrows a version that was chosen.
static void keep_narrowing(struct closing *x, const char *project, const struct narrowing *of)
{
	struct kept_narrowing added = {.of = *of, .project = project};
	x->begins_again = true;
	if (x->before && is_same_narrowing(&x->before[x->left_out], &added)) {
		put_back(x);
		return;
	}
	for (size_t i = 0; i < x->gones; i++)
		added.is_final |= is_same_narrowing(&x->gone[i], &added);
	GROW(x->kept, x->kepts, x->kept_room);
	x->kept[x->kepts++] = added;
}

static void add_need(struct closing *x, const struct closure_need *need, const struct narrowing *of, unsigned line)
{
	struct met *m = find_or_add_met(x, need, of, line);
	for (size_t i = 0; i < need->extras; i++)
		add_extra(x, m, need->extra[i]);
	add_narrowing(x, m, of);
	if (m->is_chosen && m->choice.outcome.file &&
		!specifier_set_admits(str_from(of->text), &m->choice.outcome.file->version))
		keep_narrowing(x, m->choice.project, of);
}

// --- choosing ---

static void join_narrowings(const struct met *m, struct buf *out)
{
	for (const struct narrowing *n = m->first; n; n = n->next) {
		bool is_there = false;
		for (const struct narrowing *before = m->first; before != n && !is_there; before = before->next)
			is_there = strcmp(before->text, n->text) == 0;
		if (!is_there)
			buf_printf(out, "%s%s", out->len ? "," : "", n->text);
	}
}

static struct resolve_outcome take_newest(struct closing *x, const struct met *m, const char *specifier)
{
	struct resolve_outcome o[RESOLVE_OUTCOMES];
	const struct platform *platform = place_in_order(x)->platform;
	const struct resolve_want want = {.specifier = specifier,
		.micros = x->order->micros,
		.is_pinned = specifier_set_pins(str_from(specifier), NULL),
		.allows_pre = x->order->allows_pre};
	x->steps++;
	resolve(m->choice.files, x->order->place, platform ? platform->id : 0, &want, o);
	return o[0];
}

static bool takes_nothing(struct closing *x, const struct met *m, const char *one, const char *other)
{
	CLEANUP(buf_release) struct buf both = buf_up_to(LIMIT_BRANCH_SPECIFIERS);
	buf_printf(&both, "%s%s%s", one, other ? "," : "", other ? other : "");
	return take_newest(x, m, both.data).kind == RESOLVE_NOTHING;
}

static const char *words_of(struct closing *x, const struct met *m, const struct narrowing *n)
{
	return arena_printf(&x->pass, "%s wants %s%s", n->source, m->choice.project, n->text);
}

static bool find_conflict(struct closing *x, struct met *m)
{
	size_t first = 0;
	for (const struct narrowing *a = m->first; a && first < PAIRS_OF; a = a->next, first++) {
		size_t second = first;
		for (const struct narrowing *b = a->next; b && second < PAIRS_OF; b = b->next, second++)
			if (takes_nothing(x, m, a->text, b->text)) {
				m->choice.why = arena_printf(&x->pass, "%s, and %s", words_of(x, m, a), words_of(x, m, b));
				return true;
			}
	}
	return false;
}

// One requirement alone may permit nothing, or two together, or all of them.
static void judge_nothing(struct closing *x, struct met *m)
{
	m->choice.state = CLOSURE_NOTHING;
	m->choice.why = "";
	for (const struct narrowing *n = m->first; n; n = n->next)
		if (takes_nothing(x, m, n->text, NULL)) {
			m->choice.why = words_of(x, m, n);
			return;
		}
	if (!m->first || m->first == m->last)
		return;
	m->choice.state = CLOSURE_CONFLICT;
	if (!find_conflict(x, m))
		m->choice.why = arena_printf(&x->pass, "%s, and %s, with others", words_of(x, m, m->first),
			words_of(x, m, m->last));
}

static bool is_met(const struct closing *x, const struct narrowing *of)
{
	const struct met *m = of->by ? find_met(x, of->by) : NULL;
	return !of->by || (m && m->read && m->choice.outcome.file &&
				  strcmp(m->choice.outcome.file->version.text, of->version) == 0);
}

// Leaves out one of those that nothing that is taken wants any more, on trial; project NULL: of any project.
static bool leave_out(struct closing *x, const char *project)
{
	size_t i = 0;
	while (i < x->kepts && (x->kept[i].is_final || (project && strcmp(project, x->kept[i].project) != 0) ||
				       is_met(x, &x->kept[i].of)))
		i++;
	if (x->before || i == x->kepts)
		return false;
	x->before = xcalloc(x->kepts, sizeof(*x->before));
	memcpy(x->before, x->kept, x->kepts * sizeof(*x->before));
	x->befores = x->kepts--;
	x->left_out = i;
	memmove(&x->kept[i], &x->kept[i + 1], (x->kepts - i) * sizeof(*x->kept));
	return true;
}

static void choose(struct closing *x, struct met *m)
{
	m->choice.files = x->order->files(x->order->ctx, m->choice.project);
	m->is_waiting = !m->choice.files;
	x->waits |= m->is_waiting;
	if (m->is_waiting)
		return;
	CLEANUP(buf_release) struct buf all = buf_up_to(LIMIT_BRANCH_SPECIFIERS);
	join_narrowings(m, &all);
	m->choice.specifier = arena_copy(&x->pass, buf_view(&all));
	m->is_chosen = true;
	if (all.failed) {
		m->choice.state = CLOSURE_CONFLICT;
		m->choice.why = "its specifiers are too long together";
		return;
	}
	struct resolve_outcome o = take_newest(x, m, m->choice.specifier);
	if (o.micros != x->order->micros)
		x->split = o.micros;
	else if (o.kind != RESOLVE_NOTHING)
		m->choice.outcome = o;
	else if (x->before)
		put_back(x);
	else if (leave_out(x, m->choice.project))
		x->begins_again = true;
	else
		judge_nothing(x, m);
}

// --- what a version wants ---

static bool has_ended(const struct closing *x)
{
	return x->split || x->begins_again || is_too_long(x);
}

static void fail_metadata(struct met *m, const char *why)
{
	m->choice.state = CLOSURE_UNKNOWN;
	m->choice.why = why;
	m->read = m->extras + 1;
}

// The project may move in memory while it adds others.
static void read_needs(struct closing *x, size_t number)
{
	struct met *m = &x->met[number];
	const struct index_file *file = m->choice.outcome.file;
	const struct closure_metadata *d = x->order->metadata(x->order->ctx, m->choice.files, file);
	m->is_waiting = !d;
	x->waits |= m->is_waiting;
	m->choice.metadata = d;
	if (!d)
		return;
	if (d->fault) {
		fail_metadata(m, d->fault);
		return;
	}
	m->read = m->extras + 1;
	const unsigned line = m->choice.line;
	const char *source = arena_printf(&x->pass, "%s %s", m->choice.project, file->version.text);
	for (size_t i = 0; i < d->needs && !has_ended(x); i++) {
		const char *fault;
		const struct closure_need *need = &d->need[i];
		const struct narrowing of = {.text = need->specifier,
			.source = source,
			.by = x->met[number].choice.project,
			.version = file->version.text};
		if (holds(x, need, &x->met[number], &fault))
			add_need(x, need, &of, line);
		if (fault)
			fail_metadata(&x->met[number], arena_printf(&x->pass, "%s: %s", file->filename, fault));
	}
}

// --- passes ---

static void add_roots(struct closing *x)
{
	const char *unsaid; // whoever read them has checked their markers
	for (size_t i = 0; i < x->order->roots && !x->split; i++) {
		const struct closure_need *root = &x->order->root[i];
		if (!root->is_constraint && holds(x, root, NULL, &unsaid))
			add_need(x, root, &(struct narrowing){.text = root->specifier, .source = root->source}, root->line);
	}
}

static void run_pass(struct closing *x)
{
	x->count = 0;
	x->waits = x->begins_again = false;
	add_roots(x);
	for (bool goes_on = true; goes_on && !has_ended(x);) {
		goes_on = false;
		for (size_t i = 0; i < x->count && !has_ended(x); i++) {
			struct met *m = &x->met[i];
			bool was_chosen = m->is_chosen;
			if (m->is_waiting)
				continue;
			if (!m->is_chosen)
				choose(x, m);
			goes_on |= m->is_chosen != was_chosen;
			if (has_ended(x) || !m->choice.outcome.file || m->choice.state != CLOSURE_TAKEN ||
				m->read == m->extras + 1)
				continue;
			read_needs(x, i);
			goes_on = true;
		}
	}
}

static void keep_choices(const struct closing *x, struct arena *text, struct closure *out)
{
	out->choice = ARENA_NEW(text, struct closure_choice, x->count);
	for (; out->choices < x->count; out->choices++) {
		struct closure_choice *c = &out->choice[out->choices];
		*c = x->met[out->choices].choice;
		c->specifier = arena_strdup(text, c->specifier);
		c->by = arena_strdup(text, c->by);
		c->why = arena_strdup(text, c->why);
	}
}

void closure_make(const struct closure_order *order, struct arena *text, struct closure *out)
{
	struct closing x = {.order = order};
	bool goes_on = true;
	while (goes_on) {
		run_pass(&x);
		bool is_whole = !x.begins_again && !x.waits;
		if (is_whole && x.before) {
			GROW(x.gone, x.gones, x.gone_room);
			x.gone[x.gones++] = x.before[x.left_out];
			free(STEAL_PTR(x.before));
		}
		goes_on = !x.split && !is_too_long(&x) && (x.begins_again || (is_whole && leave_out(&x, NULL)));
	}
	*out = (struct closure){.split = x.split};
	out->end = x.split ? CLOSURE_SPLITS : is_too_long(&x) ? CLOSURE_TOO_LONG : x.waits ? CLOSURE_WAITS : CLOSURE_WHOLE;
	if (out->end == CLOSURE_WHOLE)
		keep_choices(&x, text, out);
	arena_release(&x.pass);
	free(x.met);
	free(x.hash);
	free(x.kept);
	free(x.before);
	free(x.gone);
}
