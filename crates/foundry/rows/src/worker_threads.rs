//! Threads that divide work on rows, answers and kernels. If the system starts fewer threads, these
//! do all the work.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `work` with each number below `count`, on up to `threads` threads, and returns the results
/// in order. After an error no thread takes a further number.
pub fn in_order<T: Send, E: Send>(
    threads: usize,
    count: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    in_order_with(threads, count, || (), |(), number| work(number))
}

/// Does what [`in_order`] does, where each thread makes a state that its calls of `work` share.
pub fn in_order_with<S, T: Send, E: Send>(
    threads: usize,
    count: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let take = || -> Result<Vec<(usize, T)>, E> {
        let (mut results, mut state) = (Vec::new(), state());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(results);
            }
            let result = work(&mut state, number);
            let result = result.inspect_err(|_| next.store(count, Ordering::Relaxed))?;
            results.push((number, result));
        }
    };
    let by_thread: Result<Vec<Vec<(usize, T)>>, E> =
        on_threads(threads, take).into_iter().collect();
    let mut results: Vec<(usize, T)> = by_thread?.into_iter().flatten().collect();
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Runs `work` on this thread and on up to `count - 1` more, and returns all results. Each run
/// takes items from a counter that the caller owns.
fn on_threads<T: Send>(count: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let threads: Vec<_> = (1..count).map_while(spawn).collect();
        let of_this_thread = work();
        let join = |thread: std::thread::ScopedJoinHandle<'_, T>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        std::iter::once(of_this_thread).chain(threads.into_iter().map(join)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_an_error_ends_the_work() {
        let squares: Result<Vec<usize>, String> = in_order(4, 100, |number| Ok(number * number));
        assert_eq!(squares, Ok((0..100).map(|number| number * number).collect()));
        let until_three = in_order(1, 100, |number| if number < 3 { Ok(()) } else { Err(number) });
        assert_eq!(until_three, Err(3));
    }
}
