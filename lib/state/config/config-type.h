// SPDX-License-Identifier: Apache-2.0
// What a key's value may be: its text becomes a field. Pure; thread-safe.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct setting {
	const char *wants; // for errors: "... is not <wants>"
	// Writes what the text means into the field; false where it means nothing, then the field
	// is as it was or a plain value. A string that the field held is freed.
	bool (*set)(void *field, const char *value);
	bool is_owned; // the field is a char *, the holder's to free
	bool is_list;  // what is set adds to the field: a value that goes on in indented lines
	bool is_secret; // a value may hold a password: errors do not show it
	uint64_t most; // the field is a uint64_t of at most this; 0: it is none
};

extern const struct setting setting_string;
extern const struct setting setting_path;
extern const struct setting setting_level;
extern const struct setting setting_integer;
extern const struct setting setting_threads;
extern const struct setting setting_size;    // bytes
extern const struct setting setting_quota;   // bytes, of a whole volume
extern const struct setting setting_count;   // files
extern const struct setting setting_seconds; // seconds
extern const struct setting setting_percent;
extern const struct setting setting_bool;
extern const struct setting setting_covered; // a bool: "refuse", not "accept"
extern const struct setting setting_redirect; // what is redirected to upstream (lib/state/config/config.h)
// What a platform's machines are (lib/domain/machine/profile.h); the text stays as it is.
extern const struct setting setting_pythons;
extern const struct setting setting_arch;
extern const struct setting setting_libc;
// A command that releases a platform (lib/state/store/release.h).
extern const struct setting setting_release;
// Paths, indexes, and hosts, with blanks between: one text, to which each line adds.
extern const struct setting setting_paths;
extern const struct setting setting_url; // one, as url_base() has it
extern const struct setting setting_urls;
extern const struct setting setting_hosts;
extern const struct setting setting_projects;
extern const struct setting setting_files; // proxy, redirect
extern const struct setting setting_merge; // merge, no
extern const struct setting setting_wheels; // all, fitting
extern const struct setting setting_root;  // local, all
extern const struct setting setting_indexes; // first, together
