// SPDX-License-Identifier: Apache-2.0
// Files of evidence: a record has one form, which identifies it.
#include "lib/state/views/evidence-file.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct err e = ERR_INIT;
	uint8_t id[SHA256_SIZE];
	CLEANUP(evidence_file_release) struct evidence_file f = {0};
	CLEANUP(evidence_release) struct evidence again = {0};
	CLEANUP(buf_release) struct buf one, two;
	buf_init(&one, EVIDENCE_FILE_MOST);
	buf_init(&two, EVIDENCE_FILE_MOST);
	if (evidence_file_read(fuzz_text(bytes, size), &f, &e) < 0) {
		HOLDS(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
		return 0;
	}
	evidence_write(&f.record, &one);
	digest_sha256(buf_view(&one), id);
	if (!memmem(bytes, size, "again", 5)) // else the views are part of it
		HOLDS(memcmp(id, f.row.id, SHA256_SIZE) == 0);
	HOLDS(evidence_read(buf_view(&one), &again, &e) == 0);
	evidence_write(&again, &two);
	HOLDS(str_eq(buf_view(&one), buf_view(&two)));
	HOLDS(f.row.wheels == again.wheels && f.row.wheels > 0 && f.row.order / 1000000000 == f.row.received);
	return 0;
}
