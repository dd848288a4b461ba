// SPDX-License-Identifier: Apache-2.0
// Statements of how a file was made: in-toto Statement v1, with SLSA provenance v1 as its predicate. A statement is
// believed as far as its sender is: nothing here is verified by cryptography. Statements with another predicate are
// valid, and have no rows. Pure functions; any thread; any thread may read a struct provenance.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

#define PROVENANCE_STATEMENT "https://in-toto.io/Statement/v1"
#define PROVENANCE_SLSA "https://slsa.dev/provenance/v1"

// The kinds of rows, in the order of the rows.
enum provenance_kind {
	PROVENANCE_BUILDER,    // runDetails.builder: its id is the source, its own version the version
	PROVENANCE_DEPENDENCY, // buildDefinition.resolvedDependencies: sdist, base image, libraries, build requirements
	PROVENANCE_TOOL,       // internalParameters.toolchain: compilers and the like, with their versions
	PROVENANCE_MACHINE,    // another one of internalParameters: python, platform, libc
	PROVENANCE_PARAMETER,  // externalParameters: branch, constraints, options of the build
	PROVENANCE_KIND_COUNT,
};
extern const char *const provenance_kind_name[PROVENANCE_KIND_COUNT]; // "builder", "dependency", …

// A row of the table that people compare. Strings are UTF-8 without NUL, and may have control characters: a printer
// escapes them. NULL: not said.
struct provenance_row {
	enum provenance_kind kind;
	const char *component; // "sdist", "base-image", "ucx", "gcc", "branch"; never NULL
	const char *version;   // of a parameter: its value
	const char *source;    // where it is from: a URI
	const char *digest;    // "sha256:…"
	const char *path;      // where it is installed: annotations.prefix
	const char *how;       // "source", "package": annotations.how
	const char *options;   // options of its build: annotations.options, a string or a list joined by blanks
	const char *commit;    // digest.gitCommit of a dependency; "": several
};

// A file that the statement is about.
struct provenance_subject {
	const char *name; // NULL: none
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE];
};

struct provenance { // owns everything that it points to
	struct provenance_subject *subject;
	size_t subjects, subject_room;
	const char *predicate_type;
	bool is_slsa;                                                       // SLSA provenance v1: what follows is read
	const char *build_type, *builder, *invocation, *started, *finished; // NULL: not said
	struct provenance_row *row; // by kind, then component, then as in the statement
	size_t rows, row_room;
	bool is_cut; // further rows, or options of one, exceed a limit and are left out
	struct arena text;
};

// Reads a statement. ERR_INVALID: no JSON, no in-toto Statement v1, no subject with a SHA-256, or a value that is read
// twice. ERR_LIMIT: longer than LIMIT_STATEMENT, or too many subjects. The caller releases *out if this returns 0.
int provenance_read(struct str text, struct provenance *out, struct err *e) MUST_CHECK;
void provenance_release(struct provenance *p); // for CLEANUP; all zero is fine

// A commit of git: 40 or 64 hexadecimal digits, lower-case.
enum { PROVENANCE_COMMIT = 64 };
bool provenance_commit_is_valid(struct str commit);
// The commit of the source from which the file was built: that of the dependency with the name "source", else the only
// one that dependencies have. NULL: there is none, there are several, or the statement was cut. Borrowed.
const char *provenance_commit(const struct provenance *p);

// The SHA-256 that the statement gives for a file of this name: of the subject that has the name, in this spelling or
// in one that means the same wheel or sdist; or of the only subject, if that has no name. ERR_INVALID: there is none,
// or there are several.
int provenance_digest(const struct provenance *p, const char *filename, uint8_t sha256[SHA256_SIZE],
	struct err *e) MUST_CHECK;
