// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/specifier.h"

#include "lib/base/mem.h"
#include "lib/domain/space.h"
#include "lib/domain/version.h"

static bool has_local(struct str version)
{
	return str_find(version, '+') >= 0;
}

// A version of epoch and release alone: what may stand before ".*".
static bool is_release(struct str version)
{
	for (size_t i = 0; i < version.len; i++) {
		char c = ascii_lower(version.ptr[i]);
		if (!ascii_is_digit(c) && c != '.' && c != '!' && c != 'v')
			return false;
	}
	return version_is_valid(version);
}

// Version matching: prefix match and local versions are allowed.
static bool is_for_matching(struct str version)
{
	struct str any = STR(".*");
	if (str_ends(version, any))
		return is_release(str_slice(version, 0, version.len - any.len));
	return version_is_valid(version);
}

static bool is_for_order(struct str version)
{
	return !has_local(version) && version_is_valid(version);
}

// Compatible release: without a second number in the release there would be nothing to be compatible with.
static bool is_for_compatible(struct str version)
{
	if (!is_for_order(version))
		return false;
	struct str release = str_slice(version, (size_t)(str_find(version, '!') + 1), version.len);
	long dot = str_find(release, '.');
	if (dot < 1 || !ascii_is_digit(release.ptr[dot - 1]))
		return false;
	for (long i = ascii_lower(release.ptr[0]) == 'v'; i < dot; i++)
		if (!ascii_is_digit(release.ptr[i]))
			return false;
	return (size_t)dot + 1 < release.len && ascii_is_digit(release.ptr[dot + 1]);
}

// Arbitrary equality compares text; packaging stops at what would end it in a requirement.
static bool is_for_identity(struct str text)
{
	return !space_is_in(text) && str_find(text, ';') < 0 && str_find(text, ')') < 0;
}

// The longer before its own beginning.
static const struct operator {
	const char *text;
	bool (*takes)(struct str version);
} operators[] = {
	{"===", is_for_identity}, {"==", is_for_matching}, {"!=", is_for_matching}, {"~=", is_for_compatible},
	{"<=", is_for_order},     {">=", is_for_order},    {"<", is_for_order},     {">", is_for_order},
};

static bool is_specifier(struct str s)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		struct str text = str_from(operators[i].text);
		if (str_starts(s, text))
			return operators[i].takes(space_trim(str_slice(s, text.len, s.len)));
	}
	return false;
}

bool specifier_set_is_valid(struct str text)
{
	if (!str_is_utf8(text))
		return false;
	while (text.ptr) {
		struct str one = space_trim(str_cut(&text, ','));
		if (one.len && !is_specifier(one))
			return false;
	}
	return true;
}
