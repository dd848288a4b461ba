// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/library-version.h"

#include "lib/base/mem.h"

// The order of the kinds is that of versions that differ at this part only.
enum part_kind { PART_BEFORE, PART_END, PART_WORD, PART_NUMBER };

struct version_part {
	enum part_kind kind;
	struct str text;
};

static bool is_early(struct str word, bool has_number)
{
	static const struct str early[] = {
		STR("alpha"), STR("beta"), STR("pre"), STR("preview"), STR("rc"), STR("dev"), STR("snapshot")};
	for (size_t i = 0; i < ARRAY_SIZE(early); i++)
		if (str_eq_nocase(word, early[i]))
			return true;
	return has_number && word.len == 1 && (word.ptr[0] == 'a' || word.ptr[0] == 'b'); // 1.0b2
}

static struct str cut_part(struct str *rest, bool (*is_in)(char c))
{
	size_t len = 0;
	while (len < rest->len && is_in(rest->ptr[len]))
		len++;
	struct str part = str_slice(*rest, 0, len);
	*rest = str_slice(*rest, len, rest->len);
	return part;
}

static bool is_between_parts(char c)
{
	return !ascii_is_alnum(c) && c != '~' && c != '+';
}

static struct version_part next_part(struct str *rest)
{
	cut_part(rest, is_between_parts);
	if (!rest->len || rest->ptr[0] == '+')
		return (struct version_part){PART_END, {0}};
	if (rest->ptr[0] == '~') {
		*rest = str_slice(*rest, 1, rest->len);
		return (struct version_part){PART_BEFORE, {0}};
	}
	if (ascii_is_digit(rest->ptr[0]))
		return (struct version_part){PART_NUMBER, cut_part(rest, ascii_is_digit)};
	struct str word = cut_part(rest, ascii_is_alpha);
	bool has_number = rest->len && ascii_is_digit(rest->ptr[0]);
	return (struct version_part){is_early(word, has_number) ? PART_BEFORE : PART_WORD, word};
}

static struct str without_zeros(struct str number)
{
	size_t at = 0;
	while (at < number.len && number.ptr[at] == '0')
		at++;
	return str_slice(number, at, number.len);
}

static int compare_numbers(struct str a, struct str b)
{
	a = without_zeros(a);
	b = without_zeros(b);
	return a.len != b.len ? (a.len > b.len) - (a.len < b.len) : str_cmp(a, b);
}

static int compare_parts(const struct version_part *a, const struct version_part *b)
{
	if (a->kind != b->kind)
		return (a->kind > b->kind) - (a->kind < b->kind);
	return a->kind == PART_NUMBER ? compare_numbers(a->text, b->text) : str_cmp(a->text, b->text);
}

// Skips zeros where the other version has no number: 3.0 is 3.
static void skip_zeros(struct version_part *part, struct str *rest, const struct version_part *other)
{
	while (part->kind == PART_NUMBER && other->kind != PART_NUMBER && !without_zeros(part->text).len)
		*part = next_part(rest);
}

int library_version_compare(struct str a, struct str b)
{
	for (;;) {
		struct version_part left = next_part(&a), right = next_part(&b);
		skip_zeros(&left, &a, &right);
		skip_zeros(&right, &b, &left);
		int order = compare_parts(&left, &right);
		if (order || (left.kind == PART_END && right.kind == PART_END))
			return order;
	}
}

struct str library_version_upstream(struct str version)
{
	long colon = str_find(version, ':'), dash;
	if (colon >= 0)
		version = str_slice(version, (size_t)colon + 1, version.len);
	dash = str_rfind(version, '-');
	return dash > 0 ? str_slice(version, 0, (size_t)dash) : version;
}
