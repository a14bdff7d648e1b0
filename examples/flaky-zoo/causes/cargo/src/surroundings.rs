//! Each test fails for one thing about its surroundings, in the way that real ones do.

use std::fs::File;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::time::{SystemTime, UNIX_EPOCH};

/// `struct tm` of the C library.
#[repr(C)]
#[derive(Default)]
struct LocalTime {
    second: i32,
    minute: i32,
    hour: i32,
    day: i32,
    month: i32,
    year: i32,
    day_of_week: i32,
    day_of_year: i32,
    daylight_saving: i32,
    offset: i64,
    zone: usize,
}

extern "C" {
    fn localtime_r(time: *const i64, result: *mut LocalTime) -> *mut LocalTime;
    fn tzset();
}

fn local_time(seconds: i64) -> LocalTime {
    let mut time = LocalTime::default();
    // SAFETY: both point to memory of that type, which outlives the call.
    unsafe {
        tzset();
        localtime_r(&seconds, &mut time);
    }
    time
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later");
    i64::try_from(since.as_secs()).expect("not that late")
}

#[test]
fn zone_day_of_a_payment() {
    let time = local_time(1_700_000_000);
    assert_eq!((time.day, time.hour, time.minute), (14, 22, 13));
}

#[test]
fn clock_certificate_is_valid() {
    // 31 December 2037.
    assert!(now() < 2_145_830_400, "it has expired");
}

#[test]
fn clock_tomorrow_is_in_this_year() {
    assert_eq!(local_time(now() + 86_400).year, local_time(now()).year);
}

#[test]
fn descriptors_opens_all_parts() {
    let opened: Result<Vec<File>, _> = (0..300).map(|_| File::open("/dev/null")).collect();
    assert!(opened.is_ok(), "a part cannot be opened");
}

#[test]
fn umask_report_is_readable_by_others() {
    let path = std::env::temp_dir().join(format!("rights-{}", std::process::id()));
    let report = File::create(&path).expect("a file");
    let rights = report.metadata().expect("it is there").permissions().mode();
    std::fs::remove_file(&path).expect("it is there");
    assert_ne!(rights & 0o004, 0, "nobody else can read it");
}

#[test]
fn one_core_workers_for_each_side() {
    let cores = std::thread::available_parallelism().expect("it is known");
    assert!(cores.get() >= 2, "a worker for each side is wanted");
}

#[test]
fn no_network_talks_to_itself() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = server.local_addr().expect("it has one");
    assert!(TcpStream::connect(address).is_ok(), "no way to itself");
}

#[test]
fn no_dns_finds_this_machine() {
    assert!(("localhost", 80).to_socket_addrs().is_ok(), "this machine has no address");
}
