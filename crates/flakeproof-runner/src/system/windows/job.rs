//! The job object of this process: who is started by it, by whatever way, is in it, and dies with it.

use std::io::{Error, Result};
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_BASIC_PROCESS_ID_LIST, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectBasicProcessIdList, JobObjectExtendedLimitInformation, QueryInformationJobObject,
    SetInformationJobObject,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// The job that this process is in, which is closed by its end and by nothing else.
static OWN_JOB: OnceLock<Option<Job>> = OnceLock::new();

/// A handle to a job object.
#[derive(Debug, Clone, Copy)]
struct Job(HANDLE);

#[expect(unsafe_code, reason = "a handle is a pointer to nothing")]
// SAFETY: it is a number of the system, which any thread may use.
unsafe impl Send for Job {}
#[expect(unsafe_code, reason = "a handle is a pointer to nothing")]
// SAFETY: as above.
unsafe impl Sync for Job {}

/// Put this process into a job of its own, where the system allows it.
pub(crate) fn adopt_orphans() {
    OWN_JOB.get_or_init(|| own_job().ok());
}

/// Every living process below this one, also those that were left behind.
pub(crate) fn below_us() -> Vec<u32> {
    let Some(Some(job)) = OWN_JOB.get() else { return Vec::new() };
    let own = std::process::id();
    members(*job).into_iter().filter(|pid| *pid != own).collect()
}

#[expect(unsafe_code, reason = "jobs have no safe interface in the crates that we have")]
fn own_job() -> Result<Job> {
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    // SAFETY: it has neither attributes nor a name.
    let job = unsafe { CreateJobObjectW(std::ptr::null(), std::ptr::null()) };
    if job.is_null() {
        return Err(Error::last_os_error());
    }
    let size = as_number(size_of_val(&limits));
    let limits = (&raw const limits).cast();
    // SAFETY: the structure belongs to this class, and the system copies it.
    let is_limited =
        unsafe { SetInformationJobObject(job, JobObjectExtendedLimitInformation, limits, size) };
    // SAFETY: both are handles of this process.
    if is_limited == 0 || unsafe { AssignProcessToJobObject(job, GetCurrentProcess()) } == 0 {
        return Err(Error::last_os_error());
    }
    Ok(Job(job))
}

/// Who is in a job now.
#[expect(unsafe_code, reason = "jobs have no safe interface in the crates that we have")]
fn members(job: Job) -> Vec<u32> {
    const MOST: usize = 4096;
    const HEAD: usize = size_of::<JOBOBJECT_BASIC_PROCESS_ID_LIST>() / size_of::<usize>() - 1;
    // Words, as the list of ids behind its head wants to lie.
    let mut list = vec![0_usize; HEAD + MOST];
    let size = as_number(size_of_val(list.as_slice()));
    let place = list.as_mut_ptr().cast();
    // SAFETY: the buffer is as long as is said, and lies as the structure must.
    let is_told = unsafe {
        QueryInformationJobObject(
            job.0,
            JobObjectBasicProcessIdList,
            place,
            size,
            std::ptr::null_mut(),
        )
    };
    if is_told == 0 {
        return Vec::new();
    }
    // SAFETY: the system has written it, and its head is at the beginning.
    let head = unsafe { &*place.cast::<JOBOBJECT_BASIC_PROCESS_ID_LIST>() };
    let count = usize::try_from(head.NumberOfProcessIdsInList).unwrap_or_default();
    let ids = list[HEAD..].iter().take(count.min(MOST));
    ids.filter_map(|id| u32::try_from(*id).ok()).collect()
}

fn as_number(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
