// SPDX-License-Identifier: Apache-2.0
// Statements of provenance and attestations: what is accepted has rows within the limits, in order and without NUL; an
// array of attestations that is accepted gives a provenance object that says the same.
#include "lib/domain/wheel/provenance.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/wheel/attachment.h"
#include "explainer/explain-parts.h"
#include "tests/fuzz/fuzz.h"

static const char wheel[] = "foo_bar-1.0-py3-none-any.whl";

static void check_text(const char *text)
{
	HOLDS(!text || str_is_utf8(str_from(text)));
}

static void check_rows(const struct provenance *p)
{
	HOLDS(p->rows <= LIMIT_STATEMENT_ROWS && (p->is_slsa || !p->rows));
	for (size_t i = 0; i < p->rows; i++) {
		const struct provenance_row *r = &p->row[i];
		const char *const texts[] = {
			r->component, r->version, r->source, r->digest, r->path, r->how, r->options};
		HOLDS(r->component && *r->component);
		for (size_t n = 0; n < ARRAY_SIZE(texts); n++)
			check_text(texts[n]);
		if (!i)
			continue;
		HOLDS(r[-1].kind < r->kind || (r[-1].kind == r->kind && strcmp(r[-1].component, r->component) <= 0));
	}
}

static void check_printed(const struct provenance *p)
{
	CLEANUP(buf_release) struct buf text;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = explain_provenance(p, true);
	buf_init(&text, LIMIT_PAGE);
	explain_provenance_text(doc, "  ", &text);
	HOLDS(text.len && text.data[text.len - 1] == '\n');
}

static void check_statement(struct str input)
{
	struct err e = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(provenance_release) struct provenance p = {0};
	if (provenance_read(input, &p, &e) < 0) {
		HOLDS((e.kind == ERR_INVALID || e.kind == ERR_LIMIT) && *e.msg && !p.rows);
		return;
	}
	HOLDS(p.subjects && p.subjects <= LIMIT_STATEMENT_SUBJECTS && *p.predicate_type);
	HOLDS(provenance_digest(&p, wheel, sha256, &e) == 0 || e.kind == ERR_INVALID);
	check_rows(&p);
	check_printed(&p);
}

static void check_attestations(struct str input)
{
	struct err e = ERR_INIT;
	size_t count = 0;
	uint8_t sha256[SHA256_SIZE], again[SHA256_SIZE];
	CLEANUP(buf_release) struct buf object;
	buf_init(&object, 2 * LIMIT_STATEMENT);
	if (attestations_read(input, wheel, sha256, &count, &e) < 0) {
		HOLDS((e.kind == ERR_INVALID || e.kind == ERR_LIMIT) && *e.msg);
		return;
	}
	HOLDS(count <= LIMIT_ATTESTATIONS);
	attestations_put_object(input, &object);
	int read = attestations_read_object(buf_view(&object), wheel, again, &e);
	HOLDS((read == 0) == (count > 0) || *e.msg); // it is longer and deeper, and may exceed a limit
	HOLDS(read < 0 || memcmp(sha256, again, SHA256_SIZE) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct err ignored = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	struct str input = fuzz_text(bytes, size);
	check_statement(input);
	check_attestations(input);
	HOLDS(attestations_read_object(input, wheel, sha256, &ignored) == 0 || *ignored.msg);
	return 0;
}
