// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/common/probe-places.h"
#include "cli/common/serve-check.h"
#include "lib/advisories/advisories.h"
#include "lib/base/counted.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/access/audit.h"
#include "lib/state/access/tokens.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/state/config/state-files.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/project-status.h"
#include "lib/state/store/store.h"
#include "lib/state/upstream/upstream.h"
#include "lib/place/place-s3.h"
#include "lib/place/tempname.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-repair.h"
#include "promoter/member-losses.h"
#include "promoter/view-change.h"

// --- which file system a folder is on ---

struct file_system {
	const char *name; // "AFS", "NFS", "a local disk"
	bool is_remote;   // other machines may change it
};

static const struct file_system local = {"a local disk", false}, afs = {"AFS", true};

static const struct {
	unsigned magic;
	struct file_system is;
} file_systems[] = {
	{AFS_SUPER_MAGIC, {"AFS", true}},
	{AFS_FS_MAGIC, {"AFS", true}},
	{NFS_SUPER_MAGIC, {"NFS", true}},
	{CIFS_SUPER_MAGIC, {"CIFS", true}},
	{SMB2_SUPER_MAGIC, {"SMB", true}},
	{FUSE_SUPER_MAGIC, {"FUSE", true}},
	{TMPFS_MAGIC, {"tmpfs", false}},
};

static bool is_in_mount(const char *path, const char *mount)
{
	size_t len = strlen(mount);
	return strncmp(path, mount, len) == 0 && (!path[len] || path[len] == '/');
}

// The client of AFS that is a FUSE file system (afsd.fuse) is mounted as "AFS".
static bool is_afs_by_fuse(const char *path)
{
	struct err ignored = ERR_INIT;
	struct mntent mount;
	char text[BUFSIZ];
	bool found = false;
	CLEANUP(mem_free) char *real = fs_real_path(path, &ignored);
	FILE *f = setmntent("/proc/self/mounts", "re");
	while (f && real && !found && getmntent_r(f, &mount, text, sizeof(text)))
		found = strcmp(mount.mnt_fsname, afs.name) == 0 && is_in_mount(real, mount.mnt_dir);
	if (f)
		endmntent(f);
	return found;
}

// A local disk, if that cannot be found out.
static struct file_system file_system_of(const char *path)
{
	struct statfs disk;
	if (statfs(path, &disk) < 0)
		return local;
	for (size_t i = 0; i < ARRAY_SIZE(file_systems); i++)
		if ((unsigned)disk.f_type == file_systems[i].magic)
			return file_systems[i].magic == FUSE_SUPER_MAGIC && is_afs_by_fuse(path) ? afs
												 : file_systems[i].is;
	return local;
}

// --- where the server and its commands write ---

void doctor_writes_release(struct doctor_writes *w)
{
	for (size_t i = 0; i < w->count; i++) {
		free(w->item[i].what);
		free(w->item[i].folder);
	}
	free(w->item);
	*w = (struct doctor_writes){0};
}

// The folder that the path is in, in place; "." of a name alone.
static void cut_last_part(char *path)
{
	char *slash = strrchr(path, '/');
	if (!slash)
		*path = '.';
	char *end = slash && slash != path ? slash : path + 1;
	*end = '\0';
}

// Goes up to the nearest folder that is there, in place: the server makes those below it.
static char *cut_missing(char *path)
{
	while (access(path, F_OK) < 0 && strcmp(path, "/") != 0 && strcmp(path, ".") != 0)
		cut_last_part(path);
	return path;
}

// Takes over what and path. A folder that is there already is not added again.
static void add_write(struct doctor_writes *w, char *what, char *path, bool is_needed)
{
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *name = what;
	CLEANUP(mem_free) char *owned = path;
	CLEANUP(mem_free) char *real = fs_real_path(path, &ignored);
	CLEANUP(mem_free) char *folder = real ? STEAL_PTR(real) : STEAL_PTR(owned);
	for (size_t i = 0; i < w->count; i++)
		if (strcmp(w->item[i].folder, folder) == 0)
			return;
	w->item = xreallocarray(w->item, w->count + 1, sizeof(*w->item));
	w->item[w->count++] = (struct doctor_write){STEAL_PTR(name), STEAL_PTR(folder), is_needed};
}

// Takes over path.
static void add_file(struct doctor_writes *w, const char *what, char *path)
{
	cut_last_part(path);
	add_write(w, xstrdup(what), cut_missing(path), true);
}

static bool has_membership(const struct config *c)
{
	for (size_t i = 0; i < c->view_count; i++)
		if (c->views[i].from)
			return true;
	return false;
}

static bool merges_upstream(const struct config *c)
{
	for (size_t i = 0; i < c->view_count; i++)
		if (c->views[i].upstream && strcmp(c->views[i].upstream, "merge") == 0)
			return true;
	return c->upstream_merge;
}

// Adds the folders of the catalog and of all else that the configuration lets the server write, each once.
static void doctor_writes_state(struct doctor_writes *w, const struct config *c, const char *catalog_path)
{
	static const char unix_socket[] = "unix:";
	char *views = has_membership(c) ? views_folder_or_none(c) : NULL;
	add_file(w, "the catalog", xstrdup(catalog_path));
	add_file(w, "the tokens", state_file(c, catalog_path, STATE_FILE_TOKENS));
	add_file(w, "the audit log", state_file(c, catalog_path, STATE_FILE_AUDIT));
	if (views && place_s3_is(views))
		mem_free(&views);
	if (views)
		add_write(w, xstrdup("the memberships of views"), cut_missing(views), true);
	for (size_t i = 0; i < c->upstreams.count && merges_upstream(c); i++)
		if (c->upstreams.item[i].files_path)
			add_write(w, xstrdup("the cache of upstream's files"),
				cut_missing(state_file_upstream(&c->upstreams.item[i], catalog_path)), true);
	if (c->branch_count)
		add_file(w, "the results of builds", state_file(c, catalog_path, STATE_FILE_BUILDS));
	if (c->branch_count && c->build_work_path)
		add_write(w, xstrdup("the work of builds"), cut_missing(xstrdup(c->build_work_path)), true);
	if (c->access_log && strcmp(c->access_log, "-") != 0)
		add_file(w, "the access log", xstrdup(c->access_log));
	if (strncmp(c->listen, unix_socket, strlen(unix_socket)) == 0)
		add_file(w, "the socket", xstrdup(c->listen + strlen(unix_socket)));
}

// The file server decides who may write to it, and only a write tells.
static int may_write(const char *folder, struct err *e)
{
	if (access(folder, W_OK | X_OK) < 0)
		return err_errno(e, ERR_IO, "%s", folder);
	if (!file_system_of(folder).is_remote)
		return 0;
	// Tries to write to a folder: creates an empty file with a temporary name, and removes it. Neither the mode of
	// a folder nor access() says who may write on AFS: ERR_IO, with the folder and the reason.
	char name[TEMPNAME_NAME];
	CLEANUP(mem_close) int dirfd = fs_open_dir(folder, e);
	if (dirfd < 0)
		return -1;
	tempname_name(name);
	CLEANUP(mem_close) int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || unlinkat(dirfd, name, 0) < 0)
		return err_errno(e, ERR_IO, "%s", folder);
	return 0;
}

void doctor_writes_report(const struct doctor_writes *w, struct doctor_report *r)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct doctor_write *x = &w->item[i];
		struct err why = ERR_INIT;
		if (may_write(x->folder, &why) == 0)
			doctor_fine(r, "writing", "%s: %s can be written", x->what, x->folder);
		else
			doctor_report_add(r, x->is_needed ? DOCTOR_WRONG : DOCTOR_WARNING, "writing",
				x->is_needed ? "give the account of the service the right to write there: chown, chmod"
					     : "give the account of the service the right to write there, if files are "
					       "to be uploaded, yanked or pruned",
				"%s: this account cannot write to %s", x->what, why.msg);
	}
}

enum { FREE_PER_CENT = 5, OF_ALL = 100, MEGABYTE = 1000000 };

// --- room ---

// A file system that has no such numbers says 0, or that all of a huge disk is free: AFS and some others.
static void look_at_room(struct doctor_report *r, const char *what, const char *path)
{
	struct statvfs disk;
	if (statvfs(path, &disk) < 0 || !disk.f_blocks || disk.f_bavail >= disk.f_blocks)
		return;
	uint64_t free_mb = (uint64_t)disk.f_bavail * disk.f_frsize / MEGABYTE;
	uint64_t per_cent = (uint64_t)disk.f_bavail * OF_ALL / disk.f_blocks;
	bool has_files = !disk.f_files || (uint64_t)disk.f_favail * OF_ALL / disk.f_files >= FREE_PER_CENT;
	if (per_cent < FREE_PER_CENT)
		doctor_report_add(r, free_mb ? DOCTOR_WARNING : DOCTOR_WRONG, what,
			"make room: wheelcache prune plan says what upstream has too",
			"the disk of %s has %" PRIu64 " MB left, %" PRIu64 " %%", path, free_mb, per_cent);
	else if (!has_files)
		doctor_warn(r, what, "delete files, or make the disk again with more inodes",
			"the disk of %s has few inodes left", path);
	else
		doctor_fine(r, what, "the disk of %s has %" PRIu64 " MB left, %" PRIu64 " %%", path, free_mb, per_cent);
}

// --- platforms ---

static void add_probe(void *ctx, const char *address, enum s3_probe_result result, const char *what, const char *words)
{
	static const struct {
		enum doctor_level level;
		const char *advice;
	} table[] = {
		[S3_PROBE_FINE] = {DOCTOR_FINE, ""},
		[S3_PROBE_WEAK] = {DOCTOR_WARNING, "see the manual of the object store, or use another one"},
		[S3_PROBE_NO_WRITE] = {DOCTOR_WARNING, "uploads are off: use credentials that may write, and an object store "
						       "that honours conditions"},
		[S3_PROBE_AWAY] = {DOCTOR_WRONG, "look at [place], the credentials, and the object store"},
		[S3_PROBE_WRONG] = {DOCTOR_WRONG, "the server does not start with it"},
	};
	doctor_report_add(ctx, table[result].level, "bucket", table[result].advice, "%s: %s: %s", address, what, words);
}

static void look_at_platform(struct doctor_report *r, const struct platform *p, struct doctor_writes *writes)
{
	const char *path = place_path(p->place);
	if (place_s3_is(path) && !p->is_away) // its row is that of its bucket
		return;
	if (p->away_why) {
		doctor_wrong(r, "platform", "look at [place], the credentials, and the object store", "%s: %s: %s",
			p->name, path, p->away_why);
		return;
	}
	if (p->is_away) {
		doctor_wrong(r, "platform", "look at the file server and the mount", "%s: %s does not answer", p->name,
			path);
		return;
	}
	if (access(path, R_OK | X_OK) < 0) {
		doctor_wrong(r, "platform",
			errno == ENOENT ? "mount the volume or make the folder; the pages stay meanwhile"
					: "give the account of the service the right to read it",
			"%s: %s: %s", p->name, path, strerror(errno));
		return;
	}
	struct file_system f = file_system_of(path);
	doctor_fine(r, "platform", "%s: %s is on %s%s", p->name, path, f.name,
		f.is_remote ? "; other machines' changes show after the next scan" : "");
	// Adds the folder of a platform that answers.
	add_write(writes, xasprintf("platform %s", p->name), xstrdup(place_path(p->written)), store_is_split(p));
	// Such as by a backup that was restored with its mark.
	struct err unsaid = ERR_INIT; // the folder's row says it
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_NOTE);
	if (freeze_is(p, &why, &unsaid) > 0 && !freeze_is_retirement(buf_view(&why)))
		doctor_warn(r, "frozen", "wheelcache thaw, if nothing needs the freeze any more",
			"platform %s takes no writes: %s", p->name, why.len ? why.data : "no reason is given");
	if (strcmp(place_path(p->written), place_path(p->place)) != 0 && !p->release)
		doctor_warn(r, "release", "set release in [platform], or release the volume by other means",
			"platform %s: nothing brings %s to %s", p->name, place_path(p->written), place_path(p->place));
	look_at_room(r, "disk", path);
}

static void warn_of_branch(void *ctx, const char *text)
{
	doctor_warn(ctx, "branch", "correct this, or remove the branch", "%s", text);
}

// What serve refuses, and what it warns of.
static void look_at_views(struct doctor_report *r, const struct config *c, const struct store *store,
	const char *catalog_path)
{
	struct err e = ERR_INIT;
	if (serve_check_site(c, store, catalog_path, &e) < 0)
		doctor_wrong(r, "configuration", "correct this line: man wheelcache.conf",
			"the server does not start with it: %s", e.msg);
	serve_check_branches(c, warn_of_branch, r);
}

void doctor_store(struct doctor_report *r, const struct config *c, const char *catalog_path,
	struct doctor_writes *writes)
{
	struct err e = ERR_INIT;
	CLEANUP(store_release) struct store store = {0};
	if (store_open(c, STORE_PROMPT, &store, &e) < 0) {
		doctor_wrong(r, "store", "name the store: [store] path, or STORE", "%s", e.msg);
		return;
	}
	probe_places(c, NULL, add_probe, r);
	look_at_views(r, c, &store, catalog_path);
	for (size_t i = 0; i < store.platform_count; i++)
		look_at_platform(r, &store.platform[i], writes);
	for (size_t i = 0; i < store.stray_count; i++)
		doctor_warn(r, "store",
			"move it into the folder of a platform, or name the platforms in the configuration",
			"%s is in the folder of no platform, and not served", store.stray[i]);
}

// --- the state ---

// The folder of a path, in place.
static void cut_file(char *path)
{
	char *slash = strrchr(path, '/');
	if (slash && slash != path)
		*slash = '\0';
}

static void look_at_secret(struct doctor_report *r, const char *what, const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0) {
		if (errno != ENOENT)
			doctor_wrong(r, what, "give the account of the service the right to it", "%s: %s", path,
				strerror(errno));
		return;
	}
	if (st.st_mode & S_IROTH)
		doctor_warn(r, what, "chmod o-r", "every account of the machine can read %s", path);
	else if (access(path, R_OK | W_OK) < 0)
		doctor_wrong(r, what, "chown it to the account of the service", "%s: %s", path, strerror(errno));
	else
		doctor_fine(r, what, "%s can be read and written, and not by everybody", path);
}

// The arguments of look_at_view_time.
struct time_search {
	struct doctor_report *report;
	struct catalog *catalog;
};

static void report_future(struct doctor_report *r, const char *what, const char *noun, int64_t seconds)
{
	char text[CLOCK_TEXT];
	clock_write(seconds, text);
	doctor_wrong(r, "clock", "set the clock; if it was ahead once: wheelcache view repair",
		"the newest %s of %s is of %s, which is after this machine's clock", noun, what, text);
}

static int look_at_view_time(void *ctx, const char *view, struct err *e)
{
	const struct time_search *s = ctx;
	struct catalog_view known;
	if (catalog_view_find(s->catalog, view, &known, e) < 0)
		return -1;
	if (known.made > views_repair_limit())
		report_future(s->report, view, "generation", known.made);
	return 0;
}

static int look_at_lost_members(void *ctx, const char *view, struct err *e)
{
	const struct time_search *s = ctx;
	CLEANUP(member_losses_release) struct member_losses lost = {0};
	if (member_losses_read(s->catalog, view, NULL, &lost, e) < 0)
		return -1;
	if (lost.count)
		doctor_wrong(s->report, "views",
			"copy it back, or wheelcache demote it there; wheelcache explain FILE says more",
			"view %s has lost %s, first %s/%s", view, COUNTED(lost.count, "released file|released files"),
			lost.item[0].platform, lost.item[0].filename);
	return 0;
}

static void look_at_silence(struct doctor_report *r, const struct config_view *v, struct catalog *c)
{
	struct err e = ERR_INIT;
	CLEANUP(view_silences_release) struct view_silences s = {0};
	if (view_silence_read(v, c, clock_wall_seconds(), true, &s, &e) < 0) {
		doctor_wrong(r, "views", "", "view %s: %s", v->name, e.msg);
		return;
	}
	for (size_t i = 0; i < s.count; i++) {
		CLEANUP(buf_release) struct buf words = buf_up_to(ERR_MSG_SIZE);
		view_silence_describe(&s.item[i], &words);
		if (s.item[i].is_silent)
			doctor_wrong(r, "views", "look at the pipeline, or change [view] expect", "view %s: silent: %s",
				v->name, words.data);
	}
}

// Of memberships and evidence, which follow the time.
static void look_at_times(struct doctor_report *r, struct catalog *c)
{
	const int64_t second = 1000000000;
	struct err ignored = ERR_INIT; // the catalog's errors are told of elsewhere
	struct time_search s = {r, c};
	int64_t last;
	if (catalog_views(c, look_at_lost_members, &s, &ignored) == 0 &&
		catalog_views(c, look_at_view_time, &s, &ignored) == 0 &&
		catalog_evidence_last(c, &last, &ignored) == 0 && last / second > views_repair_limit())
		report_future(r, "evidence", "record", last / second);
}

struct status_look {
	struct doctor_report *report;
	struct catalog *catalog;
	const char *platform;
};

static void report_damaged_status(void *ctx, const char *words)
{
	const struct status_look *l = ctx;
	doctor_wrong(l->report, "status", "wheelcache status writes it anew; or remove the file", "platform %s: %s", l->platform, words);
}

static int look_at_statuses(void *ctx, const struct catalog_platform *p, struct err *e)
{
	struct status_look *l = ctx;
	l->platform = p->name;
	return project_status_damages(l->catalog, p->id, report_damaged_status, l, e);
}

static int count_differing(void *ctx, const char *filename UNUSED, uint64_t platforms UNUSED, uint64_t contents,
	struct err *e UNUSED)
{
	*(size_t *)ctx += contents > 1;
	return 0;
}

static void look_at_catalog(struct doctor_report *r, const struct config *c, const char *path)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (catalog_open_read(path, &catalog, &e) == 0) {
		doctor_fine(r, "catalog", "%s can be read", path);
		look_at_times(r, catalog);
		for (size_t i = 0; i < c->view_count; i++)
			look_at_silence(r, &c->views[i], catalog);
		// Names that several platforms have with other bytes, where /simple/ shows several platforms.
		struct err ignored = ERR_INIT;
		struct status_look statuses = {.report = r, .catalog = catalog};
		size_t names = 0;
		if (catalog_platforms(catalog, look_at_statuses, &statuses, &ignored) < 0)
			doctor_wrong(r, "status", "wheelcache index writes the catalog anew", "%s", ignored.msg);
		ignored = (struct err)ERR_INIT;
		if (config_merges_platforms(c) && catalog_shared(catalog, count_differing, &names, &ignored) >= 0 &&
			names)
			doctor_warn(r, "names",
				"lead jobs to /PLATFORM/simple/ or /VIEW/PLATFORM/simple/ (wheelcache client-config --platform NAME); "
				"[store] default-view = none ends /simple/",
				"%s other bytes on several platforms, and /simple/ shows one of each",
				COUNTED(names, "file name has|file names have"));
	} else if (e.kind == ERR_NOT_FOUND) {
		doctor_warn(r, "catalog", "wheelcache index, or start the server", "there is no catalog %s", path);
	} else {
		doctor_wrong(r, "catalog", "wheelcache index writes it anew; move a damaged one away first", "%s",
			e.msg);
	}
}

static void look_at_list(void *ctx, const struct advisories_source *s)
{
	char loaded[CLOCK_TEXT];
	struct doctor_report *r = ctx;
	clock_write(s->state.loaded, loaded);
	if (s->error && !s->state.loaded)
		doctor_wrong(r, "block-list", "correct it, or [upstream] block: the server does not start without it",
			"%s", s->error);
	else if (s->error)
		doctor_wrong(r, "block-list", "correct it, or get it anew", "%s; the list of %s counts until then",
			s->error, loaded);
	else if (s->state.wrong)
		doctor_warn(r, "block-list", "the health of the server names them", "%s: %s", s->path,
			COUNTED(s->state.wrong,
				"of its records breaks the schema, and blocks all versions of what it names|"
				"of its records break the "
				"schema, and block all versions of what they name"));
	else
		doctor_fine(r, "block-list", "%s can be read", s->path);
}

static void look_at_rule_list(void *ctx, const struct upstreams_list *l)
{
	if (l->error)
		doctor_wrong(ctx, "rule-list",
			"correct it: the server does not start with it, and one that runs has its last lines", "%s",
			l->error);
	else
		doctor_fine(ctx, "rule-list", "%s can be read", l->path);
}

void doctor_state(struct doctor_report *r, const struct config *c, const char *catalog_path,
	struct doctor_writes *writes)
{
	CLEANUP(mem_free) char *folder = xstrdup(catalog_path);
	CLEANUP(mem_free) char *tokens = state_file(c, catalog_path, STATE_FILE_TOKENS);
	CLEANUP(mem_free) char *audit = state_file(c, catalog_path, STATE_FILE_AUDIT);
	cut_file(folder);
	doctor_writes_state(writes, c, catalog_path);
	look_at_catalog(r, c, catalog_path);
	if (access(folder, F_OK) == 0) {
		struct file_system f = file_system_of(folder);
		if (f.is_remote)
			doctor_wrong(r, "catalog", "set [catalog] path to a local disk",
				"%s is on %s, where SQLite's locks and shared memory do not work", folder, f.name);
		look_at_room(r, "state", folder);
	}
	look_at_secret(r, "catalog", catalog_path);
	look_at_secret(r, "tokens", tokens);
	look_at_secret(r, "audit-log", audit);
	struct err e = ERR_INIT;
	if (advisories_check(c, catalog_path, look_at_list, r, &e) < 0)
		doctor_wrong(r, "block-list", "remove some: the server does not start with them", "%s", e.msg);
	upstreams_check_lists(c, look_at_rule_list, r);
}
