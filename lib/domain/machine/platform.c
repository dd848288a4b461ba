// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/machine/platform.h"

#include "lib/base/mem.h"

// Spellings of architectures, and their spelling in platform tags (PEP 600, 656).
static const struct arch {
	const char *name, *tag;
} arches[] = {
	{"aarch64", "aarch64"},
	{"amd64", "x86_64"},
	{"arm64", "aarch64"},
	{"armhf", "armv7l"},
	{"armv6l", "armv6l"},
	{"armv7l", "armv7l"},
	{"i386", "i686"},
	{"i686", "i686"},
	{"loongarch64", "loongarch64"},
	{"ppc64", "ppc64"},
	{"ppc64el", "ppc64le"},
	{"ppc64le", "ppc64le"},
	{"riscv64", "riscv64"},
	{"s390x", "s390x"},
	{"x86_64", "x86_64"},
};

// The first part of a URL's path is the name of a view or one of these.
static const char *const reserved[] = {"simple", "files", "upload", "upstream", "-"};

const char *platform_arch(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++)
		if (str_eq(name, str_from(arches[i].name)))
			return arches[i].tag;
	return NULL;
}

static bool is_reserved(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (str_eq(name, str_from(reserved[i])))
			return true;
	return false;
}

bool platform_name_is_valid(struct str name)
{
	enum { MAX = 64 };
	if (!name.len || name.len > MAX || name.ptr[0] == '.')
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		if (!(ascii_is_alnum(c) || c == '.' || c == '-' || c == '_'))
			return false;
	}
	return !is_reserved(name);
}

// The architecture must be known. Otherwise the folders of many projects ("zope-2-interface") would be platforms.
bool platform_is_slug(struct str name)
{
	long first = str_find(name, '-'), last = str_rfind(name, '-');
	if (!platform_name_is_valid(name) || first < 1 || last <= first + 1)
		return false;
	struct str version = str_slice(name, (size_t)first + 1, (size_t)last);
	struct str arch = str_slice(name, (size_t)last + 1, name.len);
	return ascii_is_alpha(name.ptr[0]) && ascii_is_alnum(version.ptr[0]) && platform_arch(arch) != NULL;
}
