// SPDX-License-Identifier: Apache-2.0
// Runs a command that the operator configured, without a shell.
// Blanks separate its words, and there are no quotes. "%" and a letter is replaced by the caller's value for that
// letter; "%%" is a per cent sign. Any thread.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct hook_value {
	char letter;
	const char *text; // borrowed
};

// True if the command has a word, and every "%" is followed by one of these letters or "%".
bool hook_is_valid(const char *command, const char *letters);
// Whether the command has "%" and this letter.
bool hook_uses(const char *command, char letter);
// The words of the command with the values in place, NULL at the end. A value is one word or a part of one, whatever is
// in it. hook_free_words frees them.
char **hook_words(const char *command, const struct hook_value *values, size_t count);
void hook_free_words(char ***words); // for CLEANUP; NULL is fine
// Runs the command and waits for its end. It runs in a process group of its own with /dev/null as standard input. Its
// environment is that of this process with the variables ("NAME=value", NULL at the end); NULL: without any.
// ERR_IO if it cannot be started, if it exits with another code than 0, or if it still runs when clock_ms() reaches
// *end_ms; then the group gets SIGTERM, and SIGKILL two seconds later. Another thread may change *end_ms meanwhile. The
// message has the end of the command's output.
int hook_run(const char *command, const struct hook_value *values, size_t count, const char *const *variables,
	const _Atomic int64_t *end_ms, struct err *e) MUST_CHECK;
// The same for a command whose standard output the caller wants, in out; it is in no message, and what is too long for
// out fails it. Its standard error is ours.
int hook_read(const char *command, const _Atomic int64_t *end_ms, struct buf *out, struct err *e) MUST_CHECK;

// --- on-change ---

// Runs the commands of on-change: they learn that something has changed. One thread runs them, one after the other;
// what adds a command never waits. Any thread may add.
//
// The facts are in the environment of a command, since they are text from outside. Changes of one project that wait for
// the same command join: it runs once, in the place of the first, with the facts of the last, and WHEELCACHE_CHANGES
// has a line for each. So no project delays others by more than one command.
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

// section: of the key on-change, such as "[build]", for the log; borrowed. Starts no thread before the first command.
// The caller frees it.
struct hook_queue *hook_queue_new(const char *section);
// Ends the thread. What waits is run, but all of it for at most this many seconds; what is dropped then is logged. NULL
// is fine.
void hook_queue_free(struct hook_queue *h, unsigned seconds);
// Runs the command. One that fails is logged. The job is copied.
void hook_queue_add(struct hook_queue *h, const struct hook_job *job);
