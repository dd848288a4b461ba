// SPDX-License-Identifier: Apache-2.0
#include "lib/place/folder-watch.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/mem.h"
#include "lib/base/name-tree.h"
#include "lib/place/place.h"

enum {
	READ_SIZE = 64 << 10, // bytes of events that are handled at once
	PATH_MOST = 64 << 10,
};

#define CAME (IN_CREATE | IN_MOVED_TO)
#define LEFT (IN_DELETE | IN_MOVED_FROM)
#define ITSELF (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)
#define WANTED (IN_CLOSE_WRITE | CAME | LEFT | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)

struct folder_watch {
	int fd;
	size_t most;
	pthread_mutex_t lock; // of what follows
	struct name_tree tree;
	uint32_t round;
	size_t refused, refused_before; // in this round; in the one before
	uint64_t overflows;
	struct buf path; // of the event's folder
};

struct folder_watch *folder_watch_new(size_t most, struct err *e)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (fd < 0) {
		err_errno(e, ERR_IO, "inotify");
		return NULL;
	}
	struct folder_watch *w = xcalloc(1, sizeof(*w));
	w->fd = fd;
	w->most = most;
	pthread_mutex_init(&w->lock, NULL);
	buf_init(&w->path, PATH_MOST);
	return w;
}

void folder_watch_free(struct folder_watch *w)
{
	if (!w)
		return;
	close(w->fd);
	name_tree_release(&w->tree);
	pthread_mutex_destroy(&w->lock);
	buf_release(&w->path);
	free(w);
}

int folder_watch_fd(const struct folder_watch *w)
{
	return w->fd;
}

// Ends the kernel's watch with the last node that has it.
static void end_watch(struct folder_watch *w, struct name_node *n)
{
	int number = n->number;
	name_tree_number(&w->tree, n, NAME_NODE_NONE);
	if (number != NAME_NODE_NONE && !name_tree_numbered(&w->tree, number))
		inotify_rm_watch(w->fd, number); // fails where the kernel has ended it
}

// With all that is below it. The callers bound the depth of paths.
static void forget_node(struct folder_watch *w, struct name_node *n)
{
	while (n->child)
		forget_node(w, n->child);
	end_watch(w, n);
	name_tree_remove(&w->tree, n);
}

// The node of the path, visited in this round with all above it. NULL: there would be too many.
static struct name_node *visit_node(struct folder_watch *w, const char *path)
{
	struct name_node *n = NULL;
	struct str rest = str_from(path);
	while (rest.len) {
		struct str name = str_cut(&rest, '/');
		if (w->tree.nodes >= w->most && !name_tree_child(&w->tree, n, name))
			return NULL;
		n = name_tree_add(&w->tree, n, name);
		n->round = w->round;
	}
	return n;
}

static enum folder_watched watch_folder(struct folder_watch *w, struct name_node *n, int fd)
{
	char self[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	int number = inotify_add_watch(w->fd, self, WANTED);
	int why = errno;
	if (number != n->number)
		end_watch(w, n);
	if (number < 0)
		return why == ENOSPC || why == ENOMEM ? FOLDER_WATCH_IS_FULL : FOLDER_WATCH_FAILED;
	name_tree_number(&w->tree, n, number);
	return FOLDER_IS_WATCHED;
}

// The lock is held while the kernel adds the watch, so that its first event finds the node.
enum folder_watched folder_watch_add(struct folder_watch *w, const char *path, int fd)
{
	pthread_mutex_lock(&w->lock);
	struct name_node *n = visit_node(w, path);
	enum folder_watched result = n ? watch_folder(w, n, fd) : FOLDER_WATCH_IS_FULL;
	w->refused += result == FOLDER_WATCH_IS_FULL;
	pthread_mutex_unlock(&w->lock);
	return result;
}

bool folder_watch_has(struct folder_watch *w, const char *path)
{
	pthread_mutex_lock(&w->lock);
	const struct name_node *n = NULL;
	struct str rest = str_from(path);
	do
		n = name_tree_child(&w->tree, n, str_cut(&rest, '/'));
	while (n && rest.len);
	bool has = n && n->number != NAME_NODE_NONE;
	pthread_mutex_unlock(&w->lock);
	return has;
}

void folder_watch_begin_round(struct folder_watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->round++;
	w->refused_before = w->refused;
	w->refused = 0;
	pthread_mutex_unlock(&w->lock);
}

static void forget_unvisited(struct folder_watch *w, struct name_node *first)
{
	for (struct name_node *n = first, *next; n; n = next) {
		next = n->next;
		if (n->round == w->round)
			forget_unvisited(w, n->child);
		else
			forget_node(w, n);
	}
}

void folder_watch_end_round(struct folder_watch *w)
{
	pthread_mutex_lock(&w->lock);
	forget_unvisited(w, w->tree.top);
	w->refused_before = w->refused;
	pthread_mutex_unlock(&w->lock);
}

struct told {
	folder_event_fn *fn;
	void *ctx;
};

static void tell(struct folder_watch *w, const struct told *to, const struct name_node *n, enum folder_event_kind kind,
	const char *name)
{
	buf_clear(&w->path);
	if (n)
		name_tree_path(n, &w->path);
	const struct folder_event event = {kind, n ? w->path.data : "", name};
	to->fn(to->ctx, &event);
}

// A name in a folder. A link to a folder is none for the kernel, and has a node where it was visited as one.
static void tell_name(struct folder_watch *w, const struct told *to, const struct name_node *n, uint32_t mask,
	const char *name)
{
	bool was_folder = mask & LEFT && name_tree_child(&w->tree, n, str_from(name));
	if (was_folder || (mask & IN_ISDIR))
		tell(w, to, n, FOLDER_EVENT_FOLDER, name);
	else
		tell(w, to, n, mask & IN_CREATE ? FOLDER_EVENT_MADE : FOLDER_EVENT_CHANGED, name);
}

// A child of this name of any folder with the number.
static struct name_node *find_child(const struct folder_watch *w, int number, const char *name)
{
	struct name_node *child = NULL;
	for (const struct name_node *n = name_tree_numbered(&w->tree, number); n && !child; n = name_tree_again(n))
		child = name_tree_child(&w->tree, n, str_from(name));
	return child;
}

// Nodes are forgotten after all have been told: one may be below another.
static void handle_watch_event(struct folder_watch *w, const struct told *to, const struct inotify_event *ev)
{
	if (ev->mask & IN_Q_OVERFLOW) {
		w->overflows++;
		tell(w, to, NULL, FOLDER_EVENT_OVERFLOW, "");
		return;
	}
	for (const struct name_node *n = name_tree_numbered(&w->tree, ev->wd); n; n = name_tree_again(n)) {
		if (ev->mask & ITSELF)
			tell(w, to, n, FOLDER_EVENT_LOST, "");
		else if (ev->len && !place_hides(ev->name))
			tell_name(w, to, n, ev->mask, ev->name);
	}
	for (struct name_node *n; ev->mask & LEFT && ev->len && (n = find_child(w, ev->wd, ev->name)) != NULL;)
		forget_node(w, n);
	if (ev->mask & IN_IGNORED) {
		// The kernel has ended the watch, or its folder is at another place.
		int number = ev->wd;
		for (struct name_node *n; (n = name_tree_numbered(&w->tree, number)) != NULL;)
			name_tree_number(&w->tree, n, NAME_NODE_NONE);
	}
}

bool folder_watch_read(struct folder_watch *w, folder_event_fn *fn, void *ctx)
{
	const struct told to = {fn, ctx};
	CLEANUP(mem_free) char *events = xmalloc(READ_SIZE); // aligned for any type
	pthread_mutex_lock(&w->lock);
	ssize_t len = read(w->fd, events, READ_SIZE);
	for (const char *at = events; len > 0 && at < events + len;) {
		const struct inotify_event *ev = (const void *)at;
		handle_watch_event(w, &to, ev);
		at += sizeof(*ev) + ev->len;
	}
	pthread_mutex_unlock(&w->lock);
	return len > 0;
}

void folder_watch_count(struct folder_watch *w, struct folder_watch_counts *out)
{
	pthread_mutex_lock(&w->lock);
	size_t refused = w->refused > w->refused_before ? w->refused : w->refused_before;
	*out = (struct folder_watch_counts){w->tree.numbered, refused, w->overflows};
	pthread_mutex_unlock(&w->lock);
}

// --- silent file systems ---

// The numbers are of linux/magic.h, of statfs(2), and of the file systems that the kernel does not come with.
static const struct silent_type {
	unsigned long type;
	const char *name;
	bool shares_locks; // of files, between machines, as far as it is known
} silent_types[] = {
	{0x00001397, "AFS", false}, // OpenAFS
	{0x5346414f, "AFS", true}, // OpenAFS
	{0x6b414653, "AFS", true}, // the kernel's own
	{0x00006969, "NFS", true},
	{0x0000517b, "SMB", false},
	{0xfe534d42, "SMB", true},
	{0xff534d42, "SMB", true},
	{0x01021997, "9p", true},
	{0x65735546, "FUSE", true},
	{0x00c36400, "Ceph", true},
	{0x0bd00bd0, "Lustre", false},
	{0x47504653, "GPFS", false},
	{0x01161970, "GFS2", false},
	{0x7461636f, "OCFS2", true},
	{0x19830326, "BeeGFS", false},
	{0x20030528, "OrangeFS", false},
	{0x73757245, "Coda", false},
	{0x786f4256, "vboxsf", false},
	{0xbacbacbc, "vmhgfs", false},
};

static const struct silent_type *find_type(unsigned long type)
{
	for (size_t i = 0; i < ARRAY_SIZE(silent_types); i++)
		if (silent_types[i].type == (type & 0xffffffff))
			return &silent_types[i];
	return NULL;
}

static const struct silent_type *find_type_of(int fd)
{
	struct statfs st;
	return fstatfs(fd, &st) == 0 ? find_type((unsigned long)st.f_type) : NULL;
}

const char *silent_fs_of_type(unsigned long type)
{
	const struct silent_type *found = find_type(type);
	return found ? found->name : NULL;
}

const char *silent_fs_name(int fd)
{
	const struct silent_type *found = find_type_of(fd);
	return found ? found->name : NULL;
}

bool silent_fs_shares_locks(int fd)
{
	const struct silent_type *found = find_type_of(fd);
	return found && found->shares_locks;
}
