// SPDX-License-Identifier: Apache-2.0
// For cmocka: a store with two platforms and two views, of which the second takes its files from the first, and a
// catalog that has wheels, memberships and evidence as a test says. The files themselves are not there. One thread.
#pragma once

#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/view/view.h"

// Python 3.11 and 3.12 of Debian, 3.12 of Ubuntu.
#define CHANNEL_DEBIAN "debian-12-x86_64"
#define CHANNEL_UBUNTU "ubuntu-24.04-x86_64"

struct channel_store {
	char folder[40];
	struct catalog *catalog;
	struct site site; // views "staging" and "tested"; channel_store_open() fills it
	int64_t platform[2], root[2];
	int64_t evidence;          // number of records
	size_t padding;            // bytes of the reason in the files of generations
	uint8_t last[SHA256_SIZE]; // the id of the last one
};

// *state becomes the struct channel_store, which lasts until the tear-down. The site is empty.
int channel_store_set_up(void **state);
int channel_store_tear_down(void **state);

// Adds a listed wheel of its name's project and version; came: seconds since 1970. Its SHA-256 is that of its name.
void channel_store_wheel(struct channel_store *s, const char *platform, const char *filename, int64_t came);
// Adds a record about the wheel of this name. r: id, order, received and wheels are set here.
void channel_store_evidence(struct channel_store *s, const char *filename, const struct catalog_evidence *r);
// Makes the next generation of "tested", on the last record of evidence: adds the wheel ("promote"), or removes it.
void channel_store_change(struct channel_store *s, const char *action, const char *platform, const char *filename,
	int64_t made);
// Reads the site anew. tested: the keys of [view tested] beside `from`, a line each.
void channel_store_open(struct channel_store *s, const char *tested);
