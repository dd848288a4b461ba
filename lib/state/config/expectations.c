// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config/expectations.h"

#include <string.h>

#include "lib/domain/promotion/evidence.h"
#include "lib/state/config/config-type.h"

static int refuse_expected_word(const char *what, struct str word, struct err *e)
{
	return err_set(e, ERR_USAGE, "expect: \"" STR_FMT "\" is %s; it wants times and kinds, as 26h integration",
		STR_ARG(str_head(word, LIMIT_EVIDENCE_KIND)), what);
}

// "TIME KIND", off the front of *rest.
static int read_expectation(struct expectations *out, struct str *rest, struct err *e)
{
	struct expectation *x = &out->item[out->count];
	uint64_t seconds = 0;
	const struct str whole = *rest;
	if (!config_times_next(rest, &seconds) || !seconds)
		return refuse_expected_word("no time", str_cut(&(struct str){whole.ptr, whole.len}, ' '), e);
	*rest = str_trim(*rest);
	struct str kind = str_cut(rest, ' ');
	if (!evidence_kind_is_valid(kind))
		return refuse_expected_word("no kind of evidence", kind, e);
	*x = (struct expectation){arena_copy(&out->text, kind), (int64_t)seconds};
	for (size_t i = 0; i < out->count; i++)
		if (strcmp(out->item[i].kind, x->kind) == 0)
			return err_set(e, ERR_USAGE, "expect: %s stands there twice", x->kind);
	out->count++;
	return 0;
}

int expectations_read(const char *text, struct expectations *out, struct err *e)
{
	struct str rest = str_trim(str_from(text ? text : ""));
	*out = (struct expectations){0};
	while (rest.len) {
		bool has_room = out->count < LIMIT_EXPECTATIONS;
		if (!has_room)
			err_set(e, ERR_USAGE, "expect: more than %d kinds", LIMIT_EXPECTATIONS);
		if (!has_room || read_expectation(out, &rest, e) < 0) {
			expectations_release(out);
			return -1;
		}
		rest = str_trim(rest);
	}
	return 0;
}

void expectations_release(struct expectations *x)
{
	arena_release(&x->text);
	*x = (struct expectations){0};
}
