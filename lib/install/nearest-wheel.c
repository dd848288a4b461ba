// SPDX-License-Identifier: Apache-2.0
#include "lib/install/nearest-wheel.h"

#include <limits.h>

#include "lib/domain/text/filename.h"
#include "lib/state/store/store.h"

enum { MOST_COMPARED = 1000 }; // files of a version; the real ones have at most about 150

// What is wrong with the platform of a tag, the least first.
enum platform_gap { PLATFORM_FITS, PLATFORM_LIBC_OLD, PLATFORM_LIBC_OTHER, PLATFORM_ARCH, PLATFORM_OS, PLATFORM_GAPS };

// A tag of a wheel, compared with an environment.
struct tag_gap {
	enum platform_gap platform_gap;
	bool python_fits;
	unsigned distance; // of equal gaps the smaller one is nearer: minor versions of Python and libc
	char python[24], abi[24], platform[64];
	unsigned libc_major, libc_minor; // that LIBC_OLD needs
};

// With the right Python a platform that is too old is nearer than the right platform with another Python, and so on.
static unsigned order_of(const struct tag_gap *g)
{
	static const unsigned order[PLATFORM_GAPS][2] = {{2, 0}, {3, 1}, {5, 4}, {7, 6}, {9, 8}};
	return order[g->platform_gap][g->python_fits];
}

static bool is_nearer(const struct tag_gap *a, const struct tag_gap *b)
{
	unsigned left = order_of(a), right = order_of(b);
	return left != right ? left < right : a->distance < b->distance;
}

static void copy_part(char *out, size_t size, struct str part)
{
	struct str head = str_head(part, size - 1);
	memcpy(out, head.ptr, head.len);
	out[head.len] = '\0';
}

// Cuts a decimal number off the front; UINT_MAX: there is none, or it is not a small one.
static unsigned cut_number(struct str *rest)
{
	size_t digits = 0;
	unsigned number = 0;
	while (digits < rest->len && ascii_is_digit(rest->ptr[digits])) {
		if (number > 99999)
			return UINT_MAX;
		number = number * 10 + (unsigned)(rest->ptr[digits++] - '0');
	}
	*rest = str_slice(*rest, digits, rest->len);
	return digits ? number : UINT_MAX;
}

// The libc of a platform tag (PEP 600, 656).
struct tag_libc {
	bool is_known, is_musl;
	unsigned major, minor;
	struct str arch;
};

static bool read_numbered(struct str tag, const char *prefix, bool is_musl, struct tag_libc *out)
{
	struct str head = str_from(prefix), rest;
	if (!str_starts(tag, head))
		return false;
	rest = str_slice(tag, head.len, tag.len);
	*out = (struct tag_libc){.is_known = true, .is_musl = is_musl, .major = cut_number(&rest)};
	str_cut(&rest, '_');
	out->minor = rest.ptr ? cut_number(&rest) : UINT_MAX;
	if (rest.ptr)
		str_cut(&rest, '_');
	out->arch = rest;
	return out->major != UINT_MAX && out->minor != UINT_MAX && rest.ptr;
}

static struct tag_libc read_libc(struct str tag)
{
	static const struct {
		struct str prefix;
		unsigned minor;
	} old[] = {{STR("manylinux1_"), 5}, {STR("manylinux2010_"), 12}, {STR("manylinux2014_"), 17}};
	struct tag_libc found = {0};
	for (size_t i = 0; i < ARRAY_SIZE(old); i++)
		if (str_starts(tag, old[i].prefix))
			return (struct tag_libc){
				true, false, 2, old[i].minor, str_slice(tag, old[i].prefix.len, tag.len)};
	if (read_numbered(tag, "manylinux_", false, &found) || read_numbered(tag, "musllinux_", true, &found))
		return found;
	if (str_starts(tag, STR("linux_")))
		return (struct tag_libc){.arch = str_slice(tag, sizeof("linux_") - 1, tag.len)};
	return (struct tag_libc){0};
}

// The numbers of "cp312" and "py3".
static bool read_python(struct str tag, unsigned *major, unsigned *minor)
{
	if (tag.len < 3 || !ascii_is_digit(tag.ptr[2]))
		return false;
	struct str rest = str_slice(tag, 3, tag.len);
	*major = (unsigned)(tag.ptr[2] - '0');
	*minor = cut_number(&rest);
	return true;
}

// In minor versions; another implementation or major version is further than any of them.
static unsigned python_distance(struct str tag, const struct python *p)
{
	enum { FAR = 1000 };
	unsigned major, minor;
	if (!read_python(tag, &major, &minor) || major != p->major || minor == UINT_MAX)
		return 2 * FAR;
	bool is_other = !str_starts(tag, p->is_pypy ? STR("pp") : STR("cp"));
	return (minor > p->minor ? minor - p->minor : p->minor - minor) + is_other * FAR;
}

struct nearest_search {
	const struct fits_place *place;
	struct tag_gap best;
	bool has_best;
};

static int compare_tag(void *ctx, struct str tag, struct err *e UNUSED)
{
	struct nearest_search *s = ctx;
	struct tag_gap g = {0};
	long dash = str_rfind(tag, '-');
	struct str pair = str_slice(tag, 0, (size_t)dash), platform = str_slice(tag, (size_t)dash + 1, tag.len),
		   rest = pair;
	struct str python = str_cut(&rest, '-');
	copy_part(g.python, sizeof(g.python), python);
	copy_part(g.abi, sizeof(g.abi), rest);
	copy_part(g.platform, sizeof(g.platform), platform);
	g.python_fits = environment_has_pair(s->place->environment, pair);
	if (!environment_has_platform(s->place->environment, platform)) {
		const struct machine *m = s->place->machine;
		struct tag_libc libc = read_libc(str_from(g.platform));
		if (!libc.arch.ptr)
			g.platform_gap = PLATFORM_OS;
		else if (!str_eq(libc.arch, str_from(m->arch)))
			g.platform_gap = PLATFORM_ARCH;
		else if (libc.is_known && libc.is_musl != m->is_musl)
			g.platform_gap = PLATFORM_LIBC_OTHER;
		else
			g.platform_gap = PLATFORM_LIBC_OLD;
		g.libc_major = libc.major;
		g.libc_minor = libc.minor;
	}
	g.distance = g.python_fits ? g.libc_minor : python_distance(python, &s->place->environment->python);
	if (!s->has_best || is_nearer(&g, &s->best))
		s->best = g;
	s->has_best = true;
	return 0;
}

// The tag of the wheel that comes nearest. False: it has too many tags.
static bool nearest_tag(const struct index_files *all, size_t place, const struct index_file *f, struct tag_gap *out)
{
	struct err ignored = ERR_INIT;
	const struct filename wheel = fits_tag_set(all->fits, f->tags);
	struct nearest_search s = {.place = &all->fits->place[place]};
	if (filename_tags(&wheel, compare_tag, &s, &ignored) < 0)
		return false;
	*out = s.best;
	return s.has_best;
}

static bool is_for_free_threaded(const struct tag_gap *g)
{
	return str_ends(str_from(g->abi), STR("t"));
}

static void describe_python(const struct tag_gap *g, const struct python *python, struct buf *out)
{
	struct str tag = str_from(g->python), abi = str_from(g->abi);
	unsigned major, minor;
	const char *name = str_starts(tag, STR("cp"))   ? "CPython"
			   : str_starts(tag, STR("pp")) ? "PyPy"
			   : str_starts(tag, STR("py")) ? "Python"
							: NULL;
	if (!name || !read_python(tag, &major, &minor)) {
		buf_printf(out, "%s-%s", g->python, g->abi);
		return;
	}
	buf_printf(out, "%s %u", name, major);
	if (minor != UINT_MAX)
		buf_printf(out, ".%u", minor);
	if (is_for_free_threaded(g))
		buf_puts(out, "t");
	if (str_starts(abi, STR("abi3")))
		buf_puts(out, " and later");
	if (python->is_free_threaded && str_starts(tag, STR("cp")) && !is_for_free_threaded(g))
		buf_puts(out, ", not free-threaded");
}

static const char *system_name(struct str platform)
{
	static const struct {
		struct str prefix;
		const char *name;
	} names[] = {
		{STR("win"), "Windows"}, {STR("macosx"), "macOS"}, {STR("android"), "Android"}, {STR("ios"), "iOS"}};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_starts(platform, names[i].prefix))
			return names[i].name;
	return platform.ptr;
}

static void describe_gap(const struct index_files *all, const struct fits_place *place, const struct index_file *f,
	const struct tag_gap *g, struct buf *out)
{
	buf_printf(out, "%s ", f->filename);
	if (g->platform_gap != PLATFORM_FITS) {
		const struct machine *m = place->machine;
		if (g->platform_gap == PLATFORM_LIBC_OLD)
			buf_printf(out, "needs %s %u.%u, the platform has %u.%u", m->is_musl ? "musl" : "glibc",
				g->libc_major, g->libc_minor, m->libc_major, m->libc_minor);
		else if (g->platform_gap == PLATFORM_LIBC_OTHER)
			buf_printf(out, "is for %s", m->is_musl ? "glibc" : "musl");
		else if (g->platform_gap == PLATFORM_ARCH)
			buf_printf(out, "is for %s", read_libc(str_from(g->platform)).arch.ptr);
		else
			buf_printf(out, "is for %s", system_name(str_from(g->platform)));
	}
	if (!g->python_fits) {
		buf_puts(out, g->platform_gap == PLATFORM_FITS       ? "is for "
			      : g->platform_gap == PLATFORM_LIBC_OLD ? " and is for "
								     : " and ");
		describe_python(g, &place->environment->python, out);
	}
	if (g->platform_gap == PLATFORM_FITS && g->python_fits && f->python)
		buf_printf(out, "has Requires-Python %s", fits_python_text(all->fits, f->python));
}

void nearest_wheel(const struct index_files *all, size_t place, const struct index_release *release, struct buf *out)
{
	const struct fits_place *at = &all->fits->place[place];
	const struct index_file *nearest = NULL;
	struct tag_gap best = {0}, here;
	unsigned yanked = 0;
	size_t end = release->end - release->first > MOST_COMPARED ? release->first + MOST_COMPARED : release->end;
	for (size_t i = release->first; i < end; i++) {
		const struct index_file *f = &all->file[i];
		bool is_in_sight = f->is_wheel && (!f->platform || (at->platform && f->platform == at->platform->id));
		yanked += is_in_sight && f->is_yanked;
		if (!is_in_sight || f->is_yanked || !nearest_tag(all, place, f, &here))
			continue;
		if (!nearest || is_nearer(&here, &best)) {
			nearest = f;
			best = here;
		}
	}
	if (nearest)
		describe_gap(all, at, nearest, &best, out);
	else
		buf_puts(out, yanked ? "all of its wheels are yanked" : "no wheel at all");
}
