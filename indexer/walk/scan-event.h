// SPDX-License-Identifier: Apache-2.0
// What the walk found and the catalog does not know yet.
#pragma once

#include "indexer/walk/folder.h"
#include "lib/state/store/ingest.h"
#include "lib/state/store/sidecar.h"

enum scan_event_kind {
	SCAN_EVENT_FILE,       // facts of a new or changed file
	SCAN_EVENT_FILE_GONE,  // id, written
	SCAN_EVENT_MARK,       // filename, mark and its text; NULL: it has gone
	SCAN_EVENT_FOLDER_NEW, // told before anything in it, and before its parent's SCAN_EVENT_FOLDER
	SCAN_EVENT_FOLDER,     // it and all of its files are done
	SCAN_EVENT_FOLDER_GONE,
	SCAN_EVENT_PROBLEM, // text: something could not be looked at, and stays as it was
	SCAN_EVENT_WAITING, // text: a file is still being written
};

struct scan_event {
	enum scan_event_kind kind;
	struct folder *folder; // a reference
	int64_t id;            // the known file; 0: a new one
	int64_t written;       // of it or the mark, as it is known, so that what others wrote meanwhile stays
	bool trusted;          // the file's mtime is old enough to tell of the next change
	struct ingest_facts *facts;
	char *text;
	char *filename;
	enum mark mark;
	bool is_blind; // the problem hides the whole folder, not only a file in it
};

// Takes a reference to folder.
struct scan_event *scan_event_new(enum scan_event_kind kind, struct folder *folder);
void scan_event_cleanup(struct scan_event **o); // for CLEANUP
