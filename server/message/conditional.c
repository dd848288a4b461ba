// SPDX-License-Identifier: Apache-2.0
#include "server/message/conditional.h"

#include "lib/base/decimal.h"
#include "lib/base/str.h"

// Cuts the next entity tag off the list, without "W/". False at the end of the list, or where it is malformed.
static bool next_etag(struct str *list, struct str *etag)
{
	while (list->len && (list->ptr[0] == ',' || list->ptr[0] == ' ' || list->ptr[0] == '\t'))
		*list = str_slice(*list, 1, list->len);
	if (str_starts(*list, STR("W/")))
		*list = str_slice(*list, 2, list->len);
	if (!list->len || list->ptr[0] != '"')
		return false;
	long end = str_find(str_slice(*list, 1, list->len), '"');
	if (end < 0)
		return false;
	*etag = str_slice(*list, 0, (size_t)end + 2);
	*list = str_slice(*list, etag->len, list->len);
	return true;
}

bool etag_matches(const char *if_none_match, const char *etag)
{
	struct str list = str_trim(str_from(if_none_match ? if_none_match : "")), one;
	if (str_eq(list, STR("*")))
		return true;
	while (next_etag(&list, &one))
		if (str_eq(one, str_from(etag)))
			return true;
	return false;
}

bool if_range_holds(const char *if_range, const char *etag)
{
	return !if_range || str_eq(str_trim(str_from(if_range)), str_from(etag));
}

static bool skip_dash(struct str *s)
{
	if (!s->len || s->ptr[0] != '-')
		return false;
	*s = str_slice(*s, 1, s->len);
	return true;
}

// "-500": the last 500 bytes.
static struct range range_suffix(struct str s, uint64_t size)
{
	uint64_t length;
	if (!decimal_cut(&s, UINT64_MAX, &length) || s.len)
		return (struct range){.kind = RANGE_WHOLE};
	if (length == 0)
		return (struct range){.kind = RANGE_UNSATISFIABLE};
	if (size == 0)
		return (struct range){.kind = RANGE_WHOLE}; // satisfiable, but 206 cannot say "no bytes"
	return (struct range){RANGE_PART, length < size ? size - length : 0, size - 1};
}

struct range range_parse(const char *header, uint64_t size)
{
	static const struct str unit = STR("bytes=");
	const struct range whole = {.kind = RANGE_WHOLE};
	struct str s = str_trim(str_from(header ? header : ""));
	uint64_t first, last = UINT64_MAX;
	if (s.len < unit.len || !str_eq_nocase(str_slice(s, 0, unit.len), unit))
		return whole;
	s = str_slice(s, unit.len, s.len);
	if (skip_dash(&s))
		return range_suffix(s, size);
	if (!decimal_cut(&s, UINT64_MAX, &first) || !skip_dash(&s))
		return whole;
	if ((s.len && !decimal_cut(&s, UINT64_MAX, &last)) || s.len || last < first)
		return whole;
	if (first >= size)
		return (struct range){.kind = RANGE_UNSATISFIABLE};
	return (struct range){RANGE_PART, first, last < size ? last : size - 1};
}
