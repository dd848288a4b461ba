// SPDX-License-Identifier: Apache-2.0
#include "lib/facts/library-name.h"

#include <fnmatch.h>

#include "lib/base/mem.h"

// Projects whose libraries or packages have other names than they. Endings of packages (-libs, -lib) and digits at the
// end are left out.
static const struct {
	const char *project, *names;
} table[] = {
	{"abseil-cpp", "libabsl"},
	{"brotli", "libbrotlidec libbrotlienc libbrotlicommon"},
	{"bzip2", "libbz2 libbz libbz2-1"},
	{"c-ares", "libcares"},
	{"cuda", "libcudart libcublas libcublaslt libcufft libcurand libcusolver libcusparse libnvrtc libnvjitlink"},
	{"cyrus-sasl", "libsasl2 libsasl"},
	{"e2fsprogs", "libcom_err libss"},
	{"ffmpeg", "libavcodec libavformat libavutil libavfilter libavdevice libswscale libswresample libpostproc"},
	{"freetds", "libsybdb libct libtdsodbc"},
	{"gcc", "libgcc_s libgcc libstdc++ libgfortran libgomp libquadmath libatomic libasan libubsan"},
	{"gdk-pixbuf", "libgdk_pixbuf"},
	{"glib", "libglib libgobject libgio libgmodule libgthread glib2"},
	{"hdf5", "libhdf5_hl libhdf5_cpp"},
	{"icu", "libicuuc libicudata libicui18n libicui libicui18 libicuio"},
	{"imagemagick", "libmagickcore libmagickwand libmagick++"},
	{"krb5", "libkrb5 libgssapi_krb5 libgssapi-krb5 libk5crypto libkrb5support libkrb5-3"},
	{"lame", "libmp3lame"},
	{"lapack", "liblapacke libblas libcblas"},
	{"libjpeg-turbo", "libjpeg libturbojpeg libjpeg62-turbo"},
	{"libjxl", "libjxl_cms libjxl_threads jpeg-xl"},
	{"libwebp", "libsharpyuv libwebpmux libwebpdemux"},
	{"mariadb", "libmariadb libmariadbclient"},
	{"mbedtls", "libmbedcrypto libmbedx509"},
	{"mysql", "libmysqlclient"},
	{"ncurses", "libncurses libncursesw libtinfo libtinfow libpanel"},
	{"nettle", "libhogweed"},
	{"nspr", "libplc libplds"},
	{"nss", "libnssutil libsmime libsoftokn libfreebl"},
	{"numactl", "libnuma"},
	{"openblas", "libopenblas libopenblasp libopenblas64_ libscipy_openblas libscipy_openblas64_"},
	{"openjpeg", "libopenjp2 libopenjp"},
	{"openldap", "libldap liblber libldap_r"},
	{"openmpi", "libmpi libopen-pal libopen-rte"},
	{"openssl", "libssl libcrypto libssl3t64 openssl11 compat-openssl compat-openssl11 openssl-fips-provider"},
	{"postgresql", "libpq libpq5 postgresql"},
	{"protobuf", "libprotobuf libprotoc libprotobuf-lite"},
	{"qt", "libqt"},
	{"rdma-core", "libibverbs librdmacm libibumad libmlx"},
	{"sqlite", "libsqlite3 libsqlite sqlite3"},
	{"suitesparse", "libamd libcamd libcolamd libccolamd libcholmod libumfpack libspqr libklu"},
	{"systemd", "libudev"},
	{"tbb", "libtbbmalloc libtbbbind onetbb"},
	{"ucx", "libucp libuct libucs libucm"},
	{"unixodbc", "libodbc libodbcinst libodbccr"},
	{"util-linux", "libuuid libblkid libmount"},
	{"xz", "liblzma liblzma5 xz-utils"},
	{"zeromq", "libzmq"},
	{"zlib", "libz zlib1g"},
	{"zstd", "libzstd libzstd1"},
};

static struct str project_in_table(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct str rest = str_from(table[i].names);
		if (str_eq_nocase(str_from(table[i].project), name))
			return str_from(table[i].project);
		while (rest.ptr)
			if (str_eq_nocase(str_cut(&rest, ' '), name))
				return str_from(table[i].project);
	}
	return (struct str){0};
}

static struct str without_ending(struct str name, struct str ending)
{
	return name.len > ending.len && str_ends(name, ending) ? str_slice(name, 0, name.len - ending.len) : name;
}

static struct str without_digits(struct str name)
{
	size_t len = name.len;
	while (len && ascii_is_digit(name.ptr[len - 1]))
		len--;
	return len ? str_slice(name, 0, len) : name;
}

static struct str without_lib(struct str name)
{
	return name.len > 3 && str_starts(name, STR("lib")) ? str_slice(name, 3, name.len) : name;
}

static bool is_addition(char c)
{
	return ascii_is_digit(c) || c == '_' || c == '-' || c == '.';
}

enum {
	OTHER_NAMES = 4,
	MIN_STEM = 3, // "lib"
	MIN_BEGIN = 3, // what a longer stem may begin with: "tbb" of "libtbbmalloc", but not "z" of "libzmq"
};

// The names by which the table may have it, the longest first.
static void other_names(struct str name, struct str out[OTHER_NAMES])
{
	struct str package = without_ending(without_ending(name, STR("-libs")), STR("-lib"));
	out[0] = name;
	out[1] = package;
	out[2] = wheel_library_stem(package);
	out[3] = without_digits(out[2]);
}

// The next shorter name that other spellings of a library may have added to: "libopenblas64", then "libopenblas", of
// "libopenblas64_p-r0". Empty: none. Digits, "_", "-" and "." begin an addition; letters do not ("libz" of "libzmq").
static struct str shorter_name(struct str name)
{
	size_t len = name.len;
	while (len && is_addition(name.ptr[len - 1]))
		len--;
	if (len < name.len)
		return str_slice(name, 0, len);
	while (len && !is_addition(name.ptr[len - 1]))
		len--;
	return str_slice(name, 0, len);
}

struct str library_name_project(struct str name)
{
	struct str other[OTHER_NAMES];
	other_names(name, other);
	for (size_t i = 0; i < OTHER_NAMES; i++) {
		struct str project = project_in_table(other[i]);
		if (project.ptr)
			return project;
	}
	for (struct str less = other[OTHER_NAMES - 1]; less.len; less = shorter_name(less)) {
		struct str project = project_in_table(less);
		if (project.ptr)
			return project;
	}
	return without_lib(other[OTHER_NAMES - 1]);
}

static bool matches_glob(struct str name, const char *glob)
{
	CLEANUP(mem_free) char *text = xstrndup(name.ptr, name.len);
	return fnmatch(glob, text, FNM_CASEFOLD) == 0;
}

static struct str match_with_or_without_lib(struct str name, const char *glob)
{
	if (matches_glob(name, glob))
		return name;
	return matches_glob(without_lib(name), glob) ? without_lib(name) : (struct str){0};
}

// Libraries of one project begin with one word, and the table does not have them all.
static bool begins_with(struct str stem, struct str word)
{
	word = without_lib(word);
	stem = without_lib(stem);
	return word.len >= MIN_BEGIN && stem.len > word.len &&
	       str_eq_nocase(str_slice(stem, 0, word.len), word);
}

struct str library_name_match(struct str name, const char *glob)
{
	struct str other[OTHER_NAMES], found = library_name_project(name);
	if (matches_glob(found, glob))
		return found;
	other_names(name, other);
	for (size_t i = 0; i < OTHER_NAMES; i++)
		if ((found = match_with_or_without_lib(other[i], glob)).ptr)
			return found;
	for (struct str less = other[OTHER_NAMES - 1]; (less = shorter_name(less)).len > MIN_STEM;)
		if ((found = match_with_or_without_lib(less, glob)).ptr)
			return found;
	return begins_with(other[2], str_from(glob)) ? other[2] : (struct str){0};
}

// --- files and SONAMEs ---
//
// What the names of libraries in wheels say (wheel-facts.h).

enum { HASH_DIGITS = 8 }; // auditwheel adds "-" and the first digits of the file's SHA-256 before the first dot

bool wheel_is_bundled(const char *path)
{
	struct str rest = str_from(path);
	for (struct str part = str_cut(&rest, '/'); rest.ptr; part = str_cut(&rest, '/'))
		if (str_ends(part, STR(".libs")) || str_eq(part, STR(".dylibs")))
			return true;
	return false;
}

static struct str library_base(struct str path)
{
	return str_slice(path, (size_t)(str_rfind(path, '/') + 1), path.len);
}

// The part before the first dot.
static struct str first_part(struct str base)
{
	long dot = str_find(base, '.');
	return dot < 0 ? base : str_slice(base, 0, (size_t)dot);
}

static bool ends_with_hash(struct str part)
{
	if (part.len < HASH_DIGITS + 2 || part.ptr[part.len - HASH_DIGITS - 1] != '-')
		return false;
	for (size_t i = part.len - HASH_DIGITS; i < part.len; i++)
		if (!ascii_is_digit(part.ptr[i]) && !(part.ptr[i] >= 'a' && part.ptr[i] <= 'f'))
			return false;
	return true;
}

static struct str without_hash(struct str part)
{
	return ends_with_hash(part) ? str_slice(part, 0, part.len - HASH_DIGITS - 1) : part;
}

struct str wheel_library_stem(struct str name)
{
	// "libglib-2" of libglib-2.0.so.0: the number is of the version, which the stem does not have.
	struct str part = without_hash(first_part(library_base(name)));
	size_t len = part.len;
	while (len && ascii_is_digit(part.ptr[len - 1]))
		len--;
	return len > 1 && len < part.len && part.ptr[len - 1] == '-' ? str_slice(part, 0, len - 1) : part;
}

bool wheel_library_is_hashed(struct str name, struct buf *plain)
{
	struct str base = library_base(name), part = first_part(base);
	if (!ends_with_hash(part))
		return false;
	if (plain) {
		buf_str(plain, without_hash(part));
		buf_str(plain, str_slice(base, part.len, base.len));
	}
	return true;
}
