// SPDX-License-Identifier: Apache-2.0
// The types of values: each converts a value's text into a field. Pure; any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

struct config_type {
	const char *wants; // for errors: "... is not <wants>"
	// Writes the value into the field. False: the text is invalid; then the field keeps its value or has another
	// valid one. Frees a string that the field held.
	bool (*set)(void *field, const char *value);
	bool is_owned;  // the field is a char *, which the holder frees
	bool is_list;   // each call adds to the field: the value may continue on indented lines
	bool is_secret; // a value may have a password: errors do not show it
	uint64_t most;  // the field is a uint64_t, at most this; 0: it is not a number
};

extern const struct config_type config_type_string;
extern const struct config_type config_type_path;
extern const struct config_type config_type_place;       // lib/place/place-address.h
extern const struct config_type config_type_credentials; // a command of lib/os/hook.h, without letters
extern const struct config_type config_type_level;
extern const struct config_type config_type_integer;
extern const struct config_type config_type_threads;
extern const struct config_type config_type_size;    // bytes
extern const struct config_type config_type_log;     // bytes, at most LIMIT_RESULT_LOG
extern const struct config_type config_type_quota;   // bytes, of a whole volume
extern const struct config_type config_type_count;   // files
extern const struct config_type config_type_seconds; // seconds
extern const struct config_type config_type_days;    // seconds; a number without a unit is one of days
extern const struct config_type config_type_percent;
extern const struct config_type config_type_bool;
extern const struct config_type config_type_covered;  // a bool: "refuse" is true, "accept" false
extern const struct config_type config_type_watch;    // yes, no, auto
extern const struct config_type config_type_recording; // no, who
extern const struct config_type config_type_audit;    // refuse, warn, off
extern const struct config_type config_type_redirect; // identical, superseded, no
// The profile of a platform's machines (lib/domain/machine/profile.h); the field is the text.
extern const struct config_type config_type_pythons;
extern const struct config_type config_type_arch;
extern const struct config_type config_type_libc;
// A command that releases a platform (lib/state/store/volume-release.h).
extern const struct config_type config_type_release;
extern const struct config_type config_type_change; // a command of lib/os/hook-queue.h
// Commands of the builder (builder/step): one that has a wheel; one that makes it; one that stands before others;
// several, one a line, which the field separates with "\n".
extern const struct config_type config_type_command;
extern const struct config_type config_type_build;
extern const struct config_type config_type_wrap;
extern const struct config_type config_type_commands;
// Lists of paths, indexes, hosts, projects, …: one string with blanks between, to which each line adds.
extern const struct config_type config_type_paths;
extern const struct config_type config_type_url;   // one, as url_base() returns it
extern const struct config_type config_type_index; // one, with "/" at its end or without; it may hold a password
extern const struct config_type config_type_urls;
extern const struct config_type config_type_hosts;
extern const struct config_type config_type_networks; // address_read_network() reads each word
extern const struct config_type config_type_projects;
extern const struct config_type config_type_platforms; // names and globs
extern const struct config_type config_type_clients;   // yes, no, or names and globs of views
extern const struct config_type config_type_rules;     // words for promotion_rules_read()
extern const struct config_type config_type_variables; // names of environment variables
extern const struct config_type config_type_times;     // config_times_next() reads the field
extern const struct config_type config_type_keep;      // "90d 50"; config_keep_read() reads the field
extern const struct config_type config_type_date;      // "2027-03-31"
extern const struct config_type config_type_note;      // at most LIMIT_NOTE bytes
extern const struct config_type config_type_files;     // proxy, redirect
extern const struct config_type config_type_merge;     // merge, no, or names of upstreams
extern const struct config_type config_type_wheels;    // all, fitting
extern const struct config_type config_type_severity;  // low, medium, high, critical
extern const struct config_type config_type_root;      // local, all
extern const struct config_type config_type_indexes;   // first, together
extern const struct config_type config_type_unknown;   // first-seen, hide, allow

// Cuts the first of a list of times off *rest, a slice of a whole string. False: there is none.
bool config_times_next(struct str *rest, uint64_t *seconds);
// Reads an age and a number of attempts.
bool config_keep_read(const char *text, uint64_t *seconds, uint64_t *number);

// --- since when ---
// "Since when", as a person says it: a time, a day, or a duration that ends now. Any thread.

// Seconds since 1970. ERR_USAGE: it is none of these.
int since_read(const char *text, int64_t *out, struct err *e) MUST_CHECK;
