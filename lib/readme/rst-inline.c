// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/rst-inline.h"

#include <stdlib.h>

enum rst_sign { SIGN_EMPHASIS, SIGN_STRONG, SIGN_LITERAL, SIGN_PHRASE, SIGN_REPLACEMENT, SIGN_COUNT };

struct rst_span {
	struct rst *r;
	struct str s;
	size_t at;                   // what is next
	struct buf plain;            // text before it that is not yet written
	bool has_no_end[SIGN_COUNT]; // of none behind this place
};

// --- where markup may begin and end ---

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\0';
}

// U+2000 to U+203F: dashes, quotes and blanks, which are punctuation as well.
static bool is_wide_punctuation(const unsigned char *at)
{
	return at[0] == 0xe2 && at[1] == 0x80;
}

static bool may_begin_at(struct str s, size_t at, size_t len)
{
	char next = at + len < s.len ? s.ptr[at + len] : ' ', before = at ? s.ptr[at - 1] : ' ';
	const char *opening = "'\"([{<", *closing = "'\")]}>";
	const char *quote = strchr(opening, before);
	if (is_space(next) || (quote && before && closing[quote - opening] == next))
		return false;
	return is_space(before) || strchr("'\"([{<-/:", before) ||
	       (at >= 3 && is_wide_punctuation((const unsigned char *)s.ptr + at - 3));
}

static bool may_end_at(struct str s, size_t end)
{
	return end >= s.len || is_space(s.ptr[end]) || strchr("'\")]}>-/:.,;!?\\", s.ptr[end]) ||
	       (s.len - end >= 3 && is_wide_punctuation((const unsigned char *)s.ptr + end));
}

static bool is_escaped(struct str s, size_t from, size_t at)
{
	size_t n = 0;
	while (at - n > from && s.ptr[at - n - 1] == '\\')
		n++;
	return n % 2;
}

static bool is_role_char(char c)
{
	return ascii_is_alnum(c) || (c && strchr("-_+.:", c));
}

// The length of what may stand behind the quote that ends a phrase: "_", "__" or ":role:".
static size_t phrase_suffix(struct str s, size_t at)
{
	size_t len = 0;
	while (at + len < s.len && s.ptr[at + len] == '_' && len < 2)
		len++;
	if (len || at >= s.len || s.ptr[at] != ':')
		return len;
	for (len = 1; at + len < s.len && is_role_char(s.ptr[at + len]) && len < 64; len++)
		;
	return len > 2 && s.ptr[at + len - 1] == ':' ? len : 0;
}

static size_t suffix_of(enum rst_sign sign, struct str s, size_t at)
{
	if (sign == SIGN_PHRASE)
		return phrase_suffix(s, at);
	size_t len = 0;
	while (sign == SIGN_REPLACEMENT && at + len < s.len && s.ptr[at + len] == '_' && len < 2)
		len++;
	return len;
}

static const struct str sign_end[SIGN_COUNT] = {
	[SIGN_EMPHASIS] = STR("*"),
	[SIGN_STRONG] = STR("**"),
	[SIGN_LITERAL] = STR("``"),
	[SIGN_PHRASE] = STR("`"),
	[SIGN_REPLACEMENT] = STR("|"),
};

// The offset of the sign that ends markup whose text begins at from; -1: none. What is no end for this text is none for
// one that begins behind it either.
static long find_end(struct rst_span *x, enum rst_sign sign, size_t from)
{
	struct str end = sign_end[sign], s = x->s;
	if (x->has_no_end[sign])
		return -1;
	for (size_t at = from + 1; at < s.len; at++) {
		const char *found = memchr(s.ptr + at, end.ptr[0], s.len - at);
		if (!found)
			break;
		at = (size_t)(found - s.ptr);
		size_t behind = at + end.len;
		if (behind > s.len || !str_eq(str_slice(s, at, behind), end) || is_space(s.ptr[at - 1]))
			continue;
		if (sign != SIGN_LITERAL && is_escaped(s, from, at))
			continue;
		if (may_end_at(s, behind + suffix_of(sign, s, behind)))
			return (long)at;
	}
	x->has_no_end[sign] = true;
	return -1;
}

// --- writing ---

static void write_plain(struct rst_span *x)
{
	bare_links_write(x->r->w, buf_view(&x->plain));
	buf_clear(&x->plain);
}

// Writes text without its backslashes. A blank behind one is left out.
static void write_unescaped(struct safe_html *w, struct str text)
{
	for (size_t from = 0, i = 0; i <= text.len; i++) {
		if (i < text.len && text.ptr[i] != '\\')
			continue;
		safe_html_text(w, str_slice(text, from, i));
		i++;
		from = i < text.len && is_space(text.ptr[i]) ? i + 1 : i;
		if (from > text.len)
			from = text.len;
	}
}

// The URL of a name. False: the text has no such target.
static bool find_target_url(const struct rst_targets *t, struct str name, struct str *url);
// The replacement of a name. NULL: none.
static const struct rst_replacement *find_replacement(const struct rst_targets *t, struct str name);

void rst_inline_write_image(struct rst *r, struct str url, struct str alt, struct str target)
{
	struct str named;
	if (str_ends(target, STR("_")) && find_target_url(r->targets, str_slice(target, 0, target.len - 1), &named))
		target = named;
	bool is_link = target.len && safe_html_begin_link(r->w, target);
	safe_html_image(r->w, url, alt);
	if (is_link)
		safe_html_end(r->w);
}

static void write_element(struct rst *r, enum safe_element element, struct str text, bool is_literal)
{
	safe_html_begin(r->w, element);
	if (is_literal)
		safe_html_text(r->w, text);
	else
		write_unescaped(r->w, text);
	safe_html_end(r->w);
}

// Roles of which the text is more than words. Of all others it is code, if the role is of a domain of Sphinx or one of
// these. A role like :ref: may have its target in brackets behind the words.
static enum safe_element role_element(struct str role)
{
	static const struct {
		struct str role;
		enum safe_element element;
	} of[] = {
		{STR(""), SAFE_EM},
		{STR("emphasis"), SAFE_EM},
		{STR("strong"), SAFE_STRONG},
		{STR("title-reference"), SAFE_EM},
		{STR("doc"), SAFE_COUNT},
		{STR("ref"), SAFE_COUNT},
		{STR("sub"), SAFE_COUNT},
		{STR("sup"), SAFE_COUNT},
		{STR("pep"), SAFE_COUNT},
		{STR("rfc"), SAFE_COUNT},
	};
	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		if (str_eq(of[i].role, role))
			return of[i].element;
	return SAFE_CODE;
}

// Splits "words <target>". False: the text has no target.
static bool split_target(struct str text, struct str *words, struct str *target)
{
	long open = str_rfind(text, '<');
	if (open < 0 || text.len < 3 || text.ptr[text.len - 1] != '>' || (open > 0 && !is_space(text.ptr[open - 1])))
		return false;
	*target = str_slice(text, (size_t)open + 1, text.len - 1);
	*words = str_trim(str_slice(text, 0, (size_t)open));
	if (!words->len)
		*words = *target;
	return true;
}

static void write_role(struct rst *r, struct str role, struct str text)
{
	struct str target;
	enum safe_element element = role_element(role);
	if (role.len)
		split_target(text, &text, &target);
	if (str_eq(role, STR("pep")) || str_eq(role, STR("rfc")))
		safe_html_text(r->w, role.ptr[0] == 'p' ? STR("PEP ") : STR("RFC "));
	if (element == SAFE_COUNT)
		write_unescaped(r->w, text);
	else
		write_element(r, element, text, element == SAFE_CODE);
}

// A target that was broken into lines.
static struct str join_target(struct str target, struct buf *url)
{
	for (size_t i = 0; i < target.len; i++)
		if (!is_space(target.ptr[i]) && target.ptr[i] != '\\')
			buf_putc(url, target.ptr[i]);
	return buf_view(url);
}

static void write_reference(struct rst *r, struct str text, bool is_anonymous)
{
	struct str words = text, target, url = STR("");
	bool has_target = split_target(text, &words, &target);
	CLEANUP(buf_release) struct buf joined = buf_up_to(LIMIT_README);
	if (has_target)
		url = join_target(target, &joined);
	else if (is_anonymous && r->anonymous < r->targets->anonymous_count)
		url = r->targets->anonymous[r->anonymous++];
	else if (!is_anonymous)
		find_target_url(r->targets, text, &url);
	if (has_target || is_anonymous)
		is_anonymous =
			str_ends(url, STR("_")) && find_target_url(r->targets, str_slice(url, 0, url.len - 1), &url);
	bool is_link = safe_html_begin_link(r->w, url);
	write_unescaped(r->w, words);
	if (is_link)
		safe_html_end(r->w);
}

// --- the signs ---

// Each of these is called where its sign stands and markup may begin, with its end, and goes on behind it.

static void take_literal(struct rst_span *x, size_t end)
{
	write_element(x->r, SAFE_CODE, str_slice(x->s, x->at + 2, end), true);
	x->at = end + 2;
}

static void take_strong(struct rst_span *x, size_t end)
{
	write_element(x->r, SAFE_STRONG, str_slice(x->s, x->at + 2, end), false);
	x->at = end + 2;
}

static void take_emphasis(struct rst_span *x, size_t end)
{
	write_element(x->r, SAFE_EM, str_slice(x->s, x->at + 1, end), false);
	x->at = end + 1;
}

// The role in front of a phrase, which is at the end of the plain text: ":role:".
static struct str cut_role(struct rst_span *x)
{
	struct str plain = buf_view(&x->plain);
	size_t len = 0;
	if (!plain.len || plain.ptr[plain.len - 1] != ':')
		return STR("");
	while (len < plain.len && len < 64 && is_role_char(plain.ptr[plain.len - 1 - len]))
		len++;
	while (len > 2 && plain.ptr[plain.len - len] != ':')
		len--;
	if (len < 3)
		return STR("");
	struct str role = str_slice(x->s, x->at - len + 1, x->at - 1);
	x->plain.len -= len;
	return role;
}

static void take_phrase(struct rst_span *x, size_t end)
{
	struct str text = str_slice(x->s, x->at + 1, end), role = STR("");
	size_t len = phrase_suffix(x->s, end + 1);
	bool is_reference = len && x->s.ptr[end + 1] == '_';
	if (!is_reference)
		role = len ? str_slice(x->s, end + 2, end + len) : cut_role(x);
	write_plain(x);
	if (is_reference)
		write_reference(x->r, text, len == 2);
	else
		write_role(x->r, role, text);
	x->at = end + 1 + len;
}

static void write_replacement(struct rst_span *x, const struct rst_replacement *of, struct str name)
{
	x->r->expanded += of->argument.len + 1;
	if (str_eq(of->directive, STR("image")))
		rst_inline_write_image(x->r, of->argument, of->alt.len ? of->alt : name, of->target);
	else if (str_eq(of->directive, STR("replace")) && x->r->expanded > LIMIT_README_EXPANDED)
		x->r->w->too_deep = true;
	else if (str_eq(of->directive, STR("replace")))
		write_unescaped(x->r->w, of->argument);
}

static void take_replacement_at(struct rst_span *x, size_t end)
{
	struct str name = str_slice(x->s, x->at + 1, end);
	const struct rst_replacement *of = find_replacement(x->r->targets, name);
	if (of)
		write_replacement(x, of, name);
	else
		safe_html_text(x->r->w, str_slice(x->s, x->at, end + 1));
	x->at = end + 1 + suffix_of(SIGN_REPLACEMENT, x->s, end + 1);
}

static const struct rst_sign_row {
	struct str begin;
	void (*take)(struct rst_span *x, size_t end);
} signs[SIGN_COUNT] = {
	[SIGN_EMPHASIS] = {STR("*"), take_emphasis},
	[SIGN_STRONG] = {STR("**"), take_strong},
	[SIGN_LITERAL] = {STR("``"), take_literal},
	[SIGN_PHRASE] = {STR("`"), take_phrase},
	[SIGN_REPLACEMENT] = {STR("|"), take_replacement_at},
};

static enum rst_sign sign_at(struct str s, size_t at)
{
	bool is_double = at + 1 < s.len && s.ptr[at + 1] == s.ptr[at];
	switch (s.ptr[at]) {
	case '*':
		return is_double ? SIGN_STRONG : SIGN_EMPHASIS;
	case '`':
		return is_double ? SIGN_LITERAL : SIGN_PHRASE;
	case '|':
		return SIGN_REPLACEMENT;
	default:
		return SIGN_COUNT;
	}
}

static bool take_sign(struct rst_span *x)
{
	enum rst_sign sign = sign_at(x->s, x->at);
	if (sign == SIGN_COUNT || !may_begin_at(x->s, x->at, signs[sign].begin.len))
		return false;
	long end = find_end(x, sign, x->at + signs[sign].begin.len);
	if (end < 0)
		return false;
	if (sign != SIGN_PHRASE)
		write_plain(x);
	signs[sign].take(x, (size_t)end);
	return true;
}

// "name_" and "name__": the name is at the end of the plain text. *len is its length, 0 for none.
static size_t name_length_before(struct str s, size_t at)
{
	size_t len = 0;
	for (; len < at && len < LIMIT_README_URL; len++) {
		char c = s.ptr[at - 1 - len];
		bool is_inner = c && strchr("-_.+:", c) && len && ascii_is_alnum(s.ptr[at - len]);
		if (!ascii_is_alnum(c) && !is_inner)
			break;
	}
	while (len && !ascii_is_alnum(s.ptr[at - len]))
		len--;
	return len && may_begin_at(s, at - len, 0) ? len : 0;
}

// "_`words`", which is a target, and "[1]_", which is a reference to a footnote: only their words are shown.
static bool take_target_sign(struct rst_span *x)
{
	bool is_target = x->at + 1 < x->s.len && x->s.ptr[x->at + 1] == '`' && may_begin_at(x->s, x->at, 2);
	long end = is_target ? find_end(x, SIGN_PHRASE, x->at + 2) : -1;
	if (end < 0 && (!x->at || x->s.ptr[x->at - 1] != ']' || !may_end_at(x->s, x->at + 1)))
		return false;
	if (end >= 0) {
		write_plain(x);
		write_unescaped(x->r->w, str_slice(x->s, x->at + 2, (size_t)end));
	}
	x->at = end >= 0 ? (size_t)end + 1 : x->at + 1;
	return true;
}

static bool take_reference(struct rst_span *x)
{
	if (take_target_sign(x))
		return true;
	size_t len = name_length_before(x->s, x->at);
	struct str name = str_slice(x->s, x->at - len, x->at), url;
	size_t suffix = x->at + 1 < x->s.len && x->s.ptr[x->at + 1] == '_' ? 2 : 1;
	if (!len || !may_end_at(x->s, x->at + suffix) || !str_ends(buf_view(&x->plain), name))
		return false;
	if (suffix == 1 && !find_target_url(x->r->targets, name, &url))
		return false;
	if (suffix == 2 && x->r->anonymous == x->r->targets->anonymous_count)
		return false;
	x->plain.len -= len;
	write_plain(x);
	write_reference(x->r, name, suffix == 2);
	x->at += suffix;
	return true;
}

static void take_escaped(struct rst_span *x)
{
	char c = x->at + 1 < x->s.len ? x->s.ptr[x->at + 1] : ' ';
	if (!is_space(c))
		buf_putc(&x->plain, c);
	x->at += 2;
}

void rst_inline_write(struct rst *r, struct str text)
{
	struct rst_span x = {.r = r, .s = text};
	buf_init(&x.plain, LIMIT_README_HTML);
	while (x.at < text.len && !safe_html_failed(r->w)) {
		char c = text.ptr[x.at];
		bool is_taken = c == '_' ? take_reference(&x) : take_sign(&x);
		if (c == '\\')
			take_escaped(&x);
		else if (!is_taken)
			buf_putc(&x.plain, text.ptr[x.at++]);
	}
	write_plain(&x);
	buf_release(&x.plain);
}

// --- targets and replacements ---

void rst_targets_release(struct rst_targets *t)
{
	mem_free(&t->item);
	mem_free(&t->anonymous);
	arena_release(&t->text);
}

// Adds the name without quotes and escapes, as all spellings of it compare.
static void normalise_name(const char *kind, struct str name, struct buf *out)
{
	size_t begin = strlen(kind);
	buf_puts(out, kind);
	if (name.len >= 2 && name.ptr[0] == '`' && name.ptr[name.len - 1] == '`')
		name = str_slice(name, 1, name.len - 1);
	for (size_t i = 0; i < name.len; i++) {
		bool is_blank = name.ptr[i] == ' ' || name.ptr[i] == '\n';
		bool is_repeated = is_blank && (out->len == begin || out->data[out->len - 1] == ' ');
		if (name.ptr[i] != '\\' && !is_repeated)
			buf_putc(out, is_blank ? ' ' : ascii_lower(name.ptr[i]));
	}
	while (out->len > begin && out->data[out->len - 1] == ' ')
		out->len--;
}

long rst_name_end(struct str text)
{
	bool is_quoted = text.len && text.ptr[0] == '`';
	for (size_t i = 1; i < text.len; i++) {
		if (text.ptr[i] == '\\')
			i++;
		else if (is_quoted && text.ptr[i] == '`')
			is_quoted = false;
		else if (!is_quoted && text.ptr[i] == ':' && (i + 1 == text.len || text.ptr[i + 1] == ' '))
			return (long)i;
	}
	return -1;
}

size_t rst_options_end(const struct rst *r, size_t from, size_t to)
{
	size_t margin = from < to ? r->line[from].indent : 0;
	while (from < to && !rst_is_blank(r, from) &&
		(r->line[from].indent > margin ||
			(r->line[from].text.ptr[r->line[from].indent] == ':' && rst_name_end(rst_text(r, from)) > 1)))
		from++;
	return from;
}

struct str rst_option(const struct rst *r, size_t from, size_t to, struct str name)
{
	size_t end = rst_options_end(r, from, to);
	for (; from < end; from++) {
		struct str text = rst_text(r, from);
		long colon = rst_name_end(text);
		if (colon > 1 && str_eq(str_slice(text, 1, (size_t)colon), name))
			return str_trim(str_slice(text, (size_t)colon + 1, text.len));
	}
	return STR("");
}

static void add_rst_name(struct rst_targets *t, const char *kind, struct rst_name item)
{
	CLEANUP(buf_release) struct buf name = buf_up_to(LIMIT_README * 2);
	normalise_name(kind, item.name, &name);
	item.name = (struct str){arena_copy(&t->text, buf_view(&name)), name.len};
	GROW(t->item, t->count, t->room);
	t->item[t->count++] = item;
}

static void add_anonymous(struct rst_targets *t, struct str url)
{
	GROW(t->anonymous, t->anonymous_count, t->anonymous_room);
	t->anonymous[t->anonymous_count++] = url;
}

// The URL of a target goes on in the lines below it, without the blanks between them.
static struct str join_url(struct rst_targets *t, const struct rst *r, size_t i, struct str first)
{
	size_t margin = r->line[i].indent, end = i + 1;
	while (end < r->count && !rst_is_blank(r, end) && r->line[end].indent > margin)
		end++;
	CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_README_URL);
	if (end == i + 1)
		return first;
	buf_str(&url, first);
	for (i++; i < end; i++)
		buf_str(&url, rst_text(r, i));
	return (struct str){arena_copy(&t->text, buf_view(&url)), url.len};
}

// "_name: URL" and "__: URL" behind the two dots.
static void take_target(struct rst_targets *t, const struct rst *r, size_t i, struct str text)
{
	text = str_slice(text, 1, text.len);
	long colon =
		text.len && text.ptr[0] == '_' ? (text.len > 1 && text.ptr[1] == ':' ? 1 : -1) : rst_name_end(text);
	if (colon < 0)
		return;
	struct str url = join_url(t, r, i, str_trim(str_slice(text, (size_t)colon + 1, text.len)));
	if (text.ptr[0] == '_')
		add_anonymous(t, url);
	else if (url.len)
		add_rst_name(t, "", (struct rst_name){.name = str_slice(text, 0, (size_t)colon), .url = url});
}

// "|name| image:: URL" behind the two dots.
static void take_replacement(struct rst_targets *t, const struct rst *r, size_t i, struct str text)
{
	struct str rest = str_slice(text, 1, text.len), name = str_cut(&rest, '|');
	rest = rest.ptr ? str_trim(rest) : rest;
	size_t end = rst_body_end(r, i + 1, r->count, r->line[i].indent);
	for (size_t at = 0; at + 1 < rest.len; at++) {
		if (rest.ptr[at] != ':' || rest.ptr[at + 1] != ':')
			continue;
		const struct rst_replacement replacement = {
			.directive = str_slice(rest, 0, at),
			.argument = str_trim(str_slice(rest, at + 2, rest.len)),
			.alt = rst_option(r, i + 1, end, STR("alt")),
			.target = rst_option(r, i + 1, end, STR("target")),
		};
		add_rst_name(t, "|", (struct rst_name){.name = name, .replacement = replacement});
		return;
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct rst_name *x = a, *y = b;
	int order = str_cmp(x->name, y->name);
	return order ? order : (x->url.ptr > y->url.ptr) - (x->url.ptr < y->url.ptr);
}

void rst_targets_collect(struct rst_targets *t, const struct rst *r)
{
	*t = (struct rst_targets){0};
	for (size_t i = 0; i < r->count; i++) {
		struct str text = rst_text(r, i);
		if (str_starts(text, STR(".. _")))
			take_target(t, r, i, str_slice(text, 3, text.len));
		else if (str_starts(text, STR(".. |")))
			take_replacement(t, r, i, str_slice(text, 3, text.len));
		else if (str_starts(text, STR("__ ")))
			add_anonymous(t, str_trim(str_slice(text, 3, text.len)));
	}
	if (t->count)
		qsort(t->item, t->count, sizeof(*t->item), compare_names);
}

static const struct rst_name *find_name(const struct rst_targets *t, const char *kind, struct str name)
{
	size_t low = 0, high = t->count;
	CLEANUP(buf_release) struct buf key = buf_up_to(LIMIT_README * 2);
	normalise_name(kind, name, &key);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (str_cmp(t->item[middle].name, buf_view(&key)) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->count && str_eq(t->item[low].name, buf_view(&key)) ? &t->item[low] : NULL;
}

static bool find_target_url(const struct rst_targets *t, struct str name, struct str *url)
{
	for (int hops = 0; hops < 4; hops++) {
		const struct rst_name *found = find_name(t, "", name);
		if (!found)
			return false;
		*url = found->url;
		if (!str_ends(found->url, STR("_")) || str_ends(found->url, STR("\\_")))
			return true;
		name = str_slice(found->url, 0, found->url.len - 1);
	}
	return false;
}

static const struct rst_replacement *find_replacement(const struct rst_targets *t, struct str name)
{
	const struct rst_name *found = find_name(t, "|", name);
	return found ? &found->replacement : NULL;
}

// --- lines ---

void rst_lines_split(struct rst *r, struct str text)
{
	while (text.len) {
		struct str line = str_cut(&text, '\n');
		size_t indent = 0;
		while (line.len && line.ptr[line.len - 1] == ' ')
			line.len--;
		while (indent < line.len && line.ptr[indent] == ' ')
			indent++;
		GROW(r->line, r->count, r->room);
		r->line[r->count++] = (struct rst_line){line, indent};
	}
}

struct str rst_text(const struct rst *r, size_t i)
{
	return rst_text_from(r, i, r->line[i].indent);
}

struct str rst_text_from(const struct rst *r, size_t i, size_t column)
{
	struct str text = r->line[i].text;
	return str_slice(text, column < text.len ? column : text.len, text.len);
}

size_t rst_body_end(const struct rst *r, size_t i, size_t to, size_t margin)
{
	size_t end = i;
	for (; i < to && (rst_is_blank(r, i) || r->line[i].indent > margin); i++)
		end = rst_is_blank(r, i) ? end : i + 1;
	return end;
}

size_t rst_skip_blank(const struct rst *r, size_t i, size_t to)
{
	while (i < to && rst_is_blank(r, i))
		i++;
	return i;
}

size_t rst_least_indent(const struct rst *r, size_t i, size_t to)
{
	size_t least = SIZE_MAX;
	for (; i < to; i++)
		if (!rst_is_blank(r, i) && r->line[i].indent < least)
			least = r->line[i].indent;
	return least;
}

// The lines behind the first one decide about the margin, since people align them in several ways.
void rst_write_item(struct rst *r, size_t i, size_t end, size_t column)
{
	struct rst_line first = r->line[i];
	size_t margin = rst_least_indent(r, i + 1, end);
	if (column >= first.text.len) { // the text begins in a line below
		if (margin != SIZE_MAX)
			r->blocks(r, i + 1, end, margin);
		return;
	}
	// The marker counts as blanks.
	while (column < first.text.len && first.text.ptr[column] == ' ')
		column++;
	margin = margin < column ? margin : column;
	r->line[i].text = str_slice(first.text, column - margin, first.text.len);
	r->line[i].indent = margin;
	r->blocks(r, i, end, margin);
	r->line[i] = first;
}

void rst_write_literal(struct rst *r, size_t from, size_t to)
{
	size_t margin = rst_least_indent(r, from, to);
	safe_html_begin(r->w, SAFE_PRE);
	safe_html_begin(r->w, SAFE_CODE);
	for (size_t i = from; i < to; i++) {
		safe_html_text(r->w, rst_text_from(r, i, margin));
		safe_html_text(r->w, STR("\n"));
	}
	safe_html_end(r->w);
	safe_html_end(r->w);
}

bool rst_is_adornment(struct str text, size_t least)
{
	if (text.len < least || !text.len || text.ptr[0] <= ' ' || text.ptr[0] > '~' || ascii_is_alnum(text.ptr[0]))
		return false;
	for (size_t i = 1; i < text.len; i++)
		if (text.ptr[i] != text.ptr[0])
			return false;
	return true;
}
