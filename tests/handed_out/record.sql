BEGIN TRANSACTION;
CREATE TABLE attempts (at real not null, exercise text not null, kind text not null, status text not null,
    points real not null, most real not null);
INSERT INTO "attempts" VALUES(1.79596788050858187672e+09,'04_flat_loss','repair','passed',5.0,5.0);
INSERT INTO "attempts" VALUES(1.79596788440155911452e+09,'04_flat_loss','diagnosis','passed',5.0,5.0);
CREATE TABLE interviews (id integer primary key, started real not null, minutes real not null, ticket text not null,
    seed integer not null, folder text not null, status text not null, points real, possible real, result text);
INSERT INTO "interviews" VALUES(1,1.7959678876145868301e+09,5.0,'Z-7H2K-9QPA',3,'interview_3','finished',62.0,100.0,'{"points": 62.0, "of": 100.0, "fault": "loss/double_softmax"}');
INSERT INTO "interviews" VALUES(2,1.79596788761706900594e+09,5.0,'Z-AB12-CD34',4,'interview_4','open',NULL,NULL,NULL);
CREATE TABLE kept (kind text not null, key text not null, at real not null, value text not null, primary key (kind, key));
INSERT INTO "kept" VALUES('quick check','02/classes',1.79596788731229805953e+09,'{"tries": ["acb"], "solved": true}');
CREATE TABLE notes (at real not null, ticket text not null, kind text not null, value text not null);
INSERT INTO "notes" VALUES(1.79596784559175229071e+09,'W-11Q5-68RJ','started','{"exercise": "04_flat_loss", "program": "mlp"}');
INSERT INTO "notes" VALUES(1.79596785684195065502e+09,'W-11Q5-68RJ','looked','{"view": "loss_curve"}');
INSERT INTO "notes" VALUES(1.79596785756972837449e+09,'W-11Q5-68RJ','diagnosis','{"ticket": "W-11Q5-68RJ", "cause": "a loss function with the wrong kind of input", "sure": null, "place": 57, "step": null, "evidence": ["outputs"], "test": "C", "hints": 0, "seconds": 0.1, "complete": true}');
INSERT INTO "notes" VALUES(1.79596788051078963283e+09,'W-11Q5-68RJ','repair','{"passed": true, "points": 5.0, "status": "passed", "program": "23ae4719ac58"}');
INSERT INTO "notes" VALUES(1.79596788761236977579e+09,'Z-OPEN-0001','started','{"exercise": "10_restless_loss", "program": "word_lines"}');
COMMIT;
pragma user_version = 4;
