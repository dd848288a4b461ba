// SPDX-License-Identifier: Apache-2.0
// Pages of another index in JSON: an accepted page has usable files and survives packing, and it is rejected if its end
// is missing.
#include "tests/fuzz/simplepage-holds.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char type[] = "application/vnd.pypi.simple.v1+json";
	struct str body = str_trim(fuzz_text(bytes, size));
	if (holds_of_page(body, type))
		HOLDS(!holds_of_page(str_slice(body, 0, body.len - 1 - size % body.len), type));
	return 0;
}
