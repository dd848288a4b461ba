// SPDX-License-Identifier: Apache-2.0
// What is inside a wheel, for the audit, for rebuilds, searches and comparisons: its ELF files, SBOMs (PEP 770) and
// oddities. Read from the archive alone; nothing is run or loaded. A member that cannot be read as what it claims to be
// is a fact too (damaged).
//
// Memory: while a wheel is read, LIMIT_ELF_WHOLE for the member at hand, as much again for its packed bytes, and
// LIMIT_FACTS for the facts; while they are packed, at most three times LIMIT_FACTS. Time: what unpacking of
// LIMIT_UNPACKED_RATIO times the wheel's size takes, at most LIMIT_FACTS_UNPACKED_GIB. What exceeds a limit is a fact
// (is_cut). Texts are as the wheel has them: they may hold control characters, and names of members are UTF-8 without
// them. Any thread; any thread may read the facts.
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

// Of the packed facts, and of what the catalog keeps of them for searches: to be raised when either changes. The next
// scan takes the facts of all wheels again.
enum { WHEEL_FACTS_VERSION = 3 };

// A member that begins with the magic number of ELF, whatever its name is: dlopen() takes any.
struct wheel_elf {
	const char *path; // of the member
	uint64_t size;    // unpacked
	// Of its bytes: as RECORD has it, which an upload checks and a scan does not; otherwise computed, and all zero
	// if it is damaged.
	uint8_t sha256[SHA256_SIZE];
	// Why it could not be read: damaged data, ELF tables that contradict each other, or a limit; a sentence without
	// the path. NULL: it could, and elf is set; otherwise elf is all zero.
	const char *damage;
	bool is_beyond_limit; // damage is a limit of ours: the file may be sound. The facts are cut
	struct elf_facts elf;
};

// A component that a CycloneDX 1.x or SPDX 2.x document in *.dist-info/sboms/ names: of CycloneDX the subject
// (metadata.component) and the components, also nested ones, of SPDX the packages. Other formats have none.
struct wheel_component {
	const char *member; // the SBOM
	const char *name;
	const char *version; // NULL: none
	const char *purl;    // NULL: none
};

enum wheel_oddity {
	WHEEL_ODDITY_PYC,             // .pyc or .pyo
	WHEEL_ODDITY_TOP_LEVEL_TESTS, // the folder test/ or tests/ at the top of site-packages; path: the folder, with "/"
	WHEEL_ODDITY_CASE,     // its name and that of another one, in detail, differ by the case of ASCII letters
	WHEEL_ODDITY_WRITABLE, // its mode lets everybody write
	WHEEL_ODDITY_SBOM,     // an SBOM that cannot be read; detail says why
	WHEEL_ODDITY_COUNT,
};
struct wheel_odd_member {
	enum wheel_oddity oddity;
	const char *path;   // of the member
	const char *detail; // NULL: none
};

// Owns everything that it points to.
struct wheel_facts {
	struct wheel_elf *elf; // in the order of the archive
	size_t elfs;
	struct wheel_component *component; // in the order of the SBOMs' names, then as in the document
	size_t components;
	struct wheel_odd_member *odd; // at most LIMIT_ODDITIES of a kind
	size_t odds;
	const char *const *member; // the names of all files, sorted by bytes, without folders
	size_t members;
	bool is_purelib; // WHEEL says Root-Is-Purelib: true
	// Something was left out because a limit was reached, so that what is absent here may be there. Damaged members
	// do not count. cut: the first reason; NULL: none.
	bool is_cut;
	const char *cut;
	struct arena text;
};

// Reads the wheel; name is its parsed file name. ERR_INVALID, ERR_LIMIT: it is no wheel that can be read: its framing
// or its .dist-info folder is damaged; ERR_IO. What is wrong inside one member is a fact. The caller releases *out if
// this returns 0.
int wheel_facts_read(const struct byte_source *bytes, const struct filename *name, struct wheel_facts *out,
	struct err *e) MUST_CHECK;
// The same with buffers that a thread reuses for many wheels: new memory costs a small wheel more than its reading. One
// thread at a time.
struct wheel_reader;
struct wheel_reader *wheel_reader_new(void);
void wheel_reader_free(struct wheel_reader *r); // NULL is fine
int wheel_facts_read_by(struct wheel_reader *r, const struct byte_source *bytes, const struct filename *name,
	struct wheel_facts *out, struct err *e) MUST_CHECK;
// wheel_facts_pack likewise.
int wheel_facts_pack_by(struct wheel_reader *r, const struct wheel_facts *f, struct buf *out, struct err *e) MUST_CHECK;
void wheel_facts_release(struct wheel_facts *f); // for CLEANUP
// The facts as bytes for the catalog, and back: a version, then a zstd frame. Equal facts give equal bytes. Facts of
// another version are ERR_INVALID: the caller reads the wheel anew. Unpacking is safe for any bytes. ERR_INVALID,
// ERR_LIMIT: more than LIMIT_FACTS. The caller releases *out if unpacking returns 0.
int wheel_facts_pack(const struct wheel_facts *f, struct buf *out, struct err *e) MUST_CHECK;
int wheel_facts_unpack(struct str packed, struct wheel_facts *out, struct err *e) MUST_CHECK;
// The same, where more than `most` bytes before compression are ERR_LIMIT, and memory is bounded by three times as
// many.
int wheel_facts_unpack_most(struct str packed, size_t most, struct wheel_facts *out, struct err *e) MUST_CHECK;
