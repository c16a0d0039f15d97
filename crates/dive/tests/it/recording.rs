//! The recording of `docs/dive.md`: screens one after the other, as a picture that moves.
//!
//! `MARQUETRY_WRITE=1 cargo test -p marquetry-dive --test it recording` draws it anew.

use crate::driven::example;
use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier};
use std::fmt::Write;
use std::path::Path;

const WIDTH: u16 = 100;
const HEIGHT: u16 = 24;
/// Of a character, in pixels.
const CELL: (f32, u16) = (8.4, 18);
const SECONDS: f32 = 2.5;

/// What is pressed before each screen.
const WALK: &[&str] = &[
    "",
    "⏎",
    "⎋j⏎",
    "⏎",
    "s",
    "⏎",
    "⏎",
    "j⏎",
    "jjjj",
    "v",
    "⎋⎋⎋jjjj",
    "ojjj⏎",
    "fcountry = 'Chile'⏎",
    "ojjjjj⏎",
    "⏎",
    "j⏎",
    "⎋jj⏎",
    "⏎",
];

#[test]
fn the_recording_is_what_is_seen() {
    let mut dive = example("wines.parquet");
    let mut frames = Vec::new();
    for keys in WALK {
        // Between keys the screen is drawn, as it is for a person.
        for key in keys.chars() {
            dive.press(&key.to_string());
            dive.text(WIDTH, HEIGHT);
        }
        let mut buffer = Buffer::empty(Rect::new(0, 0, WIDTH, HEIGHT));
        dive.0.draw(&mut buffer, true);
        frames.push((*keys, buffer));
    }
    let drawn = picture(&frames);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dive/walk.svg");
    if std::env::var_os("MARQUETRY_WRITE").is_some() {
        std::fs::write(&path, &drawn).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(drawn == stored, "the recording is another: MARQUETRY_WRITE=1 draws it anew");
}

/// One picture, whose frames are seen one after the other.
fn picture(frames: &[(&str, Buffer)]) -> String {
    let (width, height) = (f32::from(WIDTH) * CELL.0 + 16.0, (HEIGHT + 2) * CELL.1 + 16);
    let all = frames.len() as f32 * SECONDS;
    let share = 100.0 / frames.len() as f32;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height}\" width=\"{width:.0}\" height=\"{height}\" role=\"img\">\n\
         <title>A walk through wines.parquet with marquetry dive</title>\n<style>\n\
         text {{ font: 14px ui-monospace, Menlo, Consolas, monospace; fill: #d6dae0; white-space: pre; }}\n\
         .blue {{ fill: #7cb7ff; }} .yellow {{ fill: #e6bd5a; }} .red {{ fill: #ff8f88; }} .bold {{ font-weight: 700; }} .dim {{ fill: #98a1ad; }} .reversed {{ fill: #14171c; }}\n\
         g {{ visibility: hidden; animation: seen {all}s infinite step-end; }}\n\
         @keyframes seen {{ 0% {{ visibility: visible; }} {share:.3}% {{ visibility: hidden; }} }}\n\
         @media (prefers-reduced-motion: reduce) {{ g {{ animation: none; }} g:first-of-type {{ visibility: visible; }} }}\n\
         </style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#14171c\"/>\n"
    );
    for (i, (keys, buffer)) in frames.iter().enumerate() {
        let _ = writeln!(out, "<g style=\"animation-delay:{}s\">", i as f32 * SECONDS);
        for y in 0..HEIGHT {
            line(buffer, y, &mut out);
        }
        let said = if keys.is_empty() {
            "marquetry dive examples/wines.parquet".to_owned()
        } else {
            format!("pressed: {keys}")
        };
        text(&said, 0.0, HEIGHT + 1, "yellow", &mut out);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// The runs of a line that look the same.
fn line(buffer: &Buffer, y: u16, out: &mut String) {
    let cells: Vec<&Cell> = (0..WIDTH).map(|x| &buffer[(x, y)]).collect();
    let mut x = 0;
    for run in cells.chunk_by(|a, b| look(a) == look(b)) {
        let at = f32::from(x) * CELL.0;
        if run[0].modifier.contains(Modifier::REVERSED) {
            let (left, top, wide) = (at + 8.0, y * CELL.1 + 8, run.len() as f32 * CELL.0);
            let _ = writeln!(
                out,
                "<rect x=\"{left:.1}\" y=\"{top}\" width=\"{wide:.1}\" height=\"{}\" fill=\"#d6dae0\"/>",
                CELL.1
            );
        }
        let symbols: String = run.iter().map(|cell| cell.symbol()).collect();
        if !symbols.trim().is_empty() {
            text(&symbols, at, y, &look(run[0]), out);
        }
        x += run.len() as u16;
    }
}

fn look(cell: &Cell) -> String {
    let mut classes = Vec::new();
    match cell.fg {
        _ if cell.modifier.contains(Modifier::REVERSED) => classes.push("reversed"),
        Color::Blue => classes.push("blue"),
        Color::Yellow => classes.push("yellow"),
        Color::Red => classes.push("red"),
        _ => {}
    }
    classes.extend(cell.modifier.contains(Modifier::BOLD).then_some("bold"));
    classes.extend(cell.modifier.contains(Modifier::DIM).then_some("dim"));
    classes.join(" ")
}

fn text(symbols: &str, at: f32, y: u16, class: &str, out: &mut String) {
    let begin = symbols.len() - symbols.trim_start().len();
    let shown = symbols.trim();
    let (left, base) = (at + begin as f32 * CELL.0 + 8.0, y * CELL.1 + 22);
    let wide = shown.chars().count() as f32 * CELL.0;
    let escaped = shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    // As wide as its cells, whatever font there is.
    let _ = writeln!(
        out,
        "<text x=\"{left:.1}\" y=\"{base}\" textLength=\"{wide:.1}\" lengthAdjust=\"spacingAndGlyphs\"{class}>{escaped}</text>"
    );
}
