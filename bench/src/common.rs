//! The options that all commands take.

use clap::Args;

/// What all commands take.
#[derive(Args)]
pub(crate) struct Common {
    /// Print JSON: a list of {name, ours, peer, ratio, memcpy_ratio, ..}, times in seconds
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print a Markdown table with the machine and the date
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Run only the rows whose name contains NAME
    #[arg(long, value_name = "NAME", default_value = "")]
    pub(crate) filter: String,
    /// Take the best and the median of N runs of each side, and of more if they are short and N is not 1
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
}
