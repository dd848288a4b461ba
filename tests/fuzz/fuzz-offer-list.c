// SPDX-License-Identifier: Apache-2.0
// The list of what a platform offers: what is accepted is printed, and read and printed again as the same.
#include "lib/audit/offer-table.h"

#include "lib/base/limits.h"
#include "tests/fuzz/fuzz.h"

static void print_table(struct offer_table *t, struct buf *out)
{
	struct err e = ERR_INIT;
	buf_init(out, LIMIT_OFFER_LIST);
	offer_table_finish(t);
	HOLDS(offer_list_print(t, out, &e) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct err e = ERR_INIT;
	CLEANUP(offer_table_release) struct offer_table one = {0}, other = {0};
	CLEANUP(buf_release) struct buf first = {0}, second = {0};
	if (offer_list_parse(fuzz_text(bytes, size), &one, &e) < 0) {
		HOLDS((e.kind == ERR_INVALID || e.kind == ERR_LIMIT) && *e.msg);
		return 0;
	}
	print_table(&one, &first);
	if (!one.libraries) // no name finds one
		return 0;
	HOLDS(offer_list_parse(buf_view(&first), &other, &e) == 0);
	print_table(&other, &second);
	HOLDS(str_eq(buf_view(&first), buf_view(&second)));
	return 0;
}
