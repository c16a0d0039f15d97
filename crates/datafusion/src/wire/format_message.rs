//! The message of a format factory.

use crate::factory::MarquetryFormatFactory;
use prost::Message;
use std::collections::BTreeMap;

/// The format factory of a `COPY TO`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FormatMessage {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(btree_map = "string, string", tag = "2")]
    options: BTreeMap<String, String>,
}

impl FormatMessage {
    pub(super) fn new(factory: &MarquetryFormatFactory) -> Self {
        FormatMessage { name: factory.name().to_owned(), options: factory.options().clone() }
    }

    pub(super) fn factory(self) -> MarquetryFormatFactory {
        MarquetryFormatFactory::new(self.name).with_options(self.options)
    }
}
