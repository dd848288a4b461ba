// SPDX-License-Identifier: Apache-2.0
#include "lib/facts/sbom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/buf.h"

// The components as "name version purl;…", "-" for what is absent.
static void describe_sbom(struct str document, struct buf *out)
{
	CLEANUP(arena_release) struct arena text = {0};
	struct sbom sbom;
	struct err e = ERR_INIT;
	buf_init(out, 1 << 16);
	if (sbom_read(document, &text, &sbom, &e) < 0)
		buf_printf(out, "error %d;", e.kind == ERR_INVALID);
	for (size_t i = 0; i < sbom.count; i++) {
		const struct sbom_component *c = &sbom.component[i];
		buf_printf(out, "%s %s %s;", c->name, c->version ? c->version : "-", c->purl ? c->purl : "-");
	}
}

#define CYCLONEDX "\"bomFormat\": \"CycloneDX\", \"specVersion\": \"1.6\""

static void test_documents(void **state UNUSED)
{
	static const struct {
		const char *document, *expected;
	} rows[] = {
		{"{" CYCLONEDX ", \"components\": [{\"purl\": \"pkg:a/b@1\", \"name\": \"b\", \"version\": \"1\"}]}",
			"b 1 pkg:a/b@1;"},
		// The subject, and nested components, each after the one that contains it.
		{"{" CYCLONEDX
		 ", \"metadata\": {\"component\": {\"components\": [{\"name\": \"in\"}], \"name\": \"out\"}}}",
			"out - -;in - -;"},
		{"{\"components\": [{\"name\": \"1\", \"components\": [{\"name\": \"2\", \"components\": "
		 "[{\"name\": \"3\", \"components\": [{\"name\": \"4\"}]}]}]}], " CYCLONEDX "}",
			"1 - -;2 - -;3 - -;"}, // the fourth is nested too deep
		// Tools, services and annotations are no components of the wheel.
		{"{" CYCLONEDX ", \"metadata\": {\"tools\": {\"components\": [{\"name\": \"syft\"}]}}, "
		 "\"services\": [{\"name\": \"s\"}], \"formulation\": [{\"components\": [{\"name\": \"f\"}]}]}",
			""},
		{"{" CYCLONEDX ", \"components\": [{\"version\": \"1\"}, {\"name\": \"\"}, {\"name\": 1}, "
		 "{\"name\": \"a\", \"supplier\": {\"name\": \"no\"}, \"hashes\": [{\"name\": \"no\"}]}, [], null]}",
			"a - -;"},
		{"{" CYCLONEDX
		 ", \"components\": [{\"name\": \"a\\u0000b\", \"version\": \"1\"}, {\"name\": \"\\u00e9\"}]}",
			"\xc3\xa9 - -;"},
		{"{\"spdxVersion\": \"SPDX-2.3\", \"packages\": [{\"name\": \"p\", \"versionInfo\": \"2\", \"externalRefs\": ["
		 "{\"referenceType\": \"cpe23Type\", \"referenceLocator\": \"cpe:x\"}, "
		 "{\"referenceLocator\": \"pkg:pypi/p@2\", \"referenceType\": \"purl\"}]}, {\"name\": \"q\"}]}",
			"p 2 pkg:pypi/p@2;q - -;"},
		// A type without a locator, and the other way round, are no purl together.
		{"{\"spdxVersion\": \"SPDX-2.2\", \"packages\": [{\"name\": \"p\", \"externalRefs\": ["
		 "{\"referenceType\": \"purl\"}, {\"referenceLocator\": \"x\"}]}]}",
			"p - -;"},
		{"{\"@context\": \"https://spdx.org/rdf/3.0.1/spdx-context.jsonld\", \"packages\": [{\"name\": \"p\"}]}",
			""},
		{"{\"packages\": [{\"name\": \"p\"}], \"components\": [{\"name\": \"c\"}]}", ""}, // no format
		{"{" CYCLONEDX ", \"packages\": [{\"name\": \"p\"}], \"components\": [{\"name\": \"c\"}]}", "c - -;"},
		{"<bom xmlns=\"http://cyclonedx.org/schema/bom/1.6\"/>", ""},
		{"SPDXVersion: SPDX-2.3\n", ""},
		{"[]", ""},
		{"", ""},
		{"{", "error 1;"},
		{"{" CYCLONEDX ", \"components\": [{\"name\": \"a\"}", "error 1;a - -;"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(buf_release) struct buf found;
		describe_sbom(str_from(rows[i].document), &found);
		if (!str_eq(buf_view(&found), str_from(rows[i].expected)))
			fail_msg("%s\n%s\n%s", rows[i].document, found.data, rows[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_documents)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
