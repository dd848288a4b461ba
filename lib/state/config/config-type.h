// SPDX-License-Identifier: Apache-2.0
// What a key's value may be: its text becomes a field. Pure; thread-safe.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct config_type {
	const char *wants; // for errors: "... is not <wants>"
	// Writes what the text means into the field; false where it means nothing, then the field
	// is as it was or a plain value. A string that the field held is freed.
	bool (*set)(void *field, const char *value);
	bool is_owned;  // the field is a char *, the holder's to free
	bool is_list;   // what is set adds to the field: a value that goes on in indented lines
	bool is_secret; // a value may hold a password: errors do not show it
	uint64_t most;  // the field is a uint64_t of at most this; 0: it is none
};

extern const struct config_type config_type_string;
extern const struct config_type config_type_path;
extern const struct config_type config_type_level;
extern const struct config_type config_type_integer;
extern const struct config_type config_type_threads;
extern const struct config_type config_type_size;    // bytes
extern const struct config_type config_type_quota;   // bytes, of a whole volume
extern const struct config_type config_type_count;   // files
extern const struct config_type config_type_seconds; // seconds
extern const struct config_type config_type_percent;
extern const struct config_type config_type_bool;
extern const struct config_type config_type_covered;  // a bool: "refuse", not "accept"
extern const struct config_type config_type_redirect; // what is redirected to upstream (lib/state/config/config.h)
// What a platform's machines are (lib/domain/machine/profile.h); the text stays as it is.
extern const struct config_type config_type_pythons;
extern const struct config_type config_type_arch;
extern const struct config_type config_type_libc;
// A command that releases a platform (lib/state/store/release.h).
extern const struct config_type config_type_release;
// Paths, indexes, and hosts, with blanks between: one text, to which each line adds.
extern const struct config_type config_type_paths;
extern const struct config_type config_type_url; // one, as url_base() has it
extern const struct config_type config_type_urls;
extern const struct config_type config_type_hosts;
extern const struct config_type config_type_projects;
extern const struct config_type config_type_files;   // proxy, redirect
extern const struct config_type config_type_merge;   // merge, no
extern const struct config_type config_type_wheels;  // all, fitting
extern const struct config_type config_type_root;    // local, all
extern const struct config_type config_type_indexes; // first, together
