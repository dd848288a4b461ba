// SPDX-License-Identifier: Apache-2.0
#include "builder/server-answer.h"

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/format/jsondoc.h"
#include "lib/net/fetch.h"
#include "lib/net/url.h"

enum { REASON_MOST = 300 };

static enum err_kind kind_of_status(unsigned status)
{
	static const struct {
		unsigned first, last;
		enum err_kind kind;
	} row[] = {
		{400, 400, ERR_USAGE},
		{401, 401, ERR_DENIED},
		{403, 403, ERR_DENIED},
		{404, 405, ERR_NOT_FOUND},
		{408, 408, ERR_NET},
		{429, 429, ERR_NET},
		{500, 599, ERR_NET},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (status >= row[i].first && status <= row[i].last)
			return row[i].kind;
	return ERR_INVALID;
}

// The first line of the server's reason, without control characters.
static void put_reason(const struct fetch_answer *a, struct buf *out)
{
	struct err ignored = ERR_INIT;
	struct str type = fetch_header(a, "content-type"), text = {0};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = NULL;
	if (str_starts(type, STR("application/json")))
		doc = jsondoc_read_bounded(buf_view(&a->body), LIMIT_CLIENT_VALUES, &ignored);
	const char *message = doc ? jsondoc_get_str(doc, "message") : NULL;
	if (message)
		text = str_from(message);
	else if (str_starts(type, STR("text/plain")))
		text = str_trim(buf_view(&a->body));
	struct str line = str_head(str_cut(&text, '\n'), REASON_MOST);
	for (size_t i = 0; str_is_utf8(line) && i < line.len; i++)
		buf_putc(out, line.ptr[i] >= 0 && line.ptr[i] < ' ' ? '?' : line.ptr[i]);
}

int server_answer_check(const struct fetch_answer *a, const char *url, struct err *e)
{
	if (a->status / 100 == 2)
		return 0;
	CLEANUP(buf_release) struct buf reason;
	buf_init(&reason, REASON_MOST);
	put_reason(a, &reason);
	CLEANUP(mem_free) char *number = xasprintf("%u ", a->status);
	if (str_starts(buf_view(&reason), str_from(number))) // the server's reason begins with the status itself
		return err_set(e, kind_of_status(a->status), "%s: %s", url, reason.data);
	return err_set(e, kind_of_status(a->status), "%s: %u%s%s", url, a->status, reason.len ? ": " : "", reason.data);
}

char *server_answer_base(const char *url, const char *option, struct err *e)
{
	CLEANUP(fetch_url_release) struct fetch_url parts = {0};
	if (fetch_url_parse(url, &parts, e) < 0) {
		err_prefix(e, "--%s: ", option);
		return NULL;
	}
	char *base = parts.user || parts.password ? NULL : url_base(str_from(url));
	if (!base)
		err_set(e, ERR_USAGE,
			parts.user ? "--%s: the URL has a user name, which every user of this machine can read: use "
				     "WHEELCACHE_TOKEN or a netrc file"
				   : "--%s: not the base URL of a server",
			option);
	return base;
}
