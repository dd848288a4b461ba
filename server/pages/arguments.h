// SPDX-License-Identifier: Apache-2.0
// The query of a page, read and checked before anything is looked up. What does not have the form of its parameter is
// refused here, in the same words on every page; a well-formed name that is unknown is for the page. Any thread.
#pragma once

#include "server/message/reply.h"
#include "server/message/request.h"

// Globs have "*", "?" and "[…]"; a list has blanks or commas between. Empty text has every form.
enum argument_form {
	FORM_TEXT,  // any
	FORM_WORDS, // a list of any words
	FORM_PYTHON,
	FORM_PYTHONS, // a list of Pythons and globs
	FORM_PLATFORM,
	FORM_PLATFORM_GLOB,
	FORM_PLATFORMS, // a list of platforms and globs
	FORM_PROJECT,
	FORM_PROJECT_GLOB,
	FORM_PROJECTS, // a list of projects and globs
	FORM_VIEW,
	FORM_COUNT,
};

struct arguments {
	char text[ARGUMENT_COUNT][REQUEST_ARGUMENT_SIZE]; // decoded; "": not given. Not ARGUMENT_CHOSEN
};

// form: of each parameter. NULL, or the 400, which the caller drops. Lists have single blanks for commas.
struct reply *arguments_read(const struct request *r, const enum argument_form form[ARGUMENT_COUNT],
	struct arguments *out);
// The number of rows that is asked for: usual where none is, at most `most`.
size_t arguments_limit(const struct arguments *a, size_t usual, size_t most);
// 400 with what is wrong; what: a literal.
struct reply *arguments_refuse(const char *what);
