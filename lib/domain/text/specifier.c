// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/specifier.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/mem.h"
#include "lib/domain/text/pep440.h"
#include "lib/domain/text/pyspace.h"

// Version matching allows a prefix (epoch and release only) and local versions.
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

// A compatible release needs a second number in its release.
static bool is_for_compatible(struct str text)
{
	struct pep440 v;
	return pep440_scan(text, &v) && !v.local.len && str_find(v.release, '.') > 0;
}

// Arbitrary equality compares text. packaging rejects characters that end a specifier within a requirement.
static bool is_for_identity(struct str text)
{
	return !pyspace_is_in(text) && str_find(text, ';') < 0 && str_find(text, ')') < 0;
}

// A version that is compared with specifiers.
struct candidate {
	struct version whole, public; // public: without its local part
	struct pep440 parts;          // of public.text
};

static int candidate_init(struct candidate *c, const char *text)
{
	struct err ignored = ERR_INIT;
	struct str whole = str_from(text);
	*c = (struct candidate){0};
	if (version_parse(whole, &c->whole, &ignored) < 0 ||
		version_parse(str_cut(&whole, '+'), &c->public, &ignored) < 0)
		return -1;
	return pep440_scan(str_from(c->public.text), &c->parts) ? 0 : -1;
}

static void candidate_release(struct candidate *c)
{
	version_release(&c->whole);
	version_release(&c->public);
}

struct version_operator;

// One specifier of a set, parsed once for any number of candidates.
struct clause {
	const struct version_operator *op;
	struct str text;        // after the operator
	struct pep440 parts;    // of the text, without ".*"
	struct version version; // zeros after "===" and with ".*", where the text is not a version
	struct version border;  // of "<": the first pre-release of the version; "<" admits what is less than it
};

// Whether the release begins with these numbers. A shorter release is extended with zeros.
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

// Whether the candidate is a post-release of the version. ">" does not admit those.
static bool is_post_of(const struct candidate *c, const struct version *version)
{
	CLEANUP(version_release) struct version before = {0};
	struct err ignored = ERR_INIT;
	struct str text = str_from(c->public.text);
	if (c->parts.post.kind == PEP440_ABSENT)
		return false;
	text.len = (size_t)(c->parts.post.number.ptr - text.ptr) - (sizeof(".post") - 1);
	return version_parse(text, &before, &ignored) == 0 && version_cmp(&before, version) == 0;
}

static bool admits_greater(const struct clause *k, const struct candidate *c)
{
	return version_cmp(&c->public, &k->version) > 0 && !is_post_of(c, &k->version);
}

// An operator comes before its own prefixes.
static const struct version_operator {
	const char *sign;
	bool (*takes)(struct str text);
	bool (*admits)(const struct clause *k, const struct candidate *c);
} operators[] = {
	{"===", is_for_identity, admits_identical},
	{"==", is_for_matching, admits_equal},
	{"!=", is_for_matching, admits_other},
	{"~=", is_for_compatible, admits_compatible},
	{"<=", is_for_order, admits_at_most},
	{">=", is_for_order, admits_at_least},
	{"<", is_for_order, admits_less},
	{">", is_for_order, admits_greater},
};

// The operator of a specifier, and the text after it. NULL if there is no operator or it does not take such a text.
static const struct version_operator *find_operator(struct str s, struct str *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		struct str sign = str_from(operators[i].sign);
		if (!str_starts(s, sign))
			continue;
		*text = pyspace_trim(str_slice(s, sign.len, s.len));
		return operators[i].takes(*text) ? &operators[i] : NULL;
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
		if (one.len && !find_operator(one, &ignored))
			return false;
	}
	return true;
}

bool specifier_set_pins(struct str text, struct str *version)
{
	struct str pinned;
	while (text.ptr) {
		const struct version_operator *op = find_operator(pyspace_trim(str_cut(&text, ',')), &pinned);
		if (!op || (op->admits != admits_identical && (op->admits != admits_equal || str_ends(pinned, STR(".*")))))
			continue;
		if (version)
			*version = pinned;
		return true;
	}
	return false;
}

bool specifier_set_names_prerelease(struct str text)
{
	struct str named;
	struct pep440 v;
	while (text.ptr) {
		const struct version_operator *op = find_operator(pyspace_trim(str_cut(&text, ',')), &named);
		if (op && op->admits != admits_other && named.len && pep440_scan(named, &v) &&
			(v.pre.kind != PEP440_ABSENT || v.dev.kind != PEP440_ABSENT))
			return true;
	}
	return false;
}

// "<1.0" does not admit pre-releases of 1.0, although they sort before it. So the border is the first of them,
// 1.0.dev0. If the version is a pre-release itself, it is the border.
static void set_border(struct clause *k)
{
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *text = xasprintf("%s%s", k->version.text, k->version.is_prerelease ? "" : ".dev0");
	if (version_parse(str_from(text), &k->border, &ignored) < 0)
		k->border = (struct version){0};
}

struct specifier_set {
	char *text; // of the clauses
	struct clause *clause;
	size_t clauses, room;
};

struct specifier_set *specifier_set_new(struct str text)
{
	if (!specifier_set_is_valid(text))
		return NULL;
	struct specifier_set *s = xcalloc(1, sizeof(*s));
	s->text = xstrndup(text.len ? text.ptr : "", text.len);
	struct str rest = str_from(s->text);
	while (rest.ptr) {
		struct str one = pyspace_trim(str_cut(&rest, ','));
		if (!one.len)
			continue;
		GROW(s->clause, s->clauses, s->room);
		struct clause *k = &s->clause[s->clauses++];
		struct err ignored = ERR_INIT;
		*k = (struct clause){0};
		k->op = find_operator(one, &k->text);
		if (k->op->takes == is_for_identity)
			continue;
		struct str version = k->text;
		if (is_prefix(k))
			version.len -= sizeof(".*") - 1;
		if (!pep440_scan(version, &k->parts) || is_prefix(k))
			continue;
		if (version_parse(version, &k->version, &ignored) == 0 && k->op->admits == admits_less)
			set_border(k);
	}
	return s;
}

void specifier_set_free(struct specifier_set *s)
{
	for (size_t i = 0; s && i < s->clauses; i++) {
		struct clause *k = &s->clause[i];
		version_release(&k->version);
		version_release(&k->border);
	}
	if (s) {
		free(s->clause);
		free(s->text);
	}
	free(s);
}

static void cleanup_set(struct specifier_set **s)
{
	specifier_set_free(*s);
}

static bool set_contains(const struct specifier_set *s, const struct candidate *c)
{
	for (size_t i = 0; i < s->clauses; i++)
		if (!s->clause[i].op->admits(&s->clause[i], c))
			return false;
	return true;
}

bool specifier_set_admits(struct str text, const struct version *version)
{
	CLEANUP(candidate_release) struct candidate c;
	if (candidate_init(&c, version->text) < 0)
		return false;
	CLEANUP(cleanup_set) struct specifier_set *s = specifier_set_new(text);
	return s && set_contains(s, &c);
}

struct specifier_version {
	struct candidate version;
};

struct specifier_version *specifier_version_new(const char *text)
{
	struct specifier_version *v = xcalloc(1, sizeof(*v));
	if (candidate_init(&v->version, text) < 0)
		specifier_version_cleanup(&v);
	return v;
}

static void free_version(struct specifier_version *v)
{
	if (v)
		candidate_release(&v->version);
	free(v);
}

void specifier_version_cleanup(struct specifier_version **v)
{
	free_version(*v);
	*v = NULL;
}

bool specifier_set_contains(const struct specifier_set *s, const struct specifier_version *v)
{
	return set_contains(s, &v->version);
}

struct specifier_minor {
	struct candidate release[SPECIFIER_MICROS];
	uint64_t valid; // bit n: release[n] is a version
};

struct specifier_minor *specifier_minor_new(unsigned major, unsigned minor)
{
	char version[3 * sizeof("4294967295")];
	struct specifier_minor *m = xcalloc(1, sizeof(*m));
	for (unsigned i = 0; i < SPECIFIER_MICROS; i++) {
		snprintf(version, sizeof(version), "%u.%u.%u", major, minor, i);
		if (candidate_init(&m->release[i], version) == 0)
			m->valid |= UINT64_C(1) << i;
	}
	return m;
}

void specifier_minor_free(struct specifier_minor *m)
{
	for (unsigned i = 0; m && i < SPECIFIER_MICROS; i++)
		candidate_release(&m->release[i]);
	free(m);
}

static void cleanup_minor(struct specifier_minor **m)
{
	specifier_minor_free(*m);
	*m = NULL;
}

bool specifier_minor_micros(const struct specifier_minor *m, struct str text, uint64_t *mask)
{
	CLEANUP(cleanup_set) struct specifier_set *s = specifier_set_new(text);
	if (!s)
		return false;
	*mask = m->valid;
	for (unsigned i = 0; i < SPECIFIER_MICROS; i++)
		if (m->valid >> i & 1 && !set_contains(s, &m->release[i]))
			*mask &= ~(UINT64_C(1) << i);
	return true;
}

bool specifier_micros(struct str text, unsigned major, unsigned minor, uint64_t *mask)
{
	CLEANUP(cleanup_minor) struct specifier_minor *m = specifier_minor_new(major, minor);
	return specifier_minor_micros(m, text, mask);
}
