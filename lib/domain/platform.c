// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/platform.h"

#include "lib/base/mem.h"

// As the platform tags of PEP 600 and 656 spell them, and as Debian does.
static const char *const arches[] = {"x86_64", "amd64", "i386", "i686", "aarch64", "arm64",
	"armv6l", "armv7l", "armhf", "loongarch64", "ppc64", "ppc64le", "ppc64el", "riscv64",
	"s390x"};

// Parts of our own paths: the first one of a URL is a view or one of these.
static const char *const reserved[] = {"simple", "files", "upload", "-"};

static bool is_among(struct str s, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(s, str_from(list[i])))
			return true;
	return false;
}

static bool is_name_byte(char c)
{
	return ascii_is_alnum(c) || c == '.' || c == '-' || c == '_';
}

bool platform_name_is_valid(struct str name)
{
	enum { MAX = 64 };
	if (!name.len || name.len > MAX || name.ptr[0] == '.')
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!is_name_byte(name.ptr[i]))
			return false;
	return !is_among(name, reserved, ARRAY_SIZE(reserved));
}

// The architecture must be a known one, or the folders of many projects would pass
// ("zope-2-interface").
bool platform_is_slug(struct str name)
{
	long first = str_find(name, '-'), last = str_rfind(name, '-');
	if (!platform_name_is_valid(name) || first < 1 || last <= first + 1)
		return false;
	struct str version = str_slice(name, (size_t)first + 1, (size_t)last);
	struct str arch = str_slice(name, (size_t)last + 1, name.len);
	return ascii_is_alpha(name.ptr[0]) && ascii_is_alnum(version.ptr[0]) &&
	       is_among(arch, arches, ARRAY_SIZE(arches));
}
