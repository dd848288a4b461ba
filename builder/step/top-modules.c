// SPDX-License-Identifier: Apache-2.0
#include "builder/step/top-modules.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/archive/zipframe.h"

static const char *const mistakes[] = {"__main__", "benchmarks", "conftest", "doc", "docs", "example", "examples",
	"scripts", "setup", "test", "tests", "tools"};

static bool is_identifier(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!ascii_is_alnum(s.ptr[i]) && s.ptr[i] != '_' && (unsigned char)s.ptr[i] < 0x80)
			return false;
	return s.len && !ascii_is_digit(*s.ptr);
}

// "a.cpython-311-x86_64-linux-gnu.so", "a.abi3.so", "a.pypy311-pp73-x86_64-linux-gnu.so": no other library has such a
// name.
static bool is_extension(struct str file)
{
	static const struct str kinds[] = {STR("cpython-"), STR("abi3"), STR("pypy")};
	struct str suffix = file;
	str_cut(&suffix, '.');
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_starts(suffix, kinds[i]))
			return str_ends(file, STR(".so"));
	return false;
}

// "a.so" may be an extension module too, and "liba.so" a library.
static bool is_module_at_top(struct str file)
{
	return str_ends(file, STR(".py")) || is_extension(file) ||
	       (str_ends(file, STR(".so")) && !str_starts(file, STR("lib")));
}

// "a.py" is "a"; empty: no module.
static struct str module_of_file(struct str file, bool is_at_top)
{
	struct str rest = file, name = str_cut(&rest, '.');
	bool is_package = str_eq(name, STR("__init__")) && is_module_at_top(file);
	// A ".py" in a folder that is no package may be a script.
	bool is_module = is_at_top ? is_module_at_top(file) : is_extension(file);
	return (is_module || is_package) && is_identifier(name) ? name : STR("");
}

// Without "NAME.data/purelib/" and "NAME.data/platlib/", whose contents are installed at the top too.
struct str top_modules_installed_path(struct str path)
{
	struct str rest = path, top = str_cut(&rest, '/'), part = rest;
	if (!str_ends(top, STR(".data")))
		return path;
	struct str kind = str_cut(&part, '/');
	return str_eq(kind, STR("purelib")) || str_eq(kind, STR("platlib")) ? part : STR("");
}

void top_modules_of_path(struct str path, struct buf *out)
{
	size_t begin = out->len;
	struct str rest = top_modules_installed_path(path);
	bool is_at_top = true;
	for (; str_find(rest, '/') >= 0; is_at_top = false) {
		struct str folder = str_cut(&rest, '/');
		if (!is_identifier(folder)) {
			out->len = begin;
			return;
		}
		buf_printf(out, "%s" STR_FMT, is_at_top ? "" : ".", STR_ARG(folder));
	}
	struct str module = module_of_file(rest, is_at_top);
	if (!module.len)
		out->len = begin;
	else if (is_at_top || !str_eq(module, STR("__init__")))
		buf_printf(out, "%s" STR_FMT, is_at_top ? "" : ".", STR_ARG(module));
	if (out->room)
		out->data[out->len] = '\0';
}

// --- of a whole wheel ---

static bool is_mistake(const char *module)
{
	size_t top = strcspn(module, ".");
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++)
		if (strlen(mistakes[i]) == top && memcmp(mistakes[i], module, top) == 0)
			return true;
	return false;
}

// Whether a package or module above this one is in the set: its import finds this one.
static bool is_below_another(const struct strset *all, const char *module)
{
	for (const char *dot = strchr(module, '.'); dot; dot = strchr(dot + 1, '.')) {
		CLEANUP(mem_free) char *above = xstrndup(module, (size_t)(dot - module));
		if (strset_has(all, above))
			return true;
	}
	return false;
}

// Only the modules of the first rank that has any are imported.
enum module_rank { RANK_PUBLIC, RANK_PRIVATE, RANK_MISTAKE, RANK_COUNT };

static enum module_rank rank_of_module(const char *module)
{
	return is_mistake(module) ? RANK_MISTAKE : *module == '_' || strstr(module, "._") ? RANK_PRIVATE : RANK_PUBLIC;
}

int top_modules_read(const char *wheel, struct strset *out, struct err *e)
{
	struct zipdirectory zip;
	CLEANUP(strset_release) struct strset all = {0};
	struct stat st;
	CLEANUP(findings_release) struct findings findings;
	findings_init(&findings);
	CLEANUP(mem_close) int fd = open(wheel, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "%s", wheel);
	const struct byte_source bytes = byte_source_file(fd, (uint64_t)st.st_size);
	if (zipframe_read(&bytes, LENIENT, &findings, &zip, e) < 0)
		return -1;
	CLEANUP(buf_release) struct buf module = buf_up_to(LIMIT_PATH);
	for (size_t i = 0; i < zip.count; i++) {
		buf_clear(&module);
		if (!zip.members[i].is_folder)
			top_modules_of_path(zip.members[i].name, &module);
		if (module.len && !module.failed)
			strset_add(&all, module.data);
	}
	strset_sort(&all);
	for (enum module_rank rank = RANK_PUBLIC; rank < RANK_COUNT && !out->count; rank++)
		for (size_t i = 0; i < all.count && out->count < LIMIT_TOP_MODULES; i++)
			if (rank_of_module(all.item[i]) == rank && !is_below_another(&all, all.item[i]))
				strset_add(out, all.item[i]);
	strset_sort(out);
	zipdirectory_release(&zip);
	return 0;
}
