// SPDX-License-Identifier: Apache-2.0
#include "bundler/bundle.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/domain/wheel/attachment.h"
#include "lib/format/jsonmap.h"
#include "lib/state/store/sidecar.h"

const char bundle_magic[BUNDLE_MAGIC + 1] = "\x50\x2a\x4d\x18\x78\0\0\0wheelcache bundle\0\0\0\0\0\0\0";
const char *const bundle_kind_name[BUNDLE_KIND_COUNT] = {
	"file", "status", "evidence", "generation", "mirror", "upstream", "page", "osv"};
static const char *const folder_of[BUNDLE_KIND_COUNT] = {
	"files", "statuses", "evidence", "views", "mirrors", "upstreams", "pages", "osv"};
static const char *const part_name[BUNDLE_PART_COUNT] = {"yank", "statement", "provenance"};

enum { VALUES_OF_ROW = 64, CONTENTS_MOST = 1000 };

// --- the form ---

static const struct jsonmap_field head_fields[] = {
	JSONMAP_INTEGER("bundle", struct bundle_head, format, .least = 1),
	JSONMAP_TIME("made", struct bundle_head, made),
	JSONMAP_TEXT("by", struct bundle_head, by, .limit = LIMIT_WORDS, .is_sentence = true),
	JSONMAP_LIST("contents", struct bundle_head, contents, count, &jsonmap_text, .limit = CONTENTS_MOST),
	JSONMAP_SHA256("since", struct bundle_head, since, .has = offsetof(struct bundle_head, has_since),
		.absent = JSONMAP_OMITTED),
};
static const struct jsonmap head_map = JSONMAP(struct bundle_head, head_fields);

static const struct jsonmap_field piece_fields[] = {
	JSONMAP_NAME("part", struct bundle_piece, part, part_name),
	JSONMAP_INTEGER("size", struct bundle_piece, size, .most = LIMIT_STATEMENT),
	JSONMAP_SHA256("sha256", struct bundle_piece, sha256),
};
static const struct jsonmap piece_map = JSONMAP(struct bundle_piece, piece_fields);

// One component of a path, in an archive that people may unpack.
static bool is_component(struct str text)
{
	if (!text.len || text.len > LIMIT_FILE_NAME || text.ptr[0] == '.' || !str_is_utf8(text))
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] == '/' || text.ptr[i] == '\\' || (unsigned char)text.ptr[i] < ' ' ||
			text.ptr[i] == 0x7f)
			return false;
	return true;
}

bool bundle_is_osv(struct str name)
{
	return is_component(name) && (str_ends(name, STR(".json")) || str_ends(name, STR(".zip")));
}

static bool is_project_of_bundle(struct str text)
{
	return name_is_valid(text) && name_is_normal(text);
}

#define ROW struct bundle_row
static const struct jsonmap_field row_fields[] = {
	JSONMAP_NAME("kind", ROW, kind, bundle_kind_name),
	JSONMAP_TEXT("in", ROW, in, .absent = JSONMAP_OMITTED, .is_valid = is_component),
	JSONMAP_TEXT("project", ROW, project, .absent = JSONMAP_OMITTED, .is_valid = is_project_of_bundle),
	JSONMAP_TEXT("name", ROW, name, .absent = JSONMAP_OMITTED, .is_valid = is_component),
	JSONMAP_INTEGER("size", ROW, size),
	JSONMAP_SHA256("sha256", ROW, sha256),
	JSONMAP_BOOL("omitted", ROW, is_omitted, .absent = JSONMAP_OMITTED, .wrong = "is no boolean"),
	JSONMAP_INTEGER("modified", ROW, modified, .least = INT64_MIN, .absent = JSONMAP_OMITTED),
	JSONMAP_INTEGER("came", ROW, came, .absent = JSONMAP_OMITTED),
	JSONMAP_TEXT("by", ROW, by, .limit = LIMIT_WORDS, .absent = JSONMAP_OMITTED, .is_sentence = true),
	JSONMAP_LIST("parts", ROW, piece, pieces, &piece_map, .limit = BUNDLE_PART_COUNT, .absent = JSONMAP_OMITTED),
};

// Which of its members a kind has, and how large it may be.
static int check_row(void *row, struct arena *text UNUSED, struct err *e)
{
	static const struct {
		bool in, project, name;
		uint64_t most;
	} kind[BUNDLE_KIND_COUNT] = {
		[BUNDLE_FILE] = {true, true, true, INT64_MAX},
		[BUNDLE_STATUS] = {true, true, false, LIMIT_SIDECAR},
		[BUNDLE_EVIDENCE] = {false, false, true, 2 * (uint64_t)LIMIT_EVIDENCE},
		[BUNDLE_GENERATION] = {true, false, true, LIMIT_MEMBERSHIP},
		[BUNDLE_MIRROR] = {false, false, true, LIMIT_MIRROR},
		[BUNDLE_UPSTREAM] = {true, true, true, INT64_MAX},
		[BUNDLE_PAGE] = {false, true, false, LIMIT_MIRROR},
		[BUNDLE_OSV] = {false, false, true, LIMIT_ADVISORIES},
	};
	const struct bundle_row *r = row;
	if (kind[r->kind].in != (r->in != NULL) || kind[r->kind].project != (r->project != NULL) ||
		kind[r->kind].name != (r->name != NULL))
		return err_set(e, ERR_INVALID, "it lacks \"in\", \"project\" or \"name\", or has one too many");
	if (r->size > kind[r->kind].most)
		return err_set(e, ERR_LIMIT, "a %s of %llu bytes", bundle_kind_name[r->kind],
			(unsigned long long)r->size);
	if (r->kind == BUNDLE_OSV && !bundle_is_osv(str_from(r->name)))
		return err_set(e, ERR_INVALID, "records of the OSV database are a .json or a .zip");
	if ((r->kind != BUNDLE_FILE && r->pieces) || (!bundle_row_is_file(r) && r->is_omitted))
		return err_set(e, ERR_INVALID, "only a file has parts, or is omitted");
	for (size_t i = 0; i < r->pieces; i++) {
		if (i && r->piece[i].part <= r->piece[i - 1].part)
			return err_set(e, ERR_INVALID, "its parts are not in their order");
		if (r->piece[i].part == BUNDLE_YANK && r->piece[i].size > LIMIT_SIDECAR)
			return err_set(e, ERR_LIMIT, "a yank of %llu bytes", (unsigned long long)r->piece[i].size);
	}
	return 0;
}
static const struct jsonmap row_map = JSONMAP(ROW, row_fields, .check = check_row);

void bundle_head_write(const struct bundle_head *h, struct buf *out)
{
	jsonmap_write(&head_map, h, out);
}

void bundle_row_write(const struct bundle_row *r, struct buf *out)
{
	jsonmap_write(&row_map, r, out);
}

static int read_line(struct str line, const struct jsonmap *map, size_t values, void *out, struct arena *text,
	struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(line, values, e);
	return doc ? jsonmap_read(map, doc, out, text, e) : -1;
}

int bundle_head_read(struct str line, struct bundle_head *out, struct arena *text, struct err *e)
{
	if (read_line(line, &head_map, CONTENTS_MOST + VALUES_OF_ROW, out, text, e) < 0)
		return -1;
	return out->format == BUNDLE_FORMAT
		       ? 0
		       : err_set(e, ERR_INVALID, "it has format %lld, of a newer wheelcache", (long long)out->format);
}

int bundle_row_read(struct str line, struct bundle_row *out, struct arena *text, struct err *e)
{
	return read_line(line, &row_map, VALUES_OF_ROW, out, text, e);
}

// --- paths ---

static const char *ending_of(enum bundle_part part)
{
	return part == BUNDLE_YANK
		       ? sidecar_ending[MARK_YANKED]
		       : attachment_ending[part == BUNDLE_STATEMENT ? ATTACHMENT_STATEMENT : ATTACHMENT_PROVENANCE];
}

void bundle_row_path(const struct bundle_row *r, const struct bundle_piece *piece, struct buf *out)
{
	char hex[SHA256_HEX + 1] = "";
	const char *const part[] = {r->in, r->project, r->kind == BUNDLE_UPSTREAM ? hex : NULL, r->name};
	hex_encode(r->sha256, SHA256_SIZE, hex);
	buf_puts(out, folder_of[r->kind]);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		if (part[i])
			buf_printf(out, "/%s", part[i]);
	if (piece)
		buf_puts(out, ending_of(piece->part));
}

bool bundle_row_is_file(const struct bundle_row *r)
{
	return r->kind == BUNDLE_FILE || r->kind == BUNDLE_UPSTREAM;
}

int bundle_row_compare(const struct bundle_row *a, const struct bundle_row *b)
{
	const char *const x[] = {a->in, a->project, a->name}, *const y[] = {b->in, b->project, b->name};
	int order = (a->kind > b->kind) - (a->kind < b->kind);
	for (size_t i = 0; i < ARRAY_SIZE(x) && !order; i++)
		order = x[i] && y[i] ? strcmp(x[i], y[i]) : (x[i] != NULL) - (y[i] != NULL);
	return order || a->kind != BUNDLE_UPSTREAM ? order : memcmp(a->sha256, b->sha256, SHA256_SIZE);
}
