// SPDX-License-Identifier: Apache-2.0
// The settings of pip and uv that decide which index they ask, and what is wrong with them. Their files and variables
// are read in their order. Of TOML only lines "key = value" and "[section]" are read, which is how these files are
// written. One thread.
#pragma once

#include "cli/doctor/doctor-report.h"
#include "lib/base/arena.h"

enum client_key {
	CLIENT_INDEX,
	CLIENT_EXTRA, // further indexes, with blanks between
	CLIENT_NO_INDEX,
	CLIENT_FIND_LINKS,
	CLIENT_TRUSTED_HOST,
	CLIENT_CERT,
	CLIENT_OFFLINE,
	CLIENT_STRATEGY,
	CLIENT_KEYS
};

// All zero at first.
struct client_settings {
	struct {
		const char *text; // NULL: not set
		const char *from; // a file or a variable
		int rank;         // a value of a higher rank takes precedence
	} value[CLIENT_KEYS];
	struct arena arena; // of the texts
};

// Sets a value, unless one of a higher rank is there. A second value of the same place is added behind a blank.
void client_settings_take(struct client_settings *s, enum client_key key, int rank, const char *text, const char *from);
// Reads what pip says. A file that is no INI file is a row of the report. The caller releases *out.
void pip_settings_read(struct client_settings *out, struct doctor_report *r);
// Reads what uv says. The caller releases *out.
void uv_settings_read(struct client_settings *out);
void client_settings_release(struct client_settings *s); // for CLEANUP

// What a client with these settings does about the index url. ca_file: given to the doctor; NULL: none.
void doctor_index(struct doctor_report *r, const char *client, const struct client_settings *s, const char *url,
	const char *ca_file);
