// SPDX-License-Identifier: Apache-2.0
// What requirements bring along, of small worlds of wheels.
#include "lib/install/closure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/machine/profile.h"
#include "lib/domain/text/requirements-file.h"
#include "lib/domain/text/specifier.h"

enum { WHEELS = 16 };

// A pure wheel of upstream: "a 2.0", Requires-Python, what it requires with "|" between.
struct wheel_row {
	const char *name, *requires_python, *needs;
};

struct row {
	const char *name;
	struct wheel_row wheel[WHEELS];
	const char *roots;    // with "|" between; "-c " in front of a constraint
	const char *expected; // "a 2.0|b nothing: …", in the order in which they are met
	bool allows_pre;
};

struct known {
	const char *project;
	struct simplepage page;
	struct index_files files;
	struct closure_metadata *metadata; // by file
	bool is_new;                       // asked for once: the second time it is known
	bool *is_new_metadata;
};

struct world {
	struct profile profile;
	struct fits fits;
	struct known **known;
	size_t count, room;
	struct arena text;
	bool is_slow; // what is asked for is known the next time
};

// --- the world ---

struct parsing {
	struct arena *text;
	struct closure_need *need;
};

static int on_need(void *ctx, const struct requirements_line *line, struct err *e UNUSED)
{
	struct parsing *p = ctx;
	*p->need = (struct closure_need){.project = arena_strdup(p->text, line->project),
		.specifier = arena_copy(p->text, line->specifier),
		.marker = arena_copy(p->text, line->marker)};
	const char **extra = ARENA_NEW(p->text, const char *, 8);
	for (struct str rest = line->extras; rest.len;)
		extra[p->need->extras++] = arena_copy(p->text, str_trim(str_cut(&rest, ',')));
	p->need->extra = extra;
	return 0;
}

static struct closure_need *parse_needs(struct arena *text, const char *list, bool are_roots, size_t *count)
{
	struct closure_need *all = ARENA_NEW(text, struct closure_need, 64);
	*count = 0;
	for (struct str rest = str_from(list); rest.len;) {
		struct err e = ERR_INIT;
		struct str one = str_trim(str_cut(&rest, '|'));
		bool is_constraint = str_starts(one, STR("-c "));
		struct parsing p = {text, &all[*count]};
		assert_int_equal(requirements_line_read(str_slice(one, is_constraint ? 3 : 0, one.len), on_need, &p, &e), 0);
		all[*count].is_constraint = is_constraint;
		all[*count].line = are_roots ? (unsigned)*count + 1 : 0;
		all[*count].source = are_roots ? arena_printf(text, "r:%zu", *count + 1) : NULL;
		(*count)++;
	}
	return all;
}

static struct known *find_known(struct world *w, const char *project)
{
	for (size_t i = 0; i < w->count; i++)
		if (strcmp(w->known[i]->project, project) == 0)
			return w->known[i];
	return NULL;
}

static void add_wheel(struct world *w, const struct wheel_row *row)
{
	struct str version = str_from(row->name);
	const char *project = arena_copy(&w->text, str_cut(&version, ' '));
	struct known *k = find_known(w, project);
	if (!k) {
		GROW(w->known, w->count, w->room);
		k = w->known[w->count++] = ARENA_NEW(&w->text, struct known, 1);
		*k = (struct known){.project = project, .is_new = true};
		k->page.file = ARENA_NEW(&w->text, struct simplepage_file, WHEELS);
		k->metadata = ARENA_NEW(&w->text, struct closure_metadata, WHEELS);
		k->is_new_metadata = ARENA_NEW(&w->text, bool, WHEELS);
	}
	struct closure_metadata *d = &k->metadata[k->page.files];
	if (strcmp(row->needs, "?") == 0)
		d->fault = "it is broken";
	else
		d->need = parse_needs(&w->text, row->needs, false, &d->needs);
	k->is_new_metadata[k->page.files] = true;
	k->page.file[k->page.files++] = (struct simplepage_file){
		.filename = arena_printf(&w->text, "%s-%.*s-py3-none-any.whl", project, (int)version.len, version.ptr),
		.url = "https://u.invalid/f",
		.requires_python = row->requires_python,
		.size = -1};
}

// CPython 3.11 on x86_64.
static void begin_world(struct world *w, const struct wheel_row *wheel)
{
	struct err e = ERR_INIT;
	*w = (struct world){0};
	assert_int_equal(profile_init(&w->profile, "p", &(struct profile_keys){"3.11", "x86_64", "glibc 2.35"}, &e), 0);
	fits_add(&w->fits, NULL, &w->profile.machine, &w->profile.environment[0]);
	for (; wheel->name; wheel++)
		add_wheel(w, wheel);
	for (size_t i = 0; i < w->count; i++) {
		size_t unused;
		index_files_init(&w->known[i]->files, w->known[i]->project, &w->fits);
		index_files_add_page(&w->known[i]->files, &w->known[i]->page, 0);
		index_files_admitted(&w->known[i]->files, "", &unused);
	}
}

static void end_world(struct world *w)
{
	for (size_t i = 0; i < w->count; i++)
		index_files_release(&w->known[i]->files);
	free(w->known);
	fits_release(&w->fits);
	profile_release(&w->profile);
	arena_release(&w->text);
}

static struct index_files *on_files(void *ctx, const char *project)
{
	struct world *w = ctx;
	struct known *k = find_known(w, project);
	if (!k) { // as a page without files
		add_wheel(w, &(struct wheel_row){arena_printf(&w->text, "%s 1", project), NULL, ""});
		k = find_known(w, project);
		index_files_init(&k->files, k->project, &w->fits);
	}
	bool is_new = k->is_new && w->is_slow;
	k->is_new = false;
	return is_new ? NULL : &k->files;
}

static const struct closure_metadata *on_metadata(void *ctx, struct index_files *of, const struct index_file *file)
{
	struct world *w = ctx;
	struct known *k = find_known(w, of->project);
	size_t number = (size_t)(file->upstream - k->page.file);
	bool is_new = k->is_new_metadata[number] && w->is_slow;
	k->is_new_metadata[number] = false;
	return is_new ? NULL : &k->metadata[number];
}

// --- tables ---

static void print_choice(const struct closure_choice *c, struct buf *out)
{
	static const char *const state[] = {"", " unknown", " nothing", " conflict"};
	buf_printf(out, "%s%s", out->len ? "|" : "", c->project);
	if (c->outcome.file)
		buf_printf(out, " %s", c->outcome.file->version.text);
	buf_printf(out, "%s%s%s", state[c->state], c->why ? ": " : "", c->why ? c->why : "");
}

static void follow(struct world *w, const struct row *row, uint64_t micros, struct buf *out)
{
	struct closure found = {.end = CLOSURE_WAITS};
	size_t roots;
	const struct closure_need *root = parse_needs(&w->text, row->roots, true, &roots);
	const struct closure_order order = {.fits = &w->fits,
		.micros = micros,
		.root = root,
		.roots = roots,
		.allows_pre = row->allows_pre,
		.files = on_files,
		.metadata = on_metadata,
		.ctx = w};
	for (int i = 0; i < 100 && found.end == CLOSURE_WAITS; i++)
		closure_make(&order, &w->text, &found);
	if (found.end == CLOSURE_SPLITS) {
		buf_printf(out, "[%llx ", (unsigned long long)found.split);
		CLEANUP(buf_release) struct buf one = buf_up_to(10000), other = buf_up_to(10000);
		follow(w, row, micros & found.split, &one);
		follow(w, row, micros & ~found.split, &other);
		buf_printf(out, "%s, else %s]", one.data, other.data);
		return;
	}
	assert_int_equal(found.end, CLOSURE_WHOLE);
	for (size_t i = 0; i < found.choices; i++)
		print_choice(&found.choice[i], out);
}

static const struct row rows[] = {
	{"the newest of all", {{"a 1.0", NULL, ""}, {"a 2.0", NULL, "b"}, {"b 1", NULL, ""}, {"b 3", NULL, ""}}, "a",
		"a 2.0|b 3", false},
	{"what all roots permit", {{"a 1.0", NULL, ""}, {"a 2.0", NULL, ""}}, "a>=1|a<2", "a 1.0", false},
	{"a version that was taken is narrowed, and what it wanted goes with it",
		{{"a 1", NULL, "c"}, {"c 2", NULL, "gone"}, {"c 1", NULL, ""}, {"b 1", NULL, "d"}, {"d 1", NULL, "c<2"},
			{"gone 1", NULL, ""}},
		"a|b", "a 1|b 1|c 1|d 1", false},
	{"what narrowed it is itself narrowed away: it does not count",
		{{"a 1", NULL, "c"}, {"c 2", NULL, ""}, {"c 1", NULL, ""}, {"b 2", NULL, "d"}, {"b 1", NULL, ""},
			{"d 1", NULL, "c<2|e"}, {"e 1", NULL, "f"}, {"f 1", NULL, "b<2"}},
		"a|b", "a 1|b 1|c 2", false},
	{"two requirers that permit nothing together",
		{{"a 1", NULL, "c<2"}, {"b 1", NULL, "c>=2"}, {"c 1", NULL, ""}, {"c 2", NULL, ""}}, "a|b",
		"a 1|b 1|c conflict: a 1 wants c<2, and b 1 wants c>=2", false},
	{"one that permits nothing alone", {{"a 1", NULL, "c>=9"}, {"c 1", NULL, ""}}, "a",
		"a 1|c nothing: a 1 wants c>=9", false},
	{"a constraint narrows what others want, and wants nothing",
		{{"a 1", NULL, "c"}, {"c 1", NULL, ""}, {"c 2", NULL, ""}, {"d 1", NULL, ""}}, "a|-c c<2|-c d", "a 1|c 1",
		false},
	{"extras, also of itself, and one that is wanted later",
		{{"a 1", NULL, "b; extra == 'x'|a[x]; extra == 'all'|e; extra == 'y'"}, {"b 1", NULL, "c"},
			{"c 1", NULL, "a[y]"}, {"e 1", NULL, ""}},
		"a[All]", "a 1|b 1|c 1|e 1", false},
	{"a marker that is false there", {{"a 1", NULL, "b; sys_platform == 'win32'|c; python_version > '3'"}, {"c 1", NULL, ""}},
		"a", "a 1|c 1", false},
	{"micro versions of which a marker holds on a part", {{"a 1", NULL, "b; python_full_version < '3.11.2'"}, {"b 1", NULL, ""}},
		"a", "[3 a 1|b 1, else a 1]", false},
	{"micro versions that take another version", {{"a 1", NULL, ""}, {"a 2", ">=3.11.1", ""}}, "a",
		"[fffffffffffffffe a 2, else a 1]", false},
	{"pre-releases only where they are asked for", {{"a 1", NULL, ""}, {"a 2rc1", NULL, ""}}, "a", "a 1", false},
	{"pre-releases that are asked for", {{"a 1", NULL, ""}, {"a 2rc1", NULL, ""}}, "a", "a 2rc1", true},
	{"a version whose METADATA is broken", {{"a 1", NULL, "?"}}, "a", "a 1 unknown: it is broken", false},
	{"circles end", {{"a 1", NULL, "b"}, {"b 1", NULL, "a"}}, "a", "a 1|b 1", false},
	{"no page", {{"a 1", NULL, "z"}}, "a", "a 1|z nothing: ", false},
};

static void test_rows(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (int slow = 0; slow < 2; slow++) {
			struct world w;
			CLEANUP(buf_release) struct buf out = buf_up_to(10000);
			begin_world(&w, rows[i].wheel);
			w.is_slow = slow;
			follow(&w, &rows[i], UINT64_MAX, &out);
			if (strcmp(out.data, rows[i].expected) != 0)
				fail_msg("%s: %s", rows[i].name, out.data);
			end_world(&w);
		}
}

// --- random worlds ---

static bool satisfies(const struct closure *found, const struct closure_need *need)
{
	for (size_t i = 0; i < found->choices; i++)
		if (strcmp(found->choice[i].project, need->project) == 0)
			return specifier_set_admits(str_from(need->specifier), &found->choice[i].outcome.file->version);
	return false;
}

static size_t number_of(const struct closure *found, const char *project)
{
	size_t i = 0;
	while (i < found->choices && strcmp(found->choice[i].project, project) != 0)
		i++;
	return i;
}

// All that is taken is wanted, and gets what it wants.
static void check_choices(const struct closure *found, const struct closure_need *root, size_t roots)
{
	bool is_wanted[64] = {false}, goes_on = true;
	for (size_t i = 0; i < roots; i++) {
		assert_true(satisfies(found, &root[i]));
		is_wanted[number_of(found, root[i].project)] = true;
	}
	while (goes_on) {
		goes_on = false;
		for (size_t i = 0; i < found->choices; i++)
			for (size_t k = 0; is_wanted[i] && k < found->choice[i].metadata->needs; k++) {
				const struct closure_need *need = &found->choice[i].metadata->need[k];
				assert_true(satisfies(found, need));
				goes_on |= !is_wanted[number_of(found, need->project)];
				is_wanted[number_of(found, need->project)] = true;
			}
	}
	for (size_t i = 0; i < found->choices; i++)
		assert_true(is_wanted[i]);
}

static const char *random_needs(struct arena *text)
{
	static const char *const bound[] = {"", "", "", "<2", "<3", ">=2", "==1"};
	const char *all = "";
	for (int i = rand() % 3; i > 0; i--)
		all = arena_printf(text, "%s%s%c%s", all, *all ? "|" : "", 'a' + rand() % 6, bound[rand() % 7]);
	return all;
}

static void test_random_worlds(void **state UNUSED)
{
	size_t whole = 0;
	for (unsigned seed = 0; seed < 2000; seed++) {
		struct arena text = {0};
		struct wheel_row wheel[WHEELS + 3] = {{NULL, NULL, NULL}};
		struct closure found = {.end = CLOSURE_WAITS};
		struct world w;
		size_t roots;
		bool is_taken = true;
		srand(seed);
		for (size_t i = 0; i < 18; i++)
			wheel[i] = (struct wheel_row){
				arena_printf(&text, "%c %zu", (char)('a' + i / 3), i % 3 + 1), NULL, random_needs(&text)};
		begin_world(&w, wheel);
		w.is_slow = seed % 2;
		const struct closure_need *root = parse_needs(&w.text, "a|b", true, &roots);
		const struct closure_order order = {.fits = &w.fits,
			.micros = UINT64_MAX,
			.root = root,
			.roots = roots,
			.files = on_files,
			.metadata = on_metadata,
			.ctx = &w};
		for (int i = 0; i < 100 && found.end == CLOSURE_WAITS; i++)
			closure_make(&order, &w.text, &found);
		assert_int_equal(found.end, CLOSURE_WHOLE);
		for (size_t i = 0; i < found.choices; i++)
			is_taken &= found.choice[i].state == CLOSURE_TAKEN;
		if (is_taken)
			check_choices(&found, root, roots);
		whole += is_taken;
		end_world(&w);
		arena_release(&text);
	}
	assert_true(whole > 500); // else the worlds say nothing
}

// Exceeds LIMIT_RESOLVE_EXTRAS
static void test_too_many_extras(void **state UNUSED)
{
	struct world w;
	struct closure found;
	size_t unused;
	begin_world(&w, (const struct wheel_row[]){{"a 1", NULL, ""}, {NULL, NULL, NULL}});
	struct closure_need *root = parse_needs(&w.text, "a", true, &unused);
	const char **extra = ARENA_NEW(&w.text, const char *, LIMIT_RESOLVE_EXTRAS + 1);
	for (size_t i = 0; i < LIMIT_RESOLVE_EXTRAS + 1; i++)
		extra[i] = arena_printf(&w.text, "x%zu", i);
	root->extra = extra;
	const struct closure_order order = {.fits = &w.fits,
		.micros = UINT64_MAX,
		.root = root,
		.roots = 1,
		.files = on_files,
		.metadata = on_metadata,
		.ctx = &w};
	root->extras = LIMIT_RESOLVE_EXTRAS;
	closure_make(&order, &w.text, &found);
	assert_int_equal(found.end, CLOSURE_WHOLE);
	root->extras++;
	closure_make(&order, &w.text, &found);
	assert_int_equal(found.end, CLOSURE_TOO_LONG);
	end_world(&w);
}

// Exceeds LIMIT_RESOLVE_STEPS
static void test_too_many_steps(void **state UNUSED)
{
	struct world w;
	struct closure found;
	begin_world(&w, &(struct wheel_row){NULL, NULL, NULL});
	struct closure_need *root = ARENA_NEW(&w.text, struct closure_need, LIMIT_RESOLVE_STEPS + 1);
	for (size_t i = 0; i < LIMIT_RESOLVE_STEPS + 1; i++)
		root[i] = (struct closure_need){.project = arena_printf(&w.text, "p%zu", i),
			.specifier = "",
			.marker = "",
			.source = "r:1"};
	struct closure_order order = {.fits = &w.fits,
		.micros = UINT64_MAX,
		.root = root,
		.files = on_files,
		.metadata = on_metadata,
		.ctx = &w};
	order.roots = 100;
	closure_make(&order, &w.text, &found);
	assert_int_equal(found.end, CLOSURE_WHOLE);
	order.roots = LIMIT_RESOLVE_STEPS + 1;
	closure_make(&order, &w.text, &found);
	assert_int_equal(found.end, CLOSURE_TOO_LONG);
	assert_int_equal(found.choices, 0);
	end_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_random_worlds),
		cmocka_unit_test(test_too_many_extras),
		cmocka_unit_test(test_too_many_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
