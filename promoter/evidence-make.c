// SPDX-License-Identifier: Apache-2.0
#include "promoter/evidence-make.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/machine/environment.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/attachment.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/domain/wheel/wheel.h"
#include "lib/format/jsondoc.h"
#include "lib/net/url.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

enum { HASHED_AT_ONCE = 1 << 16 }; // bytes

// What the files are put together in. The strings are in the record's arena.
struct making {
	struct evidence *record;
	struct junit_failure failure[LIMIT_JUNIT_FAILURES];
	struct evidence_wheel *wheel;
	const char *oldest; // report
	int64_t oldest_seconds;
};

// Appends the Python as cells name it.
static int check_cell(const struct evidence_make *from, struct buf *name, struct err *e)
{
	struct python python;
	struct err why = ERR_INIT;
	if (!evidence_kind_is_valid(str_from(from->kind)))
		return err_set(e, ERR_USAGE, "--kind: \"%s\" is not lower-case letters, digits and dashes", from->kind);
	if (!platform_name_is_valid(str_from(from->platform)))
		return err_set(e, ERR_USAGE, "--platform: \"%s\" is no name of a platform", from->platform);
	if (python_parse(str_from(from->python), &python, &why) < 0)
		return err_set(e, ERR_USAGE, "--python: %s", why.msg);
	python_print(&python, name);
	return 0;
}

// --- reports ---

static int read_report(const char *path, struct stat *st, struct junit *out, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_JUNIT);
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, st) < 0)
		return err_errno(e, ERR_NOT_FOUND, "%s", path);
	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_INVALID, "%s: no regular file", path);
	if (fs_read_fd(fd, path, &text, e) < 0)
		return -1;
	if (!text.len)
		return err_set(e, ERR_INVALID, "%s: it is empty", path);
	return junit_read(buf_view(&text), out, e) < 0 ? err_prefix(e, "%s: ", path) : 0;
}

static int add_report(struct making *x, const char *path, struct err *e)
{
	CLEANUP(junit_release) struct junit j = {0};
	struct stat st;
	if (read_report(path, &st, &j, e) < 0)
		return -1;
	if (!(j.passed + j.failed + j.skipped))
		return err_set(e, ERR_INVALID, "%s: it has no tests", path);
	x->record->passed += j.passed;
	x->record->failed += j.failed;
	x->record->skipped += j.skipped;
	struct evidence *r = x->record;
	for (size_t i = 0; i < j.failures && r->failures < LIMIT_JUNIT_FAILURES; i++)
		x->failure[r->failures++] = (struct junit_failure){
			arena_strdup(&r->text, j.failure[i].name),
			arena_strdup(&r->text, j.failure[i].message),
		};
	if (!x->oldest || st.st_mtim.tv_sec < x->oldest_seconds) {
		x->oldest = path;
		x->oldest_seconds = st.st_mtim.tv_sec;
	}
	return 0;
}

// --- wheels ---

// The commit that the statement of provenance beside the wheel says. One that is about other bytes says nothing.
static void note_wheel_commit(struct evidence *r, const char *path, struct evidence_wheel *wheel)
{
	CLEANUP(mem_free) char *beside = xasprintf("%s%s", path, attachment_ending[ATTACHMENT_STATEMENT]);
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT);
	CLEANUP(provenance_release) struct provenance p = {0};
	struct err ignored = ERR_INIT;
	if (fs_read_regular(beside, &text, &ignored) < 0 ||
		attachment_check(ATTACHMENT_STATEMENT, buf_view(&text), wheel->filename, wheel->sha256, &ignored) < 0 ||
		provenance_read(buf_view(&text), &p, &ignored) < 0)
		return;
	const char *commit = provenance_commit(&p);
	wheel->commit = arena_strdup(&r->text, commit);
}

static int hash_file(const char *path, struct stat *st, struct evidence_wheel *wheel, struct err *e)
{
	CLEANUP(digest_cleanup) struct digest *d = digest_new();
	CLEANUP(mem_free) char *room = xmalloc(HASHED_AT_ONCE);
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, st) < 0)
		return err_errno(e, ERR_NOT_FOUND, "%s", path);
	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_INVALID, "%s: no regular file", path);
	digest_begin(d);
	ssize_t got;
	while ((got = read(fd, room, HASHED_AT_ONCE)) > 0)
		digest_add(d, room, (size_t)got);
	if (got < 0)
		return err_errno(e, ERR_IO, "%s", path);
	digest_end(d, wheel->sha256);
	// Equal contents are known only of a file that can be unpacked; its bytes are tested in any case.
	const struct byte_source bytes = byte_source_file(fd, (uint64_t)st->st_size);
	struct err ignored = ERR_INIT;
	wheel->has_content = wheel_content(&bytes, wheel->content, &ignored) == 0;
	return 0;
}

// A report that a run before left, because this one crashed, is no report about these wheels. Whole seconds, since not
// all file systems keep more.
static int check_is_older(const struct making *x, const char *path, const struct stat *st, struct err *e)
{
	if (st->st_mtim.tv_sec <= x->oldest_seconds)
		return 0;
	return err_set(e, ERR_INVALID,
		"%s: it is older than %s, so it is a report about other wheels; with --allow-older it is taken",
		x->oldest, path);
}

static int add_wheel(struct making *x, const struct evidence_make *from, const char *path, struct err *e)
{
	CLEANUP(filename_release) struct filename name = {0};
	struct evidence_wheel *wheel = &x->wheel[x->record->wheels];
	const char *slash = strrchr(path, '/');
	struct stat st;
	*wheel = (struct evidence_wheel){.filename = arena_strdup(&x->record->text, slash ? slash + 1 : path)};
	if (filename_parse(str_from(wheel->filename), &name, e) < 0 || name.kind != FILENAME_WHEEL)
		return err_set(e, ERR_USAGE, "--wheels: %s is not named like a wheel", path);
	if (hash_file(path, &st, wheel, e) < 0 || (!from->takes_older && check_is_older(x, path, &st, e) < 0))
		return -1;
	note_wheel_commit(x->record, path, wheel);
	x->record->wheels++;
	return 0;
}

// Its hash tells which bytes were tested; nothing tells when they came.
static int add_named_wheel(struct making *x, const struct evidence_wheel *named, struct err *e)
{
	CLEANUP(filename_release) struct filename name = {0};
	struct evidence_wheel *wheel = &x->wheel[x->record->wheels];
	if (filename_parse(str_from(named->filename), &name, e) < 0)
		return -1;
	*wheel = *named;
	wheel->filename = arena_strdup(&x->record->text, named->filename);
	x->record->wheels++;
	return 0;
}

static int compare_wheel_names(const void *a, const void *b)
{
	return strcmp(((const struct evidence_wheel *)a)->filename, ((const struct evidence_wheel *)b)->filename);
}

// The same wheel may be given again, as in a line that names the wheels of each kind of tests.
static int check_wheel_names(struct making *x, struct err *e)
{
	size_t kept = 0;
	qsort(x->wheel, x->record->wheels, sizeof(*x->wheel), compare_wheel_names);
	for (size_t i = 0; i < x->record->wheels; i++) {
		struct evidence_wheel *before = kept ? &x->wheel[kept - 1] : NULL;
		if (!before || compare_wheel_names(before, &x->wheel[i]) != 0)
			x->wheel[kept++] = x->wheel[i];
		else if (memcmp(before->sha256, x->wheel[i].sha256, SHA256_SIZE) != 0)
			return err_set(e, ERR_USAGE, "--wheels: two files with other bytes have the name %s", before->filename);
		else if (!before->has_content) // it was named; now it is here
			*before = x->wheel[i];
	}
	x->record->wheels = kept;
	return 0;
}

static int read_evidence_files(struct making *x, const struct evidence_make *from, struct err *e)
{
	if (!from->junits || !(from->wheels + from->nameds))
		return err_set(e, ERR_USAGE, "%s is missing", from->junits ? "--wheels FILE" : "--junit FILE");
	if (from->wheels + from->nameds > LIMIT_EVIDENCE_WHEELS)
		return err_set(e, ERR_LIMIT, "more than %d wheels", LIMIT_EVIDENCE_WHEELS);
	for (size_t i = 0; i < from->junits; i++)
		if (add_report(x, from->junit[i], e) < 0)
			return -1;
	for (size_t i = 0; i < from->wheels; i++)
		if (add_wheel(x, from, from->wheel[i], e) < 0)
			return -1;
	for (size_t i = 0; i < from->nameds; i++)
		if (add_named_wheel(x, &from->named[i], e) < 0)
			return -1;
	return check_wheel_names(x, e);
}

int evidence_make(const struct evidence_make *from, struct evidence *out, struct err *e)
{
	CLEANUP(mem_free) struct making *x = xcalloc(1, sizeof(*x));
	CLEANUP(buf_release) struct buf python = buf_up_to(LIMIT_EVIDENCE_KIND);
	*out = (struct evidence){0};
	if (check_cell(from, &python, e) < 0)
		return -1;
	x->record = out;
	x->wheel = ARENA_NEW(&out->text, struct evidence_wheel, from->wheels + from->nameds);
	if (read_evidence_files(x, from, e) < 0) {
		evidence_release(out);
		return -1;
	}
	int64_t now = clock_wall_seconds();
	out->kind = arena_strdup(&out->text, from->kind);
	out->platform = arena_strdup(&out->text, from->platform);
	out->python = arena_copy(&out->text, buf_view(&python));
	out->made = x->oldest_seconds < 0 ? 0 : x->oldest_seconds < now ? x->oldest_seconds : now;
	out->failure = arena_memdup(&out->text, x->failure, out->failures * sizeof(*x->failure));
	out->wheel = x->wheel;
	return 0;
}

// --- wheels that are not here ---

// What is no wheel says nothing.
static int add_named(struct named_wheels *n, struct str filename, struct str sha256, struct err *e)
{
	struct evidence_wheel wheel = {0};
	if (filename_kind(filename) != FILENAME_WHEEL)
		return 0;
	if (filename.len > LIMIT_FILE_NAME || !hex_decode(sha256, wheel.sha256, SHA256_SIZE))
		return err_set(e, ERR_INVALID, STR_FMT ": it has no SHA-256",
			STR_ARG(str_head(filename, LIMIT_FILE_NAME)));
	if (n->count == LIMIT_EVIDENCE_WHEELS)
		return err_set(e, ERR_LIMIT, "more than %d wheels", LIMIT_EVIDENCE_WHEELS);
	wheel.filename = arena_copy(n->text, filename);
	ARENA_GROW(n->text, n->item, n->count, n->room);
	n->item[n->count++] = wheel;
	return 0;
}

static struct str hash_of(const struct jsondoc *doc)
{
	const struct jsondoc *hashes = doc ? jsondoc_get(doc, "hashes") : NULL;
	const char *sha256 = hashes ? jsondoc_get_str(hashes, "sha256") : NULL;
	return str_from(sha256 ? sha256 : "");
}

// An entry of pip's report: {"download_info": {"url", "archive_info": {"hashes": {"sha256"}}}}.
static int add_installed(struct named_wheels *n, const struct jsondoc *entry, struct err *e)
{
	const struct jsondoc *info = entry ? jsondoc_get(entry, "download_info") : NULL;
	const char *url = info ? jsondoc_get_str(info, "url") : NULL;
	CLEANUP(buf_release) struct buf name = buf_up_to(LIMIT_FILE_NAME);
	if (!url)
		return err_set(e, ERR_INVALID, "an installed package has no \"url\"");
	if (!url_filename(str_from(url), &name))
		return err_set(e, ERR_INVALID, "the URL of an installed package is none");
	return add_named(n, buf_view(&name), hash_of(jsondoc_get(info, "archive_info")), e);
}

static int add_page_file(struct named_wheels *n, const struct jsondoc *file, struct err *e)
{
	const char *name = file ? jsondoc_get_str(file, "filename") : NULL;
	return name ? add_named(n, str_from(name), hash_of(file), e)
		    : err_set(e, ERR_INVALID, "a file without \"filename\"");
}

static int add_entries(struct named_wheels *n, const struct jsondoc *list,
	int (*add)(struct named_wheels *, const struct jsondoc *, struct err *), struct err *e)
{
	for (size_t i = 0; i < jsondoc_count(list); i++)
		if (add(n, jsondoc_at(list, i), e) < 0)
			return -1;
	return 0;
}

static int read_named_json(struct named_wheels *n, struct str text, struct err *e)
{
	size_t first = n->count;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(text, LIMIT_EVIDENCE_VALUES, e);
	if (!doc)
		return -1;
	if (jsondoc_get(doc, "install"))
		return add_entries(n, jsondoc_get(doc, "install"), add_installed, e);
	if (!jsondoc_get(doc, "files"))
		return err_set(e, ERR_INVALID, "it has neither \"install\" nor \"files\"");
	if (add_entries(n, jsondoc_get(doc, "files"), add_page_file, e) < 0)
		return -1;
	// A page names all wheels of a project; those that were tested are of one version.
	CLEANUP(filename_release) struct filename one = {0};
	for (size_t i = first; i < n->count; i++) {
		CLEANUP(filename_release) struct filename other = {0};
		if (filename_parse(str_from(n->item[i].filename), i == first ? &one : &other, e) < 0)
			return -1;
		if (i > first && version_cmp(&one.version, &other.version) != 0)
			return err_set(e, ERR_INVALID,
				"it has wheels of several versions: name those that were tested, as pip install "
				"--report does");
	}
	return 0;
}

// "SHA256  NAME", where NAME may be a path, and "*" may stand before it.
static int read_named_lines(struct named_wheels *n, struct str text, struct err *e)
{
	while (text.len) {
		struct str line = str_trim(str_cut(&text, '\n')), name = line, hash = str_cut(&name, ' ');
		name = str_trim(name);
		if (str_starts(name, STR("*")))
			name = str_slice(name, 1, name.len);
		long slash = str_rfind(name, '/');
		name = str_slice(name, (size_t)(slash + 1), name.len);
		if (line.len && filename_kind(name) == FILENAME_OTHER)
			return err_set(e, ERR_INVALID, "a line is not \"SHA256  NAME\", as sha256sum writes it");
		if (line.len && add_named(n, name, hash, e) < 0)
			return -1;
	}
	return 0;
}

int named_wheels_read(struct named_wheels *n, const char *from, struct str text, struct err *e)
{
	size_t before = n->count;
	struct str trimmed = str_trim(text);
	int result = str_starts(trimmed, STR("{")) ? read_named_json(n, trimmed, e) : read_named_lines(n, trimmed, e);
	if (result == 0 && n->count == before)
		result = err_set(e, ERR_INVALID, "it names no wheel");
	return result < 0 ? err_prefix(e, "--wheels-from %s: ", from) : 0;
}
