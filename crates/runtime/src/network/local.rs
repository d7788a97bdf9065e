//! Parties as threads of one process, connected by queues in memory.
