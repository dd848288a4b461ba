// SPDX-License-Identifier: Apache-2.0
// Versions: the normal form is one, and the order is PEP 440's. An input is two lines.
#include "lib/domain/version.h"

#include "tests/fuzz/fuzz.h"

static void normal_form_stays(const struct version *v)
{
	struct err e = ERR_INIT;
	CLEANUP(version_release) struct version again = {0};
	HOLDS(version_parse(str_from(v->text), &again, &e) == 0);
	HOLDS(str_eq(str_from(v->text), str_from(again.text)));
	HOLDS(str_eq(v->key, again.key));
	HOLDS(v->is_prerelease == again.is_prerelease && v->is_local == again.is_local);
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

// Where a version with this behind it is one at all, it is less, equal or greater. More of a local
// part is greater.
static void suffixes_order(const struct version *v)
{
	static const struct {
		const char *text;
		int order;
	} suffix[] = {{".dev0", -1}, {"a0", -1}, {"rc1", -1}, {".0", 0}, {".0.0", 0}, {".post0", 1},
		{"+0", 1}};
	for (size_t i = 0; i < ARRAY_SIZE(suffix); i++) {
		struct err e = ERR_INIT;
		CLEANUP(version_release) struct version longer = {0};
		CLEANUP(mem_free) char *text = xasprintf("%s%s", v->text, suffix[i].text);
		if (v->is_local && suffix[i].text[0] != '.')
			continue;
		if (version_parse(str_from(text), &longer, &e) == 0)
			HOLDS(sign(version_cmp(&longer, v)) == (v->is_local ? 1 : suffix[i].order));
	}
}

static bool parse(struct str text, struct version *out)
{
	struct err e = ERR_INIT;
	bool is_good = version_parse(text, out, &e) == 0;
	HOLDS(is_good == version_is_valid(text));
	HOLDS(is_good == (e.kind == ERR_NONE));
	if (!is_good)
		return false;
	normal_form_stays(out);
	suffixes_order(out);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str second = fuzz_text(bytes, size), first = str_cut(&second, '\n');
	CLEANUP(version_release) struct version a = {0}, b = {0};
	if (!parse(first, &a) || !parse(second, &b))
		return 0;
	HOLDS(sign(version_cmp(&a, &b)) == -sign(version_cmp(&b, &a)));
	HOLDS((version_cmp(&a, &b) == 0) == str_eq(a.key, b.key));
	HOLDS(!str_eq(str_from(a.text), str_from(b.text)) || version_cmp(&a, &b) == 0);
	return 0;
}
