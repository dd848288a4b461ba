// SPDX-License-Identifier: Apache-2.0
// Records of the OSV database: what was read is the same twice, ranges have an order, a wrong record means all
// versions, and what jansson reads as an object is read here too.
#include "lib/advisories/osv-record.h"

#include "lib/base/limits.h"
#include "lib/domain/text/cvss.h"
#include "lib/domain/text/name.h"
#include "lib/format/jsondoc.h"
#include "tests/fuzz/fuzz.h"

static void check_affected(const struct osv_record *r, const struct osv_affected *a)
{
	HOLDS(a->project.len && name_is_valid(a->project) && name_is_normal(a->project));
	HOLDS(a->versions + a->others <= LIMIT_ADVISORY_VERSIONS && a->ranges <= LIMIT_ADVISORY_VERSIONS);
	for (size_t i = 0; i < a->ranges; i++) {
		int order = a->range[i].to.len ? str_cmp(a->range[i].from, a->range[i].to) : -1;
		HOLDS(order < 0 || (order == 0 && a->range[i].includes_to));
	}
	for (size_t i = 0; i < a->versions; i++)
		HOLDS(a->version[i].len);
	if (r->wrong)
		HOLDS(a->ranges == 1 && !a->range[0].from.len && !a->range[0].to.len);
}

static void check_same(const struct osv_record *a, const struct osv_record *b)
{
	HOLDS(str_eq(a->id, b->id) && a->count == b->count && a->severity == b->severity && a->wrong == b->wrong);
	HOLDS(a->modified == b->modified && a->is_withdrawn == b->is_withdrawn && a->is_malicious == b->is_malicious);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(arena_release) struct arena arena = {0};
	struct osv_record one, other, head;
	struct str text = fuzz_text(bytes, size);
	struct err e = ERR_INIT, ignored = ERR_INIT;
	int result = osv_record_read(text, STR("MAL-2026-1"), false, &arena, &one, &e);
	HOLDS(result == 0 ? e.kind == ERR_NONE : e.kind == ERR_INVALID);
	HOLDS(osv_record_read(text, STR("MAL-2026-1"), false, &arena, &other, &ignored) == result);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(text, &ignored);
	HOLDS(result == 0 || !doc || jsondoc_kind(doc) == JSONDOC_ARRAY);
	if (result == 0) {
		check_same(&one, &other);
		HOLDS(osv_id_is_valid(one.id) && one.severity >= CVSS_NONE && one.severity <= 100);
		for (size_t i = 0; i < one.count; i++)
			check_affected(&one, &one.affected[i]);
	}
	if (osv_record_read(text, STR(""), true, &arena, &head, &ignored) == 0) {
		HOLDS(head.wrong);
		for (size_t i = 0; i < head.count; i++)
			check_affected(&head, &head.affected[i]);
	}
	return 0;
}
