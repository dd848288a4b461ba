// SPDX-License-Identifier: Apache-2.0
// Runs the commands of on-change: they learn that something has changed. One thread runs them, one after the other; what
// adds a command never waits. Any thread may add.
//
// The facts are in the environment of a command, since they are text from outside. Changes of one project that wait for the
// same command join: it runs once, in the place of the first, with the facts of the last, and WHEELCACHE_CHANGES has a line
// for each. So no project delays others by more than one command.
#pragma once

#include "lib/os/hook.h"

enum {
	HOOK_QUEUE_MOST = 256,   // commands that wait; further ones are dropped, which is logged
	HOOK_QUEUE_SECONDS = 30, // that one command may take
	HOOK_QUEUE_JOINED = 100, // lines of WHEELCACHE_CHANGES; of further changes it has the number
};

struct hook_job {
	const char *command;            // of hook_run(); NULL: nothing happens
	const char *about;              // what has changed, for the log
	const char *project;            // in normal form, or what else its changes join by
	const char *change;             // a line for WHEELCACHE_CHANGES, without a line end
	const struct hook_value *value; // of the command
	size_t values;
	const char *const (*variable)[2]; // name, without "WHEELCACHE_", and value; NULL: empty
	size_t variables;
};

struct hook_queue;

// section: of the key on-change, such as "[build]", for the log; borrowed. Starts no thread before the first command. The
// caller frees it.
struct hook_queue *hook_queue_new(const char *section);
// Ends the thread. What waits is run, but all of it for at most this many seconds; what is dropped then is logged. NULL is
// fine.
void hook_queue_free(struct hook_queue *h, unsigned seconds);
// Runs the command. One that fails is logged. The job is copied.
void hook_queue_add(struct hook_queue *h, const struct hook_job *job);
