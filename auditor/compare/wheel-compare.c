// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/wheel-compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/audit/audit-wheel.h"
#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/rfc822-fields.h"
#include "lib/domain/text/specifier.h"
#include "lib/facts/library-name.h"
#include "lib/format/digest.h"

// --- provenance ---

const char *const provenance_column_name[COLUMN_COUNT] = {"version", "source", "digest", "how", "path", "options"};

const char *provenance_column(const struct provenance_row *row, enum provenance_column column)
{
	if (!row)
		return NULL;
	const char *const value[COLUMN_COUNT] = {
		row->version, row->source, row->digest, row->how, row->path, row->options};
	return value[column];
}

static bool has_same(const struct provenance_pair *p, enum provenance_column column)
{
	const char *a = provenance_column(p->a, column), *b = provenance_column(p->b, column);
	return a && b ? strcmp(a, b) == 0 : a == b;
}

struct row_pairs {
	const struct provenance *a, *b;
	struct provenance_diff *out;
};

static void keep_row_pair(void *ctx, size_t a, size_t b)
{
	struct row_pairs *p = ctx;
	struct provenance_pair pair = {.a = &p->a->row[a], .b = &p->b->row[b], .is_equal = true};
	for (int i = 0; i < COLUMN_COUNT; i++)
		pair.is_equal = pair.is_equal && has_same(&pair, (enum provenance_column)i);
	pair.has_other_path = !has_same(&pair, COLUMN_PATH);
	p->out->row[p->out->listed++] = pair;
}

static const struct provenance_row *row_of_pair(const struct provenance_pair *p)
{
	return p->a ? p->a : p->b;
}

static int compare_row_pairs(const void *a, const void *b)
{
	const struct provenance_pair *left = a, *right = b;
	const struct provenance_row *one = row_of_pair(left), *other = row_of_pair(right);
	if (left->is_equal != right->is_equal)
		return left->is_equal - right->is_equal;
	if (one->kind != other->kind)
		return (int)one->kind - (int)other->kind;
	int order = strcmp(one->component, other->component);
	return order ? order : !left->a - !right->a;
}

// The key of a row is its kind and component.
static void list_keys(const struct provenance *p, struct arena *text, struct pairing_list *out)
{
	for (size_t i = 0; p && i < p->rows; i++)
		pairing_add(out, arena_printf(text, "%c%s", 'a' + (int)p->row[i].kind, p->row[i].component), i);
}

void provenance_diff_make(const struct provenance *a, const struct provenance *b, struct arena *text,
	struct provenance_diff *out)
{
	struct pairing_list left = {.in = text}, right = {.in = text};
	size_t most = (a ? a->rows : 0) + (b ? b->rows : 0);
	struct row_pairs pairs = {a, b, out};
	*out = (struct provenance_diff){.row = ARENA_NEW(text, struct provenance_pair, most)};
	list_keys(a, text, &left);
	list_keys(b, text, &right);
	pairing_take(&left, &right, keep_row_pair, &pairs);
	for (size_t i = 0; i < left.count; i++)
		out->row[out->listed++] = (struct provenance_pair){.a = &a->row[left.item[i].at]};
	for (size_t i = 0; i < right.count; i++)
		out->row[out->listed++] = (struct provenance_pair){.b = &b->row[right.item[i].at]};
	if (out->listed)
		qsort(out->row, out->listed, sizeof(*out->row), compare_row_pairs);
	for (size_t i = 0; i < out->listed; i++)
		*(out->row[i].is_equal ? &out->equal : &out->different) += 1;
	out->listed = out->listed < LIMIT_COMPARE_ROWS ? out->listed : LIMIT_COMPARE_ROWS;
}

enum {
	LONG_VALUE = 200, // bytes; of a longer one the row has size and hash
	HASH_SHOWN = 12,  // digits
	MINORS = 64,      // Python 3.0 to 3.63
	MAY_SPECIFY = 1 << 10,
};

// --- METADATA: what makes values equal ---

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
	CLEANUP(buf_release) struct buf out = buf_up_to(s.len + 1);
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
	CLEANUP(buf_release) struct buf out = buf_up_to(4 * s.len + 16);
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

// --- METADATA: the fields ---

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
	CLEANUP(buf_release) struct buf key = buf_up_to(SIZE_MAX / 2);
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

// --- METADATA: Requires-Python ---

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

// Whether the path is in the wheel's .dist-info folder.
static bool is_metadata_member(const struct wheel_content *c, const char *path)
{
	size_t len = strlen(c->dist_info);
	return strncmp(path, c->dist_info, len) == 0 && path[len] == '/';
}

// --- pairs of members: the keys ---

typedef const char *member_key_fn(const struct wheel_content *c, const char *path, struct arena *text);

static const char *path_key(const struct wheel_content *c, const char *path, struct arena *text)
{
	struct str rest = str_from(path);
	struct str top = str_cut(&rest, '/');
	if (!rest.ptr)
		return path;
	if (is_metadata_member(c, path))
		return arena_printf(text, "*.dist-info/" STR_FMT, STR_ARG(rest));
	return str_ends(top, STR(".data")) ? arena_printf(text, "*.data/" STR_FMT, STR_ARG(rest)) : path;
}

static struct str last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return str_from(slash ? slash + 1 : path);
}

// The path with another last part.
static const char *rename_base(struct arena *text, const char *path, struct str base, struct str ending)
{
	size_t front = (size_t)(last_part(path).ptr - path);
	return arena_printf(text, STR_FMT STR_FMT STR_FMT, STR_ARG(str_slice(str_from(path), 0, front)), STR_ARG(base),
		STR_ARG(ending));
}

// Of a bundled library without the hash in its name, or of an extension module without its ABI.
static const char *build_key(const struct wheel_content *c, const char *path, struct arena *text)
{
	(void)c;
	if (!wheel_is_bundled(path)) {
		// "pkg/_x.so" of "pkg/_x.cpython-311-x86_64-linux-gnu.so"; NULL: it is no extension module with an ABI
		// in its name.
		struct str base = last_part(path);
		long dot = str_find(base, '.'), last = str_rfind(base, '.');
		if (dot <= 0)
			return NULL;
		struct str ending = str_slice(base, (size_t)last, base.len);
		if (!str_eq(ending, STR(".so")) && !str_eq(ending, STR(".pyd")))
			return NULL;
		return rename_base(text, path, str_slice(base, 0, (size_t)dot), ending);
	}
	return rename_base(text, path, str_from(plain_library_name(text, last_part(path).ptr)), STR(""));
}

static const char *stem_key(const struct wheel_content *c, const char *path, struct arena *text)
{
	(void)c;
	if (!wheel_is_bundled(path))
		return NULL;
	return rename_base(text, path, str_from(plain_library_stem(text, last_part(path).ptr)), STR(""));
}

static member_key_fn *const keys[] = {path_key, build_key, stem_key};

// --- pairs of members ---

struct pairs_maker {
	const struct wheel_content *a, *b;
	struct member_pairs *out;
	bool has_own_name;
};

static void keep_pair(void *ctx, size_t a, size_t b)
{
	struct pairs_maker *m = ctx;
	m->out->pair[m->out->count++] = (struct member_pair){&m->a->member[a], &m->b->member[b], m->has_own_name};
}

static void set_keys(const struct wheel_content *c, member_key_fn *fn, struct arena *text, struct pairing_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		l->item[i].key = fn(c, c->member[l->item[i].at].path, text);
}

static const char *path_of_pair(const struct member_pair *p)
{
	return p->a ? p->a->path : p->b->path;
}

static int compare_pairs(const void *a, const void *b)
{
	return strcmp(path_of_pair(a), path_of_pair(b));
}

void member_pairs_make(const struct wheel_content *a, const struct wheel_content *b, struct arena *text,
	struct member_pairs *out)
{
	CLEANUP(arena_release) struct arena keys_text = {0};
	struct pairing_list left = {.in = &keys_text}, right = {.in = &keys_text};
	struct pairs_maker m = {.a = a, .b = b, .out = out};
	*out = (struct member_pairs){.pair = ARENA_NEW(text, struct member_pair, a->members + b->members)};
	for (size_t i = 0; i < a->members; i++)
		pairing_add(&left, NULL, i);
	for (size_t i = 0; i < b->members; i++)
		pairing_add(&right, NULL, i);
	for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
		m.has_own_name = k > 0;
		set_keys(a, keys[k], &keys_text, &left);
		set_keys(b, keys[k], &keys_text, &right);
		pairing_take(&left, &right, keep_pair, &m);
	}
	for (size_t i = 0; i < left.count; i++)
		out->pair[out->count++] = (struct member_pair){.a = &a->member[left.item[i].at]};
	for (size_t i = 0; i < right.count; i++)
		out->pair[out->count++] = (struct member_pair){.b = &b->member[right.item[i].at]};
	if (out->count)
		qsort(out->pair, out->count, sizeof(*out->pair), compare_pairs);
}

// --- the whole comparison ---

const char *const compare_verdict_name[COMPARE_VERDICT_COUNT] = {
	"identical", "same-contents", "same-code", "different"};
const char *const compare_verdict_words[COMPARE_VERDICT_COUNT] = {
	"Identical: the same bytes",
	"Same contents, other ZIP file: only time stamps, order or compression differ",
	"Same code, other metadata: all members outside of .dist-info are equal",
	"Different",
};
const char *const compare_change_name[COMPARE_CHANGE_COUNT] = {"changed", "renamed", "added", "removed"};

// --- members and verdict ---

static bool is_same_bytes(const struct wheel_compare *c, const struct member_pair *p)
{
	return p->a && p->b && wheel_content_is_same(c->a.content, p->a, c->b.content, p->b);
}

static enum compare_change change_of(const struct member_pair *p, bool is_same)
{
	if (!p->a || !p->b)
		return p->a ? COMPARE_REMOVED : COMPARE_ADDED;
	return is_same ? COMPARE_RENAMED : COMPARE_CHANGED;
}

static bool is_metadata_pair(const struct wheel_compare *c, const struct member_pair *p)
{
	return p->a ? is_metadata_member(c->a.content, p->a->path) : is_metadata_member(c->b.content, p->b->path);
}

// Whether both are RECORD and list the same files: their lines may stand in another order.
static bool is_same_record(const struct wheel_compare *c, const struct member_pair *p)
{
	const struct wheel_content *a = c->a.content, *b = c->b.content;
	return p->a && p->b && a->has_record && b->has_record && strcmp(p->a->path, p->b->path) == 0 &&
	       is_metadata_pair(c, p) && strcmp(p->a->path + strlen(a->dist_info), "/RECORD") == 0 &&
	       memcmp(a->record, b->record, SHA256_SIZE) == 0;
}

static enum compare_verdict judge_pairs(const struct wheel_compare *c, const struct member_pairs *pairs)
{
	enum compare_verdict verdict = COMPARE_SAME_CONTENTS;
	for (size_t i = 0; i < pairs->count; i++) {
		const struct member_pair *p = &pairs->pair[i];
		bool is_same = is_same_bytes(c, p);
		if ((is_same && strcmp(p->a->path, p->b->path) == 0) || is_same_record(c, p))
			continue;
		if ((!is_same || p->has_own_name) && !is_metadata_pair(c, p))
			return COMPARE_DIFFERENT;
		verdict = COMPARE_SAME_CODE;
	}
	return verdict;
}

static void compare_members(struct wheel_compare *c, const struct member_pairs *pairs)
{
	c->is_by_crc = !c->a.content->has_hashes || !c->b.content->has_hashes;
	c->members.row = ARENA_NEW(&c->text, struct compare_member, LIMIT_COMPARE_ROWS);
	for (size_t i = 0; i < pairs->count; i++) {
		const struct member_pair *p = &pairs->pair[i];
		struct compare_members *m = &c->members;
		bool is_same = is_same_bytes(c, p);
		m->other_modes += is_same && p->a->is_executable != p->b->is_executable;
		if (is_same && !p->has_own_name) {
			m->equal++;
			continue;
		}
		enum compare_change change = change_of(p, is_same);
		m->count[change]++;
		if (m->listed < LIMIT_COMPARE_ROWS)
			m->row[m->listed++] = (struct compare_member){change, p->a ? p->a->path : NULL,
				p->b ? p->b->path : NULL, p->a ? p->a->size : 0, p->b ? p->b->size : 0};
	}
	c->verdict = memcmp(c->a.sha256, c->b.sha256, SHA256_SIZE) == 0 ? COMPARE_IDENTICAL : judge_pairs(c, pairs);
}

// --- the files ---

static const char *print_hash(struct arena *text, const uint8_t sha256[SHA256_SIZE])
{
	char hex[SHA256_HEX];
	hex_encode(sha256, SHA256_SIZE, hex);
	return arena_copy(text, (struct str){hex, sizeof(hex)});
}

static void add_number(struct wheel_compare *c, const char *name, uint64_t a, uint64_t b)
{
	diff_rows_add_text(&c->file, name, arena_printf(&c->text, "%" PRIu64, a),
		arena_printf(&c->text, "%" PRIu64, b));
}

static void list_tags(const char *name, struct str set, struct arena *text, struct diff_values *out)
{
	while (set.ptr) {
		const char *tag = arena_copy(text, str_cut(&set, '.'));
		diff_values_add(out, (struct diff_value){name, tag, tag, NULL});
	}
}

static void add_tags(struct wheel_compare *c, const char *name, struct str a, struct str b)
{
	struct diff_values left = {.in = &c->text}, right = {.in = &c->text};
	list_tags(name, a, &c->text, &left);
	list_tags(name, b, &c->text, &right);
	diff_rows_add_sets(&c->file, &left, &right);
}

static const char *build_of(struct wheel_compare *c, const struct compare_side *s)
{
	return s->name->build.len ? arena_copy(&c->text, s->name->build) : NULL;
}

// The lowest tag that the wheel really keeps; NULL: unknown.
static const char *kept_tag(struct wheel_compare *c, const struct compare_side *s)
{
	const struct audit_options options = {0};
	struct audit_report report;
	if (!s->facts)
		return NULL;
	audit_wheel(s->facts, s->name, &options, &report);
	const char *tag = arena_copy(&c->text, str_from(report.tag));
	audit_report_release(&report);
	return tag;
}

static void compare_files(struct wheel_compare *c)
{
	const struct compare_side *a = &c->a, *b = &c->b;
	struct diff_rows *r = &c->file;
	diff_rows_add_text(r, "file name", a->filename, b->filename);
	diff_rows_add_text(r, "project", a->name->project, b->name->project);
	diff_rows_add(r, "version", a->name->version.text, b->name->version.text,
		version_cmp(&a->name->version, &b->name->version) == 0);
	diff_rows_add_text(r, "build tag", build_of(c, a), build_of(c, b));
	add_tags(c, "Python tag", a->name->python, b->name->python);
	add_tags(c, "ABI tag", a->name->abi, b->name->abi);
	add_tags(c, "platform tag", a->name->platform, b->name->platform);
	diff_rows_add_text(r, "lowest tag kept", kept_tag(c, a), kept_tag(c, b));
	add_number(c, "bytes", a->size, b->size);
	add_number(c, "bytes unpacked", a->content->unpacked, b->content->unpacked);
	add_number(c, "members", a->content->members, b->content->members);
	diff_rows_add_text(r, "SHA-256", print_hash(&c->text, a->sha256), print_hash(&c->text, b->sha256));
	if (!c->is_by_crc)
		diff_rows_add_text(r, "SHA-256 of the contents", print_hash(&c->text, a->content->sha256),
			print_hash(&c->text, b->content->sha256));
}

// --- libraries ---

static int compare_elf_paths(const void *a, const void *b)
{
	return strcmp((*(const struct wheel_elf *const *)a)->path, (*(const struct wheel_elf *const *)b)->path);
}

struct elf_index {
	const struct wheel_elf **elf; // by path
	size_t count;
};

static void index_elfs(const struct wheel_facts *f, struct arena *text, struct elf_index *out)
{
	out->elf = ARENA_NEW(text, const struct wheel_elf *, f->elfs);
	for (; out->count < f->elfs; out->count++)
		out->elf[out->count] = &f->elf[out->count];
	if (out->count)
		qsort(out->elf, out->count, sizeof(*out->elf), compare_elf_paths);
}

static const struct wheel_elf *find_elf(const struct elf_index *x, const struct wheel_content_member *m)
{
	const struct wheel_elf wanted = {.path = m ? m->path : ""}, *key = &wanted;
	const struct wheel_elf **found =
		x->count ? bsearch(&key, x->elf, x->count, sizeof(*x->elf), compare_elf_paths) : NULL;
	return found ? *found : NULL;
}

static void compare_library(struct wheel_compare *c, const struct wheel_elf *a, const struct wheel_elf *b)
{
	if (!a && !b)
		return;
	if (a && b && memcmp(a->sha256, b->sha256, SHA256_SIZE) == 0) {
		c->libraries_equal++;
		return;
	}
	c->libraries_different++;
	if (c->libraries < LIMIT_COMPARE_LIBRARIES)
		library_diff_make(a, b, &c->text, &c->library[c->libraries++]);
}

static void compare_libraries(struct wheel_compare *c, const struct member_pairs *pairs)
{
	struct elf_index a = {0}, b = {0};
	index_elfs(c->a.facts, &c->text, &a);
	index_elfs(c->b.facts, &c->text, &b);
	c->library = ARENA_NEW(&c->text, struct library_diff, LIMIT_COMPARE_LIBRARIES);
	for (size_t i = 0; i < pairs->count; i++)
		compare_library(c, find_elf(&a, pairs->pair[i].a), find_elf(&b, pairs->pair[i].b));
}

// --- components ---

static void list_components(const struct wheel_facts *f, struct arena *text, struct diff_values *out)
{
	for (size_t i = 0; i < f->components; i++) {
		const struct wheel_component *x = &f->component[i];
		const char *same =
			arena_printf(text, "%s\n%s\n%s", x->name, x->version ? x->version : "", x->purl ? x->purl : "");
		const char *shown = x->purl ? x->purl : x->version ? x->version : "?";
		diff_values_add(out, (struct diff_value){x->name, shown, same, x->name});
	}
}

static void compare_components(struct wheel_compare *c)
{
	struct diff_values a = {.in = &c->text}, b = {.in = &c->text};
	list_components(c->a.facts, &c->text, &a);
	list_components(c->b.facts, &c->text, &b);
	diff_rows_add_sets(&c->components, &a, &b);
	diff_rows_sort(&c->components);
}

void wheel_compare_make(const struct compare_side *a, const struct compare_side *b, struct wheel_compare *out)
{
	struct member_pairs pairs;
	*out = (struct wheel_compare){.a = *a, .b = *b, .has_facts = a->facts && b->facts};
	out->file.in = out->components.in = &out->text;
	member_pairs_make(a->content, b->content, &out->text, &pairs);
	compare_members(out, &pairs);
	compare_files(out);
	metadata_diff_make(buf_view(&a->content->metadata), buf_view(&b->content->metadata), &out->text,
		&out->metadata);
	if (out->has_facts) {
		compare_libraries(out, &pairs);
		compare_components(out);
	}
	provenance_diff_make(a->provenance, b->provenance, &out->text, &out->provenance);
}

void wheel_compare_release(struct wheel_compare *c)
{
	arena_release(&c->text);
	*c = (struct wheel_compare){0};
}
