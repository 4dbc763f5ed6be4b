//! Typed arenas: append-only vectors whose indices carry the type of the item.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

/// An index into an [`Arena`] of `T`. `Option<Handle<T>>` is as small as the handle.
pub struct Handle<T> {
    one_based: NonZeroU32,
    marker: PhantomData<fn() -> T>,
}

impl<T> Handle<T> {
    /// Returns the handle of the `index`-th item, counted from 0.
    pub const fn from_index(index: usize) -> Self {
        match NonZeroU32::new(index as u32 + 1) {
            Some(one_based) => Self { one_based, marker: PhantomData },
            None => unreachable!(),
        }
    }

    /// Returns the position in the arena, counted from 0.
    pub const fn index(self) -> usize {
        self.one_based.get() as usize - 1
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Handle<T> {}
impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.one_based == other.one_based
    }
}
impl<T> Eq for Handle<T> {}
impl<T> PartialOrd for Handle<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Handle<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.one_based.cmp(&other.one_based)
    }
}
impl<T> Hash for Handle<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.one_based.hash(state);
    }
}
impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index())
    }
}

/// Items in the order in which they were added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arena<T> {
    items: Vec<T>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T> Arena<T> {
    /// Adds an item.
    pub fn push(&mut self, item: T) -> Handle<T> {
        self.items.push(item);
        Handle::from_index(self.items.len() - 1)
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if the arena has no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the item, or `None` for a handle of a longer arena.
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        self.items.get(handle.index())
    }

    /// Iterates over all items with their handles.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Handle<T>, &T)> + DoubleEndedIterator {
        self.items.iter().enumerate().map(|(index, item)| (Handle::from_index(index), item))
    }

    /// Iterates over all items, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Handle<T>, &mut T)> {
        self.items.iter_mut().enumerate().map(|(index, item)| (Handle::from_index(index), item))
    }

    /// Iterates over all handles.
    pub fn handles(
        &self,
    ) -> impl ExactSizeIterator<Item = Handle<T>> + DoubleEndedIterator + use<T> {
        (0..self.items.len()).map(Handle::from_index)
    }
}

impl<T> Index<Handle<T>> for Arena<T> {
    type Output = T;

    fn index(&self, handle: Handle<T>) -> &T {
        &self.items[handle.index()]
    }
}

impl<T> IndexMut<Handle<T>> for Arena<T> {
    fn index_mut(&mut self, handle: Handle<T>) -> &mut T {
        &mut self.items[handle.index()]
    }
}

/// Run of items in a [`Pool`]: operations of variable length keep their operands there, so that
/// operations are small and `Copy`.
pub struct List<T> {
    start: u32,
    len: u32,
    marker: PhantomData<fn() -> T>,
}

impl<T> List<T> {
    /// The list without items.
    pub const EMPTY: Self = Self { start: 0, len: 0, marker: PhantomData };

    /// Returns the number of items.
    pub const fn len(self) -> usize {
        self.len as usize
    }

    /// Returns true if the list has no items.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for List<T> {}
impl<T> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.start, self.len) == (other.start, other.len)
    }
}
impl<T> Eq for List<T> {}
impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}; {}]", self.start, self.len)
    }
}

/// Storage that [`List`]s point into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pool<T> {
    items: Vec<T>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T> Pool<T> {
    /// Stores a list.
    pub fn add(&mut self, items: impl IntoIterator<Item = T>) -> List<T> {
        let start = self.items.len();
        self.items.extend(items);
        let len = (self.items.len() - start) as u32;
        if len == 0 { List::EMPTY } else { List { start: start as u32, len, marker: PhantomData } }
    }

    /// Returns the items of a list, or `None` for a list of a longer pool.
    pub fn get(&self, list: List<T>) -> Option<&[T]> {
        self.items.get(list.start as usize..(list.start as usize).checked_add(list.len())?)
    }

    /// Iterates over the items of all lists, to change them.
    pub fn items_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut()
    }

    /// Returns the number of items of all lists together.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if nothing was stored.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<T> Index<List<T>> for Pool<T> {
    type Output = [T];

    fn index(&self, list: List<T>) -> &[T] {
        &self.items[list.start as usize..][..list.len()]
    }
}

impl<T> IndexMut<List<T>> for Pool<T> {
    fn index_mut(&mut self, list: List<T>) -> &mut [T] {
        &mut self.items[list.start as usize..][..list.len()]
    }
}
