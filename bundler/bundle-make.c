// SPDX-License-Identifier: Apache-2.0
#include "bundler/bundle-make.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "builder/missing/locked-files.h"
#include "bundler/bundle-in.h"
#include "bundler/bundle-mirrors.h"
#include "bundler/bundle-out.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/filename.h"
#include "lib/os/byte-source.h"
#include "lib/os/clock.h"
#include "lib/place/record.h"
#include "lib/state/access/audit-recent.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/store/project-status.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-file.h"

enum { PIECE = 256 << 10 };

// A row, and where its bytes are.
struct bundle_source {
	struct bundle_row row; // first
	const struct platform *platform;
	const char *yank;   // the text; NULL: it is not yanked
	const char *status; // the same of a status
	const char *path;   // of records of the OSV database
};

struct bundle_collection {
	const struct bundle_making *asked;
	struct catalog *catalog;
	const struct view *view; // that is collected
	const char *project;
	char *views; // the folder of memberships; NULL: there is none
	struct bundle_mirrors mirrors;
	const struct platform *platform; // of the locked file that is looked for
	const char *filename;
	struct locked_files locked;
	uint64_t lacking; // files of locks that are nowhere
	const char *first_lacking;
	struct bundle_source *source;
	size_t count, room;
	struct arena text;
	struct bundle_out *out;
	struct bundle_made done, all;
};

static void collection_release(struct bundle_collection *m)
{
	bundle_out_free(m->out);
	bundle_mirrors_release(&m->mirrors);
	locked_files_release(&m->locked);
	arena_release(&m->text);
	free(m->source);
	free(m->views);
}

static struct bundle_source *add_source(struct bundle_collection *m, enum bundle_kind kind)
{
	GROW(m->source, m->count, m->room);
	struct bundle_source *s = &m->source[m->count++];
	*s = (struct bundle_source){.row = {.kind = kind}};
	return s;
}

// Sets the size and the hash of bytes that are read again when they are written.
static void measure(struct str bytes, uint64_t *size, uint8_t sha256[SHA256_SIZE])
{
	*size = bytes.len;
	digest_sha256(bytes, sha256);
}

// --- files ---

static int take_mark_text(void *ctx, const struct catalog_known_mark *mark, struct err *e UNUSED)
{
	struct buf *out = ctx;
	if (mark->text)
		buf_puts(out, mark->text);
	return 0;
}

// The whole text of the yank, of which the row of the file has the reason in a line.
static int read_yank(struct bundle_collection *m, const struct platform *p, const struct catalog_file *f,
	const char **out, struct err *e)
{
	struct catalog_folder folder;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_SIDECAR);
	if (!f->yanked)
		return 0;
	if (catalog_find_file(m->catalog, p->id, f->filename, &place, e) < 0)
		return -1;
	char *slash = strrchr(place.path, '/');
	CLEANUP(mem_free) char *path = xstrndup(place.path, slash ? (size_t)(slash - place.path) : 0);
	if (catalog_folder_find(m->catalog, p->id, path, &folder, e) < 0 ||
		catalog_folder_mark(m->catalog, folder.id, f->filename, MARK_YANKED, take_mark_text, &text, e) < 0)
		return -1;
	*out = text.len ? arena_copy(&m->text, buf_view(&text)) : arena_strdup(&m->text, f->yanked);
	return 0;
}

static enum attachment attachment_of(enum bundle_part part)
{
	return part == BUNDLE_STATEMENT ? ATTACHMENT_STATEMENT : ATTACHMENT_PROVENANCE;
}

// The bytes of a piece. 1; 0: there is none.
static int read_piece(struct bundle_collection *m, const struct bundle_source *s, enum bundle_part part,
	struct buf *out, struct err *e)
{
	struct catalog_attached found;
	if (part != BUNDLE_YANK)
		return catalog_attached(m->catalog, s->platform->id, s->row.name, attachment_of(part), &found, out, e);
	if (s->yank)
		buf_puts(out, s->yank);
	return s->yank != NULL;
}

static int add_pieces(struct bundle_collection *m, struct bundle_source *s, struct err *e)
{
	struct bundle_piece piece[BUNDLE_PART_COUNT];
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT);
	for (int part = 0; part < BUNDLE_PART_COUNT; part++) {
		buf_clear(&text);
		int found = read_piece(m, s, (enum bundle_part)part, &text, e);
		if (found < 0)
			return -1;
		if (!found)
			continue;
		struct bundle_piece *one = &piece[s->row.pieces++];
		one->part = (enum bundle_part)part;
		measure(buf_view(&text), &one->size, one->sha256);
	}
	s->row.piece = arena_memdup(&m->text, piece, s->row.pieces * sizeof(*piece));
	return 0;
}

static int add_file_source(void *ctx, const struct platform *p, const struct catalog_file *f, struct err *e)
{
	struct bundle_collection *m = ctx;
	struct bundle_source *s = add_source(m, BUNDLE_FILE);
	s->platform = p;
	s->row.in = p->name;
	s->row.project = m->project;
	s->row.name = arena_strdup(&m->text, f->filename);
	s->row.size = f->size;
	s->row.modified = catalog_file_uploaded(f);
	s->row.came = catalog_file_came(f);
	memcpy(s->row.sha256, f->sha256, SHA256_SIZE);
	return read_yank(m, p, f, &s->yank, e) < 0 ? -1 : add_pieces(m, s, e);
}

static int add_project_files(void *ctx, const char *project, struct err *e)
{
	struct bundle_collection *m = ctx;
	m->project = arena_strdup(&m->text, project);
	return view_files(m->view, m->catalog, project, add_file_source, m, e);
}

// --- memberships ---

static int add_record_source(struct bundle_collection *m, enum bundle_kind kind, const char *in, const char *name,
	struct str text)
{
	struct bundle_source *s = add_source(m, kind);
	s->row.in = in;
	s->row.name = arena_strdup(&m->text, name);
	measure(text, &s->row.size, s->row.sha256);
	return 0;
}

// A file of the folder of memberships. 1; 0: there is none.
static int read_views_record(const struct bundle_collection *m, const char *below, const char *name, size_t most,
	struct buf *out, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *folder = record_folder(m->views, below, false, &why);
	if (folder && record_read(folder, name, most, out, &why) == 0)
		return 1;
	err_prefix(&why, "%s/%s/%s: ", m->views, below, name);
	return err_unless_missing(e, &why);
}

static int read_evidence(const struct bundle_collection *m, const char *name, struct buf *out, struct err *e)
{
	uint8_t id[SHA256_SIZE];
	char below[EVIDENCE_FILE_FOLDER];
	if (!evidence_file_is(name, id))
		return 0;
	evidence_file_folder(id[0], below);
	return read_views_record(m, below, name, EVIDENCE_FILE_MOST, out, e);
}

// Records that have expired are not in it.
static int add_evidence(struct bundle_collection *m, const struct strset *names, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(EVIDENCE_FILE_MOST);
	for (size_t i = 0; i < names->count; i++) {
		buf_clear(&text);
		int found = read_evidence(m, names->item[i], &text, e);
		if (found < 0 ||
			(found && add_record_source(m, BUNDLE_EVIDENCE, NULL, names->item[i], buf_view(&text)) < 0))
			return -1;
	}
	return 0;
}

static int note_evidence(struct str generation, struct strset *names, struct err *e)
{
	CLEANUP(membership_release) struct membership_change change = {0};
	if (membership_read(generation, &change, e) < 0)
		return -1;
	for (size_t i = 0; i < change.evidences; i++) {
		char name[EVIDENCE_FILE_NAME];
		evidence_file_name(change.evidence[i], name);
		strset_add(names, name);
	}
	return 0;
}

static int add_generations(struct bundle_collection *m, const char *view, int64_t newest, struct err *e)
{
	CLEANUP(strset_release) struct strset evidence = {0};
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_MEMBERSHIP);
	for (int64_t number = 1; number <= newest; number++) {
		char name[MEMBERSHIP_NAME];
		membership_name(number, name);
		buf_clear(&text);
		int found = m->views ? read_views_record(m, view, name, LIMIT_MEMBERSHIP, &text, e) : 0;
		if (found == 0)
			err_set(e, ERR_INVALID, "the membership of view %s lacks its file %s", view, name);
		if (found <= 0 || note_evidence(buf_view(&text), &evidence, e) < 0 ||
			add_record_source(m, BUNDLE_GENERATION, view, name, buf_view(&text)) < 0)
			return -1;
	}
	strset_sort(&evidence);
	return add_evidence(m, &evidence, e);
}

// --- views ---

static int check_asked_view(const struct bundle_collection *m, const char *name, const struct view *v, struct err *e)
{
	if (!v)
		return site_refuse_view(m->asked->site, name, ERR_USAGE, e);
	if (v->is_private && !m->asked->takes_private)
		return err_set(e, ERR_USAGE, "%s has private platforms; --private puts their files into the bundle",
			name);
	return site_is_incomplete(m->asked->site, v)
		       ? err_set(e, ERR_USAGE, "what %s has is not known as a whole; wheelcache index says why", name)
		       : 0;
}

// Each platform has its own files in the bundle, not merged by name.
static int add_view(struct bundle_collection *m, const char *name, struct err *e)
{
	const struct site *site = m->asked->site;
	const struct view *v = *name ? site_view(site, str_from(name)) : NULL;
	if (check_asked_view(m, name, v, e) < 0)
		return -1;
	struct view each = *v;
	each.shows_each = true;
	each.left_out = NULL;
	if (v->membership)
		each.generation = site_generation(site, v);
	m->view = &each;
	if (view_projects(&each, m->catalog, add_project_files, m, e) < 0)
		return -1;
	return v->membership ? add_generations(m, v->membership, each.generation, e) : 0;
}

// --- mirrors ---

static int add_mirror_row(void *ctx, const struct bundle_row *r, struct err *e UNUSED)
{
	add_source(ctx, r->kind)->row = *r;
	return 0;
}

static int compare_sources(const void *a, const void *b)
{
	return bundle_row_compare(&((const struct bundle_source *)a)->row, &((const struct bundle_source *)b)->row);
}

// Several views may have the same file.
static void sort_sources(struct bundle_collection *m)
{
	size_t kept = 0;
	if (m->count)
		qsort(m->source, m->count, sizeof(*m->source), compare_sources);
	for (size_t i = 0; i < m->count; i++)
		if (!kept || compare_sources(&m->source[kept - 1], &m->source[i]) != 0)
			m->source[kept++] = m->source[i];
	m->count = kept;
}

static struct bundle_source *find_collected(const struct bundle_collection *m, const struct bundle_row *row)
{
	const struct bundle_source key = {.row = *row};
	return m->count ? bsearch(&key, m->source, m->count, sizeof(*m->source), compare_sources) : NULL;
}

// --- records of the OSV database ---

// A regular file, which the operator names.
static int open_osv(const char *path, struct byte_source *out, struct err *e)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s", path);
	*out = byte_source_file(fd, (uint64_t)st.st_size);
	if (S_ISREG(st.st_mode))
		return 0;
	mem_close(&out->fd);
	return err_set(e, ERR_USAGE, "%s: it is no regular file", path);
}

static int hash_source(const struct byte_source *bytes, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	CLEANUP(mem_free) char *block = xmalloc(PIECE);
	CLEANUP(digest_cleanup) struct digest *digest = digest_new();
	digest_begin(digest);
	for (uint64_t at = 0, len; at < bytes->size; at += len) {
		len = bytes->size - at < PIECE ? bytes->size - at : PIECE;
		if (byte_source_read(bytes, at, block, len, e) < 0)
			return -1;
		digest_add(digest, block, len);
	}
	digest_end(digest, sha256);
	return 0;
}

static int add_osv(struct bundle_collection *m, const char *path, struct err *e)
{
	struct byte_source bytes;
	const char *slash = strrchr(path, '/');
	struct bundle_source *s = add_source(m, BUNDLE_OSV);
	s->path = path;
	s->row.name = slash ? slash + 1 : path;
	if (!bundle_is_osv(str_from(s->row.name)))
		return err_set(e, ERR_USAGE, "%s: records of the OSV database are a .json or a .zip", path);
	if (open_osv(path, &bytes, e) < 0)
		return -1;
	s->row.size = bytes.size;
	int hashed = hash_source(&bytes, s->row.sha256, e);
	mem_close(&bytes.fd);
	return hashed < 0 ? err_prefix(e, "%s: ", path) : 0;
}

// --- locks ---

static int add_locked_file(void *ctx, const struct catalog_file *f, struct err *e)
{
	struct bundle_collection *m = ctx;
	return strcmp(f->filename, m->filename) == 0 ? add_file_source(m, m->platform, f, e) : 0;
}

// Whether a mirror in the bundle has the file. The rows of mirrors were added first, and are sorted.
static bool mirror_has(const struct bundle_collection *m, const struct locked_row *row, size_t mirrored)
{
	uint8_t sha256[SHA256_SIZE];
	bool is_hashed = row->sha256 && hex_decode(str_from(row->sha256), sha256, SHA256_SIZE);
	for (size_t i = 0; i < mirrored && row->filename; i++) {
		const struct bundle_row *r = &m->source[i].row;
		if (r->kind == BUNDLE_UPSTREAM && strcmp(r->name, row->filename) == 0 &&
			strcmp(r->project, row->project) == 0 && (!is_hashed || digest_equal(r->sha256, sha256)))
			return true;
	}
	return false;
}

static int add_locked_row(struct bundle_collection *m, const struct locked_row *row, size_t mirrored, struct err *e)
{
	bool is_wheel = row->filename && filename_kind(str_from(row->filename)) == FILENAME_WHEEL;
	if (row->status != LOCKED_HERE || !row->filename) {
		if (row->is_wanted && !mirror_has(m, row, mirrored) && !m->lacking++)
			m->first_lacking = arena_printf(&m->text, "%s (%s)",
				row->filename ? row->filename : row->project, locked_status_name[row->status]);
		return 0;
	}
	if (!is_wheel && !row->is_wanted)
		return 0;
	m->platform = store_platform_named(&m->asked->site->store, str_from(row->platform));
	m->filename = row->filename;
	m->project = arena_strdup(&m->text, row->project);
	if (m->platform->is_private && !m->asked->takes_private)
		return err_set(e, ERR_USAGE, "%s is private; --private puts its files into the bundle", row->platform);
	return catalog_project_files(m->catalog, m->platform->id, row->project, add_locked_file, m, e);
}

// By what the catalog knows of upstreams: nothing is asked. Outside of the snapshot, for it has its own.
static int find_locked(struct bundle_collection *m, struct err *e)
{
	const struct bundle_making *asked = m->asked;
	const struct marker_choice all = {.all_extras = true, .all_groups = true};
	const struct missing_options options = {.is_offline = true};
	if (!asked->locks)
		return 0;
	return locked_files_find(&asked->site->config, &asked->site->store, m->catalog, asked->lock, asked->locks, &all,
		&options, &m->locked, e);
}

static int add_locks(struct bundle_collection *m, struct err *e)
{
	const size_t mirrored = m->count;
	for (size_t i = 0; i < m->locked.rows; i++)
		if (add_locked_row(m, &m->locked.row[i], mirrored, e) < 0)
			return -1;
	if (!m->lacking)
		return 0;
	return err_set(e, ERR_NOT_FOUND,
		"%s that an installation wants: neither here nor in a mirror of the bundle, such as %s; "
		"wheelcache mirror fill NAME --lock, then --mirror NAME",
		COUNTED(m->lacking, "file|files"), m->first_lacking);
}

// --- statuses ---

struct strictest_status {
	struct bundle_collection *making;
	const struct bundle_source *file; // of the project and platform
	enum simplepage_status worst;
	const char *text; // NULL: none
};

// The strictest of several counts, and one that cannot be read is quarantined.
static int take_status(void *ctx, int64_t platform, const char *folder UNUSED, struct str text, struct err *e UNUSED)
{
	struct strictest_status *s = ctx;
	struct err unread = ERR_INIT;
	if (platform != s->file->platform->id)
		return 0;
	CLEANUP(project_status_release) struct project_status status = {0};
	if (project_status_read(text, &status, &unread) < 0)
		status.status = SIMPLEPAGE_QUARANTINED;
	if (!s->text || status.status > s->worst) {
		s->worst = status.status;
		s->text = arena_copy(&s->making->text, text);
	}
	return 0;
}

static int add_status(struct bundle_collection *m, const struct bundle_source *file, struct err *e)
{
	struct strictest_status search = {m, file, SIMPLEPAGE_ACTIVE, NULL};
	const struct bundle_source of = *file;
	if (catalog_statuses(m->catalog, of.row.project, take_status, &search, e) < 0)
		return -1;
	if (!search.text)
		return 0;
	struct bundle_source *s = add_source(m, BUNDLE_STATUS);
	s->row.in = of.row.in;
	s->row.project = of.row.project;
	s->status = search.text;
	measure(str_from(search.text), &s->row.size, s->row.sha256);
	return 0;
}

// Of each project of each platform, whose files stand together.
static int add_statuses(struct bundle_collection *m, size_t files, struct err *e)
{
	for (size_t i = 0; i < files && m->source[i].row.kind == BUNDLE_FILE; i++) {
		const struct bundle_row *now = &m->source[i].row, *before = i ? &m->source[i - 1].row : NULL;
		bool is_first =
			!before || strcmp(before->in, now->in) != 0 || strcmp(before->project, now->project) != 0;
		if (is_first && add_status(m, &m->source[i], e) < 0)
			return -1;
	}
	return 0;
}

// --- what is known of files elsewhere ---

// Of several uploads of a file the last one counts, as for explain.
static int take_uploader(void *ctx, const struct audit_entry *a, const char *time UNUSED, struct err *e UNUSED)
{
	struct bundle_collection *m = ctx;
	uint8_t sha256[SHA256_SIZE];
	if (!a->action || strcmp(a->action, "upload") != 0 || !a->result || strcmp(a->result, "done") != 0 ||
		!a->platform || !a->project || !a->file || !a->who || !a->sha256 ||
		!hex_decode(str_from(a->sha256), sha256, SHA256_SIZE))
		return 0;
	const struct bundle_row key = {.kind = BUNDLE_FILE, .in = a->platform, .project = a->project, .name = a->file};
	struct bundle_source *s = find_collected(m, &key);
	if (s && digest_equal(s->row.sha256, sha256))
		s->row.by = arena_strdup(&m->text, a->who);
	return 0;
}

// A log that cannot be read hides nothing else.
static void read_uploaders(struct bundle_collection *m)
{
	struct err unread = ERR_INIT;
	bool is_whole;
	const struct audit_query q = {.path = m->asked->audit_path};
	if (audit_recent(&q, take_uploader, m, &is_whole, &unread) < 0)
		log_warn("who uploaded the files is not in the bundle: %s", unread.msg);
}

static int omit_known(void *ctx, const struct bundle_row *r, struct err *e UNUSED)
{
	struct bundle_source *s = bundle_row_is_file(r) ? find_collected(ctx, r) : NULL;
	if (s && digest_equal(s->row.sha256, r->sha256) && s->row.size == r->size)
		s->row.is_omitted = true;
	return 0;
}

static int collect_asked(struct bundle_collection *m, const char **contents, struct err *e)
{
	const struct bundle_making *asked = m->asked;
	for (size_t i = 0; i < asked->mirrors; i++) {
		*contents++ = arena_printf(&m->text, "mirror %s", asked->mirror[i]);
		if (bundle_mirrors_each(&m->mirrors, asked->mirror[i], add_mirror_row, m, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < asked->osvs; i++) {
		*contents++ = arena_printf(&m->text, "osv %s", asked->osv[i]);
		if (add_osv(m, asked->osv[i], e) < 0)
			return -1;
	}
	for (size_t i = 0; i < asked->locks; i++)
		*contents++ = arena_printf(&m->text, "lock %s", asked->lock[i]);
	if (add_locks(m, e) < 0)
		return -1;
	for (size_t i = 0; i < asked->views; i++) {
		*contents++ = arena_printf(&m->text, "view %s", asked->view[i]);
		if (add_view(m, asked->view[i], e) < 0)
			return -1;
	}
	return 0;
}

static int collect_all(struct bundle_collection *m, struct bundle_head *head, struct err *e)
{
	const struct bundle_making *asked = m->asked;
	const struct bundle_visit since = {.row = omit_known, .ctx = m};
	const size_t count = asked->views + asked->mirrors + asked->locks + asked->osvs;
	const char **contents = ARENA_NEW(&m->text, const char *, count);
	if (collect_asked(m, contents, e) < 0)
		return -1;
	sort_sources(m);
	if (add_statuses(m, m->count, e) < 0)
		return -1;
	sort_sources(m);
	read_uploaders(m);
	*head = (struct bundle_head){.format = BUNDLE_FORMAT,
		.made = clock_wall_seconds(),
		.by = asked->by,
		.contents = contents,
		.count = count,
		.has_since = asked->since != NULL};
	return asked->since ? bundle_in_manifest(asked->since, &since, head->since, e) : 0;
}

// --- writing ---

static int write_manifest(struct bundle_collection *m, const struct bundle_head *head, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_BUNDLE_MANIFEST);
	bundle_head_write(head, &text);
	for (size_t i = 0; i < m->count; i++) {
		const struct bundle_row *r = &m->source[i].row;
		bundle_row_write(r, &text);
		m->all.members += r->kind == BUNDLE_GENERATION;
		if (!bundle_row_is_file(r) && r->kind != BUNDLE_OSV)
			continue;
		m->all.omitted += r->is_omitted;
		m->all.files += !r->is_omitted;
		m->all.bytes += r->is_omitted ? 0 : r->size;
	}
	if (text.failed)
		return err_set(e, ERR_LIMIT, "a bundle of %s: its manifest has more than %d bytes",
			COUNTED(m->count, "file|files"), LIMIT_BUNDLE_MANIFEST);
	return bundle_out_member(m->out, BUNDLE_MANIFEST, text.len, e) < 0 ? -1
									   : bundle_out_add(m->out, buf_view(&text), e);
}

static int refuse_changed(const struct bundle_row *r, struct err *e)
{
	return err_set(e, ERR_CONFLICT, "%s%s%s: it has changed since it was listed; make the bundle again",
		r->in ? r->in : "", r->in ? "/" : "", r->name ? r->name : r->project);
}

static int write_text(struct bundle_collection *m, const struct bundle_row *r, const struct bundle_piece *piece,
	struct str text, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(buf_release) struct buf path = buf_up_to(LIMIT_PATH);
	digest_sha256(text, sha256);
	if (text.len != (piece ? piece->size : r->size) || !digest_equal(sha256, piece ? piece->sha256 : r->sha256))
		return refuse_changed(r, e);
	bundle_row_path(r, piece, &path);
	return bundle_out_member(m->out, path.data, text.len, e) < 0 ? -1 : bundle_out_add(m->out, text, e);
}

static void tell_progress(struct bundle_collection *m, uint64_t files, uint64_t bytes)
{
	const struct bundle_making *asked = m->asked;
	m->done.files += files;
	m->done.bytes += bytes;
	if (asked->progress)
		asked->progress(asked->ctx, m->done.files, m->all.files, m->done.bytes, m->all.bytes);
}

// A damaged disk shows here, and not where the bundle is loaded.
static int copy_bytes(struct bundle_collection *m, const struct bundle_row *r, const struct byte_source *bytes,
	struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(mem_free) char *block = xmalloc(PIECE);
	CLEANUP(digest_cleanup) struct digest *digest = digest_new();
	CLEANUP(buf_release) struct buf path = buf_up_to(LIMIT_PATH);
	bundle_row_path(r, NULL, &path);
	if (bundle_out_member(m->out, path.data, r->size, e) < 0)
		return -1;
	digest_begin(digest);
	for (uint64_t at = 0; at < r->size;) {
		size_t len = r->size - at < PIECE ? (size_t)(r->size - at) : PIECE;
		if (byte_source_read(bytes, at, block, len, e) < 0 ||
			bundle_out_add(m->out, (struct str){block, len}, e) < 0)
			return -1;
		digest_add(digest, block, len);
		at += len;
		tell_progress(m, 0, len);
	}
	digest_end(digest, sha256);
	if (!digest_equal(sha256, r->sha256))
		return err_set(e, ERR_INVALID,
			"its bytes are not those that are known of it; wheelcache check finds such files");
	tell_progress(m, 1, 0);
	return 0;
}

static int write_file(struct bundle_collection *m, const struct bundle_source *s, struct err *e)
{
	const struct bundle_row *r = &s->row;
	struct err why = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (catalog_find_file(m->catalog, s->platform->id, r->name, &place, &why) < 0 ||
		!digest_equal(place.sha256, r->sha256) || place.is_unlisted)
		return refuse_changed(r, e);
	const struct place_version known = {place.size, place.mtime_ns, place.inode};
	CLEANUP(place_file_close) struct place_file *file = store_open_known(s->platform, place.path, &known, e);
	if (file)
		place_file_read_ahead(file);
	const struct byte_source bytes = file ? place_file_source(file, r->size) : byte_source_memory(STR(""));
	return file && copy_bytes(m, r, &bytes, e) == 0 ? 0 : err_prefix(e, "%s/%s: ", r->in, r->name);
}

static int write_upstream(struct bundle_collection *m, const struct bundle_row *r, struct err *e)
{
	struct file_cache_file file = {.fd = -1};
	if (bundle_mirrors_open(&m->mirrors, r, &file, e) < 0)
		return err_prefix(e, "%s: ", r->name);
	const struct byte_source bytes = byte_source_file(file.fd, file.size);
	int copied = file.size == r->size ? copy_bytes(m, r, &bytes, e) : refuse_changed(r, e);
	mem_close(&file.fd);
	return copied < 0 ? err_prefix(e, "%s: ", r->name) : 0;
}

static int write_osv(struct bundle_collection *m, const struct bundle_source *s, struct err *e)
{
	struct byte_source bytes;
	if (open_osv(s->path, &bytes, e) < 0)
		return -1;
	int copied = bytes.size == s->row.size ? copy_bytes(m, &s->row, &bytes, e) : refuse_changed(&s->row, e);
	mem_close(&bytes.fd);
	return copied < 0 ? err_prefix(e, "%s: ", s->path) : 0;
}

static int write_pieces(struct bundle_collection *m, const struct bundle_source *s, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT);
	for (size_t i = 0; i < s->row.pieces; i++) {
		buf_clear(&text);
		if (read_piece(m, s, s->row.piece[i].part, &text, e) < 0 ||
			write_text(m, &s->row, &s->row.piece[i], buf_view(&text), e) < 0)
			return -1;
	}
	return 0;
}

static int read_text_row(struct bundle_collection *m, const struct bundle_row *r, struct buf *out, struct err *e)
{
	if (r->kind == BUNDLE_EVIDENCE)
		return read_evidence(m, r->name, out, e);
	if (r->kind == BUNDLE_GENERATION)
		return read_views_record(m, r->in, r->name, LIMIT_MEMBERSHIP, out, e);
	return bundle_mirrors_text(&m->mirrors, r, out, e);
}

static int write_source(struct bundle_collection *m, const struct bundle_source *s, struct err *e)
{
	const struct bundle_row *r = &s->row;
	if (bundle_row_is_file(r)) {
		int written = r->is_omitted            ? 0
			      : r->kind == BUNDLE_FILE ? write_file(m, s, e)
						       : write_upstream(m, r, e);
		return written < 0 ? -1 : write_pieces(m, s, e);
	}
	if (r->kind == BUNDLE_STATUS)
		return write_text(m, r, NULL, str_from(s->status), e);
	if (r->kind == BUNDLE_OSV)
		return write_osv(m, s, e);
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_MEMBERSHIP);
	return read_text_row(m, r, &text, e) < 0 ? -1 : write_text(m, r, NULL, buf_view(&text), e);
}

static int write_all(struct bundle_collection *m, const struct bundle_head *head, struct err *e)
{
	if (write_manifest(m, head, e) < 0)
		return -1;
	for (size_t i = 0; i < m->count; i++)
		if (write_source(m, &m->source[i], e) < 0)
			return -1;
	return bundle_out_end(m->out, m->asked->key, e);
}

int bundle_make(const struct bundle_making *asked, struct bundle_made *out, struct err *e)
{
	CLEANUP(collection_release) struct bundle_collection m = {.asked = asked, .catalog = asked->catalog};
	struct bundle_head head;
	m.views = views_folder_or_none(&asked->site->config);
	bundle_mirrors_init(&m.mirrors, &asked->site->config, m.catalog, asked->by);
	m.out = bundle_out_new(asked->path, e); // what cannot be written shows before the store is read
	if (!m.out || find_locked(&m, e) < 0)
		return -1;
	int collected = catalog_read_begin(m.catalog, e) < 0 ? -1 : collect_all(&m, &head, e);
	struct catalog *reading = m.catalog;
	catalog_read_end(&reading);
	if (collected < 0 || write_all(&m, &head, e) < 0)
		return -1;
	*out = m.all;
	out->size = bundle_out_size(m.out);
	return 0;
}
