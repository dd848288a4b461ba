// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/machine/distro.h"

#include "lib/base/mem.h"

// The rows of distros.txt.
static const struct distro table[] = {
#include "lib/domain/machine/distros.inc"
};

static bool version_matches(struct str version, const char *wanted)
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
			(version_matches(version, d->version) ||
				(d->codename && str_eq_nocase(version, str_from(d->codename)))))
			return d;
	}
	return NULL;
}
