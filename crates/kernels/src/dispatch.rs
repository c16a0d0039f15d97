//! Run-time CPU dispatch: chooses the table of inner loops that fits the CPU.

#[cfg(target_arch = "x86_64")]
use crate::avx2;
#[cfg(target_arch = "x86_64")]
use crate::avx512;
#[cfg(target_arch = "aarch64")]
use crate::neon;
use crate::scalar::SCALAR;
use crate::signatures::Kernels;
use std::sync::OnceLock;

/// A table, and a function that tests whether this CPU has the instructions that it needs.
type Level = (&'static Kernels, fn() -> bool);

/// All tables, the best first.
static LEVELS: &[Level] = &[
    #[cfg(target_arch = "x86_64")]
    (&avx512::AVX512, avx512::is_available),
    #[cfg(target_arch = "x86_64")]
    (&avx2::AVX2, avx2::is_available),
    #[cfg(target_arch = "aarch64")]
    (&neon::NEON, neon::is_available),
    (&SCALAR, || true),
];

impl Kernels {
    /// Returns the loops that this process uses: those of the best level of the CPU, or those of the level that the environment
    /// variable `MARQUETRY_KERNELS` names (`scalar`, `avx2`, `avx512`, `neon`), if the CPU has it. Chosen at the first call.
    #[inline]
    pub fn current() -> &'static Kernels {
        static CURRENT: OnceLock<&'static Kernels> = OnceLock::new();
        CURRENT.get_or_init(|| {
            let wanted = std::env::var("MARQUETRY_KERNELS").unwrap_or_default();
            let named = Kernels::all_available().find(|kernels| kernels.name == wanted);
            named.or_else(|| Kernels::all_available().next()).unwrap_or(&SCALAR)
        })
    }

    /// Returns the loops of every level that this CPU has, the best first. For tests and measurements.
    pub fn all_available() -> impl Iterator<Item = &'static Kernels> {
        LEVELS.iter().filter(|(_, is_available)| is_available()).map(|(kernels, _)| *kernels)
    }
}
