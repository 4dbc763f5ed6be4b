//! Threads that share work, for rows, answers and kernels. Where the system gives no more threads,
//! as at its limit of processes, fewer do the same work.

/// Runs `work` on this thread and on so many more that there are `count`, or as many as the system
/// gives, and returns all results. Each takes its share from a counter of the caller's.
pub fn on_threads<T: Send>(count: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let threads: Vec<_> = (1..count).map_while(spawn).collect();
        let own = work();
        let join = |thread: std::thread::ScopedJoinHandle<'_, T>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        std::iter::once(own).chain(threads.into_iter().map(join)).collect()
    })
}
