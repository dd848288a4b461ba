// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/base/suggest.h"
#include "lib/base/str.h"
#include "lib/base/suggest.h"
#include "lib/domain/machine/platform.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/path-probe.h"
#include "lib/state/catalog/catalog-write.h"

static const char only_platform[] = "wheels";

// Takes ownership of root and folder. The array must have room for one more.
static struct platform *append_platform(struct store *s, const char *name, char *root, char *folder)
{
	bool is_root = strcmp(folder, ".") == 0;
	struct platform *p = &s->platform[s->platform_count++];
	*p = (struct platform){
		.name = xstrdup(name),
		.path = is_root ? xstrdup(root) : xasprintf("%s/%s", root, folder),
		.root = root,
		.folder = folder,
		.volume = xstrdup(name),
		.is_retired = xcalloc(1, sizeof(*p->is_retired)),
	};
	return p;
}

// The profile by the name alone.
static int set_profile(struct platform *p, struct err *e)
{
	return profile_init(&p->profile, p->name, &(struct profile_keys){0}, e);
}

// A possible platform: its path before links are followed.
struct wanted {
	char *name;
	char *path;
	struct path_probe *probe; // NULL: not a possible platform
	char *real;               // its real path
	bool is_away;             // it did not answer
};

// Starts all probes before it waits for the first one, so that they share the time limit.
static void probe_folders(struct store *s, struct wanted *wanted, size_t count, unsigned wait_ms)
{
	int64_t begin = clock_ms();
	for (size_t i = 0; i < count; i++)
		if (wanted[i].path)
			wanted[i].probe = path_probe_start(wanted[i].path);
	for (size_t i = 0; i < count; i++)
		if (wanted[i].probe)
			wanted[i].is_away = !path_probe_wait(wanted[i].probe, begin + wait_ms, &wanted[i].real);
	for (size_t i = 0; i < count; i++)
		if (wanted[i].is_away)
			s->waited = clock_ms() - begin;
}

static void forget_wanted(struct wanted *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(wanted[i].name);
		free(wanted[i].path);
		free(wanted[i].real);
	}
	free(wanted);
}

static void set_release(const struct store *s, const struct config_platform *p, struct platform *out)
{
	if (p->write_path && p->write_path[0] == '/')
		out->write_path = xstrdup(p->write_path);
	else if (p->write_path)
		out->write_path = xasprintf("%s/%s", s->path, p->write_path);
	if (p->release)
		out->release = xstrdup(p->release);
	if (p->volume) {
		free(out->volume);
		out->volume = xstrdup(p->volume);
	}
	out->release_delay = p->release_delay;
	out->release_timeout = p->release_timeout;
}

// A configured platform may be anywhere, and its folder may be missing (a volume that is not mounted), which the scan
// reports. Below the store, links may lead to anywhere in the store.
static int add_configured(struct store *s, const struct config_platform *p, const struct wanted *w, struct err *e)
{
	const char *real = w->real ? w->real : w->path;
	struct str below = str_from(real), store = str_from(s->path ? s->path : "");
	bool is_below = store.len && str_starts(below, store) && below.ptr[store.len] == '/';
	struct platform *out = is_below ? append_platform(s, w->name, xstrdup(s->path), xstrdup(real + store.len + 1))
					: append_platform(s, w->name, xstrdup(real), xstrdup("."));
	set_release(s, p, out);
	out->is_away = w->is_away;
	out->is_mutable = p->is_mutable;
	out->is_private = p->is_private;
	out->quota_bytes = p->quota_bytes;
	out->quota_files = p->quota_files;
	out->provides = p->provides ? xstrdup(p->provides) : NULL;
	return config_profile(p, &out->profile, e);
}

static int want_configured(const struct store *s, const struct config_platform *p, struct wanted *out, struct err *e)
{
	const char *path = p->path ? p->path : p->name;
	if (path[0] != '/' && !s->path)
		return err_set(e, ERR_USAGE, "platform %s: no store is given, and it has no absolute path", p->name);
	if (p->write_path && p->write_path[0] != '/' && !s->path)
		return err_set(e, ERR_USAGE, "platform %s: no store is given, and its write-path is not absolute",
			p->name);
	out->name = xstrdup(p->name);
	out->path = path[0] == '/' ? xstrdup(path) : xasprintf("%s/%s", s->path, path);
	return 0;
}

static int add_all_configured(struct store *s, const struct config *c, unsigned wait_ms, struct err *e)
{
	struct wanted *wanted = xcalloc(c->platform_count, sizeof(*wanted));
	int result = 0;
	for (size_t i = 0; i < c->platform_count && result == 0; i++)
		result = want_configured(s, &c->platforms[i], &wanted[i], e);
	s->platform = xcalloc(c->platform_count, sizeof(*s->platform));
	if (result == 0)
		probe_folders(s, wanted, c->platform_count, wait_ms);
	for (size_t i = 0; i < c->platform_count && result == 0; i++)
		result = add_configured(s, &c->platforms[i], &wanted[i], e);
	forget_wanted(wanted, c->platform_count);
	return result;
}

// Whether it is a folder, or a link to one in the store.
static bool is_folder(int store_fd, const char *name)
{
	struct err ignored = ERR_INIT;
	CLEANUP(mem_close) int fd = fs_open_beneath(store_fd, name, O_PATH | O_DIRECTORY, &ignored);
	return fd >= 0;
}

static int by_wanted_name(const void *a, const void *b)
{
	const struct platform *left = a, *right = b;
	return strcmp(left->name, right->name);
}

// Lists the top of the store; a possible platform has its path.
static int list_top(const struct store *s, DIR *dir, struct wanted **out, size_t *count, struct err *e)
{
	size_t room = 0;
	for (struct dirent *entry; errno = 0, (entry = readdir(dir)) != NULL;) {
		if (entry->d_name[0] == '.')
			continue;
		GROW(*out, *count, room);
		bool is_slug = platform_is_slug(str_from(entry->d_name));
		(*out)[(*count)++] = (struct wanted){.name = xstrdup(entry->d_name),
			.path = is_slug ? xasprintf("%s/%s", s->path, entry->d_name) : NULL};
	}
	return errno ? err_errno(e, ERR_IO, "%s", s->path) : 0;
}

// A folder that does not answer counts as a platform.
static int add_detected(struct store *s, int store_fd, const struct wanted *wanted, size_t count, struct err *e)
{
	size_t room = 0, stray_room = 0;
	for (size_t i = 0; i < count; i++) {
		const struct wanted *w = &wanted[i];
		if (!w->path || (!w->is_away && !is_folder(store_fd, w->name))) {
			GROW(s->stray, s->stray_count, stray_room);
			s->stray[s->stray_count++] = xstrdup(w->name);
			continue;
		}
		GROW(s->platform, s->platform_count, room);
		struct platform *p = append_platform(s, w->name, xstrdup(s->path), xstrdup(w->name));
		p->is_away = w->is_away;
		if (set_profile(p, e) < 0)
			return -1;
	}
	if (s->platform_count)
		qsort(s->platform, s->platform_count, sizeof(*s->platform), by_wanted_name);
	return 0;
}

// Finds the first-level folders that have a platform's name.
static int detect_platforms(struct store *s, unsigned wait_ms, struct err *e)
{
	int fd = fs_open_dir(s->path, e);
	if (fd < 0)
		return -1;
	CLEANUP(fs_close_dir) DIR *dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return err_errno(e, ERR_IO, "%s", s->path);
	}
	struct wanted *wanted = NULL;
	size_t count = 0;
	int result = list_top(s, dir, &wanted, &count, e);
	if (result == 0) {
		probe_folders(s, wanted, count, wait_ms);
		result = add_detected(s, dirfd(dir), wanted, count, e);
	}
	forget_wanted(wanted, count);
	return result;
}

static void forget_stray(struct store *s)
{
	while (s->stray_count)
		free(s->stray[--s->stray_count]);
	free(s->stray);
	s->stray = NULL;
}

static int find_platforms(struct store *s, const struct config *c, unsigned wait_ms, struct err *e)
{
	if (c->platform_count)
		return add_all_configured(s, c, wait_ms, e);
	s->is_detected = true;
	if (detect_platforms(s, wait_ms, e) < 0)
		return -1;
	if (s->platform_count)
		return 0;
	forget_stray(s); // they belong to the single platform
	s->platform = xcalloc(1, sizeof(*s->platform));
	append_platform(s, only_platform, xstrdup(s->path), xstrdup("."));
	return 0;
}

// Memberships need a folder.
static int check_memberships(const struct config *c, struct err *e)
{
	for (size_t i = 0; i < c->view_count; i++)
		if (c->views[i].from && !c->store && !c->views_path)
			return err_set(e, ERR_USAGE,
				"view %s: from needs [store] views, because no [store] path is set", c->views[i].name);
	return 0;
}

static int refuse_store(struct err *e)
{
	err_prefix(e, "cannot open the store ");
	return e->kind == ERR_NOT_FOUND ? err_advise(e, "mount or make the folder, or correct [store] path or STORE")
					: -1;
}

int store_open(const struct config *c, unsigned wait_ms, struct store *out, struct err *e)
{
	CLEANUP(store_release) struct store s = {0};
	if (!c->store && !c->platform_count && c->upstream_merge) {
		*out = s;
		return 0;
	}
	if (!c->store && !c->platform_count)
		return err_set(e, ERR_USAGE,
			"no store is given: name the folder that holds the wheels, as STORE or as [store] path of --config FILE");
	if (c->store) {
		s.path = fs_real_path(c->store, e);
		CLEANUP(mem_close) int fd = s.path ? fs_open_dir(s.path, e) : -1;
		if (fd < 0)
			return refuse_store(e);
	}
	if (check_memberships(c, e) < 0 || find_platforms(&s, c, wait_ms, e) < 0)
		return -1;
	*out = s;
	s = (struct store){0};
	return 0;
}

void store_release(struct store *s)
{
	for (size_t i = 0; i < s->platform_count; i++) {
		free(s->platform[i].name);
		free(s->platform[i].path);
		free(s->platform[i].root);
		free(s->platform[i].folder);
		free(s->platform[i].write_path);
		free(s->platform[i].release);
		free(s->platform[i].volume);
		free(s->platform[i].provides);
		free(s->platform[i].is_retired);
		profile_release(&s->platform[i].profile);
	}
	forget_stray(s);
	free(s->platform);
	free(s->path);
	*s = (struct store){0};
}

static int recall_platform(void *ctx, const struct catalog_platform *p, struct err *e)
{
	struct store *s = ctx;
	if (!p->files || !platform_is_slug(str_from(p->name)) || store_platform_named(s, str_from(p->name)))
		return 0;
	s->platform = xreallocarray(s->platform, s->platform_count + 1, sizeof(*s->platform));
	return set_profile(append_platform(s, p->name, xstrdup(s->path), xstrdup(p->name)), e);
}

int store_recall(struct store *s, struct catalog *c, struct err *e)
{
	if (!s->is_detected)
		return 0;
	if (catalog_platforms(c, recall_platform, s, e) < 0)
		return -1;
	qsort(s->platform, s->platform_count, sizeof(*s->platform), by_wanted_name);
	return 0;
}

// Whether it is the single platform "wheels" beside recalled platforms: the store itself, which has no files of its
// own.
static bool is_stand_in(const struct store *s, const struct platform *p)
{
	return s->is_detected && s->platform_count > 1 && strcmp(p->name, only_platform) == 0;
}

int store_register(struct store *s, struct catalog *c, struct err *e)
{
	if (s->path && catalog_claim(c, s->path, e) < 0)
		return -1;
	for (size_t i = 0; i < s->platform_count; i++)
		if (catalog_platform_add(c, s->platform[i].name, &s->platform[i].id, e) < 0 ||
			catalog_platform_scanned(c, s->platform[i].id, &s->platform[i].scanned, e) < 0)
			return -1;
	for (size_t i = 0; i < s->platform_count; i++)
		if (is_stand_in(s, &s->platform[i]))
			s->platform[i].scanned = CATALOG_SCANNED;
	return 0;
}

int store_find(struct store *s, struct catalog *c, struct err *e)
{
	if (s->path && catalog_is_of(c, s->path, e) < 0)
		return -1;
	for (size_t i = 0; i < s->platform_count; i++) {
		struct err missing = ERR_INIT;
		struct platform *p = &s->platform[i];
		if (catalog_platform_find(c, p->name, &p->id, &missing) == 0)
			continue;
		if (missing.kind != ERR_NOT_FOUND) {
			*e = missing;
			return -1;
		}
		p->id = 0;
	}
	return 0;
}

const struct platform *store_platform(const struct store *s, int64_t id)
{
	for (size_t i = 0; i < s->platform_count; i++)
		if (s->platform[i].id == id)
			return &s->platform[i];
	return NULL;
}

bool store_is_wanted(const char *const *glob, size_t globs, const char *platform)
{
	for (size_t i = 0; i < globs; i++)
		if (fnmatch(glob[i], platform, 0) == 0)
			return true;
	return globs == 0;
}

const struct platform *store_platform_named(const struct store *s, struct str name)
{
	for (size_t i = 0; i < s->platform_count; i++)
		if (str_eq(str_from(s->platform[i].name), name))
			return &s->platform[i];
	return NULL;
}

int store_refuse_platform(const struct store *s, const char *name, enum err_kind kind, struct err *e)
{
	CLEANUP(name_choice_release) struct name_choice names;
	name_choice_init(&names, str_from(name));
	for (size_t i = 0; i < s->platform_count; i++)
		name_choice_offer(&names, s->platform[i].name);
	return name_choice_refuse(&names, kind, "the store has no platform", e);
}

enum {
	AS_FILE = O_RDONLY | O_NONBLOCK | O_NOCTTY,
	AS_FOLDER = O_RDONLY | O_DIRECTORY,
};

static int open_below(const char *root_path, const char *folder, const char *path, int flags, struct err *e)
{
	CLEANUP(mem_close) int root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s", root_path);
	if (!*path)
		return fs_open_beneath(root, folder, flags, e);
	bool is_root = strcmp(folder, ".") == 0;
	CLEANUP(mem_free) char *below = is_root ? NULL : xasprintf("%s/%s", folder, path);
	return fs_open_beneath(root, below ? below : path, flags, e);
}

int store_open_file(const struct platform *p, const char *path, struct err *e)
{
	return open_below(p->root, p->folder, path, AS_FILE, e);
}

int store_open_folder(const struct platform *p, const char *path, struct err *e)
{
	return open_below(p->root, p->folder, path, AS_FOLDER, e);
}

bool store_is_split(const struct platform *p)
{
	return p->write_path != NULL;
}

static int open_writable(const struct platform *p, const char *path, int flags, struct err *e)
{
	if (!store_is_split(p))
		return open_below(p->root, p->folder, path, flags, e);
	return open_below(p->write_path, ".", path, flags, e);
}

int store_open_writable_file(const struct platform *p, const char *path, struct err *e)
{
	return open_writable(p, path, AS_FILE, e);
}

int store_open_writable_folder(const struct platform *p, const char *path, struct err *e)
{
	return open_writable(p, path, AS_FOLDER, e);
}
