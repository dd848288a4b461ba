// SPDX-License-Identifier: Apache-2.0
// Every limit on what comes from outside. In bytes, unless the line says otherwise.
#pragma once

enum {
	LIMIT_FILE_NAME = 255,               // one component of a path (NAME_MAX)
	LIMIT_SEGMENT = LIMIT_FILE_NAME + 9, // one segment of a URL: a file name and ".metadata"
	LIMIT_PATH = 4096,                   // a path in the store, a URL path
	LIMIT_TAGS = 4096,                   // number of tags that the compressed tag sets of one wheel expand to
	LIMIT_TOP_MODULES = 256,             // number of modules of one wheel that the test of a build imports
	LIMIT_BUILD_REQUIREMENTS = 512,      // number of build requirements of one wheel that are noted
	LIMIT_BUILD_ANSWER = 256 << 10,      // what a script of ours says about the machine or an sdist
	LIMIT_BUILD_REPORT = 64 << 20,       // what pip reports about the build requirements that it installed
	LIMIT_PROBE_OUTPUT = 64 << 10,       // output of foreign code that an audit runs: its beginning and its end are kept
	LIMIT_CPU_MODULES = 1024,            // number of modules of one wheel that an audit imports,
	LIMIT_CPU_RESULT = 16 << 20,         // and what is noted about them meanwhile
	LIMIT_BIND_FILE = 256 << 20,         // what the dynamic loader reports about one process, and any file that it writes
	LIMIT_BINDINGS = 128 << 10,          // number of its bindings that were asked for; half of it without repetitions
	LIMIT_REQUIRES_PYTHON = 1 << 10,     // Requires-Python of a file on a page (the longest real one has 90 bytes)
	LIMIT_PROVENANCE = 2 << 10,          // the provenance URL of a file
	LIMIT_UPLOAD_TIME = 42,              // the upload time of a file ("2026-01-02T03:04:05.678901Z")
	LIMIT_METADATA = 8 << 20,            // METADATA, PKG-INFO, WHEEL
	LIMIT_RECORD = 64 << 20,             // RECORD
	LIMIT_ZIP_ENTRIES = 1 << 20,         // number of members of one wheel
	LIMIT_ZIP_DIRECTORY = 256 << 20,     // the central directory of a wheel
	LIMIT_UNPACKED = 64 << 20,           // unpacked size of an upload: this is always allowed
	LIMIT_UNPACKED_RATIO = 50,           // unpacked size of a larger upload: this many times its own size
	LIMIT_ELF_STRING = 64 << 10,         // a name in an ELF file,
	LIMIT_ELF_TEXT = 128 << 20,          // and all names in one
	LIMIT_ELF_STRINGS = 16 << 10,        // number of segments, libraries or versions of an ELF file
	LIMIT_ELF_TOOLCHAINS = 256,          // number of different comments of an ELF file; further ones are left out
	LIMIT_ELF_SECTIONS = 256 << 10,      // number of sections of an ELF file
	LIMIT_ELF_SYMBOLS = 4 << 20,         // number of dynamic symbols of an ELF file
	LIMIT_OFFER_FOLDERS = 512,           // number of folders of libraries of a root, and of files that ld.so.conf includes,
	LIMIT_OFFER_ENTRIES = 1 << 20,       // of names in these folders,
	LIMIT_OFFER_LIBRARIES = 1 << 16,     // of libraries, and of names by which they are found,
	LIMIT_OFFER_SYMBOLS = 8 << 20,       // and of symbols that they define
	LIMIT_OFFER_FILE = 512 << 20,        // a library of a root; of a larger one only the names are known
	LIMIT_OFFER_TEXT = 1 << 30,          // names of all libraries and symbols of a root
	LIMIT_OFFER_LIST = 1 << 30,          // a list that `wheelcache provides` made
	LIMIT_OFFER_SECONDS = 600,           // seconds that reading a root may take
	LIMIT_ELF_WHOLE = 128 << 20,         // an ELF file in a wheel that is unpacked into memory; of a larger one, its tables
	LIMIT_ELF_MEMBERS = 16 << 10,        // number of ELF files of a wheel that are read
	LIMIT_SBOM = 16 << 20,               // an SBOM in a wheel, unpacked,
	LIMIT_SBOM_COMPONENTS = 64 << 10,    // number of components of all SBOMs of a wheel,
	LIMIT_SBOM_STRING = 4 << 10,         // and a name, a version or a purl in one
	LIMIT_ODDITIES = 100,                // number of oddities of a kind that are noted of a wheel
	LIMIT_FACTS = 256 << 20,             // the facts of a wheel, before compression
	LIMIT_FACTS_UNPACKED_GIB = 32,       // GiB of a wheel that are unpacked for its facts
	LIMIT_INSIDE_NAMES = 4 << 10,        // number of names inside a wheel that searches find,
	LIMIT_INSIDE_NAME = 1 << 10,         // and one of them, with version and purl
	LIMIT_INSIDE_WAITING = 64 << 20,     // facts of a scan that wait to be written; further wheels get theirs after it
	LIMIT_REBUILD_REASONS = 32,          // reasons why a wheel is to be rebuilt that are listed
	LIMIT_REBUILD_WORK = 32 << 20,       // steps of judging whether a wheel is to be rebuilt
	LIMIT_COMPARE_ROWS = 1000,           // number of rows of a table of a comparison; the others are counted
	LIMIT_COMPARE_LIBRARIES = 200,       // number of libraries that a comparison lists,
	LIMIT_COMPARE_SYMBOLS = 500,         // and of symbols that one exports and the other does not
	LIMIT_COMPARE_TEXT = 4 << 10,        // a text of a wheel in a comparison
	LIMIT_COMPARE_MEMBERS = 1 << 17,     // number of members of a wheel that a server compares
	LIMIT_COMPARE_UNPACKED = 64 << 20,   // unpacked size up to which a server hashes the members of a wheel
	LIMIT_REBUILDS = 256 << 20,          // a document of `wheelcache rebuilds --json`
	LIMIT_BUILD_TAG = 1 << 30,           // the number of a build tag
	LIMIT_FINDINGS = 16 << 10,           // text of the findings about one file
	LIMIT_DEPTH = 8,                     // folder levels below a platform
	LIMIT_SIMPLEPAGE_FILES = 1 << 20,    // number of files, and of versions, on the page of another index
	LIMIT_SIMPLEPAGE_TEXT = 512 << 20,   // text of all files of such a page
	LIMIT_HTML_DEPTH = 256,              // nesting of elements of an HTML page
	LIMIT_PAGE = 512 << 20,              // a rendered page, before compression
	LIMIT_MANIFEST = 1 << 30,            // the manifest of a static export
	LIMIT_SIDECAR = 64 << 10,            // a sidecar
	LIMIT_STATEMENT = 1 << 20,           // a statement of provenance, or the attestations of a file
	LIMIT_STATEMENTS_COMING = 64 << 20,  // both, of all uploads at once
	LIMIT_ATTESTATIONS = 32,             // number of attestations of a file,
	LIMIT_ATTESTATION_VALUES = 32 << 10, // and of values in them
	LIMIT_EXPLAIN_STATEMENTS = 16 << 20, // text of the statements of one project that are read at once
	LIMIT_STATEMENT_SUBJECTS = 4096,     // number of files that a statement is about,
	LIMIT_STATEMENT_ROWS = 1000,         // and of rows that are read of it; further ones are left out
	LIMIT_STATEMENT_LIST = 4 << 10,      // a list in a row, joined; the rest is left out,
	LIMIT_STATEMENT_LISTS = 8 << 20,     // and what joining all of them copies
	LIMIT_REASON = 1 << 10,              // the reason that a sidecar gives
	LIMIT_ANSWER_HEADERS = 64 << 10,     // headers of another server's response
	LIMIT_ANSWER = 64 << 10,             // body of another server's response to an upload
	LIMIT_CONFIG = 1 << 20,              // a configuration file,
	LIMIT_CONFIG_LINE = 64 << 10,        // and a line of it that is no comment
	LIMIT_AUDIT_RULES = 256,             // number of rules of an audit policy,
	LIMIT_AUDIT_PATTERNS = 1024,         // number of its patterns,
	LIMIT_AUDIT_PATTERN = 512,           // one of them,
	LIMIT_AUDIT_REGEX = 4096,            // one that is a regular expression, with its repetitions written out,
	LIMIT_AUDIT_RULES_MS = 2000,         // and milliseconds of a processor for all rules of one wheel
	LIMIT_AUDIT_WHY = 4 << 10,           // what an audit says about one finding
	LIMIT_AUDIT_FINDINGS = 1000,         // number of findings about one wheel that are listed, of errors and of warnings
	LIMIT_AUDIT_STEPS = 1 << 24,         // steps of the search for the libraries of one wheel
	LIMIT_AUDIT_SEARCH_PATHS = 256,      // number of folders of an RPATH or RUNPATH
	LIMIT_TOKENS = 4 << 20,              // the token file
	LIMIT_PROJECT_LIST = 256 << 20,      // upstream's list of all projects, and the names in it
	LIMIT_OWNED_NAMES = 64 << 20,        // the list of names that are ours
	LIMIT_DOWNLOADS = 512 << 20,         // the file of download counts
	LIMIT_RELEASE = 4 << 20,             // the list of files that wait for a release; further files are not listed
	LIMIT_PLAN = 2000 << 20,             // a plan of "prune plan" (about 700 bytes a file)
	LIMIT_REQUIREMENTS = 16 << 20,       // a list of packages, a constraints file
	LIMIT_REQUIREMENT_LINE = 256 << 10,  // a line of a requirements file, with its continuation lines
	LIMIT_MARKER = 4 << 10,              // an environment marker of a requirement,
	LIMIT_MARKER_DEPTH = 32,             // and the nesting of its parentheses
	LIMIT_BRANCH_DEPTH = 16,             // how deep the requirements files of a branch include each other,
	LIMIT_BRANCH_FILES = 1000,           // how often they name a file,
	LIMIT_BRANCH_LINES = 1 << 17,        // the requirements and constraints of a branch,
	LIMIT_BRANCH_SPECIFIERS = 4 << 10,   // the specifiers of one project in them,
	LIMIT_BRANCH_TEXT = 64 << 20,        // and the text of all branches, or of the files of one
	LIMIT_MISSING = 64 << 20,            // a JSON document of what is missing, from another server
	LIMIT_MISSING_ROWS = 1 << 20,        // number of rows of such a document,
	LIMIT_MISSING_ENVIRONMENTS = 4096,   // of its environments,
	LIMIT_MISSING_BRANCHES = 1000,       // and of its branches
	LIMIT_RESULTS = 2000 << 20,          // the file of build results
	LIMIT_RESULT_LOG = 64 << 20,         // the log of one attempt to build a wheel, before compression
	LIMIT_RESULT_FILES = 16,             // number of wheels that one attempt made
	LIMIT_RESULT_AWAITING = 16 << 10,    // names of missing build requirements of one attempt
	LIMIT_RESULT_PROVENANCE = 64 << 10,  // the provenance of one attempt
	LIMIT_RESULT_DOCUMENT = 24 << 20,    // a build result that a builder sends, with its log
	LIMIT_RESULTS_ARRIVING = 64 << 20,   // all those that arrive at once
	LIMIT_RESULT_VALUES = 1 << 12,       // number of values in one
	LIMIT_RESULT_TEXT = 1 << 20,         // text of one, without the log
	LIMIT_PAGES_SENT = 256 << 20,        // pages and logs of builds that are being sent, to all clients
	LIMIT_BUILDS_ROWS = 1000,            // number of attempts on a page of builds
	LIMIT_BUILDS_TEXT = 4 << 20,         // text of all attempts on such a page; further ones are left out
	LIMIT_NOTE = 200,                    // a note or a pattern of a token
	LIMIT_WORDS = 2 << 10,               // the reason why a platform is frozen; a field of the audit log
	LIMIT_PEM = 1 << 20,                 // a certificate or a key
	LIMIT_HANDSHAKES = 1024,       // number of TLS handshakes at once; never more than half of all connections
	LIMIT_HANDSHAKES_ADDRESS = 64, // number of TLS handshakes of one client address that have begun
	LIMIT_HANDSHAKE_SECONDS = 10,  // seconds that one TLS handshake may take
	// Request line and headers together. A connection has this much memory, which libmicrohttpd clears after
	// each request (32 KB cost 10 % of a page hit)
	LIMIT_REQUEST_HEADER = 8 << 10,
	LIMIT_RESERVATIONS = 4096,          // number of uploads at once to a platform with a quota
	LIMIT_PARTS = 4096,                 // number of parts of a form
	LIMIT_PART_HEADER = 8 << 10,        // headers of one part of a form
	LIMIT_FORM_VALUE = 512,             // a form field that is read
	LIMIT_MULTIPART_OUTSIDE = 64 << 10, // bytes before the first part of a form, and behind the last
	// Number of upstream files that wait for download; at most three quarters of them for one client address
	LIMIT_FILES_WAITING = 512,
	// Number of upstream pages that wait for a request; at most three quarters of them for one client address
	LIMIT_PAGES_WAITING = 4096,
	LIMIT_PAGES_KEPT = 1 << 30, // compressed upstream pages in the catalog of projects that no platform has
	// Rest of an upstream file that is still downloaded after its last client has left; a quarter of the file
	// if that is more
	LIMIT_FETCH_REST = 4 << 20,
	LIMIT_RETRY_AFTER = 5, // seconds after which a client that was refused may try again
	// Number of requests that wait to search the catalog; at most three quarters of them of one client address
	LIMIT_SEARCHES_WAITING = 64,
	LIMIT_SEARCH_MS = 5000,        // milliseconds that one search may take
	LIMIT_BODY_BUFFER = 256 << 10, // bytes of one request body that are buffered before a worker thread takes them
	// Bytes of a request body that must arrive within the time limit, unless it ends
	LIMIT_BODY_PROGRESS = 16 << 10,
	// Body of a refused request that is read and discarded, so that the client reads the response
	LIMIT_BODY_DISCARDED = 1 << 30,
};
