// SPDX-License-Identifier: Apache-2.0
// Content negotiation: a client only gets a type and a coding that it accepts. An input is four lines: Accept,
// Accept-Encoding, User-Agent and the value of ?format=.
#include "server/message/negotiate.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

static bool names(const char *header, const char *what)
{
	return header && strcasestr(header, what);
}

static void check_format(const char *accept, const char *format, const char *user_agent)
{
	int chosen = negotiate_variant(accept, format, user_agent);
	bool named_json = names(accept, "json") || names(format, "json");
	bool named_any = names(accept, "*");
	HOLDS(chosen >= NEGOTIATE_NOTHING && chosen < VARIANT_COUNT);
	HOLDS(chosen != VARIANT_V1_JSON || named_json || named_any);
	HOLDS((chosen != VARIANT_V1_HTML && chosen != VARIANT_V1_HTML_OLD_PIP) || names(accept, "+html") ||
		names(format, "html") || named_any);
	HOLDS((chosen != VARIANT_HTML_OLD_PIP && chosen != VARIANT_V1_HTML_OLD_PIP) ||
		str_starts(str_from(user_agent ? user_agent : ""), STR("pip/")));
	HOLDS(chosen != NEGOTIATE_NOTHING || names(accept, "/"));
	if (!format)
		HOLDS(accept || chosen == VARIANT_HTML);
	HOLDS(negotiate_variant(accept, "application/vnd.pypi.simple.v1+json", user_agent) == VARIANT_V1_JSON);
	HOLDS(negotiate_variant(accept, "text/html", user_agent) == VARIANT_HTML);
}

static void check_coding(const char *accept_encoding)
{
	enum page_coding chosen = negotiate_coding(accept_encoding);
	bool named_any = names(accept_encoding, "*");
	HOLDS(chosen < PAGE_CODING_COUNT);
	HOLDS(chosen != PAGE_ZSTD || named_any || names(accept_encoding, "zstd"));
	HOLDS(chosen != PAGE_GZIP || named_any || names(accept_encoding, "gzip"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str rest = fuzz_text(bytes, size);
	CLEANUP(mem_free) char *accept = fuzz_take(&rest, '\n');
	CLEANUP(mem_free) char *encoding = fuzz_take(&rest, '\n');
	CLEANUP(mem_free) char *agent = fuzz_take(&rest, '\n');
	CLEANUP(mem_free) char *format = fuzz_take(&rest, '\n');
	check_format(accept, format, agent);
	check_format(NULL, format, agent);
	check_coding(encoding);
	return 0;
}
