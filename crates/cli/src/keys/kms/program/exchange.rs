//! A program is run, asked, and ended if it takes too long.

use std::io::{self, PipeReader, Read, Write, pipe};
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};
use zeroize::{Zeroize, Zeroizing};

/// What became of a question.
pub(super) enum Answer {
    /// What the program has written.
    Text(Zeroizing<Vec<u8>>),
    /// More than an answer has.
    TooLong,
    /// The program has failed.
    Failure(ExitStatus),
    /// It took too long, and was ended.
    Late,
}

/// Runs a program with `question` on its standard input, and returns what it writes to its standard output.
///
/// Nothing of it is left running here, whatever it does: neither the program, nor the two threads that write and read meanwhile.
/// What it has started itself may go on, and have the pipes open. So the end of neither pipe is waited for: this process has both
/// ends of both, and after the program's own end puts the last byte into the one, and empties the other. The program is in the group
/// of this process, as it may ask its user something in the terminal.
pub(super) fn exchange(command: &mut Command, question: &[u8], limit: Duration) -> io::Result<Answer> {
    let (its_input, mut to_it) = pipe()?;
    let (from_it, its_output) = pipe()?;
    let (mut unread, mut last) = (its_input.try_clone()?, its_output.try_clone()?);
    command.stdin(its_input).stdout(its_output);
    thread::scope(|scope| {
        // It may have an answer, or an error, without having read all.
        let writer = thread::Builder::new().spawn_scoped(scope, move || drop(to_it.write_all(question)));
        let reader = thread::Builder::new().spawn_scoped(scope, move || read(from_it));
        let ended = match (writer, &reader) {
            (Ok(_), Ok(_)) => run(command, limit),
            (Err(error), _) => Err(error),
            (_, Err(error)) => Err(error.kind().into()),
        };
        // No reader has failed, and then there is nobody to be told.
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

/// Runs it to its end; `None` if that took too long. Then it was ended.
fn run(command: &mut Command, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let started = Instant::now();
    let ended = loop {
        let left = limit.saturating_sub(started.elapsed());
        match child.try_wait() {
            Ok(None) if left.is_zero() => break Ok(None),
            // A tenth of the time that it took until now is not missed.
            Ok(None) => thread::sleep((started.elapsed() / 10).clamp(SHORTEST, LONGEST).min(left)),
            ended => break ended,
        }
    };
    if !matches!(ended, Ok(Some(_))) {
        // It may have ended just now. Waiting takes it out of the system's table.
        let _ = child.kill();
        let _ = child.wait();
    }
    ended
}

const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(50);

/// All up to the last byte, if it is not too long. What is too long is taken nevertheless: the program is waiting for it.
fn read(mut from: PipeReader) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    // Of its full size from the beginning: growing would leave copies of keys behind.
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

/// No byte of text in UTF-8, as JSON is: who writes it has not answered.
const LAST: u8 = 0xff;
/// Wrapped keys have some hundred bytes.
const LONGEST_ANSWER: usize = 1 << 16;
