// SPDX-License-Identifier: Apache-2.0
// What a kind of place provides. Each function is that of place.h without its prefix. The structs are the beginning of
// the kind's own.
#pragma once

#include "lib/place/place.h"

struct place_ops {
	void (*free)(struct place *p);
	bool (*answers)(const struct place *p, const char *below, int64_t until_ms, struct err *why);
	int (*make)(const struct place *p, struct err *e);                    // NULL: nothing is to be made
	int (*room)(const struct place *p, uint64_t *bytes, struct err *e);   // NULL: it has no end
	// NULL: there are no locks
	int (*lock)(const struct place *p, bool is_shared, unsigned wait_ms, struct place_lock **out, struct err *e);
	void (*unlock)(struct place_lock *lock);

	struct place_folder *(*open_folder)(const struct place *p, const char *path, struct err *e);
	struct place_folder *(*enter)(struct place_folder *f, const char *name, struct err *e);
	int (*make_folder)(struct place_folder *f, const char *name, struct err *e); // NULL: as make
	int (*remove_folder)(struct place_folder *f, const char *name, struct err *e);
	void (*folder_close)(struct place_folder *f);
	int (*folder_info)(struct place_folder *f, struct place_info *out, struct err *e);
	int (*list)(struct place_folder *f, place_list_fn *fn, void *ctx, struct err *e);
	int (*stat)(struct place_folder *f, const char *name, struct place_info *out, struct err *e);
	// NULL: there are no links
	int (*follow)(struct place_folder *f, const char *name, struct place_info *out, struct err *e);
	void (*link_text)(struct place_folder *f, const char *name, struct buf *out); // NULL: the same
	int (*remove)(struct place_folder *f, const char *name, const struct place_version *expected, struct err *e);
	int (*sync)(struct place_folder *f, struct err *e);      // NULL: what has its name is durable
	bool (*sweep)(struct place_folder *f, const char *name); // NULL: nothing is left over
	enum place_watched (*watch)(struct place_folder *f, struct folder_watch *w, const char *as, const char **silent);

	struct place_file *(*open)(const struct place *p, const char *path, struct err *e);
	struct place_file *(*open_in)(struct place_folder *f, const char *name, struct err *e);
	void (*file_close)(struct place_file *f);
	int (*file_info)(struct place_file *f, struct place_info *out, struct err *e);
	struct byte_source (*file_source)(struct place_file *f, uint64_t size);
	void (*file_read_ahead)(struct place_file *f); // NULL: it would be no faster
	int (*file_read_at)(struct place_file *f, uint64_t offset, void *out, size_t len, size_t *got, struct err *e);
	struct blob *(*file_blob)(struct place_file *f, uint64_t size, struct err *e);
	int (*file_sync)(struct place_file *f, struct err *e); // NULL: as sync

	struct place_write *(*write_begin)(struct place_folder *f, const char *name, struct err *e);
	int (*write_add)(struct place_write *w, struct str bytes, struct err *e);
	int (*write_sync)(struct place_write *w, struct err *e); // NULL: as sync
	int (*write_time)(struct place_write *w, int64_t time_ns, struct err *e); // NULL: it keeps none
	struct place_file *(*write_file)(struct place_write *w);
	int (*put_new)(struct place_write *w, struct err *e);
	int (*replace)(struct place_write *w, const struct place_version *expected, struct err *e);
	void (*write_abandon)(struct place_write *w); // NULL: nothing is left over
	void (*write_free)(struct place_write *w);
};

// Whether what has the name (NULL: nothing) is what a step expects.
bool place_is_expected(const struct place_info *now, const struct place_version *expected);

struct place {
	const struct place_ops *ops;
	char *path; // owned by the kind
};
struct place_folder {
	const struct place *place;
	struct place *owned; // place_end_with(); else NULL
};
struct place_file {
	const struct place_ops *ops;
};
struct place_write {
	const struct place_ops *ops;
};
struct place_lock {
	const struct place_ops *ops;
};
