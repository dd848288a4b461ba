// SPDX-License-Identifier: Apache-2.0
#include "indexer/watch/store-watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/place/folder-watch.h"
#include "lib/state/store/attachment-file.h"
#include "lib/state/store/sidecar.h"
#include "lib/state/views/views-file.h"
#include "lib/state/views/views-sync.h"

enum {
	QUIET_MS = 100,        // without a further change: then what has changed is due,
	LONGEST_MS = 500,      // and after this time in any case
	REST_MS = 5,           // between two looks at the events: meanwhile the kernel joins equal ones
	SAY_AGAIN_MS = 600000, // between two log lines of the same fallback
};

// Names that no platform can have.
static const char top_name[] = ".top", views_name[] = ".views";

struct silent_platform {
	char *name;
	const char *fs; // NULL: it was silent once
};

struct store_watch {
	struct folder_watch *folders;
	void (*on_change)(void *ctx);
	void *ctx;
	pthread_t thread;
	int stop;             // eventfd
	pthread_mutex_t lock; // of what follows; taken before that of folders
	struct store_changes changes;
	bool has_views;
	bool is_noted;             // one of the events that are being read
	int64_t first_ms, last_ms; // of what has changed; 0: nothing has
	uint64_t floods;
	int64_t said_ms; // of the last log line about a fallback; 0: there was none
	bool said_refused;
	char *views; // the folder of memberships; NULL: none
	struct silent_platform *silent;
	size_t silent_count, silent_room;
};

// --- events ---

// Whether a scan looks at a file of this name.
static bool is_of_interest(const char *name)
{
	struct str of;
	enum mark mark;
	enum attachment kind;
	struct str s = str_from(name);
	return filename_kind(s) != FILENAME_OTHER || sidecar_is(s, &of, &mark) || attachment_is(s, &of, &kind);
}

static void say_fallback(struct store_watch *w, const char *why)
{
	int64_t now = clock_ms();
	if (w->said_ms && now - w->said_ms < SAY_AGAIN_MS)
		return;
	w->said_ms = now;
	log_warn("watch: %s: the whole store is scanned", why);
}

static void note_whole(struct store_watch *w)
{
	store_changes_add_whole(&w->changes);
	w->is_noted = true;
}

static void note_name(struct store_watch *w, const char *folder, const char *name, bool may_be_folder)
{
	bool was_whole = w->changes.is_whole;
	store_changes_add(&w->changes, folder, name, may_be_folder);
	w->is_noted = true;
	if (was_whole || !w->changes.is_whole)
		return;
	w->floods++;
	say_fallback(w, "too many folders have changed");
}

// A folder is gone, or is another one: its parent's name for it has changed.
static void note_lost_folder(struct store_watch *w, const char *folder)
{
	const char *slash = strrchr(folder, '/');
	if (!slash) {
		note_whole(w);
		return;
	}
	CLEANUP(mem_free) char *parent = xstrndup(folder, (size_t)(slash - folder));
	note_name(w, parent, slash + 1, true);
}

static bool is_at_or_below(const char *folder, const char *top)
{
	size_t len = strlen(top);
	return strncmp(folder, top, len) == 0 && (!folder[len] || folder[len] == '/');
}

// A name that is made may be that of a link to a folder.
static void note_event(void *ctx, const struct folder_event *ev)
{
	struct store_watch *w = ctx;
	if (ev->kind == FOLDER_EVENT_OVERFLOW) {
		note_whole(w);
		say_fallback(w, "the kernel has dropped events (see fs.inotify.max_queued_events)");
	} else if (is_at_or_below(ev->folder, views_name)) {
		w->has_views = w->is_noted = true;
	} else if (is_at_or_below(ev->folder, top_name)) {
		if (!*ev->name || platform_is_slug(str_from(ev->name)))
			note_whole(w);
	} else if (ev->kind == FOLDER_EVENT_LOST) {
		note_lost_folder(w, ev->folder);
	} else if (ev->kind != FOLDER_EVENT_CHANGED || is_of_interest(ev->name)) {
		note_name(w, ev->folder, ev->name, ev->kind == FOLDER_EVENT_FOLDER);
	}
}

static bool read_events(struct store_watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->is_noted = false;
	while (folder_watch_read(w->folders, note_event, w))
		;
	bool is_noted = w->is_noted;
	if (is_noted) {
		w->last_ms = clock_ms();
		w->first_ms = w->first_ms ? w->first_ms : w->last_ms;
	}
	pthread_mutex_unlock(&w->lock);
	return is_noted;
}

static void *run_store_watch(void *ctx)
{
	struct store_watch *w = ctx;
	struct pollfd wait[] = {
		{.fd = folder_watch_fd(w->folders), .events = POLLIN}, {.fd = w->stop, .events = POLLIN}};
	while (!wait[1].revents) {
		if (poll(wait, ARRAY_SIZE(wait), -1) < 0 && errno != EINTR)
			return NULL;
		if (wait[0].revents && read_events(w))
			w->on_change(w->ctx);
		nanosleep(&(struct timespec){.tv_nsec = REST_MS * 1000000L}, NULL);
	}
	return NULL;
}

struct store_watch *store_watch_new(void (*on_change)(void *ctx), void *ctx, struct err *e)
{
	struct folder_watch *folders = folder_watch_new(LIMIT_WATCHED_FOLDERS, e);
	if (!folders)
		return NULL;
	struct store_watch *w = xcalloc(1, sizeof(*w));
	w->folders = folders;
	w->on_change = on_change;
	w->ctx = ctx;
	w->stop = eventfd(0, EFD_CLOEXEC);
	pthread_mutex_init(&w->lock, NULL);
	if (w->stop < 0 || pthread_create(&w->thread, NULL, run_store_watch, w) != 0)
		abort();
	return w;
}

void store_watch_free(struct store_watch *w)
{
	if (!w)
		return;
	eventfd_write(w->stop, 1);
	pthread_join(w->thread, NULL);
	folder_watch_free(w->folders);
	store_changes_release(&w->changes);
	for (size_t i = 0; i < w->silent_count; i++)
		free(w->silent[i].name);
	free(w->silent);
	pthread_mutex_destroy(&w->lock);
	close(w->stop);
	free(w->views);
	free(w);
}

// --- folders ---

// Under the lock. NULL: it was never silent.
static struct silent_platform *find_silent(struct store_watch *w, const char *platform)
{
	for (size_t i = 0; i < w->silent_count; i++)
		if (strcmp(w->silent[i].name, platform) == 0)
			return &w->silent[i];
	return NULL;
}

// Under the lock. A platform is named once in the log.
static void note_silent(struct store_watch *w, const char *platform, const char *fs)
{
	struct silent_platform *known = find_silent(w, platform);
	if (known) {
		known->fs = fs;
		return;
	}
	GROW(w->silent, w->silent_count, w->silent_room);
	w->silent[w->silent_count++] = (struct silent_platform){xstrdup(platform), fs};
	log_info("watch: %s is on %s, which does not tell of changes: they are seen at the next scan", platform, fs);
}

void store_watch_folder(void *ctx, const struct folder *folder, struct place_folder *open)
{
	struct store_watch *w = ctx;
	const char *fs, *platform = folder->platform->name;
	CLEANUP(mem_free) char *path = *folder->path ? xasprintf("%s/%s", platform, folder->path) : xstrdup(platform);
	if (place_watch(open, w->folders, path, &fs) != PLACE_IS_SILENT)
		return;
	pthread_mutex_lock(&w->lock);
	note_silent(w, platform, fs);
	pthread_mutex_unlock(&w->lock);
}

static void watch_top(struct store_watch *w, const struct store *store)
{
	struct err ignored = ERR_INIT;
	const char *silent;
	CLEANUP(place_folder_close)
	struct place_folder *top = store->is_detected ? place_open_folder(store->top, "", &ignored) : NULL;
	if (top)
		place_watch(top, w->folders, top_name, &silent);
}

static void watch_view(struct store_watch *w, const char *folder, const char *view)
{
	struct err ignored = ERR_INIT;
	const char *silent;
	CLEANUP(place_folder_close) struct place_folder *open = record_folder(folder, view, false, &ignored);
	CLEANUP(mem_free) char *path = *view ? xasprintf("%s/%s", views_name, view) : xstrdup(views_name);
	if (open)
		place_watch(open, w->folders, path, &silent);
}

// The folder itself first: a view that comes afterwards is told.
static void watch_views(struct store_watch *w, const char *folder)
{
	struct err ignored = ERR_INIT;
	CLEANUP(strset_release) struct strset views = {0};
	watch_view(w, folder, "");
	if (views_find_folders(folder, false, &views, &ignored) < 0)
		return;
	for (size_t i = 0; i < views.count; i++)
		watch_view(w, folder, views.item[i]);
}

void store_watch_begin(struct store_watch *w, const struct store *store, const char *views)
{
	folder_watch_begin_round(w->folders);
	pthread_mutex_lock(&w->lock);
	free(w->views);
	w->views = views ? xstrdup(views) : NULL;
	for (size_t i = 0; i < w->silent_count; i++)
		w->silent[i].fs = NULL;
	pthread_mutex_unlock(&w->lock);
	if (!store)
		folder_watch_end_round(w->folders);
	else
		watch_top(w, store);
	if (store && views)
		watch_views(w, views);
}

void store_watch_end(struct store_watch *w)
{
	folder_watch_end_round(w->folders);
	pthread_mutex_lock(&w->lock);
	// Under the lock.
	struct folder_watch_counts n;
	folder_watch_count(w->folders, &n);
	bool is_new = n.refused && !w->said_refused;
	w->said_refused = n.refused != 0;
	if (is_new)
		log_warn("watch: %zu of %s watched: changes of the others are seen at the next scan; set "
			 "fs.inotify.max_user_watches to %zu or more",
			n.watched, COUNTED(n.watched + n.refused, "folder is|folders are"), n.watched + n.refused);
	pthread_mutex_unlock(&w->lock);
}

// --- what has changed ---

int64_t store_watch_due(struct store_watch *w)
{
	int64_t left = STORE_WATCH_NOTHING;
	pthread_mutex_lock(&w->lock);
	if (w->first_ms) {
		int64_t quiet = w->last_ms + QUIET_MS, latest = w->first_ms + LONGEST_MS;
		left = (quiet < latest ? quiet : latest) - clock_ms();
		left = left < 0 ? 0 : left;
	}
	pthread_mutex_unlock(&w->lock);
	return left;
}

void store_watch_take(struct store_watch *w, struct store_watch_taken *out)
{
	pthread_mutex_lock(&w->lock);
	*out = (struct store_watch_taken){w->changes, w->has_views, w->first_ms};
	w->changes = (struct store_changes){0};
	w->has_views = false;
	w->first_ms = w->last_ms = 0;
	CLEANUP(mem_free) char *views = out->has_views && w->views ? xstrdup(w->views) : NULL;
	pthread_mutex_unlock(&w->lock);
	if (views)
		watch_views(w, views);
}

void store_watch_count(struct store_watch *w, struct store_watch_counts *out)
{
	struct folder_watch_counts n;
	folder_watch_count(w->folders, &n);
	pthread_mutex_lock(&w->lock);
	*out = (struct store_watch_counts){n.watched, n.refused, n.overflows, w->floods};
	pthread_mutex_unlock(&w->lock);
}

bool store_watch_has(struct store_watch *w, const char *platform, const char **silent)
{
	pthread_mutex_lock(&w->lock);
	const struct silent_platform *found = find_silent(w, platform);
	*silent = found ? found->fs : NULL;
	pthread_mutex_unlock(&w->lock);
	return folder_watch_has(w->folders, platform);
}
