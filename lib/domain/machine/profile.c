// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/machine/profile.h"

#include <stdlib.h>

#include "lib/domain/machine/platform.h"

enum { DESCRIPTION_MAX = 256 };

// The libc of the usual distributions and the Pythons in their own archives.
struct distro {
	const char *os, *version;
	const char *codename; // may be used instead of the version; NULL: none
	const char *libc;     // as machine_parse_libc() reads it
	const char *pythons;  // as python_parse() reads them, separated by blanks
};

// The rows of distros.txt.
static const struct distro distros[] = {
#include "lib/domain/machine/distros.inc"
};

static bool version_matches(struct str version, const char *wanted)
{
	struct str w = str_from(wanted);
	return str_starts(version, w) &&
	       (version.len == w.len || version.ptr[w.len] == '.' || version.ptr[w.len] == '-');
}

// The distribution of a platform name "<os>-<version>-<arch>". The version may have more parts than that of the row
// ("9.4", "8-stream", "3.20.3"). NULL if the table has none.
static const struct distro *find_distro(struct str slug)
{
	long first = str_find(slug, '-'), last = str_rfind(slug, '-');
	if (first < 0 || last == first)
		return NULL;
	struct str os = str_slice(slug, 0, (size_t)first);
	struct str version = str_slice(slug, (size_t)first + 1, (size_t)last);
	for (size_t i = 0; i < ARRAY_SIZE(distros); i++) {
		const struct distro *d = &distros[i];
		if (str_eq_nocase(os, str_from(d->os)) &&
			(version_matches(version, d->version) ||
				(d->codename && str_eq_nocase(version, str_from(d->codename)))))
			return d;
	}
	return NULL;
}

static bool has_python(const struct profile *p, const struct python *python)
{
	for (size_t i = 0; i < p->environment_count; i++) {
		const struct python *q = &p->environment[i].python;
		if (q->major == python->major && q->minor == python->minor &&
			q->is_free_threaded == python->is_free_threaded && q->is_pypy == python->is_pypy)
			return true;
	}
	return false;
}

static int add_python(struct profile *p, struct str text, struct err *e)
{
	struct python python;
	if (python_parse(text, &python, e) < 0)
		return -1;
	if (has_python(p, &python))
		return err_set(e, ERR_INVALID, "\"" STR_FMT "\" is listed twice", STR_ARG(text));
	p->environment = xreallocarray(p->environment, p->environment_count + 1, sizeof(*p->environment));
	environment_init(&p->environment[p->environment_count++], &p->machine, &python);
	return 0;
}

static int add_pythons(struct profile *p, const char *text, struct err *e)
{
	struct str rest = str_trim(str_from(text));
	if (!rest.len)
		return err_set(e, ERR_INVALID, "no Python is listed");
	for (; rest.len; rest = str_trim(rest))
		if (add_python(p, str_cut(&rest, ' '), e) < 0)
			return -1;
	return 0;
}

static int set_machine_arch(struct profile *p, struct str text, struct err *e)
{
	p->machine.arch = platform_arch(text);
	if (p->machine.arch)
		return 0;
	return err_set(e, ERR_INVALID, "\"" STR_FMT "\" is not an architecture (such as x86_64, aarch64)",
		STR_ARG(text));
}

static struct str arch_of_slug(const char *name)
{
	struct str slug = str_from(name);
	return str_slice(slug, (size_t)(str_rfind(slug, '-') + 1), slug.len);
}

// The given keys, with defaults for those that are missing.
static int complete_keys(const char *name, const struct profile_keys *given, struct profile_keys *keys, struct err *e)
{
	const struct distro *d = find_distro(str_from(name));
	*keys = *given;
	if (!keys->libc && d)
		keys->libc = d->libc;
	if (!keys->pythons && d)
		keys->pythons = d->pythons;
	if (!keys->arch)
		keys->arch = platform_arch(arch_of_slug(name));
	if (keys->pythons && keys->arch && keys->libc)
		return 0;
	return err_set(e, ERR_INVALID, "there are no defaults for this platform name, so %s must be set too",
		!keys->pythons ? "pythons"
		: !keys->arch  ? "arch"
			       : "libc");
}

// Whether the platform has neither keys nor defaults. A name with an unknown architecture has no defaults.
static bool is_unknown_platform(const char *name, const struct profile_keys *keys)
{
	return !keys->pythons && !keys->arch && !keys->libc &&
	       (!find_distro(str_from(name)) || !platform_arch(arch_of_slug(name)));
}

static int profile_fill(struct profile *p, const struct profile_keys *keys, struct err *e)
{
	if (set_machine_arch(p, str_from(keys->arch), e) < 0)
		return err_prefix(e, "arch: ");
	if (machine_parse_libc(str_from(keys->libc), &p->machine, e) < 0)
		return err_prefix(e, "libc: ");
	if (add_pythons(p, keys->pythons, e) < 0)
		return err_prefix(e, "pythons: ");
	return 0;
}

int profile_init(struct profile *p, const char *name, const struct profile_keys *given, struct err *e)
{
	struct profile_keys keys;
	*p = (struct profile){0};
	if (is_unknown_platform(name, given))
		return 0;
	if (complete_keys(name, given, &keys, e) < 0)
		return -1;
	if (profile_fill(p, &keys, e) == 0)
		return 0;
	profile_release(p);
	return -1;
}

void profile_release(struct profile *p)
{
	for (size_t i = 0; i < p->environment_count; i++)
		environment_release(&p->environment[i]);
	free(p->environment);
	*p = (struct profile){0};
}

void profile_describe(const struct profile *p, struct buf *out)
{
	buf_puts(out, "Python");
	for (size_t i = 0; i < p->environment_count; i++) {
		buf_putc(out, ' ');
		python_print(&p->environment[i].python, out);
	}
	buf_printf(out, " on %s with %s %u.%u", p->machine.arch, p->machine.is_musl ? "musl" : "glibc",
		p->machine.libc_major, p->machine.libc_minor);
}

bool profile_admits(const struct profile *p, const struct filename *file, struct err *why)
{
	if (file->kind != FILENAME_WHEEL || !p->environment_count)
		return true;
	for (size_t i = 0; i < p->environment_count; i++) {
		long best;
		if (environment_best(&p->environment[i], file, &best, why) < 0)
			return false;
		if (best >= 0)
			return true;
	}
	CLEANUP(buf_release) struct buf text = buf_up_to(DESCRIPTION_MAX);
	profile_describe(p, &text);
	err_set(why, ERR_INVALID, STR_FMT "-" STR_FMT "-" STR_FMT " does not install here: %s", STR_ARG(file->python),
		STR_ARG(file->abi), STR_ARG(file->platform), text.data);
	return false;
}

static bool has_platform_tag(const struct profile *p, struct str tag)
{
	if (str_eq(tag, STR("any")))
		return true;
	for (size_t i = 0; i < p->environment_count; i++)
		for (size_t k = 0; k < p->environment[i].platforms; k++)
			if (str_eq_nocase(tag, str_from(p->environment[i].platform[k])))
				return true;
	return false;
}

bool profile_fits_machine(const struct profile *p, const struct filename *file, struct err *why)
{
	if (file->kind != FILENAME_WHEEL || !p->environment_count)
		return true;
	for (struct str rest = file->platform; rest.len;)
		if (has_platform_tag(p, str_cut(&rest, '.')))
			return true;
	err_set(why, ERR_INVALID, STR_FMT " is for other machines than those of this platform: %s with %s %u.%u",
		STR_ARG(file->platform), p->machine.arch, p->machine.is_musl ? "musl" : "glibc", p->machine.libc_major,
		p->machine.libc_minor);
	return false;
}
