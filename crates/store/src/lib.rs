//! Files of a project: bounded reads, durable replace, ownership lock, work log, contained paths.
