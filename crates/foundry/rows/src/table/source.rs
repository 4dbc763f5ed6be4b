//! A file for the `parquet` crate. A call that is interrupted again and again becomes an error.

use gbxcule_files::Patient;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

pub(super) struct Source(pub(super) Patient<File>);

impl Source {
    fn at(&self, start: u64) -> std::io::Result<Patient<File>> {
        let mut file = Patient::new(self.0.get().try_clone()?);
        file.seek(SeekFrom::Start(start))?;
        Ok(file)
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.0.get().metadata().map_or(0, |it| it.len())
    }
}

impl ChunkReader for Source {
    type T = BufReader<Patient<File>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(self.at(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes> {
        let there = self.len().saturating_sub(start);
        // The length comes from the file and may be wrong, so it is checked before memory is taken.
        if length as u64 > there {
            return Err(ParquetError::EOF(format!("{length} bytes at {start}, of {there}")));
        }
        let mut buffer = vec![0; length];
        self.at(start)?.read_exact(&mut buffer)?;
        Ok(buffer.into())
    }
}
