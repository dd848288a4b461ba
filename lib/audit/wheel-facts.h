// SPDX-License-Identifier: Apache-2.0
// What is inside a wheel, for the audit, for rebuilds, searches and comparisons: its ELF files, SBOMs (PEP 770) and
// oddities. Read from the archive alone; nothing is run or loaded. A member that cannot be read as what it claims to be
// is a fact too (damaged). Any thread; any thread may read the facts.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/domain/elf/elf-facts.h"
#include "lib/domain/text/filename.h"
#include "lib/format/digest.h"
#include "lib/os/byte-source.h"

// An ELF file in the wheel.
struct wheel_elf {
	const char *path; // of the member
	uint64_t size;
	uint8_t sha256[SHA256_SIZE];
	const char *damage;   // why it could not be read; NULL: it could, and elf is set
	struct elf_facts elf; // its strings are in its own arena
};

// A component that an SBOM names.
struct wheel_component {
	const char *member; // the SBOM
	const char *name;
	const char *version; // NULL: none
	const char *purl;    // NULL: none
};

// An oddity of a member.
enum wheel_oddity {
	WHEEL_ODDITY_PYC,
	WHEEL_ODDITY_TOP_LEVEL_TESTS,
	WHEEL_ODDITY_CASE,     // another name differs by case only
	WHEEL_ODDITY_WRITABLE, // its mode lets everybody write
	WHEEL_ODDITY_SBOM,     // an SBOM that cannot be read; detail says why
	WHEEL_ODDITY_COUNT,
};
struct wheel_odd_member {
	enum wheel_oddity oddity;
	const char *path, *detail; // detail: NULL: none
};

struct wheel_facts {           // owns everything that it points to
	struct wheel_elf *elf; // in the order of the archive
	size_t elfs;
	struct wheel_component *component;
	size_t components;
	struct wheel_odd_member *odd; // at most LIMIT_FINDINGS_SHOWN of a kind
	size_t odds;
	const char *const *member; // all names, sorted
	size_t members;
	bool is_purelib; // WHEEL says Root-Is-Purelib: true
	bool is_cut;     // a limit was reached: detail in cut
	const char *cut;
	struct arena text;
};

// Reads the wheel; name is its parsed file name. ERR_INVALID: it is no wheel that can be read; ERR_LIMIT; ERR_IO. What
// is wrong inside one member is a fact. The caller releases *out if this returns 0.
int wheel_facts_read(const struct byte_source *bytes, const struct filename *name, struct wheel_facts *out,
	struct err *e) MUST_CHECK;
void wheel_facts_release(struct wheel_facts *f); // for CLEANUP
// The facts as bytes for the catalog (a zstd frame), and back. A version in front: facts of another version are read
// anew. Unpacking is safe for any bytes. ERR_INVALID, ERR_LIMIT.
int wheel_facts_pack(const struct wheel_facts *f, struct buf *out, struct err *e) MUST_CHECK;
int wheel_facts_unpack(struct str packed, struct wheel_facts *out, struct err *e) MUST_CHECK;

// Whether the member is a bundled library: in a folder "*.libs", or ".dylibs" of the wheel.
bool wheel_is_bundled(const char *path);
// The stem of a library's file name or SONAME: "libssl" of "libssl-3a1b2c3d.so.3" and "libssl.so.3". A slice of name.
struct str wheel_library_stem(struct str name);
// Whether the file name has the hash that auditwheel adds; *plain: the SONAME without it, appended.
bool wheel_library_is_hashed(struct str name, struct buf *plain);
