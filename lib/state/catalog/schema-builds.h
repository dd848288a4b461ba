// SPDX-License-Identifier: Apache-2.0
// A step of the catalog's schema (schema.c): what ties the wheels of records to other builds. The digest of a wheel's
// members is wanted where there is evidence for other bytes of its name, and of bytes that were tested here, if the record
// does not say what is in them. Records of an older wheelcache have no version: they are read again (EVIDENCE_IN).
#pragma once

#define SCHEMA_BUILDS                                                                                           \
	"ALTER TABLE evidence_wheel ADD COLUMN version BLOB;  -- key of the version; NULL: to be read again\n"         \
	"ALTER TABLE evidence_wheel ADD COLUMN filename TEXT; -- as the record has it\n"                               \
	"ALTER TABLE evidence_wheel ADD COLUMN content BLOB;  -- digest of the members; NULL: the record has none\n"   \
	"ALTER TABLE evidence_wheel ADD COLUMN source TEXT;   -- commit of the source; NULL: the record has none\n"    \
	"CREATE INDEX evidence_wheel_build ON evidence_wheel (project, version, kind, platform, python, arrival);"     \
	"CREATE INDEX evidence_wheel_name ON evidence_wheel (filename);"                                               \
	"ALTER TABLE inside ADD COLUMN content BLOB; -- digest of the members; NULL: not needed, X'': wanted, X'00': none\n"\
	"CREATE INDEX inside_content ON inside (content);"                                                             \
	"CREATE TRIGGER inside_content_insert AFTER INSERT ON inside WHEN EXISTS"                                      \
	"  (SELECT 1 FROM file f CROSS JOIN evidence_wheel w ON w.filename = f.filename AND w.sha256 <> f.sha256"      \
	"   WHERE f.sha256 = new.sha256 AND f.state <> 1) BEGIN"                                                       \
	"  UPDATE inside SET content = X'' WHERE id = new.id OR (content IS NULL AND sha256 IN"                        \
	"    (SELECT w.sha256 FROM file f CROSS JOIN evidence_wheel w ON w.filename = f.filename AND w.content IS NULL"\
	"     WHERE f.sha256 = new.sha256 AND f.state <> 1));"                                                         \
	"END;"                                                                                                         \
	"CREATE TRIGGER evidence_wheel_insert AFTER INSERT ON evidence_wheel WHEN EXISTS"                              \
	"  (SELECT 1 FROM file f WHERE f.filename = new.filename AND f.sha256 <> new.sha256 AND f.state = 0) BEGIN"    \
	"  UPDATE inside SET content = X'' WHERE content IS NULL AND"                                                  \
	"    (sha256 = iif(new.content IS NULL, new.sha256, X'')"                                                      \
	"     OR sha256 IN (SELECT f.sha256 FROM file f WHERE f.filename = new.filename AND f.state = 0));"            \
	"END;"                                                                                                         \
	"DELETE FROM evidence_folder;"
