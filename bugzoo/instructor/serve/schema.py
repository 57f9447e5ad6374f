"""What the database of a class holds, as migrations: each is a list of statements, run once and in one transaction."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
        """CREATE TABLE users (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, made_at TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE sessions (
            token TEXT PRIMARY KEY, user INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
            ends REAL NOT NULL, flash TEXT NOT NULL DEFAULT '[]'
        ) STRICT""",
        "CREATE TABLE tries (who TEXT PRIMARY KEY, failed INTEGER NOT NULL, locked REAL NOT NULL, last REAL NOT NULL) STRICT",
        # `label` is what the hand-in is called where it came from, `student` whose it counts as
        """CREATE TABLE handins (
            id INTEGER PRIMARY KEY, student TEXT NOT NULL, label TEXT NOT NULL, source TEXT NOT NULL,
            digest TEXT NOT NULL, content BLOB, bytes INTEGER NOT NULL, file TEXT NOT NULL, handed_at TEXT NOT NULL,
            problem TEXT NOT NULL, notes TEXT NOT NULL, place TEXT NOT NULL, matched TEXT NOT NULL,
            unmatched TEXT NOT NULL, who TEXT NOT NULL, at TEXT NOT NULL, by TEXT NOT NULL, withdrawn TEXT NOT NULL DEFAULT ''
        ) STRICT""",
        "CREATE INDEX handins_student ON handins (student, id)",
        "CREATE INDEX handins_label ON handins (source, label, id)",
        """CREATE TABLE jobs (
            id INTEGER PRIMARY KEY, student TEXT NOT NULL, fresh INTEGER NOT NULL, state TEXT NOT NULL,
            done INTEGER NOT NULL DEFAULT 0, total INTEGER NOT NULL DEFAULT 0, message TEXT NOT NULL DEFAULT '',
            by TEXT NOT NULL, at TEXT NOT NULL, ended TEXT NOT NULL DEFAULT ''
        ) STRICT""",
        "CREATE UNIQUE INDEX one_job ON jobs (state) WHERE state = 'running'",
        """CREATE TABLE results (
            handin INTEGER PRIMARY KEY REFERENCES handins(id), job INTEGER NOT NULL REFERENCES jobs(id),
            fingerprint TEXT NOT NULL, state TEXT NOT NULL, points REAL, record TEXT NOT NULL, at TEXT NOT NULL
        ) STRICT""",
        # a line for each that was ever set; the last one of a student counts, and one without points takes it back
        """CREATE TABLE overrides (
            id INTEGER PRIMARY KEY, student TEXT NOT NULL, points REAL, reason TEXT NOT NULL, by TEXT NOT NULL,
            at TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX overrides_student ON overrides (student, id)",
        """CREATE TABLE comments (
            id INTEGER PRIMARY KEY, student TEXT NOT NULL, text TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX comments_student ON comments (student, id)",
        """CREATE TABLE log (
            id INTEGER PRIMARY KEY, at TEXT NOT NULL, by TEXT NOT NULL, what TEXT NOT NULL, about TEXT NOT NULL
        ) STRICT""",
        *(
            f"CREATE TRIGGER {table}_no_{verb} BEFORE {verb.upper()} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, 'lines of {table} are only added'); END"
            for table in ("log", "overrides", "comments")
            for verb in ("update", "delete")
        ),
    ),
    # the run of a hand-in beside the healthy one, as SVG of ours; empty where there is nothing to draw
    ("CREATE TABLE pictures (handin INTEGER PRIMARY KEY REFERENCES handins(id), picture TEXT NOT NULL) STRICT",),
)
