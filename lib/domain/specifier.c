// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/specifier.h"

#include "lib/base/mem.h"
#include "lib/domain/pep440.h"
#include "lib/domain/space.h"

// Version matching: a prefix (epoch and release alone) and local versions are allowed.
static bool is_for_matching(struct str text)
{
	struct str any = STR(".*");
	struct pep440 v;
	if (!str_ends(text, any))
		return pep440_scan(text, &v);
	return pep440_scan(str_slice(text, 0, text.len - any.len), &v) &&
	       v.pre.kind == PEP440_ABSENT && v.post.kind == PEP440_ABSENT &&
	       v.dev.kind == PEP440_ABSENT && !v.local.len;
}

static bool is_for_order(struct str text)
{
	struct pep440 v;
	return pep440_scan(text, &v) && !v.local.len;
}

// Compatible release: without a second number in the release there would be nothing to be
// compatible with.
static bool is_for_compatible(struct str text)
{
	struct pep440 v;
	return pep440_scan(text, &v) && !v.local.len && str_find(v.release, '.') > 0;
}

// Arbitrary equality compares text; packaging stops at what would end it in a requirement.
static bool is_for_identity(struct str text)
{
	return !space_is_in(text) && str_find(text, ';') < 0 && str_find(text, ')') < 0;
}

// The longer before its own beginning.
static const struct comparison {
	const char *sign;
	bool (*takes)(struct str text);
} comparisons[] = {
	{"===", is_for_identity},
	{"==", is_for_matching},
	{"!=", is_for_matching},
	{"~=", is_for_compatible},
	{"<=", is_for_order},
	{">=", is_for_order},
	{"<", is_for_order},
	{">", is_for_order},
};

static bool is_specifier(struct str s)
{
	for (size_t i = 0; i < ARRAY_SIZE(comparisons); i++) {
		struct str sign = str_from(comparisons[i].sign);
		if (str_starts(s, sign))
			return comparisons[i].takes(space_trim(str_slice(s, sign.len, s.len)));
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
