// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-rules.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/facts/library-name.h"
#include "lib/format/escape.h"

enum { OFFENDERS_SHOWN = 5, OFFENDER_SHOWN = 200 }; // bytes of the name of one

struct audit_rules {
	const struct audit_policy *policy;
	struct audit_matcher *matcher; // NULL: there are no rules
	bool *applies;                 // by rule: to this project and platform
};

static bool matches_any(struct audit_rules *r, const struct audit_patterns *any, const char *text)
{
	for (size_t i = 0; i < any->count; i++)
		if (audit_matcher_matches(r->matcher, &any->item[i], text))
			return true;
	return !any->count;
}

static bool rule_applies(struct audit_rules *r, const struct audit_rule *rule, const char *project,
	const char *platform)
{
	if (rule->platform.count && !platform)
		return false;
	return matches_any(r, &rule->project, project) && matches_any(r, &rule->platform, platform ? platform : "");
}

struct audit_rules *audit_rules_new(const struct audit_policy *policy, const char *project, const char *platform)
{
	struct audit_rules *r = xcalloc(1, sizeof(*r));
	r->policy = policy;
	if (!policy || !policy->count)
		return r;
	r->matcher = audit_matcher_new(policy->patterns);
	r->applies = xcalloc(policy->count, sizeof(*r->applies));
	for (size_t i = 0; i < policy->count; i++)
		r->applies[i] = rule_applies(r, &policy->rule[i], project, platform);
	return r;
}

static void free_rules(struct audit_rules *r)
{
	if (!r)
		return;
	audit_matcher_free(r->matcher);
	free(r->applies);
	free(r);
}

void audit_rules_cleanup(struct audit_rules **r)
{
	free_rules(STEAL_PTR(*r));
}

// The next rule that applies, from *i on; NULL: there is none.
static const struct audit_rule *next_rule(const struct audit_rules *r, size_t *i)
{
	while (r->matcher && *i < r->policy->count) {
		size_t at = (*i)++;
		if (r->applies[at])
			return &r->policy->rule[at];
	}
	return NULL;
}

static bool rule_allows(struct audit_rules *r, const struct audit_rule *rule, const char *library)
{
	for (size_t i = 0; i < rule->conditions; i++)
		if (rule->condition[i].verb == AUDIT_ALLOW && rule->level != AUDIT_OFF &&
			audit_matcher_matches(r->matcher, &rule->condition[i].pattern, library))
			return true;
	return false;
}

bool audit_rules_allow(struct audit_rules *r, const char *member, const char *library)
{
	const struct audit_rule *rule;
	for (size_t i = 0; (rule = next_rule(r, &i));)
		if (rule_allows(r, rule, library) && matches_any(r, &rule->member, member))
			return true;
	return false;
}

enum audit_level audit_rules_level(struct audit_rules *r, enum audit_code code, const char *member)
{
	enum audit_level level = audit_code_level(code);
	const struct audit_rule *rule;
	for (size_t i = 0; (rule = next_rule(r, &i));)
		if (rule->code[code] && (member ? matches_any(r, &rule->member, member) : !rule->member.count))
			level = rule->level;
	return level;
}

// --- conditions ---

// One condition of a rule on the way through a wheel.
struct judging {
	struct audit_rules *rules;
	const struct audit_rule *rule;
	const struct wheel_facts *facts;
	const struct audit_pattern *wanted; // any of them
	size_t patterns;
	bool offends; // what matches; otherwise what does not
	size_t matches, offenders;
	const char *member;  // of the first offender
	struct buf names;    // of the first ones
	const char *pattern; // for people
};

// Control characters, which only names in ELF files may have, become "?".
static void add_name(struct buf *out, const char *name)
{
	escape_terminal(out, str_head(str_from(name), OFFENDER_SHOWN));
}

static void note_offender(struct judging *j, const char *member, const char *name)
{
	if (!j->offenders++)
		j->member = member;
	if (j->offenders > OFFENDERS_SHOWN)
		return;
	buf_puts(&j->names, j->offenders == 1 ? "" : ", ");
	add_name(&j->names, name);
	if (name == member)
		return;
	buf_puts(&j->names, " (");
	add_name(&j->names, member);
	buf_putc(&j->names, ')');
}

static bool is_wanted(struct judging *j, const char *name)
{
	for (size_t i = 0; name && i < j->patterns; i++)
		if (audit_matcher_matches(j->rules->matcher, &j->wanted[i], name))
			return true;
	return false;
}

static void take_thing(struct judging *j, const char *member, const char *name, bool matches)
{
	j->matches += matches;
	if (matches == j->offends)
		note_offender(j, member, name);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool looks_at(struct judging *j, const char *member)
{
	return !audit_matcher_is_spent(j->rules->matcher) && matches_any(j->rules, &j->rule->member, member);
}

static void judge_members(struct judging *j)
{
	for (size_t i = 0; i < j->facts->members; i++) {
		const char *path = j->facts->member[i];
		if (looks_at(j, path))
			take_thing(j, path, path, is_wanted(j, path));
	}
}

static void judge_libraries(struct judging *j)
{
	for (size_t i = 0; i < j->facts->elfs; i++) {
		const struct wheel_elf *elf = &j->facts->elf[i];
		if (elf->damage || !looks_at(j, elf->path))
			continue;
		for (size_t k = 0; k < elf->elf.needed.count; k++)
			take_thing(j, elf->path, elf->elf.needed.item[k], is_wanted(j, elf->elf.needed.item[k]));
	}
}

static bool is_wanted_library(struct judging *j, const char *name)
{
	CLEANUP(buf_release) struct buf plain = buf_up_to(LIMIT_ELF_STRING);
	if (name && wheel_library_is_hashed(str_from(name), &plain) && is_wanted(j, plain.data))
		return true;
	return is_wanted(j, name);
}

static void judge_bundled(struct judging *j)
{
	for (size_t i = 0; i < j->facts->elfs; i++) {
		const struct wheel_elf *elf = &j->facts->elf[i];
		const char *soname = elf->damage ? NULL : elf->elf.soname;
		if (looks_at(j, elf->path))
			take_thing(j, elf->path, elf->path,
				is_wanted_library(j, base_name(elf->path)) || is_wanted_library(j, soname));
	}
}

// --- findings ---

struct verdict_sink {
	audit_rules_fn *fn;
	void *ctx;
};

static void report(const struct judging *j, const struct verdict_sink *to, enum audit_code code, const char *member,
	const char *words)
{
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_AUDIT_WHY);
	buf_printf(&why, "%s %s", words, j->pattern);
	if (member) {
		buf_puts(&why, ": ");
		buf_str(&why, buf_view(&j->names));
		if (j->offenders > OFFENDERS_SHOWN)
			buf_printf(&why, " and %zu more", j->offenders - OFFENDERS_SHOWN);
	}
	to->fn(to->ctx, code, j->rule->level, j->rule->name, member, why.data);
}

static void judge_condition(struct judging *j, const struct audit_condition *c, const struct verdict_sink *to)
{
	static void (*const judge[AUDIT_OBJECT_COUNT])(struct judging *) = {
		[AUDIT_MEMBER] = judge_members, [AUDIT_LIBRARY] = judge_libraries, [AUDIT_BUNDLED] = judge_bundled};
	static const char *const lacks[AUDIT_OBJECT_COUNT] = {
		[AUDIT_MEMBER] = "it has no member",
		[AUDIT_LIBRARY] = "it needs no library",
		[AUDIT_BUNDLED] = "it has no library",
	};
	static const char *const has[AUDIT_OBJECT_COUNT] = {
		[AUDIT_MEMBER] = "it has a member",
		[AUDIT_LIBRARY] = "it needs a library",
		[AUDIT_BUNDLED] = "it has a library",
	};
	judge[c->object](j);
	if (audit_matcher_is_spent(j->rules->matcher))
		return;
	if (c->verb == AUDIT_REQUIRE && !j->matches)
		report(j, to, AUDIT_RULE_REQUIRED, NULL, lacks[c->object]);
	if (c->verb == AUDIT_FORBID && j->offenders)
		report(j, to, AUDIT_RULE_FORBIDDEN, j->member, has[c->object]);
}

static void apply_condition(struct audit_rules *r, const struct audit_rule *rule, const struct wheel_facts *facts,
	const struct audit_condition *c, const struct verdict_sink *to)
{
	struct judging j = {
		.rules = r, .rule = rule, .facts = facts, .wanted = &c->pattern, .patterns = 1, .offends = true};
	j.pattern = c->pattern.text;
	buf_init(&j.names, LIMIT_AUDIT_WHY);
	if (c->verb != AUDIT_ALLOW)
		judge_condition(&j, c, to);
	buf_release(&j.names);
}

static void apply_rule(struct audit_rules *r, const struct audit_rule *rule, const struct wheel_facts *facts,
	const struct verdict_sink *to)
{
	for (size_t i = 0; i < rule->conditions; i++)
		apply_condition(r, rule, facts, &rule->condition[i], to);
	if (rule->must_match.count) {
		const struct audit_patterns *must = &rule->must_match;
		struct judging j = {
			.rules = r, .rule = rule, .facts = facts, .wanted = must->item, .patterns = must->count};
		j.pattern = must->count == 1 ? must->item[0].text : "any pattern of the rule";
		buf_init(&j.names, LIMIT_AUDIT_WHY);
		for (size_t i = 0; i < j.facts->members; i++) {
			const char *path = j.facts->member[i], *name = base_name(path);
			if (*name && looks_at(&j, path)) // not a folder
				take_thing(&j, path, path, is_wanted(&j, name));
		}
		if (j.offenders && !audit_matcher_is_spent(r->matcher))
			report(&j, to, AUDIT_RULE_NAME, j.member, "a name does not match");
		buf_release(&j.names);
	}
}

void audit_rules_apply(struct audit_rules *r, const struct wheel_facts *facts, audit_rules_fn *fn, void *ctx)
{
	const struct verdict_sink to = {fn, ctx};
	const struct audit_rule *rule;
	bool has_conditions = false;
	for (size_t i = 0; (rule = next_rule(r, &i));) {
		if (rule->has_code || rule->level == AUDIT_OFF)
			continue;
		has_conditions = true;
		apply_rule(r, rule, facts, &to);
	}
	if (r->matcher && audit_matcher_is_spent(r->matcher))
		fn(ctx, AUDIT_RULE_UNJUDGED, AUDIT_ERROR, NULL, NULL,
			"its names take more time than the rules of the policy may use");
	else if (has_conditions && facts->is_cut)
		fn(ctx, AUDIT_RULE_UNJUDGED, AUDIT_ERROR, NULL, NULL,
			"it was not read to its end, so the rules of the policy were not applied to all of it");
}
