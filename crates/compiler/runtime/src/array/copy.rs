//! Copies elements between the host and an array's memory, on any device.

use super::Array;
use super::view_bytes::ViewBytes;
use crate::data_type::Element;
use crate::error::Error;

impl Array {
    /// Reads all elements, row-major. Waits until all work queued in the array's stream is done.
    ///
    /// # Errors
    /// A type as which the elements can't be read; any error of the work for which the call
    /// waited.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        self.fits::<T>()?;
        let mut elements = vec![T::zeroed(); self.len()];
        let Some(view) = self.view_bytes() else { return Ok(elements) };
        if view.are_in_order(&self.shape, size_of::<T>()) {
            self.data.download(&view, bytemuck::cast_slice_mut(&mut elements))?;
            return Ok(elements);
        }
        let mut bytes = vec![0; view.bytes];
        self.data.download(&view, &mut bytes)?;
        let positions = positions(&self.shape, view.offset, &view.strides);
        for (element, at) in elements.iter_mut().zip(positions) {
            *element = bytemuck::pod_read_unaligned(&bytes[at..at + size_of::<T>()]);
        }
        Ok(elements)
    }

    /// Writes all elements, row-major. `elements` may be reused as soon as the call returns,
    /// although the copy may only be queued. If elements of the view overlap or interleave, the
    /// memory is read first, which waits for the stream.
    ///
    /// # Errors
    /// A type that doesn't fit the elements, or another number of them; an error of the device.
    pub fn write<T: Element>(&self, elements: &[T]) -> Result<(), Error> {
        self.fits::<T>()?;
        let (wanted, found) = (self.len(), elements.len());
        if wanted != found {
            return Err(Error::Array(format!("{found} elements for an array of {wanted}")));
        }
        let Some(view) = self.view_bytes() else { return Ok(()) };
        if view.are_in_order(&self.shape, size_of::<T>()) {
            return self.data.upload(&view, bytemuck::cast_slice(elements));
        }
        let mut bytes = vec![0; view.bytes];
        if view.has_gaps {
            self.data.download(&view, &mut bytes)?;
        }
        let positions = positions(&self.shape, view.offset, &view.strides);
        for (element, at) in elements.iter().zip(positions) {
            bytes[at..at + size_of::<T>()].copy_from_slice(bytemuck::bytes_of(element));
        }
        self.data.upload(&view, &bytes)
    }

    /// Sets all elements to one value. If elements of the view overlap or interleave, the memory is
    /// read first, which waits for the stream.
    ///
    /// # Errors
    /// A type that doesn't fit the elements; an error of the device.
    pub fn fill<T: Element>(&self, element: T) -> Result<(), Error> {
        self.fits::<T>()?;
        match self.view_bytes() {
            None => Ok(()),
            Some(view) if view.has_gaps => self.write(&vec![element; self.len()]),
            Some(view) => self.data.fill(&view, bytemuck::bytes_of(&element)),
        }
    }

    /// Copies all bytes of the underlying memory, the gaps between this view's elements included.
    ///
    /// # Errors
    /// The device failed, or a kernel that wrote there faulted.
    pub fn memory_bytes(&self) -> Result<Vec<u8>, Error> {
        let size = self.data.size();
        let mut bytes = vec![0; size];
        if size > 0 {
            self.data.download(&ViewBytes::of(0, &[size], &[1], 1), &mut bytes)?;
        }
        Ok(bytes)
    }

    fn fits<T: Element>(&self) -> Result<(), Error> {
        if T::stands_for(&self.data_type) && size_of::<T>() == self.data_type.layout().0 {
            return Ok(());
        }
        let (found, wanted) = (T::data_type(), &self.data_type);
        Err(Error::Array(format!("an array of `{wanted}` used as one of `{found}`")))
    }

    /// Returns the bytes of the elements; `None` if there are no elements.
    fn view_bytes(&self) -> Option<ViewBytes> {
        let size = self.data_type.layout().0;
        let some = !self.is_empty() && size > 0;
        some.then(|| ViewBytes::of(self.offset, &self.shape, &self.strides, size))
    }
}

/// Returns the byte offsets of all elements, row-major.
fn positions(shape: &[usize], offset: usize, strides: &[isize]) -> impl Iterator<Item = usize> {
    let len = shape.iter().product();
    (0..len).map(move |number: usize| {
        let (mut quotient, mut position) = (number, offset);
        for (&extent, &stride) in shape.iter().zip(strides).rev() {
            position = position.wrapping_add_signed(stride * (quotient % extent) as isize);
            quotient /= extent;
        }
        position
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Tests views of any kind: with gaps, backwards, with dimensions in any order, with
        /// overlapping elements.
        #[test]
        fn views_are_copied_element_by_element(
            offset in 0..300usize,
            dims in prop::collection::vec((0..6usize, prop::sample::select(vec![0isize, 2, 4, 6, 8, 12, 16, 24, 40, 60])), 1..=4),
            backwards in prop::collection::vec(any::<bool>(), 4),
        ) {
            let memory: Vec<u8> = (0..600u32).map(|at| (at * 7 % 251) as u8).collect();
            let shape: Vec<usize> = dims.iter().map(|(extent, _)| *extent).collect();
            let strides = dims.iter().zip(backwards);
            let strides: Vec<isize> = strides.map(|((_, stride), back)| if back { -stride } else { *stride }).collect();
            let made = Array::from_bytes(&memory, u16::data_type(), 2 * offset, &shape, &strides);
            let Ok(array) = made else { return Ok(()) };
            let places: Vec<usize> = positions(&shape, 2 * offset, &strides).collect();
            let naive: Vec<u16> = places.iter().map(|&at| u16::from_le_bytes([memory[at], memory[at + 1]])).collect();
            prop_assert_eq!(array.to_vec::<u16>(), Ok(naive));
            let values: Vec<u16> = (1000..).take(places.len()).collect();
            let mut written = memory.clone();
            for (&at, value) in places.iter().zip(&values) {
                written[at..at + 2].copy_from_slice(&value.to_le_bytes());
            }
            array.write(&values).expect("as many");
            prop_assert_eq!(array.memory_bytes(), Ok(written.clone()));
            for &at in &places {
                written[at..at + 2].copy_from_slice(&77u16.to_le_bytes());
            }
            array.fill(77u16).expect("u16");
            prop_assert_eq!(array.memory_bytes(), Ok(written));
        }
    }
}
