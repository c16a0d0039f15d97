//! Makes the bytes of local files durable.

use crate::write::Durable;
use std::fs::File;
use std::io;

impl Durable for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}
