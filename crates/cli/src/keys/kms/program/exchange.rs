//! Runs a program with a question, and ends it if it takes too long.

use std::io::{self, PipeReader, Read, Write, pipe};
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};
use zeroize::{Zeroize, Zeroizing};

/// The result of a question.
pub(super) enum Answer {
    /// The output of the program.
    Text(Zeroizing<Vec<u8>>),
    /// The output is longer than an answer may be.
    TooLong,
    /// The program failed.
    Failure(ExitStatus),
    /// The program took too long, and was ended.
    Late,
}

/// Runs a program with `question` on its standard input, and returns what it writes to its standard output.
///
/// Nothing is left running here, whatever the program does: neither the program, nor the two threads that write and
/// read meanwhile. Processes that it started itself may go on, and keep the pipes open. So this does not wait for the
/// end of either pipe: this process has both ends of both, and after the program has ended it writes a last byte into
/// one, and empties the other. The program is in the process group of this process, as it may ask its user something in
/// the terminal.
pub(super) fn exchange(command: &mut Command, question: &[u8], limit: Duration) -> io::Result<Answer> {
    let (its_input, mut to_it) = pipe()?;
    let (from_it, its_output) = pipe()?;
    let (mut unread, mut last) = (its_input.try_clone()?, its_output.try_clone()?);
    command.stdin(its_input).stdout(its_output);
    thread::scope(|scope| {
        // It may answer, or fail, without reading everything.
        let writer = thread::Builder::new().spawn_scoped(scope, move || drop(to_it.write_all(question)));
        let reader = thread::Builder::new().spawn_scoped(scope, move || read(from_it));
        let ended = match (writer, &reader) {
            (Ok(_), Ok(_)) => run(command, limit),
            (Err(error), _) => Err(error),
            (_, Err(error)) => Err(error.kind().into()),
        };
        // This only fails if the reader has ended, which then needs no last byte.
        let _ = last.write_all(&[LAST]);
        let _ = io::copy(&mut unread, &mut io::sink());
        let Some(status) = ended? else { return Ok(Answer::Late) };
        if !status.success() {
            return Ok(Answer::Failure(status));
        }
        let text = reader?.join().map_err(|_| io::Error::other("the thread that reads has failed"))??;
        Ok(text.map_or(Answer::TooLong, Answer::Text))
    })
}

/// Runs the program to its end; `None` if that took too long, and it was ended.
fn run(command: &mut Command, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let started = Instant::now();
    let ended = loop {
        let left = limit.saturating_sub(started.elapsed());
        match child.try_wait() {
            Ok(None) if left.is_zero() => break Ok(None),
            // A delay of a tenth of its run time so far does not matter.
            Ok(None) => thread::sleep((started.elapsed() / 10).clamp(SHORTEST, LONGEST).min(left)),
            ended => break ended,
        }
    };
    if !matches!(ended, Ok(Some(_))) {
        // It may have ended just now. Waiting removes it from the process table.
        let _ = child.kill();
        let _ = child.wait();
    }
    ended
}

const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(50);

/// Reads up to the last byte; `None` if that is too long. Even then it reads on, as the program waits for that.
fn read(mut from: PipeReader) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    // Allocated in full size: growing would leave copies of keys behind.
    let mut text = Zeroizing::new(Vec::with_capacity(LONGEST_ANSWER));
    let mut piece = Zeroizing::new([0; 4096]);
    let mut is_too_long = false;
    loop {
        let count = match from.read(&mut *piece) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = &mut piece[..count];
        let last = piece.iter().position(|byte| *byte == LAST);
        let wanted = &piece[..last.unwrap_or(count)];
        is_too_long |= text.len() + wanted.len() > LONGEST_ANSWER;
        if !is_too_long {
            text.extend_from_slice(wanted);
        }
        piece.zeroize();
        if count == 0 || last.is_some() {
            return Ok((!is_too_long).then_some(text));
        }
    }
}

/// Not a byte of UTF-8 text, as JSON is: a program that writes it has not answered.
const LAST: u8 = 0xff;
/// Wrapped keys have some hundred bytes.
const LONGEST_ANSWER: usize = 1 << 16;
