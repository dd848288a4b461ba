// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-pattern.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/os/clock.h"

enum {
	FRESH_TEXT = 16 << 10, // after so many bytes of names, regular expressions are compiled anew
	CLOCK_BYTES = 512,      // and after so many the clock is read
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

// --- the check ---

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

static int check_size(const char *regex, struct err *e)
{
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
	return 0;
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
	if (check_size(regex, e) < 0)
		return -1;
	int result = regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB); // alone: "a)(b" is valid in a group
	if (result == 0) {
		regfree(&compiled);
		return 0;
	}
	regerror(result, &compiled, why, sizeof(why));
	return err_set(e, ERR_USAGE, "\"" STR_FMT "\" is no regular expression: %s", STR_ARG(shown(text)), why);
}

// --- the use ---

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

static bool regex_matches(struct audit_matcher *m, const struct audit_pattern *p, const char *text, size_t len)
{
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
	return regex_of(p->text) ? regex_matches(m, p, text, len) : fnmatch(p->text, text, 0) == 0;
}

bool audit_matcher_is_spent(const struct audit_matcher *m)
{
	return m->is_spent;
}
