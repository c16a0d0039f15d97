//! The extension module of the Python package, on which `marquetry/*.py` is built.
//!
//! ```text
//! allocator   the global allocator, mimalloc
//! options     options from a dictionary
//! ending      the end of the interpreter while other threads still run
//! errors      errors as exceptions
//! work        work without the interpreter's lock, which Ctrl-C cancels
//! capsule     Arrow's C data interface: the only file with `unsafe`
//! exported_schema  schemas in the C data interface
//! dictionary_extensions  values in place of dictionaries of an extension type
//! required_values  values that are never null, in nullable structs
//! offsets     structs and fixed-size lists of other libraries with offsets
//! text_check  text of other libraries that is not UTF-8
//! reentrance  file objects that read themselves, and turns of threads
//! source      inputs: paths, URLs, bytes, file objects
//! sink        outputs: paths, pipes, file objects
//! table       schemas, batches, tables and streams
//! footer      the contents of a footer
//! file        a file that is open for reading
//! file_refs   readers of the bytes that FILE values refer to
//! dataset     many files as one table
//! names       names that cannot cross the C data interface
//! pyarrow_reader  readers of pyarrow, whose exceptions are kept
//! pyarrow_types  the types that pyarrow gives columns
//! wide_decimals  decimals of at least 128 bits, for polars
//! properties  properties of a writer
//! writer      a file that is being written
//! append      appending to a file
//! conform     casting batches to the types of a file
//! checks      verify, recover
//! report      an HTML page that maps the bytes of files
//! shown_footer  footers of encrypted files without what reveals values
//! inspect     statistics of columns, differences of files
//! advise      advice that makes a file smaller or faster
//! optimize    rewriting a file as advised
//! command_line  the command that the wheel installs
//! encryption  keys of encrypted files
//! kms         keys that a key management service wraps
//! ```
#![deny(unsafe_code)]

mod advise;
mod allocator;
mod append;
#[expect(unsafe_code, reason = "pointers of the C data interface")]
mod capsule;
mod checks;
#[cfg(feature = "command-line")]
mod command_line;
mod conform;
mod dataset;
mod dictionary_extensions;
mod encryption;
mod ending;
mod errors;
mod exported_schema;
mod file;
mod file_refs;
mod footer;
mod inspect;
mod kms;
mod names;
mod offsets;
#[cfg(feature = "command-line")]
mod optimize;
mod options;
mod properties;
mod pyarrow_reader;
mod pyarrow_types;
mod reentrance;
mod report;
mod required_values;
mod shown_footer;
mod sink;
mod source;
mod table;
mod text_check;
mod wide_decimals;
mod work;
mod writer;

use pyo3::prelude::*;

#[pymodule]
fn _marquetry(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("BINARY_METADATA_PREFIX", marquetry::arrow::BINARY_METADATA_PREFIX)?;
    let at_exit = wrap_pyfunction!(ending::end_calls, module)?;
    module.py().import("atexit")?.call_method1("register", (at_exit,))?;
    module.add_class::<dataset::Dataset>()?;
    module.add_class::<encryption::Decryption>()?;
    module.add_class::<encryption::Encryption>()?;
    module.add_class::<file::File>()?;
    module.add_class::<file_refs::FileContent>()?;
    module.add_class::<file_refs::FileRefs>()?;
    module.add_class::<footer::Footer>()?;
    module.add_class::<kms::KeyUnwrapper>()?;
    module.add_class::<kms::KeyWrapper>()?;
    module.add_class::<table::Batch>()?;
    module.add_class::<table::Schema>()?;
    module.add_class::<table::Stream>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<writer::Writer>()?;
    #[cfg(feature = "command-line")]
    module.add_function(wrap_pyfunction!(command_line::command_line, module)?)?;
    #[cfg(feature = "command-line")]
    module.add_function(wrap_pyfunction!(optimize::optimize, module)?)?;
    module.add_function(wrap_pyfunction!(append::append, module)?)?;
    module.add_function(wrap_pyfunction!(checks::verify, module)?)?;
    module.add_function(wrap_pyfunction!(checks::recover, module)?)?;
    module.add_function(wrap_pyfunction!(report::report, module)?)?;
    module.add_function(wrap_pyfunction!(encryption::decryption_with_keys, module)?)?;
    module.add_function(wrap_pyfunction!(encryption::encryption_with_keys, module)?)?;
    module.add_function(wrap_pyfunction!(advise::advise, module)?)?;
    module.add_function(wrap_pyfunction!(advise::advise_merging, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::stats, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::table_stats, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::diff, module)?)?;
    module.add_function(wrap_pyfunction!(kms::decryption_with_kms, module)?)?;
    module.add_function(wrap_pyfunction!(kms::key_material_name, module)?)?;
    module.add_function(wrap_pyfunction!(kms::kms_instance, module)?)?;
    module.add_function(wrap_pyfunction!(kms::write_key_material, module)?)?;
    module.add_function(wrap_pyfunction!(sink::write_bytes, module)?)
}
