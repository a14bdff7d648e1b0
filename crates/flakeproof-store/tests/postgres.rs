//! What only a server can do wrong: it is away, refuses, ends in the middle, is asked by many at once.

use std::sync::Barrier;
use std::time::Duration;

use flakeproof_core::{
    Attempt, Execution, ExitCode, Findings, History, HistoryError, Origin, Outcome, RunFacts,
    RunRecord, Seed, SuiteCounts, Surroundings, TreeState,
};
use flakeproof_store::{
    PostgresAddress, PostgresHistory, Store, StoreLocation, StoreUrl, Synced, TeamHistory, sync,
};
use flakeproof_testkit::postgres::{self, Certificate, Server, database_of};
use flakeproof_testkit::skipped;

fn server(test: &str) -> Option<&'static Server> {
    postgres::shared(&format!("a history in PostgreSQL: {test}"))
}

fn address(url: &str) -> PostgresAddress {
    let url = StoreUrl::new(url).expect("a URL");
    PostgresAddress::new(&url, "shop/basket").expect("an address")
}

fn open(url: &str) -> Result<PostgresHistory, HistoryError> {
    PostgresHistory::open(address(url))
}

fn run(id: &str) -> RunRecord {
    RunRecord {
        id: id.into(),
        started: "2026-11-15T02:53:00Z".into(),
        command: vec!["pytest".into()],
        folder: String::new(),
        seed: Seed(7),
        tree: TreeState { is_complete: true, ..TreeState::default() },
        surroundings: Surroundings::default(),
        version: "0.1.0".into(),
        origin: Origin::Run,
    }
}

fn attempt(test: &str, outcome: Outcome) -> Attempt {
    Attempt::first(Execution::new(test, outcome, Duration::from_millis(3)))
}

fn passed(test: &str) -> [Attempt; 1] {
    [attempt(test, Outcome::Passed)]
}

fn findings() -> Findings {
    Findings {
        run: RunFacts {
            id: "1".into(),
            command: vec!["pytest".into()],
            runner: "pytest 8.3.5".into(),
            started: "2026-11-15T02:53:00Z".into(),
            duration: Duration::from_secs(1),
            seed: Seed(7),
            revision: None,
            version: "0.1.0".into(),
        },
        suite: SuiteCounts::default(),
        tests: vec![],
        groups: vec![],
        notices: vec![],
        exit: ExitCode::Clean,
    }
}

fn keep(history: &mut dyn History, id: &str, tests: &[&str]) {
    history.begin(&run(id)).expect("begins");
    for test in tests {
        history.record(&passed(test)).expect("records");
    }
    history.finish(&findings()).expect("finishes");
}

/// How many runs there are, and how many executions in them.
fn counts(server: &Server, url: &str) -> String {
    let count = "SELECT (SELECT count(*) FROM flakeproof.run), \
                        (SELECT count(*) FROM flakeproof.execution), \
                        (SELECT count(*) FROM flakeproof.run_end)";
    server.sql(database_of(url), count)
}

#[track_caller]
fn assert_unreachable(opened: Result<PostgresHistory, HistoryError>, why: &str, secret: &str) {
    let error = opened.expect_err("it cannot be opened");
    assert!(matches!(error, HistoryError::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().contains(why), "{error}");
    assert!(!format!("{error} {error:?}").contains(secret), "{error:?}");
}

#[test]
fn a_wrong_password_is_said_and_not_shown() {
    let Some(server) = server("a wrong password") else { return };
    let url = server.fresh_database();
    let wrong = server.url("postgres", "hunter2", database_of(&url));
    assert_unreachable(open(&wrong), "password authentication failed", "hunter2");
}

#[test]
fn a_password_is_in_no_form_of_an_open_history() {
    let Some(server) = server("no password is shown") else { return };
    let history = open(&server.fresh_database()).expect("opens");
    let shown = format!("{history:?} {history:#?} {}", history.stats().expect("is read").place);
    assert!(!shown.contains("correct"), "{shown}");
    // Nor in what an error says once it is open.
    let error = { history }.record(&passed("a")).expect_err("no run is open");
    assert!(!format!("{error} {error:?}").contains("correct"), "{error}");
}

#[test]
fn a_password_may_lie_in_a_file() {
    let Some(server) = server("a password in a file") else { return };
    let url = server.fresh_database();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("password");
    std::fs::write(&file, format!("{}\n", postgres::PASSWORD)).expect("is written");
    let place = url.split_once('@').expect("has a place").1;
    let with = |file: &str| format!("postgres://postgres@{place}?password_file={file}");
    open(&with(&file.display().to_string())).expect("opens");
    assert_unreachable(open(&with("/no/such/file")), "/no/such/file", "correct");
}

#[test]
fn a_database_that_is_not_there_is_named() {
    let Some(server) = server("no such database") else { return };
    let url = server.url("postgres", "correct%20horse", "no_such_database");
    assert_unreachable(open(&url), "\"no_such_database\" does not exist", "correct");
}

#[test]
fn nobody_answers_where_no_server_runs() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    drop(taken);
    let url = format!("postgres://ci:hunter2@127.0.0.1:{port}/team");
    assert_unreachable(open(&url), "refused", "hunter2");
}

#[test]
fn tls_is_not_given_up_where_it_is_asked_for() {
    let Some(server) = server("TLS where there is none") else { return };
    let url = format!("{}?sslmode=require", server.fresh_database());
    assert_unreachable(open(&url), "TLS", "correct");
}

#[test]
fn a_certificate_that_is_not_to_be_trusted_is_refused_with_what_is_wrong_with_it() {
    let Ok(server) = Server::start() else {
        self::server("certificates");
        return;
    };
    let url = server.fresh_database();
    let verified = |certificate: &Certificate| {
        open(&format!("{url}?sslmode=verify-full&sslrootcert={}", certificate.signer.display()))
    };
    let folder = || tempfile::tempdir().expect("a folder");
    let (good, old, other, unknown) = (folder(), folder(), folder(), folder());
    let good = Certificate::new(good.path(), "IP:127.0.0.1", 2);
    server.speak_tls(&good);
    keep(&mut verified(&good).expect("a good one is taken"), "1", &["a"]);
    let unknown = Certificate::new(unknown.path(), "IP:127.0.0.1", 2);
    assert_unreachable(verified(&unknown), "signed by nobody who is trusted here", "correct");
    let expired = Certificate::new(old.path(), "IP:127.0.0.1", -1);
    server.speak_tls(&expired);
    assert_unreachable(verified(&expired), "has expired", "correct");
    // Who does not ask who it is, is not told; the line is encrypted all the same.
    open(&format!("{url}?sslmode=require")).expect("is taken");
    let other = Certificate::new(other.path(), "DNS:db.example", 2);
    server.speak_tls(&other);
    assert_unreachable(verified(&other), "is for another name", "correct");
    assert_eq!(counts(&server, &url), "1|1|1");
}

#[test]
fn what_a_full_database_does_not_take_is_kept_here_and_sent_later_and_once() {
    let Ok(server) = Server::start() else {
        self::server("a full database");
        return;
    };
    let (url, _disk) = match server.small_database(24) {
        Ok(small) => small,
        Err(why) => return skipped::note("a history in PostgreSQL: a full database", &why),
    };
    drop(open(&url).expect("there is room for the tables"));
    server.sql("small", "CREATE TABLE filler (text text) WITH (autovacuum_enabled = off)");
    let fill = "DO $$ BEGIN LOOP INSERT INTO filler SELECT repeat('x', 1000) FROM \
                generate_series(1, 50); END LOOP; EXCEPTION WHEN disk_full THEN NULL; END $$";
    server.sql("small", fill);
    let error = open(&url).and_then(|mut history| {
        history.begin(&run("full"))?;
        history.record(&passed("a"))
    });
    let error = error.expect_err("there is no room");
    assert!(matches!(error, HistoryError::Unwritable { .. }), "{error:?}");
    assert!(error.to_string().contains("No space left"), "{error}");
    let project = tempfile::tempdir().expect("a folder");
    let own = StoreLocation::Project(project.path().to_path_buf());
    let boxed = |store| match store {
        Store::Sqlite(history) => history as Box<dyn History>,
        Store::Postgres(history) => history,
        Store::Objects(history) => history,
    };
    let place = StoreLocation::Postgres(Box::new(address(&url)));
    let team = Store::open(&place).map(boxed);
    let mut history = TeamHistory::new(Store::open(&own).map(boxed), team).expect("opens");
    keep(&mut history, "1", &["a", "b"]);
    let trouble = history.unsent().trouble();
    assert!(matches!(trouble, Some(HistoryError::Unwritable { .. })), "{trouble:?}");
    assert!(history.unsent().is_kept());
    drop(history);
    server.sql("small", "DROP TABLE filler");
    let own = Store::open(&own).expect("opens");
    let mut team = Store::open(&place).expect("opens");
    sync(&own, &mut team).expect("is sent");
    let again = sync(&own, &mut team).expect("is sent");
    assert_eq!(again, Synced { known: 1, ..Synced::default() });
    let ended = "SELECT count(*) FROM flakeproof.execution JOIN flakeproof.run ON run.number = run \
                 WHERE run.id = '1'";
    assert_eq!(server.sql("small", ended), "2");
}

#[test]
fn a_connection_that_is_cut_in_the_middle_loses_nothing() {
    let Some(server) = server("a cut connection") else { return };
    let url = server.fresh_database();
    let mut history = open(&url).expect("opens");
    let cut = || {
        let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                       WHERE datname = current_database() AND pid <> pg_backend_pid()";
        server.sql(database_of(&url), others);
    };
    history.begin(&run("1")).expect("begins");
    cut();
    history.record(&passed("a")).expect("records");
    cut();
    history.record(&passed("b")).expect("records");
    cut();
    history.finish(&findings()).expect("finishes");
    assert_eq!(counts(server, &url), "1|2|1");
    cut();
    assert_eq!(history.timeline().expect("is read").tests.len(), 2);
}

#[test]
fn a_server_may_start_again_between_two_records() {
    let Ok(server) = Server::start() else {
        self::server("a server that starts again");
        return;
    };
    let url = server.fresh_database();
    let mut history = open(&url).expect("opens");
    history.begin(&run("1")).expect("begins");
    history.record(&passed("a")).expect("records");
    server.down();
    server.up();
    history.record(&passed("b")).expect("records");
    history.finish(&findings()).expect("finishes");
    assert_eq!(counts(&server, &url), "1|2|1");
}

#[test]
fn what_a_server_that_is_gone_did_not_take_is_sent_later_and_once() {
    let Ok(server) = Server::start() else {
        self::server("a server that goes");
        return;
    };
    let project = tempfile::tempdir().expect("a folder");
    let url = format!("{}?connect_timeout=1", server.fresh_database());
    let own = StoreLocation::Project(project.path().to_path_buf());
    let boxed = |store| match store {
        Store::Sqlite(history) => history as Box<dyn History>,
        Store::Postgres(history) => history,
        Store::Objects(history) => history,
    };
    let team = Store::open(&StoreLocation::Postgres(Box::new(address(&url)))).map(boxed);
    let mut history = TeamHistory::new(Store::open(&own).map(boxed), team).expect("opens");
    keep(&mut history, "1", &["a"]);
    history.begin(&run("2")).expect("begins");
    history.record(&passed("a")).expect("records");
    server.down();
    history.record(&passed("b")).expect("is kept here");
    history.finish(&findings()).expect("is kept here");
    let trouble = history.unsent().trouble();
    assert!(matches!(trouble, Some(HistoryError::Unreachable { .. })), "{trouble:?}");
    assert!(history.unsent().is_kept());
    // The own history goes on to answer.
    assert_eq!(history.timeline().expect("is read").runs.len(), 2);
    drop(history);
    server.up();
    let own = Store::open(&own).expect("opens");
    let mut team = Store::open(&StoreLocation::Postgres(Box::new(address(&url)))).expect("opens");
    let sent = sync(&own, &mut team).expect("is sent");
    assert_eq!(sent, Synced { runs: 1, executions: 2, known: 1, ..Synced::default() });
    let again = sync(&own, &mut team).expect("is sent");
    assert_eq!(again, Synced { known: 2, ..Synced::default() });
    assert_eq!(counts(&server, url.split('?').next().expect("a URL")), "2|3|2");
}

#[test]
fn a_role_that_only_reads_reads_and_writes_nothing() {
    let Some(server) = server("a reader") else { return };
    let url = server.fresh_database();
    keep(&mut open(&url).expect("opens"), "1", &["a"]);
    let database = database_of(&url);
    let role = format!("reader_of_{database}");
    server.sql(
        database,
        &format!(
            "CREATE ROLE {role} LOGIN PASSWORD 'reads'; GRANT USAGE ON SCHEMA flakeproof TO {role}; \
             GRANT SELECT ON ALL TABLES IN SCHEMA flakeproof TO {role}"
        ),
    );
    let mut reader = open(&server.url(&role, "reads", database)).expect("opens");
    assert_eq!(reader.timeline().expect("is read").tests.len(), 1);
    assert!(reader.last_pass(&"a".into()).expect("is read").is_some());
    let begun = reader.begin(&run("2"));
    assert!(matches!(begun, Err(HistoryError::Unwritable { .. })), "{begun:?}");
    assert!(begun.expect_err("refused").to_string().contains("permission denied"));
}

#[test]
fn a_role_that_can_neither_change_nor_remove_is_enough_to_write() {
    let Some(server) = server("a writer") else { return };
    let url = server.fresh_database();
    drop(open(&url).expect("makes the tables"));
    let database = database_of(&url);
    let role = format!("writer_of_{database}");
    server.sql(
        database,
        &format!(
            "CREATE ROLE {role} LOGIN PASSWORD 'adds'; GRANT USAGE ON SCHEMA flakeproof TO {role}; \
             GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA flakeproof TO {role}"
        ),
    );
    let url = server.url(&role, "adds", database);
    let mut writer = open(&url).expect("opens");
    keep(&mut writer, "1", &["a", "b"]);
    writer.begin(&run("2")).expect("begins");
    writer.unsettle().expect("is noted");
    writer.finish(&findings()).expect("finishes");
    assert_eq!(counts(server, &url), "2|2|2");
    let removed = std::panic::catch_unwind(|| {
        server.sql(database, &format!("SET ROLE {role}; DELETE FROM flakeproof.run"))
    });
    assert!(removed.is_err(), "the role may remove");
}

#[test]
fn a_newer_schema_is_left_as_it_is() {
    let Some(server) = server("a newer schema") else { return };
    let url = server.fresh_database();
    drop(open(&url).expect("opens"));
    server.sql(database_of(&url), "INSERT INTO flakeproof.version (number) VALUES (99)");
    for opened in [open(&url), PostgresHistory::look(address(&url))] {
        let error = opened.expect_err("is newer");
        assert!(matches!(error, HistoryError::Newer { found: 99, .. }), "{error:?}");
    }
}

#[test]
fn there_is_nothing_to_look_at_in_an_empty_database() {
    let Some(server) = server("an empty database") else { return };
    let url = server.fresh_database();
    let looked = PostgresHistory::look(address(&url));
    assert!(matches!(looked, Err(HistoryError::Unreadable { .. })), "{looked:?}");
    let tables = "SELECT count(*) FROM pg_namespace WHERE nspname = 'flakeproof'";
    assert_eq!(server.sql(database_of(&url), tables), "0", "looking makes nothing");
}

#[test]
fn fifty_may_make_the_tables_at_once() {
    let Some(server) = server("fifty at once") else { return };
    let url = server.fresh_database();
    let together = Barrier::new(50);
    std::thread::scope(|scope| {
        for number in 0..50 {
            let (url, together) = (&url, &together);
            scope.spawn(move || {
                together.wait();
                let mut history = open(url).expect("opens");
                keep(&mut history, &number.to_string(), &["a", "b", "c"]);
            });
        }
    });
    assert_eq!(counts(server, &url), "50|150|50");
    let tests = "SELECT count(*) FROM flakeproof.test";
    assert_eq!(server.sql(database_of(&url), tests), "3");
}

#[test]
fn projects_in_one_database_do_not_see_each_other() {
    let Some(server) = server("two projects") else { return };
    let url = server.fresh_database();
    let of = |project: &str| open(&format!("{url}?project={project}")).expect("opens");
    keep(&mut of("one"), "1", &["a"]);
    keep(&mut of("two"), "1", &["b"]);
    let seen = |project| {
        let timeline = of(project).timeline().expect("is read");
        timeline.tests.iter().map(|it| it.test.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        (seen("one"), seen("two"), seen("three")),
        (vec!["a".into()], vec!["b".into()], vec![])
    );
}

#[test]
fn a_schema_of_ones_own_holds_the_tables() {
    let Some(server) = server("another schema") else { return };
    let url = server.fresh_database();
    keep(&mut open(&format!("{url}?schema=quality")).expect("opens"), "1", &["a"]);
    assert_eq!(server.sql(database_of(&url), "SELECT count(*) FROM quality.run"), "1");
}

#[test]
fn a_run_travels_whole_from_any_history_to_any_other() {
    let Some(server) = server("between histories") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| Store::open(&StoreLocation::File(folder.path().join(name)));
    let mut here = file("here.db").expect("opens");
    keep(&mut *here, "1", &["a", "b\0c"]);
    here.begin(&run("killed")).expect("begins");
    here.record(&[attempt("a", Outcome::Failed)]).expect("records");
    let there = StoreLocation::Postgres(Box::new(address(&server.fresh_database())));
    let mut there = Store::open(&there).expect("opens");
    let sent = Synced { runs: 2, executions: 3, ..Synced::default() };
    assert_eq!(sync(&here, &mut there), Ok(sent));
    let mut back = file("back.db").expect("opens");
    assert_eq!(sync(&there, &mut back), Ok(sent));
    for id in ["1", "killed"] {
        let whole = here.whole_run(id).expect("is read").expect("is there");
        assert_eq!(there.whole_run(id), Ok(Some(whole.clone())));
        assert_eq!(back.whole_run(id), Ok(Some(whole)));
    }
    assert_eq!(back.timeline(), here.timeline());
    let nothing = Synced { known: 2, ..Synced::default() };
    assert_eq!(sync(&here, &mut there), Ok(nothing));
    assert_eq!(sync(&there, &mut back), Ok(nothing));
    // What was not over is completed once it is.
    here.finish(&findings()).expect("finishes");
    let rest = Synced { runs: 1, executions: 1, known: 1, ..Synced::default() };
    assert_eq!(sync(&here, &mut there), Ok(rest));
    let whole = here.whole_run("killed").expect("is read");
    assert_eq!(there.whole_run("killed"), Ok(whole));
}

#[test]
fn a_run_that_was_thought_killed_counts_whole_once_its_rest_arrives() {
    let Some(server) = server("a run that was thought killed") else { return };
    let url = server.fresh_database();
    let folder = tempfile::tempdir().expect("a folder");
    let here = StoreLocation::File(folder.path().join("here.db"));
    let mut here = Store::open(&here).expect("opens");
    let mut there = Store::open(&StoreLocation::Postgres(Box::new(address(&url)))).expect("opens");
    here.begin(&run("1")).expect("begins");
    here.record(&passed("a")).expect("records");
    sync(&here, &mut there).expect("is sent");
    let older = "UPDATE flakeproof.run SET arrived = now() - interval '2 days'";
    server.sql(database_of(&url), older);
    assert_eq!(there.timeline().expect("is read").tests.len(), 1);
    let killed = "SELECT count(*) FROM flakeproof.killed";
    assert_eq!(server.sql(database_of(&url), killed), "1");
    here.record(&passed("b")).expect("records");
    here.finish(&findings()).expect("finishes");
    sync(&here, &mut there).expect("is sent");
    assert_eq!(there.timeline(), here.timeline());
}
