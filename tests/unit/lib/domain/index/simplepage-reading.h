// SPDX-License-Identifier: Apache-2.0
// Parses pages of another index for the tests of lib/domain/index/simplepage. Include it after cmocka.h.
#pragma once

#include <string.h>

#include "lib/domain/index/simplepage.h"

#define JSON "application/vnd.pypi.simple.v1+json"
#define TOP "{\"meta\":{\"api-version\":\"1.4\",\"_last-serial\":77},\"name\":\"Foo_Bar\","
#define FILE_OF(name, more) "{\"filename\":\"" name "\",\"url\":\"../../files/" name "\",\"hashes\":{}" more "}"

static const char page_url[] = "https://me:secret@example.org/root/simple/foo-bar/";

// Parses a valid page, packs it and returns the unpacked page, so that each test covers the packed form too.
static inline void read_page(const char *body, const char *type, struct simplepage *page)
{
	struct err e = ERR_INIT;
	enum simplepage_fault fault;
	CLEANUP(simplepage_release) struct simplepage first = {0};
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, 1 << 20);
	if (simplepage_parse(str_from(body), str_from(type), page_url, "foo-bar", &first, &fault, &e) < 0)
		fail_msg("%s", e.msg);
	if (simplepage_pack(&first, &packed, &e) < 0 || simplepage_unpack(buf_view(&packed), page, &e) < 0)
		fail_msg("%s", e.msg);
}

static inline void assert_rejected(const char *body, const char *type, enum simplepage_fault expected,
	const char *words)
{
	struct err e = ERR_INIT;
	enum simplepage_fault fault;
	struct simplepage page;
	if (simplepage_parse(str_from(body), str_from(type), page_url, "foo-bar", &page, &fault, &e) == 0)
		fail_msg("accepted: %s", body);
	if (fault != expected || !strstr(e.msg, words))
		fail_msg("%s: fault %d, %s", body, (int)fault, e.msg);
}
