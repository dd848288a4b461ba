// SPDX-License-Identifier: Apache-2.0
// Pages of another index in HTML: an accepted page has usable files and survives packing, and it is rejected without
// its last tag.
#include "tests/fuzz/simplepage-holds.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str body = str_trim(fuzz_text(bytes, size));
	if (holds_of_page(body, "text/html; charset=utf-8") && str_ends(body, STR("</html>")))
		HOLDS(!holds_of_page(str_slice(body, 0, body.len - 1), "text/html"));
	return 0;
}
