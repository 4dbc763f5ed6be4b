//! The dataset foundry: kernels sampled from typed grammars, run, checked and written.
