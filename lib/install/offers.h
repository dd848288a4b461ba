// SPDX-License-Identifier: Apache-2.0
// The wheels and sdists of one project, parsed once: the listed ones of several platforms of ours, and upstream's. In
// the order of their versions, the newest first. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/domain/text/version.h"
#include "lib/install/fits.h"

struct catalog_file;
struct simplepage;
struct simplepage_file;

struct offer {
	const char *filename;
	int64_t platform; // of ours; 0: it is upstream's
	struct version version;
	bool is_wheel; // false: an sdist
	bool is_pure;  // a wheel for any platform and ABI
	bool is_yanked;
	bool is_unpromoted;    // a wheel of ours that the view does not show
	unsigned build;        // the number of a wheel's build tag; 0: it has none
	unsigned tags, python; // numbers of struct fits
	const uint8_t *sha256; // NULL: upstream gives none
	int64_t size;          // bytes; -1: unknown
	const char *url;       // of upstream's; NULL: ours
};

// Offers of equal versions: offer[first] up to offer[end - 1].
struct offers_release {
	size_t first, end;
};

struct offers {
	const char *project; // borrowed
	struct fits *fits;   // borrowed
	struct offer *offer;
	size_t count, room;
	bool is_sorted;
	struct offers_memo *memo; // of offers_admitted()
	size_t memos, memo_room;
	struct arena text;
};

void offers_init(struct offers *o, const char *project, struct fits *fits);
void offers_release(struct offers *o);
// Add files. What is no wheel or sdist of the project by its name, as pip reads it, is ignored, and so is a file of
// upstream with a field that was too long. A page is borrowed and must outlive the offers; a file is copied.
void offers_add_page(struct offers *o, const struct simplepage *page);
// is_promoted: false: a view is asked about that does not show the file.
void offers_add_ours(struct offers *o, int64_t platform, const struct catalog_file *file, bool is_promoted);
// The releases whose versions the specifier set admits, the newest first. Nothing may be added afterwards. The array
// lives as long as the offers.
const struct offers_release *offers_admitted(struct offers *o, const char *specifier, size_t *count);
// Files may be added again. What offers_admitted() returned is no longer valid.
void offers_reopen(struct offers *o);
