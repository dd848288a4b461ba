// SPDX-License-Identifier: Apache-2.0
// Versions: the normal form parses to itself, and the order is that of PEP 440. An input is two lines.
#include "lib/domain/text/version.h"

#include "tests/fuzz/fuzz.h"

static void check_normal_form(const struct version *v)
{
	struct err e = ERR_INIT;
	CLEANUP(version_release) struct version reparsed = {0};
	HOLDS(version_parse(str_from(v->text), &reparsed, &e) == 0);
	HOLDS(str_eq(str_from(v->text), str_from(reparsed.text)));
	HOLDS(str_eq(v->key, reparsed.key));
	HOLDS(v->is_prerelease == reparsed.is_prerelease && v->is_local == reparsed.is_local);
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

// A version with each of these suffixes, if that is valid, is ordered by rank.
static const struct {
	const char *text;
	int rank;
} suffix[] = {{".dev0", -3}, {"a0", -2}, {"rc1", -1}, {"", 0}, {".0", 0}, {".0.0", 0}, {"+0", 1}, {".post0.dev0", 2},
	{".post0", 3}, {".1", 4}};

static void check_suffix_order(const struct version *v)
{
	struct version longer[ARRAY_SIZE(suffix)] = {0};
	for (size_t i = 0; i < ARRAY_SIZE(suffix); i++) {
		struct err e = ERR_INIT;
		CLEANUP(mem_free) char *text = xasprintf("%s%s", v->text, suffix[i].text);
		bool is_version = version_parse(str_from(text), &longer[i], &e) == 0;
		for (size_t k = 0; is_version && k < i; k++)
			if (longer[k].text)
				HOLDS(sign(version_cmp(&longer[i], &longer[k])) ==
					sign(suffix[i].rank - suffix[k].rank));
	}
	for (size_t i = 0; i < ARRAY_SIZE(suffix); i++)
		version_release(&longer[i]);
}

static bool parse_checked(struct str text, struct version *out)
{
	struct err e = ERR_INIT;
	bool is_good = version_parse(text, out, &e) == 0;
	HOLDS(is_good == version_is_valid(text));
	HOLDS(is_good == (e.kind == ERR_NONE));
	if (!is_good)
		return false;
	check_normal_form(out);
	if (!out->is_local) // a suffix would belong to the local part
		check_suffix_order(out);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str second = fuzz_text(bytes, size), first = str_cut(&second, '\n');
	CLEANUP(version_release) struct version a = {0}, b = {0};
	if (!parse_checked(first, &a) || !parse_checked(second, &b))
		return 0;
	HOLDS(sign(version_cmp(&a, &b)) == -sign(version_cmp(&b, &a)));
	HOLDS((version_cmp(&a, &b) == 0) == str_eq(a.key, b.key));
	HOLDS(!str_eq(str_from(a.text), str_from(b.text)) || version_cmp(&a, &b) == 0);
	return 0;
}
