// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/specifier.h"

#include <stdio.h>

#include "lib/base/mem.h"
#include "lib/domain/text/pep440.h"
#include "lib/domain/text/pyspace.h"

// Version matching: a prefix (epoch and release alone) and local versions are allowed.
static bool is_for_matching(struct str text)
{
	struct str any = STR(".*");
	struct pep440 v;
	if (!str_ends(text, any))
		return pep440_scan(text, &v);
	return pep440_scan(str_slice(text, 0, text.len - any.len), &v) && v.pre.kind == PEP440_ABSENT &&
	       v.post.kind == PEP440_ABSENT && v.dev.kind == PEP440_ABSENT && !v.local.len;
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
	return !pyspace_is_in(text) && str_find(text, ';') < 0 && str_find(text, ')') < 0;
}

// A version that is asked about.
struct candidate {
	struct version whole, public; // public: without the local part
	struct pep440 parts;          // of public.text
};

static int candidate_init(struct candidate *c, const char *text)
{
	struct err unsaid = ERR_INIT;
	struct str whole = str_from(text);
	*c = (struct candidate){0};
	if (version_parse(whole, &c->whole, &unsaid) < 0 ||
		version_parse(str_cut(&whole, '+'), &c->public, &unsaid) < 0)
		return -1;
	return pep440_scan(str_from(c->public.text), &c->parts) ? 0 : -1;
}

static void candidate_release(struct candidate *c)
{
	version_release(&c->whole);
	version_release(&c->public);
}

struct comparison;

// One of a set, read once for any number of candidates.
struct clause {
	const struct comparison *how;
	struct str text;        // behind the sign
	struct pep440 parts;    // of the text, without ".*"
	struct version version; // zeros where the text is none: behind "===", or with ".*"
	struct version border;  // of "<": the first that is of the version, whose pre-releases are not less than it
};

// Whether the release begins with those numbers; one that is shorter goes on with zeros.
static bool begins_with(struct str release, struct str numbers)
{
	while (numbers.len) {
		struct str wanted = pep440_strip_zeros(str_cut(&numbers, '.'));
		struct str found = pep440_strip_zeros(str_cut(&release, '.'));
		if (!str_eq(wanted, found))
			return false;
	}
	return true;
}

static bool has_prefix(const struct candidate *c, const struct pep440 *parts, struct str numbers)
{
	return str_eq(pep440_strip_zeros(c->parts.epoch), pep440_strip_zeros(parts->epoch)) &&
	       begins_with(c->parts.release, numbers);
}

static bool is_prefix(const struct clause *k)
{
	return str_ends(k->text, STR(".*"));
}

static bool admits_identical(const struct clause *k, const struct candidate *c)
{
	return str_eq_nocase(k->text, str_from(c->whole.text));
}

static bool admits_equal(const struct clause *k, const struct candidate *c)
{
	if (is_prefix(k))
		return has_prefix(c, &k->parts, k->parts.release);
	return version_cmp(k->version.is_local ? &c->whole : &c->public, &k->version) == 0;
}

static bool admits_other(const struct clause *k, const struct candidate *c)
{
	return !admits_equal(k, c);
}

static bool admits_at_least(const struct clause *k, const struct candidate *c)
{
	return version_cmp(&c->public, &k->version) >= 0;
}

static bool admits_at_most(const struct clause *k, const struct candidate *c)
{
	return version_cmp(&c->public, &k->version) <= 0;
}

static bool admits_less(const struct clause *k, const struct candidate *c)
{
	return version_cmp(&c->public, &k->border) < 0;
}

static bool admits_compatible(const struct clause *k, const struct candidate *c)
{
	struct str release = k->parts.release;
	struct str all_but_last = str_slice(release, 0, (size_t)str_rfind(release, '.'));
	return admits_at_least(k, c) && has_prefix(c, &k->parts, all_but_last);
}

// Whether it is a post-release of that version, and so not greater than it.
static bool is_post_of(const struct candidate *c, const struct version *version)
{
	CLEANUP(version_release) struct version before = {0};
	struct err unsaid = ERR_INIT;
	struct str text = str_from(c->public.text);
	if (c->parts.post.kind == PEP440_ABSENT)
		return false;
	text.len = (size_t)(c->parts.post.number.ptr - text.ptr) - (sizeof(".post") - 1);
	return version_parse(text, &before, &unsaid) == 0 && version_cmp(&before, version) == 0;
}

static bool admits_greater(const struct clause *k, const struct candidate *c)
{
	return version_cmp(&c->public, &k->version) > 0 && !is_post_of(c, &k->version);
}

// The longer before its own beginning.
static const struct comparison {
	const char *sign;
	bool (*takes)(struct str text);
	bool (*admits)(const struct clause *k, const struct candidate *c);
} comparisons[] = {
	{"===", is_for_identity, admits_identical},
	{"==", is_for_matching, admits_equal},
	{"!=", is_for_matching, admits_other},
	{"~=", is_for_compatible, admits_compatible},
	{"<=", is_for_order, admits_at_most},
	{">=", is_for_order, admits_at_least},
	{"<", is_for_order, admits_less},
	{">", is_for_order, admits_greater},
};

// Which comparison it is, and what stands behind its sign; NULL where that is nothing for it.
static const struct comparison *find_comparison(struct str s, struct str *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(comparisons); i++) {
		struct str sign = str_from(comparisons[i].sign);
		if (!str_starts(s, sign))
			continue;
		*text = pyspace_trim(str_slice(s, sign.len, s.len));
		return comparisons[i].takes(*text) ? &comparisons[i] : NULL;
	}
	return NULL;
}

bool specifier_set_is_valid(struct str text)
{
	struct str ignored;
	if (!str_is_utf8(text))
		return false;
	while (text.ptr) {
		struct str one = pyspace_trim(str_cut(&text, ','));
		if (one.len && !find_comparison(one, &ignored))
			return false;
	}
	return true;
}

// A pre-release of a version is less than it by its order, and yet "<" does not mean it: the border is the first of
// them. Of what is a pre-release itself it is that one.
static void set_border(struct clause *k)
{
	struct err unsaid = ERR_INIT;
	CLEANUP(mem_free) char *text = xasprintf("%s%s", k->version.text, k->version.is_prerelease ? "" : ".dev0");
	if (version_parse(str_from(text), &k->border, &unsaid) < 0)
		k->border = (struct version){0};
}

static void clause_init(struct clause *k, struct str one)
{
	struct err unsaid = ERR_INIT;
	*k = (struct clause){0};
	k->how = find_comparison(one, &k->text);
	if (k->how->takes == is_for_identity)
		return;
	struct str version = k->text;
	if (is_prefix(k))
		version.len -= sizeof(".*") - 1;
	if (!pep440_scan(version, &k->parts) || is_prefix(k))
		return;
	if (version_parse(version, &k->version, &unsaid) == 0 && k->how->admits == admits_less)
		set_border(k);
}

static void clause_release(struct clause *k)
{
	version_release(&k->version);
	version_release(&k->border);
}

// Takes the candidates off the mask that the set, a valid one, does not admit.
static uint64_t sift(struct str set, const struct candidate *c, unsigned count, uint64_t mask)
{
	while (set.ptr) {
		struct str one = pyspace_trim(str_cut(&set, ','));
		if (!one.len)
			continue;
		CLEANUP(clause_release) struct clause k;
		clause_init(&k, one);
		for (unsigned i = 0; i < count; i++)
			if (mask >> i & 1 && !k.how->admits(&k, &c[i]))
				mask &= ~(UINT64_C(1) << i);
	}
	return mask;
}

bool specifier_set_admits(struct str text, const struct version *version)
{
	CLEANUP(candidate_release) struct candidate c;
	return candidate_init(&c, version->text) == 0 && specifier_set_is_valid(text) && sift(text, &c, 1, 1) == 1;
}

bool specifier_micros(struct str text, unsigned major, unsigned minor, uint64_t *mask)
{
	struct candidate c[SPECIFIER_MICROS];
	char version[3 * sizeof("4294967295")];
	if (!specifier_set_is_valid(text))
		return false;
	*mask = UINT64_MAX;
	for (unsigned i = 0; i < SPECIFIER_MICROS; i++) {
		snprintf(version, sizeof(version), "%u.%u.%u", major, minor, i);
		if (candidate_init(&c[i], version) < 0)
			*mask &= ~(UINT64_C(1) << i);
	}
	*mask = sift(text, c, SPECIFIER_MICROS, *mask);
	for (unsigned i = 0; i < SPECIFIER_MICROS; i++)
		candidate_release(&c[i]);
	return true;
}
