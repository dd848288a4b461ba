// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/machine/marker.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/pyspace.h"
#include "lib/domain/text/specifier.h"

enum variable {
	DEPENDENCY_GROUPS,
	EXTRA,
	EXTRAS,
	IMPLEMENTATION_NAME,
	IMPLEMENTATION_VERSION,
	OS_NAME,
	PLATFORM_MACHINE,
	PLATFORM_PYTHON_IMPLEMENTATION,
	PLATFORM_RELEASE,
	PLATFORM_SYSTEM,
	PLATFORM_VERSION,
	PYTHON_FULL_VERSION,
	PYTHON_VERSION,
	SYS_PLATFORM,
	VARIABLE_COUNT,
	NO_VARIABLE = VARIABLE_COUNT, // a quoted text
};

enum kind { KIND_TEXT, KIND_VERSION, KIND_NAME, KIND_SET };

static const enum kind kind_of[VARIABLE_COUNT] = {
	[DEPENDENCY_GROUPS] = KIND_SET,
	[EXTRA] = KIND_NAME,
	[EXTRAS] = KIND_SET,
	[IMPLEMENTATION_VERSION] = KIND_VERSION,
	[PLATFORM_RELEASE] = KIND_VERSION,
	[PYTHON_FULL_VERSION] = KIND_VERSION,
	[PYTHON_VERSION] = KIND_VERSION,
};

static const struct variable_name {
	const char *text;
	enum variable variable;
} spellings[] = {
	{"dependency_groups", DEPENDENCY_GROUPS},
	{"extra", EXTRA},
	{"extras", EXTRAS},
	{"implementation_name", IMPLEMENTATION_NAME},
	{"implementation_version", IMPLEMENTATION_VERSION},
	{"os.name", OS_NAME},
	{"os_name", OS_NAME},
	{"platform.machine", PLATFORM_MACHINE},
	{"platform.python_implementation", PLATFORM_PYTHON_IMPLEMENTATION},
	{"platform.version", PLATFORM_VERSION},
	{"platform_machine", PLATFORM_MACHINE},
	{"platform_python_implementation", PLATFORM_PYTHON_IMPLEMENTATION},
	{"platform_release", PLATFORM_RELEASE},
	{"platform_system", PLATFORM_SYSTEM},
	{"platform_version", PLATFORM_VERSION},
	{"python_full_version", PYTHON_FULL_VERSION},
	{"python_implementation", PLATFORM_PYTHON_IMPLEMENTATION},
	{"python_version", PYTHON_VERSION},
	{"sys.platform", SYS_PLATFORM},
	{"sys_platform", SYS_PLATFORM},
};

enum { VERSION_SIZE = 3 * sizeof("4294967295") };

// The values of the variables on one release of a Python.
struct values {
	const char *of[VARIABLE_COUNT];
	char python[VERSION_SIZE], full[VERSION_SIZE];
};

// --- reading ---

struct reader {
	struct str rest;
	const struct values *values;
	const struct marker_choice *choice; // NULL: nothing is asked for
	unsigned depth;
	bool asks_micro; // a variable was read that has the micro version
};

static void skip_blanks(struct reader *r)
{
	while (r->rest.len && (r->rest.ptr[0] == ' ' || r->rest.ptr[0] == '\t'))
		r->rest = str_slice(r->rest, 1, r->rest.len);
}

static bool is_of_word(char c)
{
	return ascii_is_alnum(c) || c == '_' || c == '.';
}

static struct str peek_word(const struct reader *r)
{
	size_t len = 0;
	while (len < r->rest.len && is_of_word(r->rest.ptr[len]))
		len++;
	return str_slice(r->rest, 0, len);
}

static bool cut_word(struct reader *r, const char *word)
{
	skip_blanks(r);
	struct str next = peek_word(r);
	if (!str_eq(next, str_from(word)))
		return false;
	r->rest = str_slice(r->rest, next.len, r->rest.len);
	return true;
}

static int fail(const struct reader *r, const char *expected, struct err *e)
{
	if (!r->rest.len)
		return err_set(e, ERR_INVALID, "the marker ends where %s is expected", expected);
	struct str shown = str_head(r->rest, 40);
	return err_set(e, ERR_INVALID, "the marker has \"" STR_FMT "\" where %s is expected", STR_ARG(shown), expected);
}

// One side of a comparison.
struct side {
	enum variable variable;
	struct str text; // the quoted text, or the value of the variable
};

static int read_text(struct reader *r, struct side *out, struct err *e)
{
	struct str behind = str_slice(r->rest, 1, r->rest.len);
	long end = str_find(behind, r->rest.ptr[0]);
	if (end < 0)
		return err_set(e, ERR_INVALID, "the marker has a quote without an end");
	out->variable = NO_VARIABLE;
	out->text = str_slice(behind, 0, (size_t)end);
	if (str_find(out->text, '\\') >= 0)
		return err_set(e, ERR_INVALID, "the marker has a backslash in a text");
	r->rest = str_slice(behind, (size_t)end + 1, behind.len);
	return 0;
}

static int read_side(struct reader *r, struct side *out, struct err *e)
{
	skip_blanks(r);
	if (r->rest.len && (r->rest.ptr[0] == '"' || r->rest.ptr[0] == '\''))
		return read_text(r, out, e);
	struct str word = peek_word(r);
	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
		if (!str_eq(word, str_from(spellings[i].text)))
			continue;
		out->variable = spellings[i].variable;
		out->text = str_from(r->values->of[out->variable]);
		r->asks_micro |= out->variable == PYTHON_FULL_VERSION || out->variable == IMPLEMENTATION_VERSION;
		r->rest = str_slice(r->rest, word.len, r->rest.len);
		return 0;
	}
	return fail(r, "a variable or a quoted text", e);
}

enum comparison { OP_IN, OP_NOT_IN, OP_ARBITRARY, OP_EQ, OP_COMPATIBLE, OP_NE, OP_LE, OP_GE, OP_LT, OP_GT, OP_COUNT };

// The longer one of two that begin alike comes first.
static const char *const symbol_of[OP_COUNT] = {
	[OP_ARBITRARY] = "===",
	[OP_EQ] = "==",
	[OP_COMPATIBLE] = "~=",
	[OP_NE] = "!=",
	[OP_LE] = "<=",
	[OP_GE] = ">=",
	[OP_LT] = "<",
	[OP_GT] = ">",
};

static int read_comparison_operator(struct reader *r, enum comparison *out, struct err *e)
{
	if (cut_word(r, "in")) {
		*out = OP_IN;
		return 0;
	}
	if (cut_word(r, "not")) {
		*out = OP_NOT_IN;
		return cut_word(r, "in") ? 0 : fail(r, "\"in\"", e);
	}
	for (int i = OP_ARBITRARY; i < OP_COUNT; i++) {
		struct str symbol = str_from(symbol_of[i]);
		if (!str_starts(r->rest, symbol))
			continue;
		*out = (enum comparison)i;
		r->rest = str_slice(r->rest, symbol.len, r->rest.len);
		return 0;
	}
	return fail(r, "an operator", e);
}

// --- comparing ---

static bool contains(struct str text, struct str part)
{
	return part.len == 0 || (part.len <= text.len && memmem(text.ptr, text.len, part.ptr, part.len));
}

// Whether the operator and the right side are one specifier for packaging. "===" takes any text in one word.
static bool is_specifier(enum comparison op, struct str right, struct str specifier)
{
	right = pyspace_trim(right);
	if (op == OP_ARBITRARY)
		return !pyspace_is_in(right) && str_find(right, ';') < 0 && str_find(right, ')') < 0;
	return str_find(right, ',') < 0 && specifier_set_is_valid(specifier);
}

// False if the operator and the right side are no specifier.
static bool compare_versions(struct str left, enum comparison op, struct str right, bool *holds)
{
	CLEANUP(mem_free) char *specifier = xasprintf("%s" STR_FMT, symbol_of[op], STR_ARG(right));
	CLEANUP(version_release) struct version version = {0};
	struct err unsaid = ERR_INIT;
	if (!is_specifier(op, right, str_from(specifier)))
		return false;
	if (op == OP_ARBITRARY)
		*holds = str_eq_nocase(left, pyspace_trim(right));
	else
		*holds = version_parse(left, &version, &unsaid) == 0 &&
			 specifier_set_admits(str_from(specifier), &version);
	return true;
}

static int compare_texts(struct str left, enum comparison op, struct str right, bool *holds, struct err *e)
{
	switch (op) {
	case OP_IN:
	case OP_NOT_IN:
		*holds = contains(right, left) == (op == OP_IN);
		return 0;
	case OP_EQ:
	case OP_LE:
	case OP_GE: // texts have no order
		*holds = str_eq(left, right);
		return 0;
	case OP_NE:
		*holds = !str_eq(left, right);
		return 0;
	case OP_LT:
	case OP_GT:
		*holds = false;
		return 0;
	case OP_ARBITRARY:
	case OP_COMPATIBLE:
	case OP_COUNT:
		break;
	}
	return err_set(e, ERR_INVALID,
		"the marker compares \"" STR_FMT "\" and \"" STR_FMT "\" by %s, which only versions can be",
		STR_ARG(left), STR_ARG(right), symbol_of[op]);
}

// Both sides are normal forms (PEP 685).
static int compare_names(struct str left, enum comparison op, struct str right, bool *holds, struct err *e)
{
	CLEANUP(buf_release) struct buf a, b;
	buf_init(&a, left.len);
	buf_init(&b, right.len);
	name_normalize(left, &a);
	name_normalize(right, &b);
	return compare_texts(buf_view(&a), op, buf_view(&b), holds, e);
}

// "extra-3-foo-cpu", "group-3-foo-dev", "project-3-foo": uv's names of what excludes other extras.
static bool is_of_conflict(struct str name)
{
	static const char *const kinds[] = {"extra-", "group-", "project-"};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(kinds[i]);
		if (str_starts(name, str_from(kinds[i])) && name.len > len && ascii_is_digit(name.ptr[len]))
			return true;
	}
	return false;
}

static bool is_chosen(struct str name, const char *const *list, size_t count)
{
	CLEANUP(buf_release) struct buf normal = buf_up_to(name.len), one = buf_up_to(LIMIT_MARKER);
	name_normalize(name, &normal);
	for (size_t i = 0; i < count; i++) {
		buf_clear(&one);
		name_normalize(str_from(list[i]), &one);
		if (str_eq(buf_view(&normal), buf_view(&one)))
			return true;
	}
	return false;
}

// What a comparison with an extra, extras or groups says of a choice.
static bool holds_for_choice(const struct marker_choice *c, enum variable variable, enum comparison op, struct str name)
{
	bool is_group = variable == DEPENDENCY_GROUPS, is_not = op == OP_NOT_IN || op == OP_NE;
	if (is_group ? c->all_groups : c->all_extras || is_of_conflict(name))
		return true;
	return is_chosen(name, is_group ? c->group : c->extra, is_group ? c->groups : c->extras) != is_not;
}

static int compare(const struct reader *r, const struct side *left, enum comparison op, const struct side *right,
	bool *holds, struct err *e)
{
	enum variable variable = left->variable != NO_VARIABLE ? left->variable : right->variable;
	if ((left->variable == NO_VARIABLE) == (right->variable == NO_VARIABLE))
		return err_set(e, ERR_INVALID, "the marker compares two %s, not a variable with a text",
			variable == NO_VARIABLE ? "texts" : "variables");
	switch (kind_of[variable]) {
	case KIND_SET:
		if (right->variable == NO_VARIABLE || (op != OP_IN && op != OP_NOT_IN))
			return err_set(e, ERR_INVALID, "the marker asks a set something else than what is in it");
		*holds = r->choice ? holds_for_choice(r->choice, variable, op, left->text) : op == OP_NOT_IN;
		return 0;
	case KIND_NAME:
		if (r->choice && (op == OP_EQ || op == OP_NE)) {
			*holds = holds_for_choice(r->choice, variable, op,
				left->variable == NO_VARIABLE ? left->text : right->text);
			return 0;
		}
		return compare_names(left->text, op, right->text, holds, e);
	case KIND_VERSION:
		if (op > OP_NOT_IN && compare_versions(left->text, op, right->text, holds))
			return 0;
		break;
	case KIND_TEXT:
		break;
	}
	return compare_texts(left->text, op, right->text, holds, e);
}

// --- the expression ---

static int read_or(struct reader *r, bool *holds, struct err *e);

static int read_atom(struct reader *r, bool *holds, struct err *e)
{
	skip_blanks(r);
	if (!str_starts(r->rest, STR("("))) {
		struct side left, right;
		enum comparison op;
		if (read_side(r, &left, e) < 0 || read_comparison_operator(r, &op, e) < 0 ||
			read_side(r, &right, e) < 0)
			return -1;
		return compare(r, &left, op, &right, holds, e);
	}
	if (++r->depth > LIMIT_MARKER_DEPTH)
		return err_set(e, ERR_LIMIT, "the marker's parentheses are nested more than %d deep",
			LIMIT_MARKER_DEPTH);
	r->rest = str_slice(r->rest, 1, r->rest.len);
	if (read_or(r, holds, e) < 0)
		return -1;
	skip_blanks(r);
	if (!str_starts(r->rest, STR(")")))
		return fail(r, "\")\"", e);
	r->rest = str_slice(r->rest, 1, r->rest.len);
	r->depth--;
	return 0;
}

// All of it is read, whatever the first part says: an error anywhere is one.
static int read_and(struct reader *r, bool *holds, struct err *e)
{
	if (read_atom(r, holds, e) < 0)
		return -1;
	while (cut_word(r, "and")) {
		bool more;
		if (read_atom(r, &more, e) < 0)
			return -1;
		*holds = *holds && more;
	}
	return 0;
}

static int read_or(struct reader *r, bool *holds, struct err *e)
{
	if (read_and(r, holds, e) < 0)
		return -1;
	while (cut_word(r, "or")) {
		bool more;
		if (read_and(r, &more, e) < 0)
			return -1;
		*holds = *holds || more;
	}
	return 0;
}

static int evaluate(struct str marker, const struct values *values, const struct marker_choice *choice, bool *holds,
	bool *asks_micro, struct err *e)
{
	struct reader r = {.rest = marker, .values = values, .choice = choice};
	if (marker.len > LIMIT_MARKER)
		return err_set(e, ERR_LIMIT, "the marker is longer than %d bytes", LIMIT_MARKER);
	if (read_or(&r, holds, e) < 0)
		return -1;
	skip_blanks(&r);
	*asks_micro = r.asks_micro;
	return r.rest.len ? fail(&r, "its end", e) : 0;
}

int marker_micros_chosen(struct str marker, const struct machine *machine, const struct python *python,
	const struct marker_choice *choice, uint64_t *micros, struct err *e)
{
	uint64_t mask = 0;
	bool holds, asks_micro = true;
	for (unsigned micro = 0; micro < SPECIFIER_MICROS && asks_micro; micro++) {
		struct values values;
		struct values *v = &values;
		*v = (struct values){.of = {
					     [DEPENDENCY_GROUPS] = "",
					     [EXTRA] = "",
					     [EXTRAS] = "",
					     [IMPLEMENTATION_NAME] = python->is_pypy ? "pypy" : "cpython",
					     [OS_NAME] = "posix",
					     [PLATFORM_MACHINE] = machine->arch,
					     [PLATFORM_PYTHON_IMPLEMENTATION] = python->is_pypy ? "PyPy" : "CPython",
					     [PLATFORM_RELEASE] = "",
					     [PLATFORM_SYSTEM] = "Linux",
					     [PLATFORM_VERSION] = "",
					     [SYS_PLATFORM] = "linux",
				     }};
		snprintf(v->python, sizeof(v->python), "%u.%u", python->major, python->minor);
		snprintf(v->full, sizeof(v->full), "%u.%u.%u", python->major, python->minor, micro);
		v->of[PYTHON_VERSION] = v->python;
		v->of[PYTHON_FULL_VERSION] = v->full;
		v->of[IMPLEMENTATION_VERSION] = python->is_pypy ? "" : v->full;
		if (evaluate(marker, &values, choice, &holds, &asks_micro, e) < 0)
			return -1;
		mask |= !holds ? 0 : asks_micro ? UINT64_C(1) << micro : UINT64_MAX;
	}
	*micros = mask;
	return 0;
}

int marker_micros(struct str marker, const struct machine *machine, const struct python *python, uint64_t *micros,
	struct err *e)
{
	return marker_micros_chosen(marker, machine, python, NULL, micros, e);
}

int marker_check(struct str marker, struct err *e)
{
	uint64_t micros;
	return marker_micros(marker, &(struct machine){.arch = "x86_64"}, &(struct python){.major = 3, .minor = 12},
		&micros, e);
}
