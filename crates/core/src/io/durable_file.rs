//! Durability: what it takes to have the bytes of a local file safe on the disk.

use crate::write::Durable;
use std::fs::File;
use std::io;

impl Durable for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}
