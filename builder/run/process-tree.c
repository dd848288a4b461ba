// SPDX-License-Identifier: Apache-2.0
#include "builder/run/process-tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/os/fs.h"

enum { STAT_MOST = 1024 }; // bytes of /proc/PID/stat that are read; the fields used are at its beginning

struct process {
	pid_t pid, parent, group, session;
	bool is_dead; // a zombie
	bool is_below;
};

struct process_list {
	struct process *items;
	size_t count, room;
};

static void free_list(struct process_list *l)
{
	free(l->items);
}

// Reads proc(5) /proc/PID/stat: "pid (name) state ppid pgrp session ...". The name may have any character.
static bool read_process(int proc, const char *pid, struct process *out)
{
	char path[64], text[STAT_MOST];
	snprintf(path, sizeof(path), "%.20s/stat", pid);
	CLEANUP(mem_close) int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	const char *behind_name = strrchr(text, ')');
	char status;
	int parent, group, session;
	if (!behind_name || sscanf(behind_name + 1, " %c %d %d %d", &status, &parent, &group, &session) != 4)
		return false;
	*out = (struct process){.pid = (pid_t)strtol(pid, NULL, 10),
		.parent = parent,
		.group = group,
		.session = session,
		.is_dead = status == 'Z' || status == 'X'};
	return true;
}

static void read_processes(struct process_list *l)
{
	CLEANUP(fs_close_dir) DIR *proc = opendir("/proc");
	for (const struct dirent *d; proc && (d = readdir(proc));) {
		if (d->d_name[0] < '1' || d->d_name[0] > '9')
			continue;
		GROW(l->items, l->count, l->room);
		l->count += read_process(dirfd(proc), d->d_name, &l->items[l->count]);
	}
}

static bool is_child_of_marked(const struct process_list *l, const struct process *p, pid_t root)
{
	if (p->parent == root)
		return true;
	for (size_t i = 0; i < l->count; i++)
		if (l->items[i].is_below && l->items[i].pid == p->parent)
			return true;
	return false;
}

static void mark_below(struct process_list *l, pid_t root)
{
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < l->count; i++)
			if (!l->items[i].is_below && is_child_of_marked(l, &l->items[i], root))
				again = l->items[i].is_below = true;
	}
}

unsigned process_tree_signal(pid_t root, pid_t group, int signal)
{
	CLEANUP(free_list) struct process_list l = {NULL, 0, 0};
	unsigned running = 0;
	read_processes(&l);
	mark_below(&l, root);
	if (!l.count)
		kill(-group, signal);
	for (size_t i = 0; i < l.count; i++) {
		const struct process *p = &l.items[i];
		if (!p->is_below || p->is_dead)
			continue;
		running++;
		kill(p->pid, signal);
		if (p->pid == p->group) // the whole group at once: no process of it can fork meanwhile
			kill(-p->group, signal);
	}
	return running;
}

unsigned process_tree_signal_session(pid_t session, int signal)
{
	CLEANUP(free_list) struct process_list l = {NULL, 0, 0};
	unsigned running = 0;
	read_processes(&l);
	for (size_t i = 0; i < l.count; i++)
		if (l.items[i].session == session && !l.items[i].is_dead) {
			kill(l.items[i].pid, signal);
			running++;
		}
	return running;
}
