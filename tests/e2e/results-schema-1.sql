-- The results file of the first release.
CREATE TABLE attempt (  id INTEGER PRIMARY KEY,  key TEXT NOT NULL UNIQUE,        -- the id that all machines know
  platform TEXT NOT NULL,  python TEXT NOT NULL,  project TEXT NOT NULL,           -- normalised
  version TEXT NOT NULL,  result TEXT NOT NULL,  kind INTEGER NOT NULL,           -- 0 running or interrupted, 1 good, 2 a failure
  step TEXT NOT NULL,  why TEXT NOT NULL,  begun INTEGER NOT NULL,          -- seconds since 1970
  milliseconds INTEGER NOT NULL,   -- that it took
  peak_memory INTEGER NOT NULL,    -- bytes; 0: unknown
  files TEXT NOT NULL,  sdist TEXT NOT NULL,  awaiting TEXT NOT NULL,  recipe TEXT NOT NULL,  builder TEXT NOT NULL,  provenance TEXT NOT NULL,        -- a JSON object
  sent INTEGER NOT NULL) STRICT;
CREATE INDEX attempt_cell ON attempt (project, platform, python, begun, kind);
CREATE INDEX attempt_begun ON attempt (begun);
CREATE INDEX attempt_failed ON attempt (begun) WHERE kind = 2;
CREATE INDEX attempt_running ON attempt (begun) WHERE result = 'running';
CREATE INDEX attempt_day ON attempt (begun, platform, project, kind) WHERE kind <> 0;
CREATE INDEX attempt_unsent ON attempt (begun) WHERE sent = 0;
CREATE TABLE log (  attempt INTEGER PRIMARY KEY REFERENCES attempt ON DELETE CASCADE,  packed BLOB NOT NULL             -- a zstd frame
) STRICT;
CREATE TABLE total (  platform TEXT NOT NULL,  result TEXT NOT NULL,  attempts INTEGER NOT NULL,       -- that came to this result, also those that were removed since
  PRIMARY KEY (platform, result)) STRICT, WITHOUT ROWID;
CREATE TRIGGER attempt_added AFTER INSERT ON attempt BEGIN  INSERT INTO total VALUES (new.platform, new.result, 1)  ON CONFLICT (platform, result) DO UPDATE SET attempts = attempts + 1;END;
CREATE TRIGGER attempt_ended AFTER UPDATE OF result ON attempt WHEN new.result <> old.result BEGIN  INSERT INTO total VALUES (new.platform, new.result, 1)  ON CONFLICT (platform, result) DO UPDATE SET attempts = attempts + 1;END;
CREATE TABLE state (  id INTEGER PRIMARY KEY CHECK (id = 1),  cleaned INTEGER NOT NULL         -- when the attempts of all projects were last looked through
) STRICT;
INSERT INTO state VALUES (1, 0);
