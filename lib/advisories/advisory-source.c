// SPDX-License-Identifier: Apache-2.0
#include "lib/advisories/advisory-source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/advisories/advisory-build.h"
#include "lib/base/hash.h"
#include "lib/base/limits.h"
#include "lib/domain/archive/zipframe.h"
#include "lib/domain/archive/zipread.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

const struct advisory_limits advisory_limits = {LIMIT_ADVISORY_FILES, LIMIT_ADVISORIES, LIMIT_ADVISORY_INDEX};

struct source_walk {
	const struct advisory_limits *limits;
	struct advisory_build *build; // NULL: it only looks
	size_t files;
	uint64_t unpacked;   // bytes of records
	uint64_t sum;        // of the hashes of all names, sizes and times
	int64_t looked;      // nanoseconds since 1970
	bool is_settled;
	struct arena arena;  // of one record
	struct buf text;     // the same
	struct zipload load;
};

static void source_walk_init(struct source_walk *w, const struct advisory_limits *limits, struct advisory_build *build)
{
	*w = (struct source_walk){.limits = limits, .build = build, .looked = clock_wall_ns(), .is_settled = true};
	buf_init(&w->text, LIMIT_ADVISORY + 1);
}

static void source_walk_release(struct source_walk *w)
{
	arena_release(&w->arena);
	buf_release(&w->text);
	zipload_release(&w->load);
}

static int spend(struct source_walk *w, uint64_t bytes, struct err *e)
{
	if (bytes > w->limits->unpacked - w->unpacked)
		return err_set(e, ERR_LIMIT, "its records have more than %llu bytes",
			(unsigned long long)w->limits->unpacked);
	w->unpacked += bytes;
	return 0;
}

// --- records ---

static bool is_record_name(struct str name)
{
	return str_ends(name, STR(".json"));
}

static int add_record(struct source_walk *w, struct str text, bool is_head, struct str name, struct err *e)
{
	struct osv_record record;
	size_t base = (size_t)(str_rfind(name, '/') + 1);
	struct str fallback = str_slice(name, base, name.len);
	CLEANUP(mem_free) char *file = xstrndup(name.ptr, name.len);
	if (is_record_name(fallback))
		fallback.len -= STR(".json").len;
	arena_release(&w->arena);
	return osv_record_read(text, fallback, is_head, &w->arena, &record, e) < 0
		       ? -1
		       : advisory_build_add(w->build, &record, text, file, e);
}

// --- ZIP files ---

// Keeps the beginning of a record that is too large.
static int keep_head(void *ctx, struct str piece, struct err *e UNUSED)
{
	struct buf *text = ctx;
	size_t room = text->cap - text->len;
	buf_str(text, str_slice(piece, 0, piece.len < room ? piece.len : room));
	return 0;
}

static int add_member(struct source_walk *w, const struct zipmember *m, struct err *e)
{
	struct str text;
	if (spend(w, m->size, e) < 0)
		return -1;
	bool is_head = m->size > LIMIT_ADVISORY;
	buf_clear(&w->text);
	int result = is_head ? zipread_member(w->load.source, m, keep_head, &w->text, e)
			     : zipload_whole(&w->load, m, &text, e);
	if (result == 0)
		result = add_record(w, is_head ? buf_view(&w->text) : text, is_head, m->name, e);
	return result < 0 ? err_prefix(e, STR_FMT ": ", STR_ARG(m->name)) : 0;
}

static int read_zip(struct source_walk *w, const struct byte_source *source, struct err *e)
{
	CLEANUP(zipdirectory_release) struct zipdirectory zip = {0};
	CLEANUP(findings_release) struct findings ignored;
	findings_init(&ignored);
	if (zipframe_read(source, LENIENT, &ignored, &zip, e) < 0)
		return -1;
	w->load.source = source;
	for (size_t i = 0; i < zip.count; i++)
		if (!zip.members[i].is_folder && is_record_name(zip.members[i].name) &&
			add_member(w, &zip.members[i], e) < 0)
			return -1;
	zipload_trim(&w->load);
	return 0;
}

// --- files ---

static bool is_zip(const struct byte_source *source)
{
	char magic[4];
	struct err none = ERR_INIT;
	return source->size >= sizeof(magic) && byte_source_read(source, 0, magic, sizeof(magic), &none) == 0 &&
	       magic[0] == 'P' && magic[1] == 'K' && (magic[2] == 3 || magic[2] == 5);
}

static int read_source_file(struct source_walk *w, int fd, uint64_t size, const char *path, struct err *e)
{
	struct byte_source source = byte_source_file(fd, size);
	if (is_zip(&source))
		return read_zip(w, &source, e);
	if (spend(w, size, e) < 0)
		return -1;
	bool is_head = size > LIMIT_ADVISORY;
	size_t len = is_head ? LIMIT_ADVISORY : (size_t)size;
	buf_clear(&w->text);
	char *room = buf_reserve(&w->text, len);
	if (byte_source_read(&source, 0, room, len, e) < 0)
		return -1;
	w->text.len = len;
	return add_record(w, buf_view(&w->text), is_head, str_from(path), e);
}

// path: below the source, for the fingerprint and messages.
static int take_source_file(struct source_walk *w, int fd, const struct stat *st, const char *path, struct err *e)
{
	int64_t mtime = fs_mtime_ns(st);
	CLEANUP(mem_free) char *what = xasprintf("%lld %lld %llu %s", (long long)st->st_size, (long long)mtime,
		(unsigned long long)st->st_ino, path);
	if (++w->files > w->limits->files)
		return err_set(e, ERR_LIMIT, "more than %zu files", w->limits->files);
	w->sum += hash_fixed(str_from(what));
	w->is_settled = w->is_settled && fs_mtime_is_reliable(mtime, w->looked);
	if (!w->build)
		return 0;
	return read_source_file(w, fd, (uint64_t)st->st_size, path, e);
}

// --- folders ---

enum { FOLDERS_DEEP = 8 };

static int walk_source(struct source_walk *w, int at, const char *name, const char *path, unsigned depth,
	struct err *e);

static bool is_of_source(const char *name)
{
	struct str s = str_from(name);
	return name[0] != '.' && (is_record_name(s) || str_ends(s, STR(".zip")));
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as FOLDERS_DEEP
static int walk_name(struct source_walk *w, DIR *dir, const struct dirent *entry, const char *path, unsigned depth,
	struct err *e)
{
	struct stat st;
	int at = dirfd(dir);
	if (entry->d_name[0] == '.')
		return 0;
	bool is_folder = entry->d_type == DT_DIR ||
			 (entry->d_type != DT_REG && fstatat(at, entry->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode));
	if (!is_folder && !is_of_source(entry->d_name))
		return 0;
	CLEANUP(mem_free) char *below = xasprintf("%s/%s", path, entry->d_name);
	return walk_source(w, at, entry->d_name, below, depth + 1, e);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as FOLDERS_DEEP
static int walk_folder(struct source_walk *w, int fd, const char *path, unsigned depth, struct err *e)
{
	if (depth > FOLDERS_DEEP)
		return err_set(e, ERR_LIMIT, "%s: more than %d folders in each other", path, FOLDERS_DEEP);
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	CLEANUP(fs_close_dir) DIR *dir = own < 0 ? NULL : fdopendir(own);
	if (!dir) {
		mem_close(&own);
		return err_errno(e, ERR_IO, "%s", path);
	}
	for (struct dirent *entry; errno = 0, (entry = readdir(dir)) != NULL;)
		if (walk_name(w, dir, entry, path, depth, e) < 0)
			return -1;
	return errno ? err_errno(e, ERR_IO, "%s", path) : 0;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as FOLDERS_DEEP
static int walk_source(struct source_walk *w, int at, const char *name, const char *path, unsigned depth, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s", path);
	if (S_ISDIR(st.st_mode))
		return walk_folder(w, fd, path, depth, e);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "%s: it is neither a file nor a folder", path);
	if (take_source_file(w, fd, &st, path, e) < 0)
		return err_prefix(e, "%s: ", path);
	return 0;
}

static int walk_all(struct source_walk *w, const char *path, uint64_t *fingerprint, struct err *e)
{
	if (walk_source(w, AT_FDCWD, path, path, 0, e) < 0)
		return -1;
	*fingerprint = w->sum + w->files;
	*fingerprint += !*fingerprint;
	return 0;
}

int advisory_source_look(const char *path, uint64_t *fingerprint, bool *is_settled, struct err *e)
{
	CLEANUP(source_walk_release) struct source_walk w;
	source_walk_init(&w, &advisory_limits, NULL);
	int result = walk_all(&w, path, fingerprint, e);
	*is_settled = w.is_settled;
	return result;
}

int advisory_source_read(const char *path, const struct advisory_limits *limits, struct place_folder *folder,
	const char *name, struct err *e)
{
	uint64_t fingerprint = 0;
	CLEANUP(source_walk_release) struct source_walk w;
	struct advisory_build *build = advisory_build_new(folder, name, limits->index, e);
	if (!build)
		return -1;
	source_walk_init(&w, limits, build);
	int result = walk_all(&w, path, &fingerprint, e);
	if (result == 0)
		result = advisory_build_end(build, w.is_settled ? fingerprint : 0, e);
	advisory_build_free(build);
	return result;
}
