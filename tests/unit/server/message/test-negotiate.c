// SPDX-License-Identifier: Apache-2.0
#include "server/message/negotiate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define JSON "application/vnd.pypi.simple.v1+json"
#define HTML "application/vnd.pypi.simple.v1+html"
#define PIP JSON ", " HTML "; q=0.1, text/html; q=0.01"
#define UV JSON ", " HTML ";q=0.2, text/html;q=0.01"
#define BROWSER "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"

static const struct {
	const char *accept, *format, *user_agent;
	int want;
} forms[] = {
	// Real clients.
	{PIP, NULL, "pip/26.2.1 {\"ci\":true}", VARIANT_V1_JSON},
	{PIP, NULL, "pip/24.2 {}", VARIANT_V1_JSON},
	{PIP, NULL, "pip/23.2 {}", VARIANT_V1_JSON},
	{PIP, NULL, "pip/23.1.2 {}", VARIANT_HTML_OLD_PIP},
	{PIP, NULL, "pip/23.0.1 {}", VARIANT_HTML_OLD_PIP},
	{PIP, NULL, "pip/22.3 {}", VARIANT_HTML_OLD_PIP},
	{PIP, NULL, "pip/22.2.2 {}", VARIANT_V1_JSON},
	{PIP, NULL, "pip/23.10", VARIANT_V1_JSON},
	{PIP, NULL, "pip/26.3.dev0", VARIANT_V1_JSON},
	{PIP, NULL, "pip/23", VARIANT_V1_JSON},
	{PIP, NULL, "pip/", VARIANT_V1_JSON},
	{PIP, NULL, NULL, VARIANT_V1_JSON},
	{"text/html", NULL, "pip/18.1 {}", VARIANT_HTML},
	{UV, NULL, "uv/0.12.5 {}", VARIANT_V1_JSON},
	{"*/*", NULL, "poetry/1.3.2 CPython/3.11.2 Linux/6.1", VARIANT_HTML},
	{JSON, NULL, "bandersnatch/6.5.0", VARIANT_V1_JSON},
	{BROWSER, NULL, "Mozilla/5.0", VARIANT_HTML},
	{NULL, NULL, NULL, VARIANT_HTML},
	{"", NULL, NULL, VARIANT_HTML},
	// A pip that finds .metadata only in HTML, and takes none.
	{JSON, NULL, "pip/23.0.1", VARIANT_V1_JSON},
	{HTML, NULL, "pip/23.0.1", VARIANT_V1_HTML_OLD_PIP},
	{JSON ", " HTML ";q=0.1, text/html;q=0", NULL, "pip/23.0.1", VARIANT_V1_HTML_OLD_PIP},
	{JSON ", text/html;q=0", NULL, "pip/23.0.1", VARIANT_V1_JSON},
	// Weights; ties go to HTML, and text/html first.
	{"text/html, " JSON, NULL, NULL, VARIANT_HTML},
	{JSON ", text/html", NULL, NULL, VARIANT_HTML},
	{JSON ";q=0.9, text/html;q=0.899", NULL, NULL, VARIANT_V1_JSON},
	{"*/*, text/html;q=0.5, " HTML ";q=0", NULL, NULL, VARIANT_V1_JSON},
	{"application/*, text/html;q=0.9", NULL, NULL, VARIANT_V1_HTML},
	{"application/*, text/html;q=0.9, " HTML ";q=0.1", NULL, NULL, VARIANT_V1_JSON},
	{"text/*;q=0.4, " JSON ";q=0.3", NULL, NULL, VARIANT_HTML},
	{"TEXT/HTML;Q=0.1, " JSON ";Q=1.000", NULL, NULL, VARIANT_V1_JSON},
	{"application/vnd.pypi.simple.latest+json", NULL, NULL, VARIANT_V1_JSON},
	{"application/vnd.pypi.simple.latest+html", NULL, NULL, VARIANT_V1_HTML},
	{HTML, NULL, NULL, VARIANT_V1_HTML},
	{"application/*", NULL, NULL, VARIANT_V1_HTML},
	{"application/*, " HTML ";q=0", NULL, NULL, VARIANT_V1_JSON},
	{"text/html;q=0.1, " HTML ";q=0.2", NULL, NULL, VARIANT_V1_HTML},
	{"text/html, " HTML, NULL, NULL, VARIANT_HTML},
	{HTML ", " JSON, NULL, NULL, VARIANT_V1_HTML},
	{"application/vnd.pypi.simple.latest+json;q=0.1, " JSON ";q=0.5, text/html;q=0.3", NULL, NULL, VARIANT_V1_JSON},
	{"text/html;charset=utf-8;q=0.1, " JSON ";q=0.2", NULL, NULL, VARIANT_V1_JSON},
	{"text/html;p=\"a,b;q=0\";q=0.7, " JSON ";q=0.2", NULL, NULL, VARIANT_HTML},
	{"text/html;p=\"a\\\",b;q=0\";q=0.7, " JSON ";q=0.2", NULL, NULL, VARIANT_HTML},
	{JSON ";q=0.2, text/html;p=\"a,b;q=0", NULL, NULL, VARIANT_HTML},
	{" , text/html ,, ", NULL, NULL, VARIANT_HTML},
	// No variant of the server.
	{"application/json", NULL, NULL, NEGOTIATE_NOTHING},
	{"application/vnd.pypi.simple.v2+json", NULL, NULL, NEGOTIATE_NOTHING},
	{"image/*;q=0.5, application/json", NULL, NULL, NEGOTIATE_NOTHING},
	{"*/*;q=0", NULL, NULL, NEGOTIATE_NOTHING},
	{"text/html;q=0.000, " JSON ";q=0", NULL, NULL, NEGOTIATE_NOTHING},
	// Malformed: excludes nothing.
	{"garbage", NULL, NULL, VARIANT_HTML},
	{"application/json;q=2", NULL, NULL, VARIANT_HTML},
	{"application/json;q=0.1234", NULL, NULL, VARIANT_HTML},
	{"application/json;q=x, " JSON ";q=0.3", NULL, NULL, VARIANT_V1_JSON},
	{"text/html, image/gif, *; q=.2, */*; q=.2", NULL, "Java/1.8", VARIANT_HTML},
	// ?format= overrides Accept.
	{"text/html", JSON, NULL, VARIANT_V1_JSON},
	{JSON, HTML, NULL, VARIANT_V1_HTML},
	{"text/html", "application/vnd.pypi.simple.latest+html", NULL, VARIANT_V1_HTML},
	{"image/png", HTML, NULL, VARIANT_V1_HTML},
	{JSON, "text/html", NULL, VARIANT_HTML},
	{"text/html", "application/vnd.pypi.simple.v1 json", NULL, VARIANT_V1_JSON},
	{"text/html", "application/vnd.pypi.simple.latest+json", NULL, VARIANT_V1_JSON},
	{PIP, JSON, "pip/23.0.1", VARIANT_V1_JSON},
	{JSON, "json", NULL, VARIANT_V1_JSON},
	{JSON, "*/*", NULL, VARIANT_V1_JSON},
	{JSON, "", NULL, VARIANT_V1_JSON},
	{JSON, HTML HTML HTML, NULL, VARIANT_V1_JSON},
};

static void formats(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		int got = negotiate_variant(forms[i].accept, forms[i].format, forms[i].user_agent);
		if (got != forms[i].want)
			fail_msg("Accept '%s', format '%s', agent '%s': %d", forms[i].accept, forms[i].format,
				forms[i].user_agent, got);
	}
}

static const struct {
	const char *accept;
	enum page_coding want;
} codings[] = {
	{NULL, PAGE_PLAIN},
	{"", PAGE_PLAIN},
	{"identity", PAGE_PLAIN},
	{"gzip, deflate", PAGE_GZIP},       // pip
	{"gzip, deflate, zstd", PAGE_ZSTD}, // uv
	{"gzip, deflate, br", PAGE_GZIP},
	{"gzip, deflate, br, zstd", PAGE_ZSTD},
	{"GZip", PAGE_GZIP},
	{"x-gzip", PAGE_GZIP},
	{"br", PAGE_PLAIN},
	{"zstd;q=0.5, gzip;q=0.8", PAGE_GZIP},
	{"zstd ; q=0.8 , gzip ; q=0.8", PAGE_ZSTD},
	{"zstd;q=0, gzip", PAGE_GZIP},
	{"gzip;q=0", PAGE_PLAIN},
	{"gzip;q=0.5, identity", PAGE_PLAIN},
	{"gzip;q=0.5, identity;q=0.5", PAGE_GZIP},
	{"gzip;q=0.001", PAGE_GZIP},
	{"*", PAGE_ZSTD},
	{"*, zstd;q=0", PAGE_GZIP},
	{"*;q=0", PAGE_PLAIN},
	{"*;q=0, gzip", PAGE_GZIP},
	{"identity;q=0", PAGE_PLAIN},
	{"identity;q=0, *;q=0", PAGE_PLAIN},
	{"identity;q=0, gzip;q=0.1", PAGE_GZIP},
	{"gzip;q=nonsense", PAGE_PLAIN},
	{",,;;,=", PAGE_PLAIN},
};

static void content_codings(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codings); i++) {
		enum page_coding got = negotiate_coding(codings[i].accept);
		if (got != codings[i].want)
			fail_msg("Accept-Encoding '%s': %d", codings[i].accept, (int)got);
	}
}

// A page for people has HTML and JSON.
static void pages_for_people(void **state)
{
	(void)state;
	static const struct {
		const char *accept, *format;
		bool is_json;
	} rows[] = {
		{NULL, NULL, false},
		{"*/*", NULL, false}, // curl
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", NULL, false},
		{"application/json", NULL, true},
		{"application/json, */*;q=0.1", NULL, true},
		{"text/html, application/json;q=0.9", NULL, false},
		{"application/json, text/html;q=0.9", NULL, true},
		{"text/html", "json", true},
		{"application/json", "html", false},
		{"application/json", "nonsense", true},
		{NULL, "", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (negotiate_page_json(rows[i].accept, rows[i].format) != rows[i].is_json)
			fail_msg("row %zu: Accept '%s'", i, rows[i].accept);
}

// Data first: a program that says nothing gets JSON, a browser the page.
static void data_with_a_page(void **state)
{
	(void)state;
	static const struct {
		const char *accept, *format;
		bool is_html;
	} rows[] = {
		{NULL, NULL, false},
		{"*/*", NULL, false}, // curl
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", NULL, true},
		{"application/json", NULL, false},
		{"application/json, text/html;q=0.9", NULL, false},
		{"application/json;q=0.5, text/html;q=0.9", NULL, true},
		{"text/html", "json", false},
		{"application/json", "html", true},
		{NULL, "nonsense", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (negotiate_data_html(rows[i].accept, rows[i].format) != rows[i].is_html)
			fail_msg("row %zu: Accept '%s'", i, rows[i].accept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(formats), cmocka_unit_test(content_codings),
		cmocka_unit_test(pages_for_people), cmocka_unit_test(data_with_a_page)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
