// SPDX-License-Identifier: Apache-2.0
// SBOMs: components have names, and what was read is the same twice.
#include <string.h>

#include "lib/facts/sbom.h"
#include "lib/base/limits.h"
#include "tests/fuzz/fuzz.h"

static void check_sbom_text(const char *text)
{
	HOLDS(!text || (text[0] && strlen(text) <= LIMIT_SBOM_STRING));
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(arena_release) struct arena text = {0};
	struct sbom one, other;
	struct str document = fuzz_text(bytes, size);
	struct err e = ERR_INIT;
	int result = sbom_read(document, &text, &one, &e);
	HOLDS(result == 0 ? e.kind == ERR_NONE : e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
	HOLDS(sbom_read(document, &text, &other, &e) == result && one.count == other.count);
	for (size_t i = 0; i < one.count; i++) {
		const struct sbom_component *a = &one.component[i], *b = &other.component[i];
		HOLDS(a->name && strcmp(a->name, b->name) == 0);
		HOLDS(is_same_text(a->version, b->version) && is_same_text(a->purl, b->purl));
		check_sbom_text(a->name);
		check_sbom_text(a->version);
		check_sbom_text(a->purl);
	}
	return 0;
}
