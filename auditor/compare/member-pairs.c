// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/member-pairs.h"

#include <stdlib.h>
#include <string.h>

#include "auditor/compare/library-diff.h"
#include "auditor/compare/diff-rows.h"
#include "lib/facts/library-name.h"
#include "lib/facts/wheel-facts.h"

bool member_is_metadata(const struct wheel_content *c, const char *path)
{
	size_t len = strlen(c->dist_info);
	return strncmp(path, c->dist_info, len) == 0 && path[len] == '/';
}

// --- the keys ---

typedef const char *member_key_fn(const struct wheel_content *c, const char *path, struct arena *text);

static const char *path_key(const struct wheel_content *c, const char *path, struct arena *text)
{
	struct str rest = str_from(path);
	struct str top = str_cut(&rest, '/');
	if (!rest.ptr)
		return path;
	if (member_is_metadata(c, path))
		return arena_printf(text, "*.dist-info/" STR_FMT, STR_ARG(rest));
	return str_ends(top, STR(".data")) ? arena_printf(text, "*.data/" STR_FMT, STR_ARG(rest)) : path;
}

static struct str last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return str_from(slash ? slash + 1 : path);
}

// The path with another last part.
static const char *rename_base(struct arena *text, const char *path, struct str base, struct str ending)
{
	size_t front = (size_t)(last_part(path).ptr - path);
	return arena_printf(text, STR_FMT STR_FMT STR_FMT, STR_ARG(str_slice(str_from(path), 0, front)), STR_ARG(base),
		STR_ARG(ending));
}

// "pkg/_x.so" of "pkg/_x.cpython-311-x86_64-linux-gnu.so"; NULL: it is no extension module with an ABI in its name.
static const char *module_key(const char *path, struct arena *text)
{
	struct str base = last_part(path);
	long dot = str_find(base, '.'), last = str_rfind(base, '.');
	if (dot <= 0)
		return NULL;
	struct str ending = str_slice(base, (size_t)last, base.len);
	if (!str_eq(ending, STR(".so")) && !str_eq(ending, STR(".pyd")))
		return NULL;
	return rename_base(text, path, str_slice(base, 0, (size_t)dot), ending);
}

// Of a bundled library without the hash in its name, or of an extension module without its ABI.
static const char *build_key(const struct wheel_content *c, const char *path, struct arena *text)
{
	(void)c;
	if (!wheel_is_bundled(path))
		return module_key(path, text);
	return rename_base(text, path, str_from(plain_library_name(text, last_part(path).ptr)), STR(""));
}

static const char *stem_key(const struct wheel_content *c, const char *path, struct arena *text)
{
	(void)c;
	if (!wheel_is_bundled(path))
		return NULL;
	return rename_base(text, path, str_from(plain_library_stem(text, last_part(path).ptr)), STR(""));
}

static member_key_fn *const keys[] = {path_key, build_key, stem_key};

// --- the pairs ---

struct pairs_maker {
	const struct wheel_content *a, *b;
	struct member_pairs *out;
	bool has_own_name;
};

static void keep_pair(void *ctx, size_t a, size_t b)
{
	struct pairs_maker *m = ctx;
	m->out->pair[m->out->count++] = (struct member_pair){&m->a->member[a], &m->b->member[b], m->has_own_name};
}

static void set_keys(const struct wheel_content *c, member_key_fn *fn, struct arena *text, struct pairing_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		l->item[i].key = fn(c, c->member[l->item[i].at].path, text);
}

static const char *path_of_pair(const struct member_pair *p)
{
	return p->a ? p->a->path : p->b->path;
}

static int compare_pairs(const void *a, const void *b)
{
	return strcmp(path_of_pair(a), path_of_pair(b));
}

void member_pairs_make(const struct wheel_content *a, const struct wheel_content *b, struct arena *text,
	struct member_pairs *out)
{
	CLEANUP(arena_release) struct arena keys_text = {0};
	struct pairing_list left = {.in = &keys_text}, right = {.in = &keys_text};
	struct pairs_maker m = {.a = a, .b = b, .out = out};
	*out = (struct member_pairs){.pair = ARENA_NEW(text, struct member_pair, a->members + b->members)};
	for (size_t i = 0; i < a->members; i++)
		pairing_add(&left, NULL, i);
	for (size_t i = 0; i < b->members; i++)
		pairing_add(&right, NULL, i);
	for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
		m.has_own_name = k > 0;
		set_keys(a, keys[k], &keys_text, &left);
		set_keys(b, keys[k], &keys_text, &right);
		pairing_take(&left, &right, keep_pair, &m);
	}
	for (size_t i = 0; i < left.count; i++)
		out->pair[out->count++] = (struct member_pair){.a = &a->member[left.item[i].at]};
	for (size_t i = 0; i < right.count; i++)
		out->pair[out->count++] = (struct member_pair){.b = &b->member[right.item[i].at]};
	if (out->count)
		qsort(out->pair, out->count, sizeof(*out->pair), compare_pairs);
}
