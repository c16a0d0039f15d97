//! Names of commands and options in pyarrow, DuckDB, polars and other Parquet tools: who types them by habit gets a
//! hint to ours.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// The error, with a hint if other tools have the command or option under another name.
pub(crate) fn with_tip(mut error: clap::Error, whole: &Command, arguments: &[OsString]) -> clap::Error {
    let tip =
        match (error.kind(), error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidSubcommand)) {
            (ErrorKind::UnknownArgument, Some(ContextValue::String(option)), _) => {
                tip_of_option(option, command_of(whole, arguments), whole)
            }
            (ErrorKind::InvalidSubcommand, _, Some(ContextValue::String(command))) => tip_of_command(command),
            (ErrorKind::InvalidValue, Some(ContextValue::String(option)), _) => {
                match error.get(ContextKind::InvalidValue) {
                    Some(ContextValue::String(value)) => tip_of_value(option, value),
                    _ => None,
                }
            }
            _ => None,
        };
    if let Some(tip) = tip {
        // Other suggestions are beside the point.
        for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue]
        {
            error.remove(kind);
        }
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// The command that the arguments name.
fn command_of<'a>(whole: &'a Command, arguments: &[OsString]) -> &'a Command {
    let mut names = arguments.iter().skip(1);
    names.find_map(|name| whole.find_subcommand(name)).unwrap_or(whole)
}

fn tip_of_command(typed: &str) -> Option<String> {
    let typed = typed.to_lowercase().replace('_', "-");
    let (ours, _) = COMMANDS.iter().find(|(_, theirs)| has(theirs, &typed))?;
    Some(format!("`marquetry {ours}` does that"))
}

fn tip_of_option(typed: &str, command: &Command, whole: &Command) -> Option<String> {
    let name = typed.trim_start_matches('-').to_lowercase().replace('_', "-");
    let way = WAYS.iter().find(|way| has(way.theirs, &name) && has(way.commands, command.get_name()));
    if let Some(way) = way {
        return Some(way.told.to_owned());
    }
    let is_known = |ours: &str| {
        let mut options = command.get_arguments().chain(whole.get_arguments());
        options.any(|option| option.get_long() == Some(ours))
    };
    let ours: Vec<String> = OPTIONS
        .iter()
        .filter(|(ours, theirs)| has(theirs, &name) && is_known(ours))
        .map(|(ours, _)| format!("'--{ours}'"))
        .collect();
    (!ours.is_empty()).then(|| format!("here that is {}", ours.join(" or ")))
}

fn tip_of_value(option: &str, typed: &str) -> Option<String> {
    let name = option.split(' ').next()?;
    let known = VALUES.iter().find(|(of, theirs, _)| *of == name && has(theirs, &typed.to_lowercase()));
    known.map(|(_, _, told)| (*told).to_owned())
}

/// Whether a list of words, separated by blanks, contains a word.
fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Something that is not an option here, with a hint. Words are separated by blanks.
struct Way {
    theirs: &'static str,
    commands: &'static str,
    told: &'static str,
}

const PRINTING: &str =
    "schema meta pages dictionary index head cat count explain size stats advise diff verify lint rules";
const WITH_OUT: &str = "convert rewrite merge optimize recover";
const OUTPUTS: &str = "o out output outfile out-file output-file output-path dest destination";

const ROWS: &str = "n n-rows nrows num-rows num-records records record-count first top max-rows";

const WAYS: &[Way] = &[
    Way {
        theirs: OUTPUTS,
        commands: WITH_OUT,
        told: "the file to write is the last argument, without an option",
    },
    Way { theirs: OUTPUTS, commands: "head cat", told: "`marquetry convert FILE OUT` writes files" },
    Way {
        theirs: OUTPUTS,
        commands: PRINTING,
        told: "`> FILE` behind the command puts what it prints into a file",
    },
    Way {
        theirs: "i in input infile input-file source file files",
        commands: "schema meta pages dictionary index head cat count explain size stats advise diff verify \
                   lint convert rewrite merge optimize recover split append report",
        told: "files to read are arguments, without an option",
    },
    Way { theirs: "j json jsonl ndjson", commands: PRINTING, told: "'--format json' prints JSON" },
    Way {
        theirs: "json jsonl ndjson",
        commands: "convert",
        told: "the name of OUT says what is written, or '--to jsonl'",
    },
    Way { theirs: "csv", commands: "head cat", told: "`marquetry convert FILE - --to csv` prints CSV" },
    Way {
        theirs: "csv parquet arrow",
        commands: "convert",
        told: "the names of IN and OUT say what they are, or '--from' and '--to'",
    },
    Way {
        theirs: "compression-level codec-level level",
        commands: "convert rewrite",
        told: "the level follows the codec: '--compression zstd:9'",
    },
    Way {
        theirs: "header has-header",
        commands: "convert",
        told: "the first line is the header, unless '--no-header' is given",
    },
    Way {
        theirs: "partition-by partition-cols partition-on partitioning",
        commands: "convert",
        told: "`marquetry sql` writes folders: COPY (SELECT * FROM 'IN.parquet') TO 'OUT/' STORED AS PARQUET PARTITIONED BY (COLUMN)",
    },
    Way {
        theirs: "hive hive-partitioning",
        commands: "schema head cat count explain convert",
        told: "directories called key=value are columns, unless '--no-partitions' is given",
    },
    Way {
        theirs: "sort sort-by order-by",
        commands: "head cat",
        told: "`marquetry convert FILE - --sort-by COLUMN` prints sorted rows",
    },
    Way { theirs: ROWS, commands: "diff", told: "'--samples' says how many rows of each kind are shown" },
    Way {
        theirs: "tail",
        commands: "head cat",
        told: "'--offset' passes over rows; `marquetry count` counts them",
    },
];

/// Our options, and their names in other tools.
const OPTIONS: &[(&str, &str)] = &[
    ("add-index", "page-index write-page-index column-index offset-index"),
    ("allow", "allow-dir root"),
    ("batch-size", "chunk-size chunksize record-batch-size write-batch-size"),
    ("bloom", "bloom-filter bloom-filters bloom-filter-columns bloom-filter-enabled"),
    ("column", "col field"),
    ("columns", "col cols field fields select projection project usecols use-columns keep include"),
    ("comment", "comment-char comment-prefix"),
    ("compat", "version parquet-version format-version flavor"),
    ("compression", "codec compression-codec codecs compress parquet-compression"),
    ("content-defined-chunking", "use-content-defined-chunking cdc"),
    ("deep", "full thorough"),
    ("delimiter", "sep separator delim field-separator field-delimiter"),
    ("dictionary", "use-dictionary dictionary-enabled enable-dictionary dictionary-encoding"),
    ("drop", "exclude drop-columns remove prune"),
    ("encoding", "column-encoding column-encodings encodings"),
    ("encrypt-file", "encrypt encryption encryption-config encryption-properties"),
    ("escape", "escape-char escapechar"),
    ("from", "input-format from-format input-type"),
    ("full", "detail detailed verbose wide no-truncate raw"),
    ("ignore", "exclude skip disable"),
    ("infer-rows", "sample-size sample-rows infer-schema infer-schema-length infer-schema-rows"),
    ("key", "on by keys primary-key pk join-columns"),
    ("key-file", "encryption-config decryption-properties encryption-key footer-key"),
    ("limit", ROWS),
    ("limit", "head rows"),
    ("memory-limit", "max-memory mem ram"),
    ("metadata", "kv-metadata key-value-metadata key-value properties"),
    ("name", "name-format template prefix"),
    ("no-arrow-schema", "store-schema skip-arrow-metadata"),
    ("no-verify", "skip-checksums ignore-checksum ignore-checksums page-checksum-verification"),
    ("null-values", "null nullstr null-string null-value na na-values"),
    ("offset", "skip skip-rows skiprows start"),
    ("on-corrupt", "ignore-errors skip-errors ignore-corrupt skip-corrupt"),
    ("out-dir", OUTPUTS),
    ("out-dir", "d dir directory output-dir"),
    ("output", "out html"),
    ("overwrite", "f force y yes replace clobber overwrite-or-ignore"),
    ("page-rows", "data-page-row-count-limit max-rows-per-page rows-per-page"),
    ("page-size", "data-page-size data-page-size-limit data-pagesize-limit"),
    ("page-version", "data-page-version writer-version v2"),
    ("quick", "fast footer-only metadata-only"),
    ("quote", "quote-char quotechar"),
    ("ragged", "ignore-errors null-padding strict-mode truncate-ragged-lines"),
    ("row-group", "rowgroup row-groups rg"),
    ("row-group-bytes", "row-group-size row-group-size-bytes block-size"),
    (
        "row-group-rows",
        "row-group-size rowgroup-size max-row-group-size max-rows-per-group rows-per-group row-group-length",
    ),
    ("rows", ROWS),
    ("rows", "lines rows-per-file max-rows-per-file"),
    ("rule", "only rules select"),
    ("schema", "dtype dtypes types column-types schema-file"),
    ("skip-lines", "skip skip-rows skiprows"),
    ("sort-by", "sort sort-column sort-columns sorting-columns order-by"),
    ("statistics", "stats write-statistics statistics-enabled"),
    ("text-encoding", "charset character-encoding codepage"),
    ("threads", "j jobs num-threads concurrency parallelism workers"),
    ("to", "t output-format to-format output-type"),
    ("union-by-name", "unify-schemas merge-schema merge-schemas allow-missing-columns missing-columns"),
    ("where", "filter filters predicate query w q"),
];

/// Option values of other tools, with a hint.
const VALUES: &[(&str, &str, &str)] = &[
    ("--format", "csv tsv", "`marquetry convert FILE - --to csv` prints CSV"),
    ("--format", "jsonl ndjson", "'json' has an object on each line"),
    ("--to", "json ndjson", "'jsonl' has an object on each line"),
    ("--from", "ndjson json", "'jsonl' has an object on each line, or is an array of objects"),
    ("--from", "tsv", "'csv' with '--delimiter tab'"),
];

/// Our commands, and their names in other tools.
const COMMANDS: &[(&str, &str)] = &[
    ("append", "add insert"),
    ("cat --where", "filter grep find"),
    ("cat", "print rows read to-json"),
    ("completions", "completion autocomplete shell-completions"),
    ("convert", "convert-csv import export create copy csv from-csv to-csv fromcsv transcode write"),
    ("convert --sort-by", "sort order-by"),
    ("count", "rowcount row-count nrows num-rows wc"),
    ("diff", "compare cmp"),
    ("dive", "browse explore tui"),
    ("head", "show view sample preview peek"),
    ("index", "column-index offset-index page-index bloom-filter show-bloom-filter indexes"),
    ("merge", "concat join combine cp"),
    ("meta", "metadata footer inspect info file-metadata describe-footer"),
    ("optimize", "compact compress shrink"),
    ("pages", "layout dump page"),
    ("recover", "repair fix salvage restore"),
    ("rewrite", "trans-compression recompress transcompress masking encrypt decrypt retype"),
    ("rewrite --drop", "prune drop"),
    ("schema", "dtypes columns print-schema csv-schema"),
    ("serve", "web server ui"),
    ("size", "column-size size-stats du sizes"),
    ("sql", "query select scan"),
    ("stats", "describe statistics summarize profile check-stats"),
    ("verify", "validate check test fsck doctor"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::CommandLine;
    use clap::CommandFactory;

    /// What is told is there, and nothing is told of what is.
    #[test]
    fn names_lead_to_what_there_is() {
        let whole = CommandLine::command();
        let is_command = |name: &str| whole.find_subcommand(name).is_some();
        let is_option = |command: &Command, option: &str| {
            command
                .get_arguments()
                .any(|known| known.get_long_and_visible_aliases().unwrap_or_default().contains(&option))
        };
        for (ours, theirs) in COMMANDS {
            let mut words = ours.split(' ');
            let command = words.next().and_then(|name| whole.find_subcommand(name)).expect(ours);
            assert!(words.all(|option| is_option(command, option.trim_start_matches('-'))), "{ours}");
            assert!(!theirs.split(' ').any(is_command), "{theirs:?}");
        }
        for (ours, theirs) in OPTIONS {
            assert!(
                is_option(&whole, ours) || whole.get_subcommands().any(|command| is_option(command, ours)),
                "{ours}"
            );
            assert!(!super::has(theirs, ours), "{ours}");
        }
        for Way { theirs, commands, told } in WAYS {
            assert!(commands.split_whitespace().all(is_command), "{told}");
            for command in commands.split_whitespace().filter_map(|command| whole.find_subcommand(command)) {
                let both: Vec<&str> = theirs.split(' ').filter(|theirs| is_option(command, theirs)).collect();
                // convert --file is another thing.
                assert!(both.is_empty() || both == ["file"], "{}: {both:?}", command.get_name());
            }
        }
        let names = COMMANDS.iter().flat_map(|(_, theirs)| theirs.split(' '));
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    #[test]
    fn habits_are_told_what_is_here() {
        let told = |typed: &str| {
            let words: Vec<OsString> = format!("marquetry {typed}").split(' ').map(Into::into).collect();
            let whole = CommandLine::command();
            let error = CommandLine::command().try_get_matches_from(&words).expect_err("no such thing");
            with_tip(error, &whole, &words).to_string()
        };
        for (typed, tip) in [
            ("convert a.csv b.parquet --codec zstd", "tip: here that is '--compression'\n"),
            ("convert a.csv b.parquet --compression_level 3", "tip: the level follows the codec"),
            ("convert a.csv -o b.parquet", "tip: the file to write is the last argument"),
            ("convert a.csv b.parquet --skip 3", "tip: here that is '--offset' or '--skip-lines'\n"),
            ("rewrite a.parquet b.parquet --row_group_size=3", "tip: here that is '--row-group-rows'\n"),
            ("head a.parquet --json", "tip: '--format json' prints JSON\n"),
            ("cat a.parquet --filter x", "tip: here that is '--where'\n"),
            ("cat a.parquet --head 3", "tip: here that is '--limit'\n"),
            ("rowcount a.parquet", "tip: `marquetry count` does that\n"),
            ("row_count a.parquet", "tip: `marquetry count` does that\n"),
            ("--format json inspect a.parquet", "tip: `marquetry meta` does that\n"),
            ("head a.parquet --format csv", "tip: `marquetry convert FILE - --to csv` prints CSV\n"),
            ("convert a.parquet - --to json", "tip: 'jsonl' has an object on each line\n"),
        ] {
            let told = told(typed);
            assert!(told.contains(tip) && told.matches("tip:").count() == 1, "{typed}: {told}");
        }
        // What nobody calls so is left to what is near.
        assert!(told("head a.parquet --ofset 3").contains("'--offset'"));
        assert!(told("head a.parquet --rows ten").contains("invalid value"));
    }
}
