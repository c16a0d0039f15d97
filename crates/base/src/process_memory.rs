//! The memory limit of this process: of the machine, of its container (cgroup), or of a resource limit.

use std::path::Path;

/// The default budget of the readers of this process, in bytes. It is the least of a quarter of the machine's memory,
/// half of what its control group allows, and a quarter of its limit of address space, which stacks, the program and
/// unused parts of the allocator use, too. It is at least 16 MiB.
pub(crate) fn default_limit() -> usize {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let machine = total_memory(&read("/proc/meminfo")).unwrap_or(UNKNOWN_MACHINE);
    let group = group_limit(&read("/proc/self/cgroup"), Path::new("/sys/fs/cgroup"));
    let address_space = address_space(&read("/proc/self/limits"));
    let granted = [group.map(|bytes| bytes / 2), address_space.map(|bytes| bytes / 4)];
    let least = granted.into_iter().flatten().fold(machine / 4, u64::min);
    usize::try_from(least).unwrap_or(usize::MAX).max(LEAST)
}

/// Reads the machine's memory from the text of `/proc/meminfo`.
fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Reads the soft limit of the address space from the text of `/proc/self/limits`.
fn address_space(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Finds the least limit of the control groups in the text of `/proc/self/cgroup` and of their ancestors.
fn group_limit(groups: &str, mounted: &Path) -> Option<u64> {
    let limits = groups.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let (root, file) = match controllers {
            "" => (mounted.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (mounted.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = root.join(path.trim_start_matches('/'));
        let of = |folder: &Path| std::fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
        // In a container, the path may be that of the machine. Then the mounted root is the container's own group.
        group.ancestors().take_while(|folder| folder.starts_with(&root)).filter_map(of).min()
    });
    limits.min()
}

/// The assumed memory of a machine whose system does not report it, in bytes.
const UNKNOWN_MACHINE: u64 = 16 << 30;
/// The minimum default budget in bytes. Less is useless, because one page may take it all.
const LEAST: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_understood() {
        assert_eq!(total_memory("MemTotal:       24612340 kB\nMemFree: 1 kB\n"), Some(24_612_340 * 1024));
        assert_eq!(total_memory(""), None);
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max address space         1073741824           unlimited            bytes     \n";
        assert_eq!(address_space(limits), Some(1 << 30));
        assert_eq!(address_space(&limits.replace("1073741824", "unlimited")), None);
        assert!(default_limit() >= LEAST);
    }

    #[test]
    fn the_least_limit_of_all_groups_counts() {
        let folder = std::env::temp_dir().join(format!("marquetry-groups-{}", std::process::id()));
        let leaf = folder.join("a/b");
        std::fs::create_dir_all(&leaf).unwrap();
        std::fs::write(leaf.join("memory.max"), "max\n").unwrap();
        std::fs::write(folder.join("a/memory.max"), "1000\n").unwrap();
        assert_eq!(group_limit("0::/a/b\n", &folder), Some(1000));
        assert_eq!(group_limit("0::/elsewhere\n", &folder), None);
        std::fs::write(folder.join("memory.max"), "500\n").unwrap();
        assert_eq!(group_limit("0::/elsewhere\n", &folder), Some(500));
        std::fs::create_dir_all(folder.join("memory/c")).unwrap();
        std::fs::write(folder.join("memory/c/memory.limit_in_bytes"), "300\n").unwrap();
        assert_eq!(group_limit("9:cpu,memory:/c\n3:cpuset:/\n", &folder), Some(300));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
