// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/machine/environment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"

// Cuts one or two digits off the front.
static bool cut_short_number(struct str *text, unsigned *out)
{
	size_t most = text->len < 2 ? text->len : 2;
	struct str digits = str_slice(*text, 0, most);
	uint64_t number;
	bool has_digits = decimal_cut(&digits, UINT_MAX, &number);
	*out = (unsigned)number;
	*text = str_slice(*text, most - digits.len, text->len);
	return has_digits;
}

static bool cut_prefix(struct str *text, struct str front)
{
	if (!str_starts(*text, front))
		return false;
	*text = str_slice(*text, front.len, text->len);
	return true;
}

// Allows any Python from 3.3 on, including future ones, and of the older ones only 2.7.
static bool is_known_python(const struct python *p)
{
	if (p->major == 2)
		return p->minor == 7 && !p->is_pypy && !p->is_free_threaded;
	return p->major == 3 && p->minor >= 3 && (!p->is_free_threaded || (p->minor >= 13 && !p->is_pypy));
}

int python_parse(struct str text, struct python *out, struct err *e)
{
	struct str rest = text;
	*out = (struct python){.is_pypy = cut_prefix(&rest, STR("pp"))};
	bool is_whole;
	if (out->is_pypy && rest.len) { // "pp311": the major version is one digit
		struct str major = str_slice(rest, 0, 1), minor = str_slice(rest, 1, rest.len);
		is_whole = cut_short_number(&major, &out->major) && cut_short_number(&minor, &out->minor);
		rest = minor;
	} else {
		is_whole = cut_short_number(&rest, &out->major) && cut_prefix(&rest, STR(".")) &&
			   cut_short_number(&rest, &out->minor);
	}
	out->is_free_threaded = cut_prefix(&rest, STR("t"));
	if (is_whole && !rest.len && is_known_python(out))
		return 0;
	return err_set(e, ERR_INVALID, "\"" STR_FMT "\" is not a Python (such as 3.12, 3.13t, pp311)", STR_ARG(text));
}

void python_print(const struct python *p, struct buf *out)
{
	buf_printf(out, p->is_pypy ? "pp%u%u" : "%u.%u%s", p->major, p->minor, p->is_free_threaded ? "t" : "");
}

int machine_parse_libc(struct str text, struct machine *out, struct err *e)
{
	struct str rest = text;
	struct str name = str_cut(&rest, ' ');
	out->is_musl = str_eq(name, STR("musl"));
	rest = str_trim(rest);
	if ((out->is_musl || str_eq(name, STR("glibc"))) && cut_short_number(&rest, &out->libc_major) &&
		cut_prefix(&rest, STR(".")) && cut_short_number(&rest, &out->libc_minor) && !rest.len &&
		out->libc_major == (out->is_musl ? 1 : 2))
		return 0;
	return err_set(e, ERR_INVALID, "\"" STR_FMT "\" is not a libc (such as glibc 2.35, musl 1.2)", STR_ARG(text));
}

static void add_platform_tag(struct environment *env, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void add_pair(struct environment *env, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void add_platform_tag(struct environment *env, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	GROW(env->platform, env->platforms, env->platform_room);
	vsnprintf(env->platform[env->platforms++], sizeof(*env->platform), fmt, ap);
	va_end(ap);
}

static void add_pair(struct environment *env, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	GROW(env->pair, env->pairs, env->pair_room);
	vsnprintf(env->pair[env->pairs++], sizeof(*env->pair), fmt, ap);
	va_end(ap);
}

// Older names of three manylinux versions of PEP 600 (PEP 513, 571, 599).
static const struct legacy {
	unsigned minor;
	const char *name;
} legacy[] = {{17, "manylinux2014"}, {12, "manylinux2010"}, {5, "manylinux1"}};

static void add_glibc(struct environment *env, const struct machine *m)
{
	bool is_x86 = strcmp(m->arch, "x86_64") == 0 || strcmp(m->arch, "i686") == 0;
	if (strcmp(m->arch, "armv6l") == 0) // no manylinux tag exists for it
		return;
	for (unsigned minor = m->libc_minor; minor >= (is_x86 ? 5 : 17); minor--) {
		add_platform_tag(env, "manylinux_%u_%u_%s", m->libc_major, minor, m->arch);
		for (size_t i = 0; i < ARRAY_SIZE(legacy); i++)
			if (legacy[i].minor == minor)
				add_platform_tag(env, "%s_%s", legacy[i].name, m->arch);
	}
}

static void add_musl(struct environment *env, const struct machine *m)
{
	for (unsigned minor = m->libc_minor + 1; minor-- > 0;)
		add_platform_tag(env, "musllinux_%u_%u_%s", m->libc_major, minor, m->arch);
}

// The ABI flags of a CPython (PEP 3149). "m" and "u" were build options that all distributions set alike.
static const char *abi_flags(const struct python *p)
{
	if (p->major == 2)
		return "mu";
	if (p->is_free_threaded)
		return "t";
	return p->minor < 8 ? "m" : "";
}

// Its own ABI, the stable ABI (PEP 384; PEP 803 if free-threaded), no ABI, and the stable ABI of its predecessors.
static void add_cpython(struct environment *env, const struct python *p)
{
	const char *stable = p->is_free_threaded ? "abi3t" : "abi3";
	add_pair(env, "cp%u%u-cp%u%u%s", p->major, p->minor, p->major, p->minor, abi_flags(p));
	if (p->major == 3)
		add_pair(env, "cp3%u-%s", p->minor, stable);
	add_pair(env, "cp%u%u-none", p->major, p->minor);
	for (unsigned minor = p->minor - 1; p->major == 3 && minor >= 2; minor--)
		add_pair(env, "cp3%u-%s", minor, stable);
}

// All PyPys that wheels are built for have the ABI 7.3.
static void add_pypy(struct environment *env, const struct python *p)
{
	add_pair(env, "pp%u%u-pypy%u%u_pp73", p->major, p->minor, p->major, p->minor);
	add_pair(env, "pp%u%u-none", p->major, p->minor);
}

static void add_generic(struct environment *env, const struct python *p)
{
	add_pair(env, "py%u%u-none", p->major, p->minor);
	add_pair(env, "py%u-none", p->major);
	for (unsigned minor = p->minor; minor-- > 0;)
		add_pair(env, "py%u%u-none", p->major, minor);
}

void environment_init(struct environment *env, const struct machine *m, const struct python *p)
{
	*env = (struct environment){.python = *p};
	(m->is_musl ? add_musl : add_glibc)(env, m);
	add_platform_tag(env, "linux_%s", m->arch); // packaging 26 puts it first; older releases and uv put it last
	(p->is_pypy ? add_pypy : add_cpython)(env, p);
	add_generic(env, p);
	env->native = env->pairs;
	if (p->is_pypy)
		add_pair(env, "pp3-none");
	else
		add_pair(env, "cp%u%u-none", p->major, p->minor);
	add_generic(env, p);
}

void environment_release(struct environment *env)
{
	free(env->pair);
	free(env->platform);
	*env = (struct environment){0};
}

static int call_with_pair(const char *pair, const char *platform, filename_tag_fn *fn, void *ctx, struct err *e)
{
	char tag[64];
	int len = snprintf(tag, sizeof(tag), "%s-%s", pair, platform);
	return fn(ctx, (struct str){tag, (size_t)len}, e);
}

int environment_tags(const struct environment *env, filename_tag_fn *fn, void *ctx, struct err *e)
{
	for (size_t i = 0; i < env->native; i++)
		for (size_t k = 0; k < env->platforms; k++)
			if (call_with_pair(env->pair[i], env->platform[k], fn, ctx, e) < 0)
				return -1;
	for (size_t i = env->native; i < env->pairs; i++)
		if (call_with_pair(env->pair[i], "any", fn, ctx, e) < 0)
			return -1;
	return 0;
}

// Whether the NUL-terminated text of at most size bytes equals s. It avoids strlen(), which would dominate the search.
static bool text_equals(const char *text, size_t size, struct str s)
{
	return s.len < size && memcmp(text, s.ptr, s.len) == 0 && !text[s.len];
}

static long find_pair(const struct environment *env, struct str pair, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (text_equals(env->pair[i], sizeof(env->pair[i]), pair))
			return (long)i;
	return -1;
}

static long find_platform_tag(const struct environment *env, struct str platform)
{
	for (size_t i = 0; i < env->platforms; i++)
		if (text_equals(env->platform[i], sizeof(env->platform[i]), platform))
			return (long)i;
	return -1;
}

bool environment_has_pair(const struct environment *env, struct str pair)
{
	return find_pair(env, pair, 0, env->pairs) >= 0;
}

bool environment_has_platform(const struct environment *env, struct str platform)
{
	return str_eq(platform, STR("any")) || find_platform_tag(env, platform) >= 0;
}

long environment_rank(const struct environment *env, struct str tag)
{
	long dash = str_rfind(tag, '-');
	if (dash < 0)
		return -1;
	struct str pair = str_slice(tag, 0, (size_t)dash);
	struct str platform = str_slice(tag, (size_t)dash + 1, tag.len);
	long native = (long)env->native, platforms = (long)env->platforms;
	if (str_eq(platform, STR("any"))) {
		long at = find_pair(env, pair, env->native, env->pairs);
		return at < 0 ? -1 : native * platforms + at - native;
	}
	long k = find_platform_tag(env, platform);
	long at = k < 0 ? -1 : find_pair(env, pair, 0, env->native);
	return at < 0 ? -1 : at * platforms + k;
}

struct best_rank {
	const struct environment *env;
	long best;
};

static int compare_with_best(void *ctx, struct str tag, struct err *e UNUSED)
{
	struct best_rank *l = ctx;
	long rank = environment_rank(l->env, tag);
	if (rank >= 0 && (l->best < 0 || rank < l->best))
		l->best = rank;
	return 0;
}

int environment_best(const struct environment *env, const struct filename *wheel, long *best, struct err *e)
{
	struct best_rank l = {env, -1};
	if (filename_tags(wheel, compare_with_best, &l, e) < 0)
		return -1;
	*best = l.best;
	return 0;
}
