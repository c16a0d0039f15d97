//! The layout of `--help`: its text is wrapped to the width of the terminal, options of all commands come last.

use clap::Command;

/// The heading of options that every command has, which `--help` lists behind the command's own.
pub(crate) const ALL_COMMANDS: &str = "Options of all commands";

/// The command, with lines of its texts, and those of its subcommands, joined to paragraphs.
pub(crate) fn flowing(command: Command) -> Command {
    let text = command.get_after_help().map(|text| flowed(&text.to_string()));
    let command = match text {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.mut_subcommands(flowing)
}

/// Joins a line with the next one if it ends because it is full, and is not indented.
fn flowed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        let goes_on = |next: &&str| !next.is_empty() && !next.starts_with(' ');
        let is_full = line.len() >= FULL && !line.starts_with(' ');
        match lines.peek() {
            Some(next) if is_full && goes_on(next) => out.push(' '),
            Some(_) => out.push('\n'),
            None => {}
        }
    }
    out
}

/// The length from which a line counts as full, in bytes: the texts have lines of up to 120, and few words are longer
/// than the rest.
const FULL: usize = 96;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_lines_flow_on() {
        let full = "word ".repeat(23);
        let full = full.trim_end();
        assert_eq!(flowed(&format!("{full}\nand on\nJSON: {{}}")), format!("{full} and on\nJSON: {{}}"));
        for apart in [format!("{full}\n\n{full}"), format!("{full}\n  an example"), format!("  {full}\nnext")]
        {
            assert_eq!(flowed(&apart), apart);
        }
    }
}
