//! Servers that were there before the tests: which code they run is seen by nobody, and on the base it
//! may be the head's.

use std::path::Path;

use flakeproof_core::{BlindSpot, Dependencies};

/// Ports of servers that hold data and run no code of a project: as their makers registered them.
const PORTS_OF_DATA: [u16; 15] = [
    1433,   // SQL Server
    1521,   // Oracle
    2181,   // ZooKeeper
    2379,   // etcd
    3306,   // MySQL, MariaDB
    4222,   // NATS
    5432,   // PostgreSQL
    5672,   // RabbitMQ
    6379,   // Redis, Valkey
    8086,   // InfluxDB
    9042,   // Cassandra
    9092,   // Kafka
    9200,   // Elasticsearch, OpenSearch
    11_211, // memcached
    27_017, // MongoDB
];

/// The same for sockets with names: how the last part begins.
const SOCKETS_OF_DATA: [&str; 4] = [".s.PGSQL.", "mysql", "redis", "memcached"];

/// Libraries that ask servers by calls of the system that no measurement of Python sees.
const UNSEEN_CALLERS: [&str; 4] = ["grpc", "pycurl", "uvloop", "zmq"];

/// Why a server that an execution on the base asked may run the code of the change.
pub(super) fn code_of_the_change(used: &Dependencies, changed: &[String]) -> Option<String> {
    used.blind_spots.iter().find_map(|spot| match spot {
        BlindSpot::Server { address } if !holds_data(address) => Some(format!(
            "it asks a server that was there before ({address}), which may run the code of the change"
        )),
        BlindSpot::Server { address } => {
            let script = changed.iter().find(|path| is_for_databases(path))?;
            Some(format!(
                "it asks a server that was there before ({address}), to which {script} may have been \
                 applied"
            ))
        }
        BlindSpot::NativeCode { library } => {
            let caller = UNSEEN_CALLERS.iter().find(|it| library.contains(*it))?;
            Some(format!(
                "it may ask a server that was there before (by {caller}), which may run the code of the \
                 change"
            ))
        }
        _ => None,
    })
}

fn holds_data(address: &str) -> bool {
    let name = address.rsplit('/').next().unwrap_or(address);
    match address.starts_with(['/', '@']) {
        true => SOCKETS_OF_DATA.iter().any(|it| name.starts_with(it)),
        false => {
            let port = address.rsplit([':', ' ']).next().and_then(|it| it.parse().ok());
            port.is_some_and(|it: u16| PORTS_OF_DATA.contains(&it))
        }
    }
}

/// Whether a file changes what a database holds or does.
fn is_for_databases(path: &str) -> bool {
    let is_sql = Path::new(path).extension().is_some_and(|it| it.eq_ignore_ascii_case("sql"));
    is_sql || path.to_ascii_lowercase().contains("migrat")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt(spot: BlindSpot, changed: &[&str]) -> Option<String> {
        let used = Dependencies { blind_spots: vec![spot], ..Dependencies::default() };
        let changed: Vec<String> = changed.iter().map(|it| (*it).to_owned()).collect();
        code_of_the_change(&used, &changed)
    }

    fn server(address: &str) -> BlindSpot {
        BlindSpot::Server { address: address.to_owned() }
    }

    #[test]
    fn only_servers_of_data_are_known_to_run_no_code_of_the_project() {
        for address in ["127.0.0.1:5432", "port 6379", "::1:3306", "/run/postgresql/.s.PGSQL.5432"]
        {
            assert_eq!(doubt(server(address), &["app.py"]), None, "{address}");
        }
        for address in ["127.0.0.1:3000", "port 54320", "/run/app.sock", "@hidden", "port", ""] {
            assert!(doubt(server(address), &["app.py"]).is_some(), "{address}");
        }
    }

    #[test]
    fn a_script_for_a_database_may_have_been_applied() {
        for path in ["db/init.sql", "db/Migrations/0002.py", "alembic/migrate.py"] {
            let told = doubt(server("port 5432"), &["app.py", path]).unwrap_or_default();
            assert!(told.contains(path), "{told}");
        }
    }

    #[test]
    fn libraries_that_ask_unseen_are_doubted_and_others_are_not() {
        let native = |it: &str| BlindSpot::NativeCode { library: it.to_owned() };
        assert!(doubt(native("/v/site-packages/grpc/_cython/cygrpc.so"), &[]).is_some());
        assert_eq!(doubt(native("/v/site-packages/numpy/core.so"), &[]), None);
    }
}
