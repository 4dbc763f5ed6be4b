//! The check that there is memory for all machines. Both swarms make it before they allocate,
//! because the system kills a process that runs out of the host's memory, without a message.

use gbxcule_runtime::Device;

use crate::SwarmError;

/// Divisor of the free memory that gives the part which stays unused; a GPU needs this part for
/// kernels' stacks.
const SPARE_DIVISOR: u64 = 16;

/// Refuses envs that the free memory of a device can't hold.
pub(crate) fn check(
    device: Device,
    free_bytes: u64,
    env_bytes: u64,
    num_envs: usize,
) -> Result<(), SwarmError> {
    let fit = (free_bytes - free_bytes / SPARE_DIVISOR) / env_bytes.max(1);
    if num_envs as u64 <= fit {
        return Ok(());
    }
    Err(SwarmError::TooLittleMemory { device, free_bytes, env_bytes, num_envs, fit })
}

/// Returns the bytes of the host's memory that this process may still allocate; the whole address
/// space if the system reports nothing.
pub fn free_on_host() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let available = available(&read("/proc/meminfo")).unwrap_or(isize::MAX as u64);
    let [limit, used, stat] =
        ["memory.max", "memory.current", "memory.stat"].map(|it| format!("/sys/fs/cgroup/{it}"));
    let container = container_limit(&read(&limit), &read(&used), &read(&stat));
    // The shell's `ulimit -v`.
    let process = own_limit(&read("/proc/self/limits"), &read("/proc/self/status"));
    [container, process].into_iter().flatten().fold(available, u64::min)
}

/// Bytes that a container may still allocate; `None` without a limit, for which Linux writes "max".
/// Inactive files of the cache count as free, because the system drops them on demand.
fn container_limit(limit: &str, used: &str, stat: &str) -> Option<u64> {
    let limit: u64 = limit.trim().parse().ok()?;
    let files = stat.lines().find_map(|line| line.strip_prefix("inactive_file "));
    let number = |text: &str| text.trim().parse::<u64>().unwrap_or(0);
    Some(limit.saturating_sub(number(used).saturating_sub(files.map_or(0, number))))
}

/// Bytes of address space that the process may still take; `None` without a limit.
fn own_limit(limits: &str, status: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(most.saturating_sub(1024 * kibibytes(status, "VmSize").unwrap_or(0)))
}

/// Reads a number of kibibytes from a table of Linux's `/proc`.
fn kibibytes(table: &str, name: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim_start_matches(':').trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Bytes that Linux reports as available, swap included.
fn available(meminfo: &str) -> Option<u64> {
    Some(1024 * (kibibytes(meminfo, "MemAvailable")? + kibibytes(meminfo, "SwapFree").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_in_swap_counts_and_an_unknown_system_is_no_obstacle() {
        let text = "MemTotal: 900 kB\nMemAvailable:     600 kB\nSwapFree:   24 kB\n";
        assert_eq!(available(text), Some(624 * 1024));
        assert_eq!(available("MemAvailable: 600 kB\n"), Some(600 * 1024));
        assert_eq!(available(""), None);
        assert_eq!(available("MemAvailable: many\n"), None);
    }

    #[test]
    fn a_containers_limit_counts_less_what_is_taken() {
        let stat = "anon 5000\ninactive_file 1000\nactive_file 700\n";
        assert_eq!(container_limit("8000\n", "6000\n", stat), Some(3000));
        assert_eq!(container_limit("8000\n", "9500\n", stat), Some(0));
        assert_eq!(container_limit("8000\n", "", ""), Some(8000));
        assert_eq!(container_limit("max\n", "6000\n", stat), None);
        assert_eq!(container_limit("", "", ""), None);
    }

    #[test]
    fn a_limit_of_the_shells_counts_less_what_is_taken() {
        let limits = |most: &str| {
            format!(
                "Limit        Soft Limit  Hard Limit  Units\nMax address space   {most}  unlimited  bytes\n"
            )
        };
        let status = "Name:\tgbxcule\nVmPeak:\t    900 kB\nVmSize:\t    500 kB\n";
        assert_eq!(own_limit(&limits("1024000"), status), Some(512_000));
        assert_eq!(own_limit(&limits("1000"), status), Some(0));
        assert_eq!(own_limit(&limits("unlimited"), status), None);
        assert_eq!(own_limit("", ""), None);
    }

    #[test]
    fn a_swarm_that_does_not_fit_is_told_what_it_would_need() {
        assert!(check(Device::Cpu, 1 << 30, 1 << 20, 960).is_ok());
        let error = check(Device::Cpu, 1 << 30, 1 << 20, 961).expect_err("a sixteenth is spared");
        assert_eq!(
            error.to_string(),
            "`cpu` has no room for 961 machines: each takes 1048576 bytes, all of them 0.9 GiB, 1.0 GiB are free; 960 \
             would fit"
        );
        assert!(check(Device::Cpu, u64::MAX, u64::MAX, usize::MAX).is_err());
    }
}
