// SPDX-License-Identifier: Apache-2.0
// A difference between store and catalog that a worker found. A worker makes it, the thread that runs the walk frees
// it.
#pragma once

#include "indexer/walk/folder.h"
#include "lib/state/store/attachment-file.h"
#include "lib/state/store/ingest.h"
#include "lib/state/store/sidecar.h"
#include "lib/state/store/packed-facts.h"

enum scan_event_kind {
	SCAN_EVENT_FILE,       // facts: of a new or changed file
	SCAN_EVENT_FILE_GONE,  // id, written: of its row
	SCAN_EVENT_MARK,       // filename, mark and text; text NULL: the mark is gone
	SCAN_EVENT_ATTACHMENT, // filename, attachment, attached; attached NULL: it is gone
	SCAN_EVENT_FOLDER_NEW, // precedes the events of its entries, and its parent's SCAN_EVENT_FOLDER
	SCAN_EVENT_FOLDER,     // the folder was listed, and all of its files are done
	SCAN_EVENT_FOLDER_GONE,
	SCAN_EVENT_PROBLEM, // text: something could not be read; its rows stay
	SCAN_EVENT_WAITING, // text: a file is still being written
	SCAN_EVENT_LINK,    // filename is a link that is not followed; text: why
};

struct scan_event {
	enum scan_event_kind kind;
	struct folder *folder; // a reference
	int64_t id;            // of the file's row; 0: it has none
	int64_t written; // version of the row of the file, mark or attachment that was read: a newer row is left alone
	bool trusted;    // the next change of the file changes its mtime too
	struct ingest_facts *facts;
	struct packed_facts *inside; // of a wheel; NULL: not taken
	char *text;
	char *filename;
	enum mark mark;
	enum attachment attachment;
	struct attachment_facts *attached;
	bool is_known;     // the attachment has a row, with the size and mtime of the file; text: its hash
	bool hides_folder; // the problem concerns the whole folder, not one file
};

// Any thread. Takes a reference to folder. The other fields are zero; the event owns the pointers that are set.
struct scan_event *scan_event_new(enum scan_event_kind kind, struct folder *folder);
void scan_event_cleanup(struct scan_event **event); // for CLEANUP
