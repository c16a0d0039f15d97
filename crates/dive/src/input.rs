//! Input: keys and the mouse, without the types of a terminal library.

/// An event of the keyboard or the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(Key),
    /// The mouse was clicked at this column and line, counted from 0.
    Click(u16, u16),
    /// The wheel was turned by so many lines: up if negative.
    Wheel(i32),
}

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // They are self-explanatory.
pub enum Key {
    Char(char),
    /// A character with the control key.
    Control(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
}
