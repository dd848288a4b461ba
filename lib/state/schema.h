// SPDX-License-Identifier: Apache-2.0
// The catalog's SQL, but for what opening asks of SQLite itself: the schema as numbered steps, and
// every statement. Text only; catalog.c runs it.
#pragma once

enum { SCHEMA_APPLICATION_ID = 0x77636174 }; // "wcat", PRAGMA application_id

// Step i brings a catalog from PRAGMA user_version i to i + 1. A step that was released never
// changes.
extern const char *const schema_step[];
extern const int schema_steps;

// Run in each new connection.
extern const char schema_connection[];

enum statement {
	LARGE_CACHE,
	BEGIN_READ,
	BEGIN_WRITE,
	NEXT_CHANGE,
	COMMIT_WRITE,
	ROLLBACK_WRITE,
	DATA_VERSION,
	STORE_GET,
	STORE_SET,
	SCANNED_GET,
	SCANNED_SET,
	PLATFORM_FIND,
	PLATFORM_ADD,
	PLATFORM_LIST,
	PLATFORM_TOTALS,
	PLATFORM_UNLISTED,
	PLATFORM_CLEAR,
	PLATFORM_FILES,
	FOLDER_FIND,
	FOLDER_ADD,
	FOLDER_SET,
	FOLDER_REMOVE,
	FOLDER_CHILDREN,
	PROJECT_FIND,
	PROJECT_FOLDER,
	PROJECT_ADD,
	PROJECT_LIST,
	PROJECT_FILES,
	PROJECT_CHANGES,
	METADATA_GET,
	METADATA_ADD,
	FILE_PLACE,
	FILE_LISTED,
	FILE_HEIR,
	FILE_GET,
	FILE_FIND,
	FILE_COPIES,
	FILE_ADD,
	FILE_SET,
	FILE_TOUCH,
	FILE_YANK,
	FILE_STATE,
	FILE_REMOVE,
	FOLDER_FILES,
	FILES_GOOD,
	FILE_SUM,
	FILE_AT,
	FILES_UNLISTED,
	FOLDER_MARKS,
	MARKS_OF,
	MARK_GET,
	MARK_SET,
	MARK_REMOVE,
	TOMBSTONE_FIND,
	TOMBSTONE_TEXT,
	MARKS_OF_KIND,
	HELD_FILES,
	REFUSED_FILES,
	HOLDERS,
	STORE_CHANGE,
	UPSTREAM_ROWS,
	UPSTREAM_SET,
	UPSTREAM_SET_PAGE,
	UPSTREAM_CHANGES,
	FILES_SHARED,
	STATEMENT_COUNT,
};

extern const char *const statement_sql[STATEMENT_COUNT];
