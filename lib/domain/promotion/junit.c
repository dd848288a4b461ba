// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/promotion/junit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/markup.h"

enum junit_element {
	JUNIT_OTHER,
	JUNIT_SUITES,
	JUNIT_SUITE,
	JUNIT_CASE,
	JUNIT_FAILURE,
	JUNIT_SKIPPED,
};

static const struct {
	const char *name;
	enum junit_element element;
} names[] = {
	{"testsuites", JUNIT_SUITES},
	{"testsuite", JUNIT_SUITE},
	{"testcase", JUNIT_CASE},
	{"failure", JUNIT_FAILURE},
	{"error", JUNIT_FAILURE},
	{"skipped", JUNIT_SKIPPED},
};

struct open_element {
	enum junit_element element;
	// Of a test case, in which there may be another one, of a suite:
	bool has_failed, is_skipped;
	const char *test; // its name
};

struct junit_reader {
	struct junit *out;
	struct open_element open[LIMIT_XML_DEPTH]; // the outermost first
	unsigned depth;
	bool is_report; // the outermost element is that of a report
	struct arena names;
};

static enum junit_element element_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].element;
	return JUNIT_OTHER;
}

// Appends a text to a line as far as there is room: control characters become blanks, no character is cut.
static void append(char line[static LIMIT_JUNIT_NAME + 1], const char *text)
{
	size_t len = strlen(line);
	struct str head = str_head(str_from(text), LIMIT_JUNIT_NAME - len);
	for (size_t i = 0; i < head.len; i++)
		line[len + i] = (unsigned char)head.ptr[i] < ' ' || head.ptr[i] == 0x7f ? ' ' : head.ptr[i];
	line[len + head.len] = '\0';
}

static void begin_case(struct junit_reader *r, struct open_element *x, const char *const *attributes)
{
	const char *name = markup_attribute(attributes, "name"), *group = markup_attribute(attributes, "classname");
	const char *status = markup_attribute(attributes, "status");
	char test[LIMIT_JUNIT_NAME + 1] = "";
	x->is_skipped = status && (strcmp(status, "notrun") == 0 || strcmp(status, "disabled") == 0); // gtest, ctest
	if (group && *group) {
		append(test, group);
		append(test, "::");
	}
	append(test, name ? name : "");
	x->test = arena_strdup(&r->names, test);
}

static void keep_failure(struct junit_reader *r, const char *test, const char *const *attributes)
{
	const char *message = markup_attribute(attributes, "message");
	struct junit *j = r->out;
	char line[LIMIT_JUNIT_NAME + 1] = "";
	if (j->failures == LIMIT_JUNIT_FAILURES)
		return;
	append(line, message ? message : "");
	j->failure[j->failures++] =
		(struct junit_failure){arena_copy(&j->text, str_from(test)), arena_copy(&j->text, str_from(line))};
}

// An error or failure counts once for its test case, and by itself where it is of a whole suite.
static void begin_failure(struct junit_reader *r, struct open_element *parent, const char *const *attributes)
{
	if (parent->element == JUNIT_CASE && !parent->has_failed) {
		parent->has_failed = true;
		keep_failure(r, parent->test, attributes);
	} else if (parent->element == JUNIT_SUITE || parent->element == JUNIT_SUITES) {
		r->out->failed++;
		keep_failure(r, "", attributes);
	}
}

static void on_begin(void *ctx, const char *name, const char *const *attributes)
{
	struct junit_reader *r = ctx;
	struct open_element none = {0}, *parent = r->depth ? &r->open[r->depth - 1] : &none, *x = &r->open[r->depth];
	*x = (struct open_element){.element = element_of(name)};
	if (!r->depth++)
		r->is_report = x->element == JUNIT_SUITES || x->element == JUNIT_SUITE;
	if (x->element == JUNIT_CASE && parent->element != JUNIT_SUITE && parent->element != JUNIT_SUITES)
		x->element = JUNIT_OTHER;
	if (x->element == JUNIT_CASE)
		begin_case(r, x, attributes);
	else if (x->element == JUNIT_FAILURE)
		begin_failure(r, parent, attributes);
	else if (x->element == JUNIT_SKIPPED)
		parent->is_skipped = true;
}

static void on_end(void *ctx, const char *name UNUSED)
{
	struct junit_reader *r = ctx;
	const struct open_element *x = &r->open[--r->depth];
	if (x->element != JUNIT_CASE)
		return;
	uint64_t *count = x->has_failed ? &r->out->failed : x->is_skipped ? &r->out->skipped : &r->out->passed;
	(*count)++;
}

int junit_read(struct str xml, struct junit *out, struct err *e)
{
	static const struct markup_handler handler = {.begin = on_begin, .end = on_end};
	struct junit_reader r = {.out = out};
	*out = (struct junit){0};
	if (xml.len > LIMIT_JUNIT)
		return err_set(e, ERR_LIMIT, "a test report of more than %d bytes", LIMIT_JUNIT);
	out->failure = xcalloc(LIMIT_JUNIT_FAILURES, sizeof(*out->failure));
	int result = markup_read_xml(xml, &handler, &r, e);
	arena_release(&r.names);
	if (result == 0 && !r.is_report)
		result = err_set(e, ERR_INVALID, "neither <testsuites> nor <testsuite> is its outermost element");
	if (result < 0) {
		junit_release(out);
		return err_prefix(e, "test report: ");
	}
	return 0;
}

void junit_release(struct junit *j)
{
	free(j->failure);
	arena_release(&j->text);
	*j = (struct junit){0};
}
