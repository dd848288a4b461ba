// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-policy.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/format/ini-file.h"
#include "lib/os/clock.h"

enum {
	FRESH_TEXT = 16 << 10, // after so many bytes of names, regular expressions are compiled anew
	CLOCK_BYTES = 512,     // and after so many the clock is read
};

static const char *regex_of(const char *text)
{
	return strncmp(text, "re:", 3) == 0 ? text + 3 : NULL;
}

// The expression in a group between anchors: an alternative in it is inside of the whole.
static int compile_whole(regex_t *out, const char *regex)
{
	CLEANUP(mem_free) char *whole = xasprintf("^(%s)$", regex);
	return regcomp(out, whole, REG_EXTENDED | REG_NOSUB);
}

// --- the check of a pattern ---

// The number of characters that an expression has when its repetitions are written out.
struct expansion {
	uint64_t before[LIMIT_AUDIT_PATTERN]; // of the groups around
	size_t depth;
	uint64_t group, last; // of the group so far, without its last part; of that part
	bool has_reference;
};

static void add_character(struct expansion *x, uint64_t size)
{
	x->group += x->last;
	x->last = size;
}

static void close_group(struct expansion *x)
{
	uint64_t size = x->group + x->last + 1;
	x->group = x->depth ? x->before[--x->depth] : 0;
	x->last = size;
}

// The greater number of "{2,5}". Behind its brace, or behind the opening one if there is no number.
static const char *take_repetition(struct expansion *x, const char *s)
{
	uint64_t most = 1;
	while (ascii_is_digit(*s) || *s == ',') {
		char *end;
		uint64_t n = *s == ',' ? 0 : strtoull(s, &end, 10);
		most = n > most ? n : most;
		s = *s == ',' ? s + 1 : end;
	}
	x->last = most > LIMIT_AUDIT_REGEX ? LIMIT_AUDIT_REGEX + 1 : x->last * most;
	return s;
}

// Behind a bracket expression, whose "[" is at s. "]" is one of its characters where it is the first.
static const char *skip_bracket(const char *s)
{
	s += s[1] == '^' ? 2 : 1;
	for (s += *s == ']'; *s && *s != ']'; s++) {
		const char close[] = {s[1], ']', '\0'}; // of "[:alpha:]", "[.x.]", "[=x=]"
		const char *end = *s == '[' && s[1] && strchr(".:=", s[1]) ? strstr(s + 2, close) : NULL;
		s = end ? end + 1 : s;
	}
	return *s ? s + 1 : s;
}

static const char *take_part(struct expansion *x, const char *s)
{
	switch (*s) {
	case '(':
		add_character(x, 0);
		x->before[x->depth++] = x->group;
		x->group = x->last = 0;
		return s + 1;
	case ')':
		close_group(x);
		return s + 1;
	case '{':
		return take_repetition(x, s + 1);
	case '[':
		add_character(x, 1);
		return skip_bracket(s);
	case '\\':
		x->has_reference |= ascii_is_digit(s[1]);
		add_character(x, 1);
		return s[1] ? s + 2 : s + 1;
	default:
		add_character(x, 1);
		return s + 1;
	}
}

static struct str shown(const char *pattern)
{
	return str_head(str_from(pattern), 100);
}

int audit_pattern_check(const char *text, struct err *e)
{
	regex_t compiled;
	char why[128] = "";
	const char *regex = regex_of(text);
	if (!*text || (regex && !*regex))
		return err_set(e, ERR_USAGE, "the pattern is empty");
	if (strlen(text) > LIMIT_AUDIT_PATTERN)
		return err_set(e, ERR_USAGE, "the pattern is longer than %d bytes", LIMIT_AUDIT_PATTERN);
	if (!regex)
		return 0;
	struct expansion x = {.depth = 0};
	uint64_t size = 0;
	for (const char *s = regex; *s && size <= LIMIT_AUDIT_REGEX;) {
		s = take_part(&x, s);
		size = x.group + x.last;
	}
	if (x.has_reference)
		return err_set(e, ERR_USAGE, "\"re:" STR_FMT "\" has a back reference, which costs too much time",
			STR_ARG(shown(regex)));
	if (size > LIMIT_AUDIT_REGEX)
		return err_set(e, ERR_USAGE, "\"re:" STR_FMT "\" repeats more than %d characters",
			STR_ARG(shown(regex)), LIMIT_AUDIT_REGEX);
	int result = regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB); // alone: "a)(b" is valid in a group
	if (result == 0) {
		regfree(&compiled);
		return 0;
	}
	regerror(result, &compiled, why, sizeof(why));
	return err_set(e, ERR_USAGE, "\"" STR_FMT "\" is no regular expression: %s", STR_ARG(shown(text)), why);
}

// --- the use of patterns ---

struct compiled_regex {
	bool is_there;
	regex_t regex;
};

struct audit_matcher {
	struct compiled_regex *compiled; // by the pattern's id
	size_t patterns;
	size_t since_fresh, since_clock; // bytes of names
	int64_t end_ms;                  // of the thread's time
	bool is_spent;
};

struct audit_matcher *audit_matcher_new(size_t patterns)
{
	struct audit_matcher *m = xcalloc(1, sizeof(*m));
	m->compiled = xcalloc(patterns + 1, sizeof(*m->compiled));
	m->patterns = patterns;
	m->end_ms = clock_thread_ms() + LIMIT_AUDIT_RULES_MS;
	return m;
}

static void drop_compiled(struct audit_matcher *m)
{
	for (size_t i = 0; i < m->patterns; i++)
		if (m->compiled[i].is_there) {
			regfree(&m->compiled[i].regex);
			m->compiled[i].is_there = false;
		}
}

void audit_matcher_free(struct audit_matcher *m)
{
	if (!m)
		return;
	drop_compiled(m);
	free(m->compiled);
	free(m);
}

bool audit_matcher_matches(struct audit_matcher *m, const struct audit_pattern *p, const char *text)
{
	size_t len = strlen(text) + 1;
	m->is_spent |= len > LIMIT_PATH;
	m->since_clock += len;
	if (m->since_clock > CLOCK_BYTES) {
		m->since_clock = 0;
		m->is_spent |= clock_thread_ms() > m->end_ms;
	}
	if (m->is_spent)
		return false;
	if (!regex_of(p->text))
		return fnmatch(p->text, text, 0) == 0;
	struct compiled_regex *c = &m->compiled[p->id];
	m->since_fresh += len;
	if (m->since_fresh > FRESH_TEXT) {
		drop_compiled(m);
		m->since_fresh = len;
	}
	if (!c->is_there && compile_whole(&c->regex, regex_of(p->text)) != 0) { // no memory: it was checked
		m->is_spent = true;
		return false;
	}
	c->is_there = true;
	int result = regexec(&c->regex, text, 0, NULL, 0);
	m->is_spent |= result != 0 && result != REG_NOMATCH;
	return result == 0;
}

bool audit_matcher_is_spent(const struct audit_matcher *m)
{
	return m->is_spent;
}

// --- values ---

static const char *const object_word[AUDIT_OBJECT_COUNT] = {
	[AUDIT_MEMBER] = "member ", [AUDIT_LIBRARY] = "library ", [AUDIT_BUNDLED] = "bundled "};

struct policy_key {
	const char *name;
	int (*read)(struct audit_policy *p, const struct policy_key *key, const char *value, struct err *e);
	size_t offset; // of the patterns in struct audit_rule
	enum audit_verb verb;
};

static struct audit_rule *last_rule(const struct audit_policy *p)
{
	return &p->rule[p->count - 1];
}

static int make_pattern(struct audit_policy *p, const char *text, struct audit_pattern *out, struct err *e)
{
	if (p->patterns == LIMIT_AUDIT_PATTERNS)
		return err_set(e, ERR_USAGE, "there are more than %d patterns", LIMIT_AUDIT_PATTERNS);
	if (audit_pattern_check(text, e) < 0)
		return -1;
	*out = (struct audit_pattern){arena_copy(&p->text, str_from(text)), p->patterns++};
	return 0;
}

static int read_pattern(struct audit_policy *p, const struct policy_key *key, const char *value, struct err *e)
{
	struct audit_patterns *to = (void *)((char *)last_rule(p) + key->offset);
	struct audit_pattern one;
	if (make_pattern(p, value, &one, e) < 0)
		return -1;
	ARENA_GROW(&p->text, to->item, to->count, to->room);
	to->item[to->count++] = one;
	return 0;
}

static int read_condition(struct audit_policy *p, const struct policy_key *key, const char *value, struct err *e)
{
	struct audit_rule *rule = last_rule(p);
	struct audit_condition one = {.verb = key->verb};
	unsigned i = 0;
	while (i < AUDIT_OBJECT_COUNT && !str_starts(str_from(value), str_from(object_word[i])))
		i++;
	bool is_good = key->verb == AUDIT_ALLOW ? i == AUDIT_LIBRARY : i < AUDIT_OBJECT_COUNT;
	if (!is_good)
		return err_set(e, ERR_USAGE, "%s: \"%s\" is not %slibrary PATTERN", key->name, value,
			key->verb == AUDIT_ALLOW ? "" : "member PATTERN, bundled PATTERN or ");
	one.object = (enum audit_object)i;
	const char *pattern = value + strlen(object_word[i]);
	if (make_pattern(p, pattern + strspn(pattern, " \t"), &one.pattern, e) < 0)
		return -1;
	ARENA_GROW(&p->text, rule->condition, rule->conditions, rule->condition_room);
	rule->condition[rule->conditions++] = one;
	return 0;
}

static int read_level(struct audit_policy *p, const struct policy_key *key UNUSED, const char *value, struct err *e)
{
	enum audit_level level = audit_level_find(value);
	if (level == AUDIT_LEVEL_COUNT)
		return err_set(e, ERR_USAGE, "level: \"%s\" is not error, warn or off", value);
	if (last_rule(p)->level != AUDIT_LEVEL_COUNT)
		return err_set(e, ERR_USAGE, "level is there twice");
	last_rule(p)->level = level;
	return 0;
}

// One code, or several with blanks between.
static int read_code(struct audit_policy *p, const struct policy_key *key UNUSED, const char *value, struct err *e)
{
	struct audit_rule *rule = last_rule(p);
	struct str rest = str_trim(str_from(value));
	do {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *name = xstrndup(word.ptr, word.len);
		enum audit_code code = audit_code_find(name);
		if (code == AUDIT_CODE_COUNT || audit_code_is_of_rule(code))
			return err_set(e, ERR_USAGE, "code: \"%s\" is no built-in code", name);
		rule->code[code] = rule->has_code = true;
		rest = str_trim(rest);
	} while (rest.len);
	return 0;
}

static const struct policy_key keys[] = {
	{"project", read_pattern, offsetof(struct audit_rule, project), 0},
	{"platform", read_pattern, offsetof(struct audit_rule, platform), 0},
	{"member", read_pattern, offsetof(struct audit_rule, member), 0},
	{"name must match", read_pattern, offsetof(struct audit_rule, must_match), 0},
	{"require", read_condition, 0, AUDIT_REQUIRE},
	{"forbid", read_condition, 0, AUDIT_FORBID},
	{"allow", read_condition, 0, AUDIT_ALLOW},
	{"code", read_code, 0, 0},
	{"level", read_level, 0, 0},
};

// --- the file ---

static int begin_rule(struct audit_policy *p, const struct ini_file_line *line, struct err *e)
{
	struct str name = str_from(line->section);
	if (!str_starts(name, STR("rule ")))
		return err_set(e, ERR_USAGE, "[%s] is no [rule NAME]", line->section);
	name = str_trim(str_slice(name, strlen("rule "), name.len));
	if (!name.len || name.len > LIMIT_NOTE || !str_is_utf8(name))
		return err_set(e, ERR_USAGE, "[%s]: a rule's name is UTF-8 of 1 to %d bytes", line->section,
			LIMIT_NOTE);
	for (size_t i = 0; i < p->count; i++)
		if (str_eq(name, str_from(p->rule[i].name)))
			return err_set(e, ERR_USAGE, "[%s] is there twice, first in line %d", line->section,
				p->rule[i].line);
	if (p->count == LIMIT_AUDIT_RULES)
		return err_set(e, ERR_USAGE, "there are more than %d rules", LIMIT_AUDIT_RULES);
	ARENA_GROW(&p->text, p->rule, p->count, p->room);
	p->rule[p->count++] = (struct audit_rule){
		.name = arena_copy(&p->text, name), .line = line->number, .level = AUDIT_LEVEL_COUNT};
	return 0;
}

static int on_policy_line(void *ctx, const struct ini_file_line *line, struct err *e)
{
	struct audit_policy *p = ctx;
	if (!line->key)
		return begin_rule(p, line, e);
	if (!p->count)
		return err_set(e, ERR_USAGE, "%s stands before the first [rule NAME]", line->key);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(line->key, keys[i].name) == 0)
			return keys[i].read(p, &keys[i], line->value, e);
	return err_set(e, ERR_USAGE, "[%s] has no key \"%s\"", line->section, line->key);
}

static const char *find_fault(const struct audit_rule *r)
{
	bool has_conditions = r->conditions || r->must_match.count;
	if (!has_conditions && !r->has_code)
		return "says nothing: it has no require, forbid, allow, name must match or code";
	if (has_conditions && r->has_code)
		return "has a code, which stands alone: put it into a rule of its own";
	return r->has_code && r->level == AUDIT_LEVEL_COUNT ? "has a code and no level" : NULL;
}

static int end_rules(struct audit_policy *p, const char *path, struct err *e)
{
	for (size_t i = 0; i < p->count; i++) {
		struct audit_rule *r = &p->rule[i];
		const char *fault = find_fault(r);
		if (fault)
			return err_set(e, ERR_USAGE, "%s:%d: [rule %s] %s", path, r->line, r->name, fault);
		if (r->level == AUDIT_LEVEL_COUNT)
			r->level = AUDIT_ERROR;
	}
	return 0;
}

int audit_policy_read(struct audit_policy *out, const char *path, struct err *e)
{
	*out = (struct audit_policy){0};
	if (!path || (ini_file_read_file(path, on_policy_line, out, e) == 0 && end_rules(out, path, e) == 0))
		return 0;
	audit_policy_release(out);
	return -1;
}

void audit_policy_release(struct audit_policy *p)
{
	arena_release(&p->text);
	*p = (struct audit_policy){0};
}
