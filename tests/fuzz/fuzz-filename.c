// SPDX-License-Identifier: Apache-2.0
// File names of wheels and sdists: the parts make up the name, and the normal form parses to the same values.
#include "lib/domain/text/filename.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "tests/fuzz/fuzz.h"

static void check_same_meaning(const struct filename *f, const char *text, bool in_general)
{
	struct err e = ERR_INIT;
	CLEANUP(filename_release) struct filename reparsed = {0};
	if (strlen(text) > LIMIT_FILE_NAME)
		return;
	if (in_general)
		HOLDS(filename_parse(str_from(text), &reparsed, &e) == 0);
	else
		HOLDS(filename_parse_sdist(str_from(text), str_from(f->project), str_from(f->version.text), &reparsed,
			      &e) == 0);
	HOLDS(e.kind == ERR_NONE);
	HOLDS(reparsed.kind == f->kind && strcmp(reparsed.project, f->project) == 0);
	HOLDS(version_cmp(&reparsed.version, &f->version) == 0);
}

static void check_wheel(const struct filename *f, struct str text)
{
	const char *dash = f->build.len ? "-" : "";
	CLEANUP(mem_free)
	char *tail = xasprintf("%s" STR_FMT "-" STR_FMT "-" STR_FMT "-" STR_FMT ".whl", dash, STR_ARG(f->build),
		STR_ARG(f->python), STR_ARG(f->abi), STR_ARG(f->platform));
	CLEANUP(mem_free) char *same = xasprintf(STR_FMT "%s", STR_ARG(f->stem), tail);
	HOLDS(str_eq(str_from(same), text));
	CLEANUP(mem_free) char *escaped = xstrdup(f->project);
	for (char *c = escaped; *c; c++)
		*c = *c == '-' ? '_' : *c;
	CLEANUP(mem_free) char *normal = xasprintf("%s-%s%s", escaped, f->version.text, tail);
	check_same_meaning(f, normal, true);
}

static void check_sdist(const struct filename *f, struct str text)
{
	struct str ending = str_ends(text, STR(".zip")) ? STR(".zip") : STR(".tar.gz");
	CLEANUP(mem_free)
	char *same = xasprintf(STR_FMT STR_FMT, STR_ARG(f->stem), STR_ARG(ending));
	CLEANUP(mem_free)
	char *normal = xasprintf("%s-%s" STR_FMT, f->project, f->version.text, STR_ARG(ending));
	HOLDS(str_eq(str_from(same), text));
	HOLDS(name_is_valid(str_from(f->project)));
	check_same_meaning(f, normal, true);
	check_same_meaning(f, same, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct err e = ERR_INIT;
	struct str text = fuzz_text(bytes, size);
	CLEANUP(filename_release) struct filename f = {0};
	if (filename_parse(text, &f, &e) < 0) {
		HOLDS(e.kind == ERR_INVALID && e.msg[0] && !f.project);
		return 0;
	}
	HOLDS(f.kind == filename_kind(text) && f.kind != FILENAME_OTHER);
	HOLDS(f.project[0] && name_is_normal(str_from(f.project)));
	HOLDS(!strpbrk(f.project, "/\\ \t\r\n"));
	(f.kind == FILENAME_WHEEL ? check_wheel : check_sdist)(&f, text);
	return 0;
}
