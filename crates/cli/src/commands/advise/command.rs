//! Turns advice into command lines.

use super::setting_names::SettingNames;
use crate::file_name;
use crate::rewrite::{Input, codec_of};
use marquetry::errors::Error;
use marquetry_base::{quote_name, steers_terminal};
use marquetry_inspect::{Advice, AdviceKind, Change, Choice, ColumnAdvice, Finding, NewType, main_codec};
use std::path::Path;

/// The options of `rewrite` that give a column the advised encoding and codec; none if it is left as it is.
pub(super) fn column_options(column: &ColumnAdvice, names: &SettingNames<'_>) -> Vec<String> {
    let Some(choice) = column.choice else { return Vec::new() };
    let (name, codec) = (names.of(column.leaf), codec_name(choice));
    vec![format!("--encoding={name}={}", choice.encoding), format!("--compression={name}={codec}")]
}

/// The codec and its level, as in options.
fn codec_name(choice: Choice) -> String {
    let codec = choice.compression.codec();
    match choice.compression.level() {
        Some(level) => format!("{codec}:{level}"),
        None => codec.to_string(),
    }
}

/// The options of `rewrite` that apply a finding; none if `rewrite` cannot.
pub(super) fn rewrite_options(advice: &Advice, finding: &Finding, names: &SettingNames<'_>) -> Vec<String> {
    let of_columns = |option: &str, value: &str| {
        let columns = finding.columns.iter().flat_map(|column| names.called(column));
        columns.map(|name| format!("--{option}={name}{value}")).collect::<Vec<_>>()
    };
    match &finding.change {
        Change::Columns => advice.columns.iter().flat_map(|column| column_options(column, names)).collect(),
        Change::RowGroupRows(rows) => vec![format!("--row-group-rows={rows}")],
        Change::Pages { bytes, rows } => vec![format!("--page-size={bytes}"), format!("--page-rows={rows}")],
        Change::Indexes => vec!["--add-index".to_owned(), "--statistics".to_owned()],
        Change::Dictionaries => of_columns("encoding", "=auto"),
        // Commas separate names there.
        Change::BloomFilters if finding.columns.iter().any(|column| column.contains(',')) => Vec::new(),
        Change::BloomFilters => of_columns("bloom", ""),
        Change::Shred => {
            finding.columns.iter().map(|column| format!("--shred={}=auto", named(column))).collect()
        }
        _ => Vec::new(),
    }
}

/// The options of `convert` that write a file like this one: its codec, and rows in a row group.
pub(crate) fn like(input: &Input) -> Result<Vec<String>, Error> {
    let groups: Vec<_> = input.metadata.row_groups().collect();
    let mut options = Vec::new();
    let main = main_codec(&input.metadata)?;
    // A codec that can only be read is replaced by another.
    let chunks = groups.iter().flat_map(|group| group.columns()).filter_map(Result::ok);
    let codec = chunks.filter(|chunk| chunk.codec().is_ok_and(|codec| codec == main)).map(codec_of).next();
    options.push(format!("--compression={}", codec.unwrap_or(Ok(main))?));
    if let (2.., Some(rows)) = (groups.len(), groups.iter().map(|group| group.num_rows()).max()) {
        options.push(format!("--row-group-rows={}", rows.max(1)));
    }
    Ok(options)
}

/// The name of a column where each argument names one: in quotes if it is empty, or looks as if it were in quotes.
fn named(column: &str) -> String {
    if column.is_empty() || column.starts_with('"') { quote_name(column) } else { column.to_owned() }
}

/// The options of `convert` that sort and change types.
pub(super) fn convert_options(finding: &Finding) -> Vec<String> {
    let quoted = |name: &String| match name.is_empty() || name.contains([',', ':', '"', ' ']) {
        true => quote_name(name),
        false => name.clone(),
    };
    match &finding.change {
        Change::Sort => {
            let names: Vec<String> = finding.columns.iter().map(quoted).collect();
            vec![format!("--sort-by={}", names.join(","))]
        }
        Change::Type(new) => {
            let of_column = |column: &String| {
                let name = named(column);
                let shred = (*new == NewType::Variant).then(|| format!("--shred={name}=auto"));
                [Some(format!("--change-type={name}={new}")), shred].into_iter().flatten()
            };
            finding.columns.iter().flat_map(of_column).collect()
        }
        _ => Vec::new(),
    }
}

/// The command that applies a finding; `None` if only the writer of the rows can.
pub(super) fn command(
    input: &Input,
    advice: &Advice,
    finding: &Finding,
    names: &SettingNames<'_>,
) -> Result<Option<String>, Error> {
    let path = file_name::shown(&input.path);
    let mut rewrite = rewrite_options(advice, finding, names);
    rewrite.retain(|option| can_be_given(option));
    if !rewrite.is_empty() {
        return Ok(Some(line("rewrite", [path.as_str()], "optimized.parquet", &rewrite)));
    }
    let mut convert = convert_options(finding);
    // A command that sorts by fewer columns, or changes fewer types, would do something else.
    if convert.is_empty() || !convert.iter().all(|option| can_be_given(option)) {
        return Ok(None);
    }
    convert.extend(codec_of_new_type(advice, finding, names));
    convert.extend(like(input)?);
    let out = if finding.change == Change::Sort { "sorted.parquet" } else { "changed.parquet" };
    Ok(Some(line("convert", [path.as_str()], out, &convert)))
}

/// The codec that a column of a new type was measured with, if it is not the file's.
fn codec_of_new_type(advice: &Advice, finding: &Finding, names: &SettingNames<'_>) -> Vec<String> {
    if finding.kind != AdviceKind::Type {
        return Vec::new();
    }
    let is_it = |column: &&ColumnAdvice| finding.columns.contains(&column.column);
    let columns = advice.columns.iter().filter(is_it).filter_map(|it| Some((names.of(it.leaf), it.choice?)));
    columns.map(|(name, choice)| format!("--compression={name}={}", codec_name(choice))).collect()
}

/// Whether an option can be passed to a program: arguments contain no NUL.
pub(super) fn can_be_given(option: &str) -> bool {
    !option.contains('\0')
}

/// The command that merges files of a directory.
pub(super) fn merging(parent: &Path, first: &Input, names: &[String]) -> Result<String, Error> {
    let mut options = vec!["--no-partitions".to_owned()];
    options.extend(like(first)?.into_iter().filter(|option| option.starts_with("--compression")));
    let is_parquet = |path: &Path| path.extension().is_some_and(|extension| extension == "parquet");
    let files = std::fs::read_dir(parent).map_err(|error| Error::io("cannot list the directory", error))?;
    let all = files.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_parquet(path)).count();
    let pattern = parent.join("*.parquet");
    // A pattern cannot escape its own signs.
    let is_plain = !parent.to_string_lossy().contains(['*', '?', '[']);
    match names.len() == all && is_plain && names.iter().all(|name| is_parquet(Path::new(name))) {
        true => Ok(line("convert", [&*pattern.to_string_lossy()], "merged.parquet", &options)),
        false => Ok(line("convert", names.iter().map(String::as_str), "merged.parquet", &options)),
    }
}

/// A command line for a shell.
pub(super) fn line<'a>(
    command: &str,
    inputs: impl IntoIterator<Item = &'a str>,
    out: &str,
    options: &[String],
) -> String {
    let mut words = vec!["marquetry".to_owned(), command.to_owned()];
    words.extend(inputs.into_iter().map(quoted));
    words.push(out.to_owned());
    words.extend(options.iter().map(|option| quoted(option)));
    words.join(" ")
}

/// A word for a shell. Control characters are written by their number, as bash, zsh and others read it.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_=./:+,@%".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if !word.chars().any(steers_terminal) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    let char = |char: char| match char {
        '\'' | '\\' => format!("\\{char}"),
        char if !steers_terminal(char) => char.to_string(),
        char if char.is_ascii() => format!("\\x{:02x}", u32::from(char)),
        char => format!("\\u{:04x}", u32::from(char)),
    };
    format!("$'{}'", word.chars().map(char).collect::<String>())
}

/// The advised encoding and codec of a column.
pub(super) fn choice(column: &ColumnAdvice) -> String {
    match column.choice {
        Some(choice) => format!("{} {}", choice.encoding, choice.compression),
        None if column.measured == 0.0 => "not measured".to_owned(),
        None => "leave it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_a_shell_makes_of_them() {
        for (word, expected) in [
            ("--encoding=a.b=PLAIN", "--encoding=a.b=PLAIN"),
            ("", "''"),
            ("it's $(id)", "'it'\\''s $(id)'"),
            ("\u{1b}[31m'\\\n\u{202e}é", "$'\\x1b[31m\\'\\\\\\x0a\\u202eé'"),
        ] {
            assert_eq!(quoted(word), expected);
            let Ok(shell) = std::process::Command::new("bash")
                .args(["-c", &format!("printf %s {expected}")])
                .env("LC_ALL", "C.UTF-8")
                .output()
            else {
                continue;
            };
            assert_eq!(String::from_utf8_lossy(&shell.stdout), word);
        }
    }
}
