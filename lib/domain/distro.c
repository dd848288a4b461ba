// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/distro.h"

#include "lib/base/mem.h"

// RHEL and what is rebuilt from it are one.
#define EL8 "glibc 2.28", "3.6 3.8 3.9 3.11 3.12"
#define EL9 "glibc 2.34", "3.9 3.11 3.12"
#define EL10 "glibc 2.39", "3.12"

static const struct distro table[] = {
	{"almalinux", "8", NULL, EL8},
	{"almalinux", "9", NULL, EL9},
	{"almalinux", "10", NULL, EL10},
	{"alpine", "3.18", NULL, "musl 1.2", "3.11"},
	{"alpine", "3.19", NULL, "musl 1.2", "3.11"},
	{"alpine", "3.20", NULL, "musl 1.2", "3.12"},
	{"alpine", "3.21", NULL, "musl 1.2", "3.12"},
	{"alpine", "3.22", NULL, "musl 1.2", "3.12"},
	{"alpine", "3.23", NULL, "musl 1.2", "3.12"},
	{"centos", "8", NULL, EL8},
	{"centos", "9", NULL, EL9},
	{"centos", "10", NULL, EL10},
	{"debian", "11", "bullseye", "glibc 2.31", "3.9"},
	{"debian", "12", "bookworm", "glibc 2.36", "3.11"},
	{"debian", "13", "trixie", "glibc 2.41", "3.13"},
	{"fedora", "41", NULL, "glibc 2.40", "3.9 3.10 3.11 3.12 3.13 3.13t 3.14"},
	{"fedora", "42", NULL, "glibc 2.41", "3.9 3.10 3.11 3.12 3.13 3.13t 3.14 3.14t"},
	{"fedora", "43", NULL, "glibc 2.42", "3.9 3.10 3.11 3.12 3.13 3.14 3.14t"},
	{"fedora", "44", NULL, "glibc 2.43", "3.9 3.10 3.11 3.12 3.13 3.14 3.14t"},
	{"openeuler", "20.03", NULL, "glibc 2.28", "3.7"},
	{"openeuler", "22.03", NULL, "glibc 2.34", "3.9"},
	{"openeuler", "24.03", NULL, "glibc 2.38", "3.11"},
	{"rhel", "8", NULL, EL8},
	{"rhel", "9", NULL, EL9},
	{"rhel", "10", NULL, EL10},
	{"rocky", "8", NULL, EL8},
	{"rocky", "9", NULL, EL9},
	{"rocky", "10", NULL, EL10},
	{"ubuntu", "20.04", "focal", "glibc 2.31", "3.8 3.9"},
	{"ubuntu", "22.04", "jammy", "glibc 2.35", "3.10 3.11"},
	{"ubuntu", "24.04", "noble", "glibc 2.39", "3.12"},
	{"ubuntu", "26.04", "resolute", "glibc 2.43", "3.14"},
};

static bool is_version(struct str version, const char *wanted)
{
	struct str w = str_from(wanted);
	return str_starts(version, w) &&
	       (version.len == w.len || version.ptr[w.len] == '.' || version.ptr[w.len] == '-');
}

const struct distro *distro_find(struct str slug)
{
	long first = str_find(slug, '-'), last = str_rfind(slug, '-');
	if (first < 0 || last == first)
		return NULL;
	struct str os = str_slice(slug, 0, (size_t)first);
	struct str version = str_slice(slug, (size_t)first + 1, (size_t)last);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct distro *d = &table[i];
		if (str_eq_nocase(os, str_from(d->os)) &&
			(is_version(version, d->version) ||
				(d->codename && str_eq_nocase(version, str_from(d->codename)))))
			return d;
	}
	return NULL;
}
