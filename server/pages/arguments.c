// SPDX-License-Identifier: Apache-2.0
#include "server/pages/arguments.h"

#include <string.h>

#include "lib/base/decimal.h"
#include "lib/domain/machine/environment.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/name.h"

struct reply *arguments_refuse(const char *what)
{
	struct reply *r = reply_text(400, "400 Bad Request: %s", what);
	reply_header(r, "Cache-Control", "no-store");
	return r;
}

static bool is_python(struct str s)
{
	struct python python;
	struct err ignored = ERR_INIT;
	return python_parse(s, &python, &ignored) == 0;
}

static bool is_view(struct str s)
{
	return str_eq(s, STR("simple")) || platform_name_is_valid(s);
}

static bool has_glob_bytes(struct str s)
{
	return memchr(s.ptr, '*', s.len) || memchr(s.ptr, '?', s.len) || memchr(s.ptr, '[', s.len);
}

static bool is_glob(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!ascii_is_alnum(s.ptr[i]) && !memchr("._-*?[]!^", s.ptr[i], 9))
			return false;
	return has_glob_bytes(s);
}

static const struct {
	bool (*is_good)(struct str s); // a word
	bool may_be_glob, is_list;
	const char *refusal;
} forms[FORM_COUNT] = {
	[FORM_TEXT] = {NULL, false, false, ""},
	[FORM_WORDS] = {NULL, false, true, ""},
	[FORM_PYTHON] = {is_python, false, false, "python is a version of Python, such as 3.12, 3.13t or pp311"},
	[FORM_PYTHONS] = {is_python, true, true,
		"python is a list of Pythons, such as 3.12, 3.13t and pp311, and globs, such as 3.*"},
	[FORM_PLATFORM] = {platform_name_is_valid, false, false, "platform is the name of a platform"},
	[FORM_PLATFORM_GLOB] = {platform_name_is_valid, true, false,
		"platform is the name of a platform, or a glob, such as ubuntu-*"},
	[FORM_PLATFORMS] = {platform_name_is_valid, true, true,
		"platforms is a list of names of platforms and globs, such as ubuntu-*"},
	[FORM_PROJECT] = {name_is_valid, false, false, "project is the name of a project"},
	[FORM_PROJECT_GLOB] = {name_is_valid, true, false,
		"project is the name of a project, or a glob, such as zope-*"},
	[FORM_PROJECTS] = {name_is_valid, true, true,
		"projects is a list of names of projects and globs, such as zope-*"},
	[FORM_VIEW] = {is_view, false, false, "view is the name of a view or a platform"},
};

static bool has_form(char *text, enum argument_form form)
{
	for (char *at = text; forms[form].is_list && *at; at++)
		*at = *at == ',' ? ' ' : *at;
	struct str rest = str_from(text);
	while (forms[form].is_good && rest.len) {
		struct str word = forms[form].is_list ? str_cut(&rest, ' ') : rest;
		rest = forms[form].is_list ? rest : STR("");
		if (word.len && !forms[form].is_good(word) && !(forms[form].may_be_glob && is_glob(word)))
			return false;
	}
	return true;
}

struct reply *arguments_read(const struct request *r, const enum argument_form form[ARGUMENT_COUNT],
	struct arguments *out)
{
	for (int i = 0; i < ARGUMENT_COUNT; i++) {
		out->text[i][0] = '\0';
		if (i != ARGUMENT_CHOSEN && !request_read_argument(r, (enum request_argument)i, out->text[i]))
			return arguments_refuse("a part of the query is malformed or too long");
		if (!has_form(out->text[i], form[i]))
			return arguments_refuse(forms[form[i]].refusal);
	}
	return NULL;
}

size_t arguments_limit(const struct arguments *a, size_t usual, size_t most)
{
	uint64_t limit = 0;
	struct str digits = str_from(a->text[ARGUMENT_LIMIT]);
	decimal_cut(&digits, most, &limit);
	return limit ? (size_t)limit : usual;
}
