//! Scheduler and executors as processes of this machine, and clients that ask them: one binary, since each is linked with all of
//! Ballista.

mod answers;
mod dying;
mod folders;
mod parts;
mod queries;
mod store;
mod tables;
mod tpch;
