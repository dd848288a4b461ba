// SPDX-License-Identifier: Apache-2.0
// What we accept from outside, in one place. Sizes are bytes unless they say otherwise.
#pragma once

enum {
	LIMIT_FILE_NAME = 255,               // one component of a path (NAME_MAX)
	LIMIT_SEGMENT = LIMIT_FILE_NAME + 9, // one of a URL: a file name, and ".metadata" behind it
	LIMIT_PATH = 4096,                   // a path in the store, a URL path
	LIMIT_TAGS = 4096,                   // tags that one wheel's compressed sets expand to
	LIMIT_REQUIRES_PYTHON = 1 << 10,     // of a file on a page (the longest of real ones has 90),
	LIMIT_PROVENANCE = 2 << 10,          // the URL of its provenance,
	LIMIT_UPLOAD_TIME = 42,              // and when it was uploaded ("2026-01-02T03:04:05.678901Z")
	LIMIT_METADATA = 8 << 20,            // METADATA, PKG-INFO, WHEEL
	LIMIT_RECORD = 64 << 20,             // RECORD
	LIMIT_ZIP_ENTRIES = 1 << 20,         // members of one wheel
	LIMIT_ZIP_DIRECTORY = 256 << 20,     // a wheel's central directory
	LIMIT_UNPACKED = 64 << 20,           // what any upload may unpack to,
	LIMIT_UNPACKED_RATIO = 50,           // or this many times its own size
	LIMIT_FINDINGS = 16 << 10,           // text about what is odd with one file
	LIMIT_DEPTH = 8,                     // folders below a platform
	LIMIT_SIMPLEPAGE_FILES = 1 << 20,    // files, or versions, of a project on another index's page,
	LIMIT_SIMPLEPAGE_TEXT = 512 << 20,   // and the text of them all
	LIMIT_HTML_DEPTH = 256,              // elements of a page in each other
	LIMIT_PAGE = 512 << 20,              // a rendered page, before it is packed
	LIMIT_INVENTORY = 1 << 30,           // the list of what is in a static export
	LIMIT_MARK = 64 << 10,               // a sidecar: what is beside a wheel to mark it
	LIMIT_REASON = 1 << 10,              // what it gives as the reason
	LIMIT_ANSWER_HEADERS = 64 << 10,     // what another server answers: its headers,
	LIMIT_ANSWER = 64 << 10,             // and its word on an upload
	LIMIT_CONFIG = 1 << 20,              // a configuration file
	LIMIT_TOKENS = 4 << 20,              // the file of tokens
	LIMIT_ROSTER = 256 << 20,            // the list of all projects of upstream
	LIMIT_OURS = 64 << 20,               // the list of projects that are ours
	LIMIT_DOWNLOADS = 512 << 20,         // the counts of downloads
	LIMIT_RELEASE = 4 << 20,             // the list of files that wait for a release: more are not listed
	LIMIT_PLAN = 2000 << 20,             // a plan of "prune plan" (some 700 bytes a file)
	LIMIT_REQUIREMENTS = 16 << 20,       // a list of packages, a constraints file
	LIMIT_NOTE = 200,                    // a note or a glob of a token
	LIMIT_WORDS = 2 << 10,               // why a platform is frozen; a field of the audit log
	LIMIT_PEM = 1 << 20,                 // a certificate, or a key
	LIMIT_HANDSHAKES = 1024,             // of TLS on their way, or half of all connections,
	LIMIT_HANDSHAKES_ADDRESS = 64,       // of these, of one address, that have begun,
	LIMIT_HANDSHAKE_SECONDS = 10,        // and until each is done
	LIMIT_REQUEST_HEADER = 8 << 10,      // request line and headers together: a connection has so much memory, and
	// libmicrohttpd clears it after each request (32 KB cost 10 % of a page hit)
	LIMIT_RESERVATIONS = 4096,          // uploads at once to a platform with a quota
	LIMIT_PARTS = 4096,                 // of a form
	LIMIT_PART_HEADER = 8 << 10,        // of one part of a form
	LIMIT_FORM_VALUE = 512,             // of a field of a form that is read
	LIMIT_MULTIPART_OUTSIDE = 64 << 10, // before a form's first part and behind its last
	LIMIT_FILES_WAITING =
		512, // files of upstream that wait for their turn to be fetched, three quarters of one address
	LIMIT_PAGES_WAITING = 4096, // the same of its pages
	LIMIT_PAGES_KEPT =
		1 << 30, // of upstream's pages that the catalog keeps, packed, of projects that no platform has
	LIMIT_FETCH_REST =
		4 << 20, // of a file that nobody waits for any more: so little, or a quarter of it, is still fetched
	LIMIT_RETRY_AFTER = 5,          // seconds after which those who found no place may ask again
	LIMIT_SEARCHES_WAITING = 64,    // requests that search the catalog, and wait: three quarters of one address
	LIMIT_SEARCH_MS = 5000,         // milliseconds of each
	LIMIT_BODY_BUFFER = 256 << 10,  // of one request's body: what is collected before a worker takes it
	LIMIT_BODY_PROGRESS = 16 << 10, // of a body: so much, or its end, has to come within the time-out
	LIMIT_BODY_DISCARDED = 1 << 30, // of a body: what is read though it is refused, so that the client reads why
};
