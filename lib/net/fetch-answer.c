// SPDX-License-Identifier: Apache-2.0
#include "lib/net/fetch-answer.h"

#include <limits.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/str.h"

void fetch_answer_init(struct fetch_answer *a, size_t limit)
{
	*a = (struct fetch_answer){0};
	buf_init(&a->headers, LIMIT_ANSWER_HEADERS);
	buf_init(&a->body, limit);
}

void fetch_answer_release(struct fetch_answer *a)
{
	buf_release(&a->headers);
	buf_release(&a->body);
}

struct str fetch_header(const struct fetch_answer *a, const char *name)
{
	struct str rest = buf_view(&a->headers);
	while (rest.len) {
		struct str value = str_cut(&rest, '\n');
		struct str key = str_cut(&value, ':');
		if (value.ptr && str_eq_nocase(key, str_from(name)))
			return str_trim(value);
	}
	return (struct str){"", 0};
}

// "HTTP/1.1 200 OK", "HTTP/2 200"
static unsigned read_status(struct str line)
{
	uint64_t status;
	str_cut(&line, ' ');
	line.len = line.len < 3 ? line.len : 3;
	decimal_cut(&line, UINT_MAX, &status);
	return (unsigned)status;
}

// Each interim response, such as "100 Continue", has a status line and headers of its own.
bool fetch_answer_take_header(struct fetch_answer *a, struct str line)
{
	line = str_trim(line);
	if (str_starts(line, STR("HTTP/"))) {
		buf_clear(&a->headers);
		a->status = read_status(line);
	} else if (line.len) {
		buf_str(&a->headers, line);
		buf_putc(&a->headers, '\n');
	}
	return !a->headers.failed;
}

bool fetch_answer_take_body(struct fetch_answer *a, struct str piece)
{
	buf_str(&a->body, piece);
	if (a->status >= 400 && a->body.failed) { // the beginning of an error's body is enough
		a->body.failed = false;
		a->is_cut = true;
	}
	return !a->body.failed;
}
