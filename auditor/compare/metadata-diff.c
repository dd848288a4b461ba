// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/metadata-diff.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/rfc822-fields.h"
#include "lib/domain/text/specifier.h"
#include "lib/format/digest.h"

enum {
	LONG_VALUE = 200, // bytes; of a longer one the row has size and hash
	HASH_SHOWN = 12,  // digits
	MINORS = 64,      // Python 3.0 to 3.63
	MAY_SPECIFY = 1 << 10,
};

// --- what makes values equal ---

// The value with runs of blanks and line ends as one blank, and none at its ends.
static const char *squeeze(struct str s, struct arena *text)
{
	char *out = arena_alloc(text, s.len + 1);
	size_t len = 0;
	for (size_t i = 0; i < s.len; i++) {
		bool is_blank = s.ptr[i] == ' ' || s.ptr[i] == '\t' || s.ptr[i] == '\r' || s.ptr[i] == '\n';
		if (!is_blank)
			out[len++] = s.ptr[i];
		else if (len && out[len - 1] != ' ')
			out[len++] = ' ';
	}
	while (len && out[len - 1] == ' ')
		len--;
	out[len] = '\0';
	return out;
}

static int compare_strs(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

// Appends the specifiers of a set without blanks, sorted.
static void put_specifiers(struct str set, struct buf *out)
{
	struct str item[64];
	size_t count = 0;
	while (set.ptr && count < ARRAY_SIZE(item))
		item[count++] = str_trim(str_cut(&set, ','));
	qsort(item, count, sizeof(*item), compare_strs);
	for (size_t i = 0; i < count; i++) {
		buf_putc(out, ',');
		for (size_t k = 0; k < item[i].len; k++)
			if (item[i].ptr[k] != ' ')
				buf_putc(out, item[i].ptr[k]);
	}
	buf_str(out, set); // more than any real one has
}

// The length of the project's name at the beginning of a requirement.
static size_t name_length(struct str s)
{
	size_t len = 0;
	while (len < s.len && (ascii_is_alnum(s.ptr[len]) || strchr("._-", s.ptr[len])))
		len++;
	return len;
}

static const char *project_of(struct str s, struct arena *text)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, s.len + 1);
	name_normalize(str_slice(s, 0, name_length(s)), &out);
	return arena_copy(text, buf_view(&out));
}

static void put_marker(struct str marker, struct buf *out)
{
	for (size_t i = 0; i < marker.len; i++)
		if (marker.ptr[i] != ' ')
			buf_putc(out, marker.ptr[i] == '\'' ? '"' : marker.ptr[i]);
}

// "requests[socks],<3,>=2;extra==\"x\"" of "Requests[socks] (>=2, <3) ; extra == 'x'".
static const char *requirement_key(struct str s, struct arena *text)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 4 * s.len + 16);
	size_t len = name_length(s);
	struct str rest = str_slice(s, len, s.len);
	name_normalize(str_slice(s, 0, len), &out);
	bool has_url = str_find(rest, '@') >= 0;
	struct str what = has_url ? rest : str_cut(&rest, ';');
	what = str_trim(what);
	long extras = str_starts(what, STR("[")) ? str_find(what, ']') : -1;
	put_marker(str_slice(what, 0, (size_t)(extras + 1)), &out);
	what = str_trim(str_slice(what, (size_t)(extras + 1), what.len));
	if (str_starts(what, STR("(")) && str_ends(what, STR(")")))
		what = str_slice(what, 1, what.len - 1);
	if (has_url)
		buf_str(&out, what);
	else
		put_specifiers(what, &out);
	buf_putc(&out, ';');
	if (!has_url && rest.ptr)
		put_marker(rest, &out);
	return arena_copy(text, buf_view(&out));
}

// --- the fields ---

static bool is_field(struct str name, const char *of)
{
	return str_eq_nocase(name, str_from(of));
}

static const char *describe_long(struct str value, struct arena *text)
{
	uint8_t sha256[SHA256_SIZE];
	char hex[SHA256_HEX];
	digest_sha256(value, sha256);
	hex_encode(sha256, SHA256_SIZE, hex);
	return arena_printf(text, "%zu bytes, SHA-256 %.*s…", value.len, HASH_SHOWN, hex);
}

static void add_field(struct diff_values *out, struct str name, struct str value, struct arena *text)
{
	const char *shown = squeeze(value, text);
	const char *title = arena_copy(text, name);
	struct str tidy = str_from(shown);
	struct diff_value v = {title, shown, NULL, title};
	if (is_field(name, "Classifier"))
		v.pair = NULL;
	const char *same = shown;
	if (is_field(name, "Requires-Dist")) {
		same = requirement_key(tidy, text);
		v.pair = project_of(tidy, text);
	}
	if (is_field(name, "Project-URL")) {
		struct str rest = tidy;
		v.pair = arena_copy(text, str_trim(str_cut(&rest, ',')));
	}
	if (tidy.len > LONG_VALUE)
		v.text = describe_long(tidy, text);
	CLEANUP(buf_release) struct buf key;
	buf_init(&key, SIZE_MAX / 2);
	for (size_t i = 0; i < name.len; i++)
		buf_putc(&key, ascii_lower(name.ptr[i]));
	size_t front = key.len;
	buf_printf(&key, ":%s", v.pair ? v.pair : "");
	v.pair = v.pair ? arena_copy(text, buf_view(&key)) : NULL;
	key.len = front;
	buf_printf(&key, ":%s", same);
	v.same = arena_copy(text, buf_view(&key));
	diff_values_add(out, v);
}

// The body of METADATA is the description, as the field of that name is.
static void list_fields(struct str metadata, struct arena *text, struct diff_values *out)
{
	struct rfc822_field f;
	while (rfc822_fields_next(&metadata, &f))
		if (!is_field(f.name, "Requires-Python"))
			add_field(out, f.name, f.value, text);
	struct str body = str_trim(metadata);
	if (body.len)
		add_field(out, STR("Description"), body, text);
}

// --- Requires-Python ---

static bool admits_same(struct str a, struct str b, unsigned major, unsigned minor)
{
	uint64_t one = 0, other = 0;
	return specifier_micros(a, major, minor, &one) && specifier_micros(b, major, minor, &other) && one == other;
}

// Whether both contain the same versions of Python.
static bool is_same_python(struct str a, struct str b)
{
	if (str_eq(a, b))
		return true;
	if (a.len > MAY_SPECIFY || b.len > MAY_SPECIFY || !admits_same(a, b, 2, 6) || !admits_same(a, b, 2, 7) ||
		!admits_same(a, b, 4, 0))
		return false;
	for (unsigned minor = 0; minor < MINORS; minor++)
		if (!admits_same(a, b, 3, minor))
			return false;
	return true;
}

static void add_requires_python(struct str a, struct str b, struct arena *text, struct diff_rows *out)
{
	struct str one, other;
	bool has_a = rfc822_fields_first(a, STR("Requires-Python"), &one);
	bool has_b = rfc822_fields_first(b, STR("Requires-Python"), &other);
	const char *left = has_a ? squeeze(one, text) : NULL, *right = has_b ? squeeze(other, text) : NULL;
	diff_rows_add(out, "Requires-Python", left, right,
		left && right && is_same_python(str_from(left), str_from(right)));
}

void metadata_diff_make(struct str a, struct str b, struct arena *text, struct diff_rows *out)
{
	struct diff_values left = {.in = text}, right = {.in = text};
	*out = (struct diff_rows){.in = text};
	add_requires_python(a, b, text, out);
	list_fields(a, text, &left);
	list_fields(b, text, &right);
	diff_rows_add_sets(out, &left, &right);
	diff_rows_sort(out);
}
