// SPDX-License-Identifier: Apache-2.0
#include "server/message/negotiate.h"

#include <string.h>

#include "lib/base/charclass.h"
#include "lib/base/decimal.h"

// Weights are in thousandths.
enum { WEIGHT_FULL = 1000, WEIGHT_BAD = -1 };

// How specific a range is: the most specific one decides (RFC 9110 section 12.5.1).
enum { ALL = 1, WHOLE_TYPE, EXACT };

// RFC 9110 section 12.4.2: "0" or "1", three decimals at most, no more than 1.
static int parse_weight(struct str s)
{
	int weight = 0, unit = WEIGHT_FULL;
	if (!s.len || s.len > 5 || (s.ptr[0] != '0' && s.ptr[0] != '1') || (s.len > 1 && s.ptr[1] != '.'))
		return WEIGHT_BAD;
	for (size_t i = 0; i < s.len; i++) {
		if (i == 1)
			continue;
		if (!ascii_is_digit(s.ptr[i]))
			return WEIGHT_BAD;
		weight += (s.ptr[i] - '0') * unit;
		unit /= 10;
	}
	return weight <= WEIGHT_FULL ? weight : WEIGHT_BAD;
}

// One element of Accept or Accept-Encoding.
struct element {
	struct str name;
	int weight; // WEIGHT_BAD: malformed
};

static void take_part(struct element *element, struct str part, bool is_name)
{
	if (is_name)
		element->name = part;
	else if (part.len >= 2 && ascii_lower(part.ptr[0]) == 'q' && part.ptr[1] == '=')
		element->weight = parse_weight(str_slice(part, 2, part.len));
}

// Cuts it off the list. Commas and semicolons in quotes end nothing.
static struct element next_element(struct str *list)
{
	struct element element = {.weight = WEIGHT_FULL};
	bool is_quoted = false;
	size_t begin = 0, i = 0;
	for (bool ended = false; !ended; i++) {
		i += charclass_run(str_slice(*list, i, list->len), CHARCLASS_TOKEN);
		char c = i < list->len ? list->ptr[i] : '\0';
		ended = i >= list->len || (c == ',' && !is_quoted);
		if (ended || (c == ';' && !is_quoted)) {
			take_part(&element, str_trim(str_slice(*list, begin, i)), begin == 0);
			begin = i + 1;
		} else if (c == '"')
			is_quoted = !is_quoted;
		else if (c == '\\' && is_quoted && i + 1 < list->len)
			i++;
	}
	*list = str_slice(*list, i < list->len ? i : list->len, list->len);
	return element;
}

#define SIMPLE "application/vnd.pypi.simple."

const struct variant_row variant_row[VARIANT_COUNT] = {
	[VARIANT_HTML] = {PAGE_HTML, "text/html; charset=utf-8"},
	[VARIANT_V1_HTML] = {PAGE_HTML, SIMPLE "v1+html"},
	[VARIANT_V1_JSON] = {PAGE_JSON, SIMPLE "v1+json"},
	[VARIANT_HTML_OLD_PIP] = {PAGE_HTML_OLD_PIP, "text/html; charset=utf-8"},
	[VARIANT_V1_HTML_OLD_PIP] = {PAGE_HTML_OLD_PIP, SIMPLE "v1+html"},
};

// The variants that a client can choose. Of two with the same weight the first one is sent.
enum { CANDIDATE_COUNT = VARIANT_V1_JSON + 1 };

// The candidates that a media type or range means.
static const struct media_range {
	struct str name;
	unsigned candidates; // bits
	int specific;
} media_range[] = {
	{STR("text/html"), 1 << VARIANT_HTML, EXACT},
	{STR(SIMPLE "v1+html"), 1 << VARIANT_V1_HTML, EXACT},
	{STR(SIMPLE "v1+json"), 1 << VARIANT_V1_JSON, EXACT},
	{STR(SIMPLE "latest+html"), 1 << VARIANT_V1_HTML, EXACT},
	{STR(SIMPLE "latest+json"), 1 << VARIANT_V1_JSON, EXACT},
	{STR("text/*"), 1 << VARIANT_HTML, WHOLE_TYPE},
	{STR("application/*"), 1 << VARIANT_V1_HTML | 1 << VARIANT_V1_JSON, WHOLE_TYPE},
	{STR("*/*"), 1 << VARIANT_HTML | 1 << VARIANT_V1_HTML | 1 << VARIANT_V1_JSON, ALL},
};

static const struct media_range *find_media_range(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(media_range); i++)
		if (str_eq_nocase(media_range[i].name, name))
			return &media_range[i];
	return NULL;
}

struct preference {
	int weight, specific;
};

// Skips malformed parts. False where the header is empty or has such a part: then it excludes nothing.
static bool read_accept(const char *accept, struct preference preference[CANDIDATE_COUNT])
{
	struct str list = str_from(accept);
	bool is_good = true, has_any = false;
	while (list.len) {
		struct element element = next_element(&list);
		const struct media_range *r = find_media_range(element.name);
		if (!element.name.len)
			continue;
		has_any = true;
		if (element.weight == WEIGHT_BAD || str_find(element.name, '/') <= 0)
			is_good = false;
		else if (r) {
			for (size_t i = 0; i < CANDIDATE_COUNT; i++) {
				bool is_better = r->specific > preference[i].specific ||
						 (r->specific == preference[i].specific &&
							 element.weight > preference[i].weight);
				if (r->candidates & 1U << i && is_better)
					preference[i] = (struct preference){element.weight, r->specific};
			}
		}
	}
	return is_good && has_any;
}

// pip 22.3 to 23.1 ask for JSON, but only HTML can avoid their bugs.
static bool is_old_pip(const char *user_agent)
{
	static const struct str pip = STR("pip/");
	uint64_t major, minor;
	if (!user_agent || !str_starts(str_from(user_agent), pip))
		return false;
	struct str rest = str_from(user_agent + pip.len);
	if (!decimal_cut(&rest, UINT64_MAX, &major) || !str_starts(rest, STR(".")))
		return false;
	rest = str_slice(rest, 1, rest.len);
	if (!decimal_cut(&rest, UINT64_MAX, &minor))
		return false;
	return (major == 22 && minor >= 3) || (major == 23 && minor <= 1);
}

static int read_format(const char *format)
{
	char name[64];
	size_t len = format ? strlen(format) : 0;
	if (len > sizeof(name))
		return NEGOTIATE_NOTHING;
	for (size_t i = 0; i < len; i++)
		name[i] = format[i] == ' ' ? '+' : format[i];
	const struct media_range *r = find_media_range((struct str){name, len});
	for (int i = 0; r && r->specific == EXACT && i < CANDIDATE_COUNT; i++)
		if (r->candidates == 1U << i)
			return i;
	return NEGOTIATE_NOTHING;
}

int negotiate_variant(const char *accept, const char *format, const char *user_agent)
{
	struct preference preference[CANDIDATE_COUNT] = {0};
	size_t best = 0;
	int asked = read_format(format);
	if (asked != NEGOTIATE_NOTHING)
		return asked;
	bool excludes = accept && read_accept(accept, preference);
	for (size_t i = 1; i < CANDIDATE_COUNT; i++)
		if (preference[i].weight > preference[best].weight)
			best = i;
	if (preference[best].weight == 0)
		return excludes ? NEGOTIATE_NOTHING : VARIANT_HTML;
	bool takes_html = preference[VARIANT_HTML].weight || preference[VARIANT_V1_HTML].weight;
	if (takes_html && is_old_pip(user_agent))
		return preference[VARIANT_HTML].weight ? VARIANT_HTML_OLD_PIP : VARIANT_V1_HTML_OLD_PIP;
	return (int)best;
}

static int coding_of(struct str name)
{
	if (str_eq_nocase(name, STR("zstd")))
		return PAGE_ZSTD;
	if (str_eq_nocase(name, STR("gzip")) || str_eq_nocase(name, STR("x-gzip")))
		return PAGE_GZIP;
	return str_eq_nocase(name, STR("identity")) ? PAGE_PLAIN : -1;
}

enum page_coding negotiate_coding(const char *accept_encoding)
{
	int weight[PAGE_CODING_COUNT] = {WEIGHT_BAD, WEIGHT_BAD, WEIGHT_BAD}, others = 0;
	enum page_coding best = PAGE_PLAIN;
	struct str list = str_from(accept_encoding ? accept_encoding : "");
	while (list.len) {
		struct element element = next_element(&list);
		int coding = coding_of(element.name);
		if (coding >= 0)
			weight[coding] = element.weight;
		else if (str_eq(element.name, STR("*")))
			others = element.weight;
	}
	for (size_t i = 0; i < PAGE_CODING_COUNT; i++) {
		if (weight[i] == WEIGHT_BAD)
			weight[i] = others;
		if (weight[i] > 0 && weight[i] >= weight[best])
			best = (enum page_coding)i;
	}
	return best;
}

// The weight of application/json in Accept, and the largest one of these types.
static int json_weight(const char *accept, const char *const *types, size_t count, int *other)
{
	struct str rest = str_from(accept ? accept : "");
	int json = 0;
	*other = 0;
	while (rest.len) {
		struct element element = next_element(&rest);
		if (str_eq_nocase(element.name, STR("application/json")))
			json = element.weight;
		for (size_t i = 0; i < count; i++)
			if (str_eq_nocase(element.name, str_from(types[i])) && element.weight > *other)
				*other = element.weight;
	}
	return json;
}

bool negotiate_wants_json(const char *accept)
{
	static const char *const text[] = {"text/plain"};
	int other;
	return json_weight(accept, text, ARRAY_SIZE(text), &other) > other;
}

static const char *const html_types[] = {"text/html", "application/xhtml+xml"};

bool negotiate_page_json(const char *accept, const char *format)
{
	int other;
	if (format && (strcmp(format, "json") == 0 || strcmp(format, "html") == 0))
		return format[0] == 'j';
	return json_weight(accept, html_types, ARRAY_SIZE(html_types), &other) > other;
}

bool negotiate_data_html(const char *accept, const char *format)
{
	int html;
	if (format && (strcmp(format, "json") == 0 || strcmp(format, "html") == 0))
		return format[0] == 'h';
	return json_weight(accept, html_types, ARRAY_SIZE(html_types), &html) < html;
}
