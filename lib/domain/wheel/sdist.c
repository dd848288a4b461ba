// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/sdist.h"

#include "lib/base/limits.h"
#include "lib/domain/archive/memberpath.h"
#include "lib/domain/archive/tarstream.h"
#include "lib/domain/archive/zipframe.h"
#include "lib/domain/archive/zipread.h"
#include "lib/format/compress.h"

struct sdist_examination {
	const struct byte_source *bytes;
	enum strictness strictness;
	struct wheel *out;
	struct buf *pyproject; // what is looked for; NULL: PKG-INFO
	bool has_member, has_second_member;
	struct tarstream tar;
	uint64_t unpacked;
	struct buf top; // the first entry's top folder
	bool has_second_top;
};

static void sdist_examination_release(struct sdist_examination *x)
{
	tarstream_release(&x->tar);
	buf_release(&x->top);
}

// Removes the "./" that bdist_dumb and some old tools put in front.
static struct str without_dot(struct str path)
{
	return str_starts(path, STR("./")) ? str_slice(path, 2, path.len) : path;
}

static int check_sdist_path(struct sdist_examination *x, struct str path, struct err *e)
{
	if (memberpath_leads_out(path)) // pip does not unpack such a path
		return err_set(e, ERR_INVALID, "a path leads out of the sdist");
	if (!path.len || str_eq(path, STR(".")))
		return 0;
	struct str top = str_cut(&path, '/');
	if (!x->top.len)
		buf_str(&x->top, top);
	x->has_second_top |= !str_eq(top, buf_view(&x->top));
	return 0;
}

// Where the file goes, if it is the one to use, which is the first one; else NULL.
static struct buf *claim_member(struct sdist_examination *x, struct str path)
{
	// PEP 517: "<name>-<version>/PKG-INFO"; setuptools puts a second one deeper.
	struct str rest = path, wanted = x->pyproject ? STR("pyproject.toml") : STR("PKG-INFO");
	if (!(str_cut(&rest, '/').len && rest.ptr && str_eq(rest, wanted)))
		return NULL;
	x->has_second_member |= x->has_member;
	x->has_member = true;
	return x->has_second_member ? NULL : x->pyproject ? x->pyproject : &x->out->metadata;
}

static int on_tar_entry(void *ctx, const struct tarentry *entry, struct buf **keep, struct err *e)
{
	struct sdist_examination *x = ctx;
	struct str path = without_dot(entry->path);
	if (check_sdist_path(x, path, e) < 0)
		return -1;
	if (entry->type == '0')
		*keep = claim_member(x, path);
	return 0;
}

static int on_unpacked_piece(void *ctx, struct str piece, struct err *e)
{
	struct sdist_examination *x = ctx;
	x->unpacked += piece.len;
	if (x->unpacked > LIMIT_UNPACKED && x->unpacked / LIMIT_UNPACKED_RATIO > x->bytes->size)
		return err_set(e, ERR_INVALID, "Decompression bomb: more than %d times its size", LIMIT_UNPACKED_RATIO);
	return tarstream_add(&x->tar, piece, e);
}

static int read_tar(struct sdist_examination *x, struct err *e)
{
	tarstream_init(&x->tar, on_tar_entry, x);
	return decompress_gzip(x->bytes, on_unpacked_piece, x, e) < 0 ? -1 : tarstream_end(&x->tar, e);
}

static int read_zip(struct sdist_examination *x, struct err *e)
{
	CLEANUP(zipdirectory_release) struct zipdirectory zip = {0};
	if (zipframe_read(x->bytes, x->strictness, &x->out->findings, &zip, e) < 0)
		return -1;
	for (size_t i = 0; i < zip.count; i++) {
		const struct zipmember *m = &zip.members[i];
		struct str path = without_dot(m->name);
		if (check_sdist_path(x, path, e) < 0)
			return -1;
		struct buf *to = claim_member(x, path);
		if (to && zipread_whole(x->bytes, m, to, e) < 0)
			return -1;
	}
	return 0;
}

// Determines project and version again, with PKG-INFO. A PKG-INFO that cannot be parsed is a finding, not a
// contradiction, if the file name gave them.
static int correct_name(struct sdist_examination *x, struct str filename, struct filename *name, struct err *e)
{
	struct findings *findings = &x->out->findings;
	struct metadata facts;
	struct err why = ERR_INIT;
	struct filename corrected;
	bool is_known = name->project != NULL;
	if (wheel_take_metadata(x->out, x->strictness, &facts, &why) < 0) {
		if (is_known)
			return findings_add_or_fail(findings, x->strictness, e, "%s", why.msg);
		*e = why;
		return -1;
	}
	if (is_known && !version_is_valid(facts.version))
		return findings_add_or_fail(findings, x->strictness, e,
			"core metadata: Version is not valid (PEP 440)");
	if (filename_parse_sdist(filename, facts.name, facts.version, &corrected, e) < 0)
		return -1;
	filename_release(name);
	*name = corrected;
	return 0;
}

static int read_sdist(struct sdist_examination *x, struct str filename, struct err *e)
{
	buf_init(&x->top, LIMIT_PATH);
	return str_ends(filename, STR(".zip")) ? read_zip(x, e) : read_tar(x, e);
}

int sdist_examine(const struct byte_source *bytes, struct str filename, enum strictness strictness,
	struct filename *name, struct wheel *out, struct err *e)
{
	CLEANUP(sdist_examination_release)
	struct sdist_examination x = {.bytes = bytes, .strictness = strictness, .out = out};
	if (read_sdist(&x, filename, e) < 0)
		return -1;
	if (x.has_second_top && findings_add_or_fail(&out->findings, strictness, e, "several folders at the top") < 0)
		return -1;
	// Unpacking leaves the last one on disk.
	if (x.has_second_member && findings_add_or_fail(&out->findings, strictness, e, "several PKG-INFO") < 0)
		return -1;
	if (x.has_member)
		return correct_name(&x, filename, name, e);
	if (!name->project)
		return err_set(e, ERR_INVALID, "neither the file name nor a PKG-INFO gives the version");
	return findings_add_or_fail(&out->findings, strictness, e, "no PKG-INFO");
}

int sdist_read_pyproject(const struct byte_source *bytes, struct str filename, struct buf *out, struct err *e)
{
	CLEANUP(wheel_release) struct wheel unused;
	wheel_init(&unused);
	CLEANUP(sdist_examination_release)
	struct sdist_examination x = {.bytes = bytes, .strictness = LENIENT, .out = &unused, .pyproject = out};
	return read_sdist(&x, filename, e);
}
