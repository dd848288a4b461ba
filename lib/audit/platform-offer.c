// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/platform-offer.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/base/search.h"
#include "lib/base/strset.h"
#include "lib/domain/elf/elf-facts.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

struct platform_offer {
	struct offer_table table;
};

// --- opening ---

static int open_root(const char *path, struct offer_table *t, struct err *e)
{
	CLEANUP(mem_close) int root = fs_open_dir(path, e);
	if (root < 0)
		return -1;
	return offer_root_read(root, LIMIT_OFFER_SECONDS, t, e) < 0 ? err_prefix(e, "%s: ", path) : 0;
}

static int open_list(const char *path, struct offer_table *t, struct err *e)
{
	CLEANUP(buf_release) struct buf list = buf_up_to(LIMIT_OFFER_LIST);
	if (fs_read_regular(path, &list, e) < 0)
		return -1;
	return offer_list_parse(buf_view(&list), t, e) < 0 ? err_prefix(e, "%s: ", path) : 0;
}

// Every machine has one. A folder that is not the root of a machine, or of which a part is not mounted, would make
// wheels look broken that are not.
static bool has_libc(const struct offer_table *t)
{
	static const char *const heads[] = {"libc.so.", "ld-musl-"};
	for (size_t i = 0; i < t->names; i++)
		for (size_t k = 0; k < ARRAY_SIZE(heads); k++)
			if (str_starts(str_from(t->name[i].name), str_from(heads[k])))
				return true;
	return false;
}

int platform_offer_open(const char *path, struct platform_offer **out, struct err *e)
{
	struct stat st;
	CLEANUP(platform_offer_cleanup) struct platform_offer *o = xcalloc(1, sizeof(*o));
	bool is_root = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if ((is_root ? open_root(path, &o->table, e) : open_list(path, &o->table, e)) < 0)
		return -1;
	offer_table_finish(&o->table);
	if (!has_libc(&o->table))
		return err_set(e, ERR_INVALID, "%s: it has no C library, as the root of every machine has", path);
	*out = STEAL_PTR(o);
	return 0;
}

void platform_offer_free(struct platform_offer *o)
{
	if (o)
		offer_table_release(&o->table);
	free(o);
}

void platform_offer_cleanup(struct platform_offer **o)
{
	platform_offer_free(*o);
	*o = NULL;
}

int platform_offer_print(const struct platform_offer *o, struct buf *out, struct err *e)
{
	return offer_list_print(&o->table, out, e);
}

// --- searching ---

struct name_key {
	struct str name;
	const char *arch;
};

static bool is_offer_name_before(const void *element, const void *key)
{
	const struct offer_name *n = element;
	const struct name_key *k = key;
	int order = str_cmp(str_from(n->name), k->name);
	return order < 0 || (order == 0 && strcmp(n->arch, k->arch) < 0);
}

static const struct offer_library *find_offered(const struct offer_table *t, const char *arch, struct str name)
{
	const struct name_key key = {name, arch};
	size_t at = lower_bound(&key, t->name, t->names, sizeof(*t->name), is_offer_name_before);
	bool is_found =
		at < t->names && str_eq(name, str_from(t->name[at].name)) && strcmp(arch, t->name[at].arch) == 0;
	return is_found ? &t->library[t->name[at].library] : NULL;
}

size_t platform_offer_count(const struct platform_offer *o)
{
	return o->table.libraries;
}

size_t platform_offer_number(const struct platform_offer *o, const struct offer_library *l)
{
	return (size_t)(l - o->table.library);
}

static bool is_arch_before(const void *element, const void *key)
{
	return strcmp(((const struct offer_library *)element)->arch, key) < 0;
}

bool platform_offer_has_arch(const struct platform_offer *o, const char *arch)
{
	const struct offer_table *t = &o->table;
	size_t at = lower_bound(arch, t->library, t->libraries, sizeof(*t->library), is_arch_before);
	return at < t->libraries && strcmp(t->library[at].arch, arch) == 0;
}

// What musl's loader does not look for: "lib", one of these, and a dot.
static bool is_reserved_by_musl(struct str name)
{
	static const char *const parts[] = {"c.", "pthread.", "rt.", "m.", "dl.", "util.", "xnet."};
	for (size_t i = 0; str_starts(name, STR("lib")) && i < ARRAY_SIZE(parts); i++)
		if (str_starts(str_slice(name, 3, name.len), str_from(parts[i])))
			return true;
	return false;
}

static const struct offer_library *find_musl(const struct offer_table *t, const char *arch)
{
	for (size_t i = 0; i < t->names; i++)
		if (strncmp(t->name[i].name, "ld-musl-", 8) == 0 && strcmp(t->name[i].arch, arch) == 0)
			return &t->library[t->name[i].library];
	return NULL;
}

const struct offer_library *platform_offer_find(const struct platform_offer *o, const char *arch, struct str soname)
{
	const struct offer_library *l = find_offered(&o->table, arch, soname);
	l = l ? l : find_offered(&o->table, OFFER_ANY_ARCH, soname);
	return l || !is_reserved_by_musl(soname) ? l : find_musl(&o->table, arch);
}

bool platform_offer_has(const struct platform_offer *o, const char *arch, struct str soname)
{
	return platform_offer_find(o, arch, soname) != NULL;
}

bool offer_library_has_version(const struct offer_library *l, const char *version)
{
	size_t at = lower_bound(version, l->version.item, l->version.count, sizeof(*l->version.item), is_string_before);
	return !l->version.count || (at < l->version.count && strcmp(l->version.item[at], version) == 0);
}

static bool is_symbol_before(const void *element, const void *key)
{
	return strcmp(((const struct offer_symbol *)element)->name, key) < 0;
}

bool offer_library_has_symbol(const struct offer_library *l, const char *symbol, const char *version)
{
	size_t at = lower_bound(symbol, l->symbol, l->symbols, sizeof(*l->symbol), is_symbol_before);
	for (; at < l->symbols && strcmp(l->symbol[at].name, symbol) == 0; at++)
		if (!version || !l->version.count ||
			(l->symbol[at].version && strcmp(l->symbol[at].version, version) == 0))
			return true;
	return false;
}

// --- successors ---

// "libre2" of "libre2.so.9".
static struct str cut_so(struct str name)
{
	for (size_t i = 0; i + 3 <= name.len; i++)
		if (memcmp(name.ptr + i, ".so", 3) == 0)
			return str_slice(name, 0, i);
	return name;
}

// "libldap" of "libldap-2.5", "libpython" of "libpython3.11"; but all of "libre2", whose number is of the name.
static struct str cut_release(struct str name)
{
	size_t at = name.len, dots = 0;
	while (at > 0 && (ascii_is_digit(name.ptr[at - 1]) || name.ptr[at - 1] == '.'))
		dots += name.ptr[--at] == '.';
	if (at == name.len || at == 0)
		return name;
	if (name.ptr[at - 1] == '-')
		return str_slice(name, 0, at - 1);
	return dots ? str_slice(name, 0, at) : name;
}

// 2: the names differ only behind ".so"; 1: also in a version before it; 0: it is another library.
static int likeness(struct str one, struct str other)
{
	one = cut_so(one);
	other = cut_so(other);
	if (str_eq(one, other))
		return 2;
	return str_eq(cut_release(one), cut_release(other)) ? 1 : 0;
}

const char *platform_offer_successor(const struct platform_offer *o, const char *arch, struct str soname)
{
	const char *best = NULL;
	int best_likeness = 0;
	for (size_t i = 0; i < o->table.libraries; i++) {
		const struct offer_library *l = &o->table.library[i];
		struct str name = str_from(l->soname);
		if (strcmp(l->arch, arch) != 0 || str_eq(name, soname))
			continue;
		int found = likeness(name, soname);
		if (found > best_likeness || (found && found == best_likeness && strverscmp(l->soname, best) > 0)) {
			best = l->soname;
			best_likeness = found;
		}
	}
	return best;
}

// --- the folders of a root ---
//
// The folders of a root in which the loader looks for libraries (ld.so(8), ldconfig(8)), in its order. Any thread.

struct offer_folders {
	const char **path; // in the root
	size_t count, room;
	struct arena *text; // owns all
};

struct folders_search {
	int root;
	struct offer_folders *out;
	unsigned files;    // configuration files that were read
	unsigned includes; // patterns in them, each of which reads a folder
};

static bool is_listed(const struct offer_folders *f, const char *path)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->path[i], path) == 0)
			return true;
	return false;
}

// Without "/" at both ends, so that one folder has one spelling.
static int add_folder(struct folders_search *s, struct str path, struct err *e)
{
	while (path.len && path.ptr[0] == '/')
		path = str_slice(path, 1, path.len);
	while (path.len && path.ptr[path.len - 1] == '/')
		path.len--;
	const char *text = arena_copy(s->out->text, path);
	if (!path.len || is_listed(s->out, text))
		return 0;
	if (s->out->count >= LIMIT_OFFER_FOLDERS)
		return err_set(e, ERR_LIMIT, "more than %d folders of libraries", LIMIT_OFFER_FOLDERS);
	ARENA_GROW(s->out->text, s->out->path, s->out->count, s->out->room);
	s->out->path[s->out->count++] = text;
	return 0;
}

// The names in a folder that match, sorted. A folder that is missing has none.
static int list_matches(int root, const char *folder, const char *pattern, struct strset *out, struct err *e)
{
	struct err why = ERR_INIT;
	int fd = fs_open_in_root(root, folder, O_RDONLY | O_DIRECTORY, &why);
	if (fd < 0 && why.kind == ERR_IO) {
		*e = why;
		return -1;
	}
	CLEANUP(fs_close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || fnmatch(pattern, entry->d_name, 0) != 0)
			continue;
		strset_add(out, entry->d_name);
		if (out->count > LIMIT_OFFER_FOLDERS)
			return err_set(e, ERR_LIMIT, "%s: more than %d names match %s", folder, LIMIT_OFFER_FOLDERS,
				pattern);
	}
	strset_sort(out);
	return 0;
}

static int read_conf(struct folders_search *s, const char *path, struct err *e);

// "include PATTERN", relative to the folder of the file. Only the last part of the path may be a pattern.
static int include_files(struct folders_search *s, const char *path, struct str pattern, struct err *e)
{
	CLEANUP(strset_release) struct strset names = {0};
	long end = str_rfind(str_from(path), '/'), slash = str_rfind(pattern, '/');
	struct str beside = pattern.ptr[0] == '/' ? STR("") : str_slice(str_from(path), 0, end < 0 ? 0 : (size_t)end);
	struct str below = str_slice(pattern, 0, slash < 0 ? 0 : (size_t)slash);
	CLEANUP(mem_free) char *folder = xasprintf(STR_FMT "/" STR_FMT, STR_ARG(beside), STR_ARG(below));
	CLEANUP(mem_free) char *last = xstrndup(pattern.ptr + slash + 1, pattern.len - (size_t)(slash + 1));
	if (++s->includes > LIMIT_OFFER_FOLDERS)
		return err_set(e, ERR_LIMIT, "%s: more than %d patterns are included", path, LIMIT_OFFER_FOLDERS);
	if (list_matches(s->root, folder, last, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		CLEANUP(mem_free) char *file = xasprintf("%s/%s", folder, names.item[i]);
		if (read_conf(s, file, e) < 0)
			return -1;
	}
	return 0;
}

static bool separates_folders(char c)
{
	return c == ' ' || c == '\t' || c == ',' || c == ':' || c == '\r';
}

static struct str cut_word(struct str *rest)
{
	size_t from = 0, to;
	while (from < rest->len && separates_folders(rest->ptr[from]))
		from++;
	for (to = from; to < rest->len && !separates_folders(rest->ptr[to]);)
		to++;
	struct str word = str_slice(*rest, from, to);
	*rest = str_slice(*rest, to, rest->len);
	return word;
}

static int take_conf_line(struct folders_search *s, const char *path, struct str line, struct err *e)
{
	struct str rest = str_cut(&line, '#'), word = cut_word(&rest);
	if (str_eq(word, STR("hwcap")))
		return 0;
	bool is_include = str_eq(word, STR("include"));
	for (word = is_include ? cut_word(&rest) : word; word.len; word = cut_word(&rest)) {
		long type = str_find(word, '='); // "/usr/lib=libc6", of old systems
		if (!is_include && type >= 0)
			word.len = (size_t)type;
		if ((is_include ? include_files(s, path, word, e) : add_folder(s, word, e)) < 0)
			return -1;
	}
	return 0;
}

static int read_conf(struct folders_search *s, const char *path, struct err *e)
{
	struct stat st;
	struct err why = ERR_INIT;
	CLEANUP(mem_close) int fd = fs_open_in_root(s->root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &why);
	if (fd < 0 && why.kind == ERR_NOT_FOUND)
		return 0;
	if (fd < 0)
		return err_set(e, why.kind, "%s", why.msg);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (++s->files > LIMIT_OFFER_FOLDERS) // also where a file includes itself
		return err_set(e, ERR_LIMIT, "%s: more than %d files are included", path, LIMIT_OFFER_FOLDERS);
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_CONFIG);
	if (fs_read_fd(fd, path, &text, e) < 0)
		return -1;
	struct str rest = buf_view(&text);
	while (rest.len)
		if (take_conf_line(s, path, str_cut(&rest, '\n'), e) < 0)
			return -1;
	return 0;
}

// Folders of an architecture: Debian's triplets, which its ld.so.conf names as well.
static int add_triplets(struct folders_search *s, const char *folder, struct err *e)
{
	CLEANUP(strset_release) struct strset names = {0};
	if (list_matches(s->root, folder, "*-linux-*", &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder, names.item[i]);
		if (add_folder(s, str_from(path), e) < 0)
			return -1;
	}
	return 0;
}

static int add_musl(struct folders_search *s, struct err *e)
{
	CLEANUP(strset_release) struct strset loaders = {0};
	if (list_matches(s->root, "lib", "ld-musl-*.so.1", &loaders, e) < 0)
		return -1;
	return loaders.count ? add_folder(s, STR("usr/local/lib"), e) : 0;
}

// --- the files of a root ---

// A name in a folder that may be a library's. Several names may be one file.
struct root_file {
	const char *path; // in the root
	size_t name;
	size_t rank; // of the folder
	dev_t device;
	ino_t inode;
	off_t size;
};

struct root_reading {
	int root;
	struct offer_table *table;
	struct root_file *file;
	size_t files, room;
	struct arena *text; // owns the files
	size_t entries;     // of all folders
	int seconds;        // that it may take
	int64_t end_ms;
	struct buf *bytes; // of one library
};

// "libssl.so", "libssl.so.3": what the loader is asked for.
static bool is_library_name(const char *name)
{
	const char *at = name;
	while ((at = strstr(at, ".so")) != NULL) {
		at += 3;
		if (!*at || *at == '.')
			return true;
	}
	return false;
}

static int check_time(const struct root_reading *r, struct err *e)
{
	return clock_ms() < r->end_ms
		       ? 0
		       : err_set(e, ERR_TIME, "reading the libraries takes more than %d seconds", r->seconds);
}

// --- finding files ---

// What cannot be opened, such as a link that leads nowhere, is no library.
static int take_entry(struct root_reading *r, const char *folder, size_t rank, const char *name, struct err *e)
{
	struct stat st;
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder, name);
	CLEANUP(mem_close) int fd = fs_open_in_root(r->root, path, O_PATH, &ignored);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (r->files >= LIMIT_OFFER_LIBRARIES)
		return err_set(e, ERR_LIMIT, "more than %d names of libraries", LIMIT_OFFER_LIBRARIES);
	ARENA_GROW(r->text, r->file, r->files, r->room);
	r->file[r->files++] = (struct root_file){.path = arena_strdup(r->text, path),
		.name = strlen(folder) + 1,
		.rank = rank,
		.device = st.st_dev,
		.inode = st.st_ino,
		.size = st.st_size};
	return 0;
}

static int take_folder(struct root_reading *r, const char *folder, size_t rank, struct err *e)
{
	struct err why = ERR_INIT;
	int fd = fs_open_in_root(r->root, folder, O_RDONLY | O_DIRECTORY, &why);
	if (fd < 0 && why.kind != ERR_NOT_FOUND)
		return err_set(e, why.kind, "%s", why.msg);
	CLEANUP(fs_close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	while (dir && (entry = readdir(dir)) != NULL) {
		if (++r->entries > LIMIT_OFFER_ENTRIES)
			return err_set(e, ERR_LIMIT, "the folders of libraries have more than %d names",
				LIMIT_OFFER_ENTRIES);
		if ((r->entries % 1024 == 0 && check_time(r, e) < 0) ||
			(is_library_name(entry->d_name) && take_entry(r, folder, rank, entry->d_name, e) < 0))
			return -1;
	}
	return 0;
}

static int compare_inodes(const void *a, const void *b)
{
	const struct root_file *one = a, *other = b;
	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	if (one->inode != other->inode)
		return one->inode < other->inode ? -1 : 1;
	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	return strcmp(one->path, other->path);
}

// --- reading a library ---

// False: it cannot be read.
static int read_bytes(struct root_reading *r, const struct root_file *file, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = fs_open_in_root(r->root, file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || st.st_dev != file->device || st.st_ino != file->inode)
		return err_set(e, ERR_BUSY, "%s: it was replaced meanwhile", file->path);
	buf_clear(r->bytes);
	return fs_read_fd(fd, file->path, r->bytes, e);
}

// The names of the files, which are one; count of them. The loader also finds a library by its SONAME, for which
// ldconfig makes a link; a file that has this name comes first.
static void add_names(struct root_reading *r, const struct root_file *file, size_t count, const char *soname)
{
	size_t library = r->table->libraries - 1;
	for (size_t i = 0; i < count; i++)
		offer_table_add_name(r->table, library, str_from(file[i].path + file[i].name), 2 * file[i].rank);
	offer_table_add_name(r->table, library, str_from(soname), 2 * file[0].rank + 1);
}

static void add_unreadable(struct root_reading *r, const struct root_file *file, size_t count)
{
	const char *name = file[0].path + file[0].name;
	offer_table_add(r->table, STR(OFFER_ANY_ARCH), str_from(name), str_from(file[0].path))->is_readable = false;
	add_names(r, file, count, name);
}

// A text file with the name of a library is for linkers, and no library.
static int take_file(struct root_reading *r, const struct root_file *file, size_t count, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(elf_facts_release) struct elf_facts facts = {0};
	if (file->size > LIMIT_OFFER_FILE || read_bytes(r, file, &why) < 0) {
		add_unreadable(r, file, count);
		return offer_table_check(r->table, e);
	}
	if (!elf_is_elf(buf_view(r->bytes)))
		return 0;
	if (elf_facts_read(buf_view(r->bytes), &facts, &why) < 0) {
		add_unreadable(r, file, count);
		return offer_table_check(r->table, e);
	}
	const char *arch = elf_arch(&facts), *soname = facts.soname ? facts.soname : file->path + file->name;
	if (!facts.is_shared || !facts.is_dynamic || !arch)
		return 0;
	struct offer_library *l = offer_table_add(r->table, str_from(arch), str_from(soname), str_from(file->path));
	for (size_t i = 0; i < facts.needed.count; i++)
		offer_table_add_text(r->table, &l->needed, str_from(facts.needed.item[i]));
	for (size_t i = 0; i < facts.defined_versions; i++)
		offer_table_add_text(r->table, &l->version, str_from(facts.defined_version[i].name));
	offer_table_sort_versions(l);
	for (size_t i = 0; i < facts.symbols; i++) {
		const struct elf_symbol *s = &facts.symbol[i];
		if (!s->is_imported)
			offer_table_add_symbol(r->table, l, str_from(s->name), str_from(s->version ? s->version : ""));
	}
	add_names(r, file, count, soname);
	return offer_table_check(r->table, e);
}

struct file_group { // the names of one file
	const struct root_file *first;
	size_t count;
};

// In the order of the folders; in one folder the highest version first, which is what ldconfig takes of two files with
// one SONAME.
static int compare_groups(const void *a, const void *b)
{
	const struct root_file *one = ((const struct file_group *)a)->first;
	const struct root_file *other = ((const struct file_group *)b)->first;
	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	return strverscmp(other->path, one->path);
}

int offer_root_read(int root, int seconds, struct offer_table *t, struct err *e)
{
	CLEANUP(arena_release) struct arena text = {0};
	CLEANUP(buf_release) struct buf bytes;
	struct offer_folders folders = {.text = &text};
	struct root_reading r = {.root = root,
		.table = t,
		.text = &text,
		.bytes = &bytes,
		.seconds = seconds,
		.end_ms = clock_ms() + (int64_t)seconds * 1000};
	buf_init(&bytes, LIMIT_OFFER_FILE);
	// Adds the folders of /etc/ld.so.conf, with its includes, and those that are built in. Folders that are missing
	// are listed too. ERR_LIMIT: more than LIMIT_OFFER_FOLDERS, or includes; ERR_IO.
	static const char *const built_in[] = {"lib64", "usr/lib64", "lib", "usr/lib"};
	struct folders_search s = {.root = root, .out = &folders};
	if (read_conf(&s, "/etc/ld.so.conf", e) < 0 || add_triplets(&s, "lib", e) < 0 ||
		add_triplets(&s, "usr/lib", e) < 0 || add_musl(&s, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(built_in); i++)
		if (add_folder(&s, str_from(built_in[i]), e) < 0)
			return -1;
	for (size_t i = 0; i < folders.count; i++)
		if (take_folder(&r, folders.path[i], i, e) < 0)
			return -1;
	CLEANUP(mem_free) struct file_group *group = xcalloc(r.files + 1, sizeof(*group));
	size_t count = 0;
	if (r.files)
		qsort(r.file, r.files, sizeof(*r.file), compare_inodes);
	for (size_t i = 0; i < r.files; i++) {
		const struct root_file *first = count ? group[count - 1].first : NULL, *now = &r.file[i];
		if (first && now->device == first->device && now->inode == first->inode)
			group[count - 1].count++;
		else
			group[count++] = (struct file_group){now, 1};
	}
	qsort(group, count, sizeof(*group), compare_groups);
	for (size_t i = 0; i < count; i++)
		if (check_time(&r, e) < 0 || take_file(&r, group[i].first, group[i].count, e) < 0)
			return -1;
	return r.table->libraries ? 0 : err_set(e, ERR_INVALID, "its folders of libraries have no library");
}
