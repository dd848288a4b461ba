// SPDX-License-Identifier: Apache-2.0
// Sdists named demo-1.0: a .zip, a .tar.gz, or a plain tar, which is compressed first.
#include "lib/domain/wheel/sdist.h"

#include <string.h>

#include "lib/format/compress.h"
#include "tests/fuzz/tarsums.h"

static void pack_tar(struct str text, struct buf *out)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *tar = tarsums_set(text);
	HOLDS(compress_gzip((struct str){tar, text.len}, out, &e) == 0);
}

static bool examine_sdist(struct str bytes, struct str filename, enum strictness strictness, struct wheel *out)
{
	struct err e = ERR_INIT;
	struct byte_source s = byte_source_memory(bytes);
	CLEANUP(filename_release) struct filename name = {0};
	HOLDS(filename_parse(filename, &name, &e) == 0);
	wheel_init(out);
	bool is_good = sdist_examine(&s, filename, strictness, &name, out, &e) == 0;
	HOLDS(is_good == (e.kind == ERR_NONE));
	HOLDS(is_good || ((e.kind == ERR_INVALID || e.kind == ERR_LIMIT) && e.msg[0]));
	HOLDS(!is_good || (strcmp(name.project, "demo") == 0 && strcmp(name.version.text, "1.0") == 0));
	HOLDS(!is_good || strictness == LENIENT || out->metadata.len > 0);
	return is_good;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str text = fuzz_text(bytes, size);
	CLEANUP(buf_release) struct buf packed;
	CLEANUP(wheel_release) struct wheel lenient, strict;
	bool is_zip = str_starts(text, STR("PK"));
	buf_init(&packed, 2 * size + 1024);
	if (!is_zip && !str_starts(text, STR("\x1f\x8b"))) {
		pack_tar(text, &packed);
		text = buf_view(&packed);
	}
	struct str filename = is_zip ? STR("demo-1.0.zip") : STR("demo-1.0.tar.gz");
	bool is_good = examine_sdist(text, filename, LENIENT, &lenient);
	if (examine_sdist(text, filename, STRICT, &strict))
		HOLDS(is_good && str_eq(buf_view(&lenient.metadata), buf_view(&strict.metadata)));
	return 0;
}
