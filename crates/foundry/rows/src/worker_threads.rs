//! Threads that divide work on rows, answers and kernels. If the system starts fewer threads, these
//! do all the work.

/// Runs `work` on this thread and on up to `count - 1` more, and returns all results. Each run
/// takes items from a counter that the caller owns.
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
