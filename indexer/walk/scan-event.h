// SPDX-License-Identifier: Apache-2.0
// What the walk found and the catalog does not know yet.
#pragma once

#include "indexer/walk/folder.h"
#include "lib/state/store/ingest.h"
#include "lib/state/store/sidecar.h"

enum outcome_kind {
	OUTCOME_FILE,       // facts of a new or changed file
	OUTCOME_FILE_GONE,  // id, written
	OUTCOME_MARK,       // filename, mark and its text; NULL: it has gone
	OUTCOME_FOLDER_NEW, // told before anything in it, and before its parent's OUTCOME_FOLDER
	OUTCOME_FOLDER,     // it and all of its files are done
	OUTCOME_FOLDER_GONE,
	OUTCOME_PROBLEM, // text: something could not be looked at, and stays as it was
	OUTCOME_WAITING, // text: a file is still being written
};

struct outcome {
	enum outcome_kind kind;
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
struct outcome *outcome_new(enum outcome_kind kind, struct folder *folder);
void outcome_cleanup(struct outcome **o); // for CLEANUP
