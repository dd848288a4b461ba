// SPDX-License-Identifier: Apache-2.0
// The list of all projects of another index, in JSON or, where the first byte is even, HTML: each line is a normalised
// name.
#include "lib/domain/index/project-names.h"

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf names;
	buf_init(&names, 64 << 20);
	struct str body = fuzz_text(bytes, size), type = STR("text/html");
	if (size && bytes[0] % 2)
		type = STR("application/vnd.pypi.simple.v1+json");
	if (project_names_read(body, type, &names, &e) < 0)
		return 0;
	struct str rest = buf_view(&names);
	while (rest.len) {
		CLEANUP(buf_release) struct buf normal;
		struct str name = str_cut(&rest, '\n');
		buf_init(&normal, LIMIT_FILE_NAME);
		HOLDS(rest.ptr && name_is_valid(name));
		name_normalize(name, &normal);
		HOLDS(str_eq(name, buf_view(&normal)));
	}
	return 0;
}
