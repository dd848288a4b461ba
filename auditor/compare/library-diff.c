// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/library-diff.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/facts/library-name.h"

// One side; of an absent or damaged file there is nothing.
static const struct elf_facts *facts_of(const struct wheel_elf *f)
{
	return f && !f->damage ? &f->elf : NULL;
}

// --- sets ---

static void list_needed(const struct elf_facts *f, struct arena *text, struct diff_values *out)
{
	for (size_t i = 0; f && i < f->needed.count; i++) {
		const char *name = f->needed.item[i];
		diff_values_add(out, (struct diff_value){"NEEDED", name, plain_library_name(text, name),
					     plain_library_stem(text, name)});
	}
}

static void list_toolchain(const struct elf_facts *f, struct arena *text, struct diff_values *out)
{
	for (size_t i = 0; f && i < f->toolchain.count; i++) {
		struct str rest = str_from(f->toolchain.item[i]);
		const char *tool = arena_copy(text, str_cut(&rest, ' '));
		diff_values_add(out,
			(struct diff_value){"toolchain", f->toolchain.item[i], f->toolchain.item[i], tool});
	}
}

// --- the highest symbol versions ---

// The part of a symbol version that says of what it is: "GLIBC" of "GLIBC_2.17".
static struct str version_kind(const char *version)
{
	struct str whole = str_from(version);
	long last = str_rfind(whole, '_');
	return last > 0 ? str_slice(whole, 0, (size_t)last) : whole;
}

// Compares "GLIBC_2.9" and "GLIBC_2.17" number by number.
static int compare_symbol_versions(const char *a, const char *b)
{
	struct str left = str_from(a), right = str_from(b);
	while (left.len && right.len) {
		uint64_t one, other;
		bool both = ascii_is_digit(*left.ptr) && ascii_is_digit(*right.ptr);
		if (both) {
			decimal_cut(&left, UINT64_MAX, &one);
			decimal_cut(&right, UINT64_MAX, &other);
		} else {
			one = (unsigned char)*left.ptr;
			other = (unsigned char)*right.ptr;
			left = str_slice(left, 1, left.len);
			right = str_slice(right, 1, right.len);
		}
		if (one != other)
			return one < other ? -1 : 1;
	}
	return (left.len > 0) - (right.len > 0);
}

struct floor_item {
	const char *library, *kind, *version;
};

static int compare_floors(const void *a, const void *b)
{
	const struct floor_item *left = a, *right = b;
	int order = strcmp(left->library, right->library);
	if (!order)
		order = strcmp(left->kind, right->kind);
	return order ? order : compare_symbol_versions(right->version, left->version);
}

// The highest version of each library and kind.
static void list_floors(const struct elf_facts *f, struct arena *text, struct diff_values *out)
{
	size_t count = f ? f->needed_versions : 0;
	CLEANUP(mem_free) struct floor_item *item = xcalloc(count + 1, sizeof(*item));
	for (size_t i = 0; i < count; i++) {
		const struct elf_version *v = &f->needed_version[i];
		item[i] = (struct floor_item){plain_library_name(text, v->library ? v->library : ""),
			arena_copy(text, version_kind(v->name)), v->name};
	}
	if (count)
		qsort(item, count, sizeof(*item), compare_floors);
	for (size_t i = 0; i < count; i++) {
		if (i && strcmp(item[i].library, item[i - 1].library) == 0 &&
			strcmp(item[i].kind, item[i - 1].kind) == 0)
			continue;
		const char *pair = arena_printf(text, "%s %s", item[i].library, item[i].kind);
		const char *row = arena_printf(text, "needs of %s", item[i].library);
		const char *same = arena_printf(text, "%s %s", item[i].library, item[i].version);
		diff_values_add(out, (struct diff_value){row, item[i].version, same, pair});
	}
}

// --- single facts ---

static const char *soname_of(const struct elf_facts *f)
{
	return f ? f->soname : NULL;
}

static void add_soname(struct library_diff *d, struct arena *text)
{
	const char *a = soname_of(facts_of(d->a)), *b = soname_of(facts_of(d->b));
	bool is_equal = a && b && strcmp(plain_library_name(text, a), plain_library_name(text, b)) == 0;
	diff_rows_add(&d->rows, "SONAME", a, b, is_equal);
}

static const char *rpath_of(const struct elf_facts *f)
{
	return f->rpath;
}

static const char *runpath_of(const struct elf_facts *f)
{
	return f->runpath;
}

static const char *stack_of(const struct elf_facts *f)
{
	return f->is_stack_executable ? "executable" : NULL;
}

static const char *textrel_of(const struct elf_facts *f)
{
	return f->has_textrel ? "yes" : NULL;
}

static void add_single_facts(struct library_diff *d)
{
	static const struct {
		const char *name;
		const char *(*of)(const struct elf_facts *f);
	} facts[] = {{"RPATH", rpath_of}, {"RUNPATH", runpath_of}, {"stack", stack_of}, {"TEXTREL", textrel_of}};
	const struct elf_facts *a = facts_of(d->a), *b = facts_of(d->b);
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		diff_rows_add_text(&d->rows, facts[i].name, a ? facts[i].of(a) : NULL, b ? facts[i].of(b) : NULL);
}

static const char *machine_of(const struct elf_facts *f, struct arena *text)
{
	return f ? arena_printf(text, "%u, %d bits, %s-endian", f->machine, f->is_64 ? 64 : 32,
			   f->is_big_endian ? "big" : "little")
		 : NULL;
}

// --- symbols ---

static void list_exported(const struct elf_facts *f, struct arena *text, struct pairing_list *out)
{
	for (size_t i = 0; i < f->symbols; i++) {
		const struct elf_symbol *s = &f->symbol[i];
		if (s->is_imported)
			continue;
		pairing_add(out, s->version ? arena_printf(text, "%s@%s", s->name, s->version) : s->name, i);
	}
	pairing_unique(out);
}

static void keep_symbols(const struct pairing_list *l, struct arena *text, struct symbol_list *out)
{
	out->count = l->count;
	out->listed = l->count < LIMIT_COMPARE_SYMBOLS ? l->count : LIMIT_COMPARE_SYMBOLS;
	out->name = ARENA_NEW(text, const char *, out->listed);
	for (size_t i = 0; i < out->listed; i++)
		out->name[i] = arena_copy(text, str_from(l->item[i].key));
}

static void ignore_pair(void *ctx, size_t a, size_t b)
{
	(void)ctx, (void)a, (void)b;
}

static void add_symbols(struct library_diff *d, struct arena *text)
{
	const struct elf_facts *a = facts_of(d->a), *b = facts_of(d->b);
	CLEANUP(arena_release) struct arena names = {0};
	struct pairing_list left = {.in = &names}, right = {.in = &names};
	if (!a || !b)
		return;
	list_exported(a, &names, &left);
	list_exported(b, &names, &right);
	pairing_take(&left, &right, ignore_pair, NULL);
	keep_symbols(&left, text, &d->gone);
	keep_symbols(&right, text, &d->added);
}

// --- all ---

typedef void list_fn(const struct elf_facts *f, struct arena *text, struct diff_values *out);

static void add_set(struct library_diff *d, list_fn *fn, struct arena *text)
{
	struct diff_values a = {.in = text}, b = {.in = text};
	fn(facts_of(d->a), text, &a);
	fn(facts_of(d->b), text, &b);
	diff_rows_add_sets(&d->rows, &a, &b);
}

void library_diff_make(const struct wheel_elf *a, const struct wheel_elf *b, struct arena *text,
	struct library_diff *out)
{
	*out = (struct library_diff){.a = a, .b = b, .rows.in = text};
	out->is_unreadable = (a && a->damage) || (b && b->damage);
	add_soname(out, text);
	diff_rows_add_text(&out->rows, "machine", machine_of(facts_of(a), text), machine_of(facts_of(b), text));
	add_set(out, list_needed, text);
	add_single_facts(out);
	add_set(out, list_floors, text);
	add_set(out, list_toolchain, text);
	add_symbols(out, text);
}

// --- plain names ---

enum { HASHES = 4 }; // more are taken for a part of the name

const char *plain_library_name(struct arena *text, const char *name)
{
	for (int i = 0; i < HASHES; i++) {
		CLEANUP(buf_release) struct buf plain = buf_up_to(SIZE_MAX / 2);
		if (!wheel_library_is_hashed(str_from(name), &plain))
			break;
		name = arena_copy(text, buf_view(&plain));
	}
	return name;
}

const char *plain_library_stem(struct arena *text, const char *name)
{
	return arena_copy(text, wheel_library_stem(str_from(plain_library_name(text, name))));
}
