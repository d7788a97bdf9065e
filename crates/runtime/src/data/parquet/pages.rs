//! Pages compressed with Zstandard, which the `parquet` crate decompresses only in C.
//!
//! Such columns are declared uncompressed to the crate; the pages that it returns are decompressed
//! here before they are used.

use crate::data::{DataError, Limits};
use ::parquet::basic::Compression;
use ::parquet::bloom_filter::Sbbf;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use ::parquet::file::reader::{FileReader, RowGroupReader, SerializedPageReader};
use ::parquet::file::serialized_reader::SerializedFileReader;
use ::parquet::record::reader::RowIter;
use ::parquet::schema::types::Type as Schema;
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A Parquet file.
pub struct File {
    bytes: Bytes,
    file: SerializedFileReader<Bytes>,
    /// The largest page, in bytes.
    room: u64,
}

impl File {
    /// Opens a file.
    pub fn new(bytes: &Bytes, limits: &Limits<'_>) -> Result<File> {
        let file = SerializedFileReader::new(bytes.clone())?;
        Ok(File { bytes: bytes.clone(), file, room: limits.memory })
    }
}

impl FileReader for File {
    fn metadata(&self) -> &ParquetMetaData {
        self.file.metadata()
    }

    fn num_row_groups(&self) -> usize {
        self.file.num_row_groups()
    }

    fn get_row_group(&self, i: usize) -> Result<Box<dyn RowGroupReader + '_>> {
        Ok(Box::new(RowGroup { group: self.file.get_row_group(i)?, bytes: &self.bytes, room: self.room }))
    }

    fn get_row_iter(&self, projection: Option<Schema>) -> Result<RowIter<'_>> {
        RowIter::from_file(projection, self)
    }
}

/// A row group of a file.
struct RowGroup<'f> {
    group: Box<dyn RowGroupReader + 'f>,
    bytes: &'f Bytes,
    room: u64,
}

impl RowGroupReader for RowGroup<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.group.metadata()
    }

    fn num_columns(&self) -> usize {
        self.group.num_columns()
    }

    fn get_column_page_reader(&self, i: usize) -> Result<Box<dyn PageReader>> {
        let rows = self.group.metadata();
        let column = rows.column(i);
        if !matches!(column.compression(), Compression::ZSTD(_)) {
            return self.group.get_column_page_reader(i);
        }
        let plain = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        let count = usize::try_from(rows.num_rows())?;
        let pages = SerializedPageReader::new(Arc::new(self.bytes.clone()), &plain, count, None)?;
        Ok(Box::new(ZstdPages { pages, room: self.room }))
    }

    fn get_column_bloom_filter(&self, i: usize) -> Option<&Sbbf> {
        self.group.get_column_bloom_filter(i)
    }

    fn get_row_iter(&self, projection: Option<Schema>) -> Result<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

/// The pages of a column, each decompressed when it is read.
struct ZstdPages {
    pages: SerializedPageReader<Bytes>,
    room: u64,
}

impl ZstdPages {
    /// Decompresses the content of a page from a byte on.
    fn decompress_content(&self, packed: &Bytes, from: usize) -> Result<Bytes> {
        let damaged = || ParquetError::General("a page that is packed with Zstandard is damaged".to_string());
        let (before, packed) = packed.split_at_checked(from).ok_or_else(damaged)?;
        // A page of empty cells has no content.
        if packed.is_empty() {
            return Ok(Bytes::copy_from_slice(before));
        }
        let frames = ruzstd::decoding::StreamingDecoder::new(packed).map_err(|_| damaged())?;
        let limits = Limits { memory: self.room, interrupt: &AtomicBool::new(false) };
        let malformed = |why| DataError::Malformed { format: crate::data::Format::Parquet, why };
        let unpacked = limits.read_decompressed(frames, self.room, malformed).map_err(|_| damaged())?;
        Ok(match before {
            [] => Bytes::from(unpacked),
            before => Bytes::from([before, &unpacked].concat()),
        })
    }

    /// Decompresses a page.
    fn decompress_page(&self, mut page: Page) -> Result<Page> {
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => {
                *buf = self.decompress_content(buf, 0)?
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed, .. } => {
                if *is_compressed {
                    // Levels are never compressed.
                    let levels =
                        (*def_levels_byte_len as usize).saturating_add(*rep_levels_byte_len as usize);
                    *buf = self.decompress_content(buf, levels)?;
                    *is_compressed = false;
                }
            }
        }
        Ok(page)
    }
}

impl Iterator for ZstdPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for ZstdPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.map(|page| self.decompress_page(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}
