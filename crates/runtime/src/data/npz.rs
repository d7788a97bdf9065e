//! NumPy's `.npz` files: an archive with an `.npy` file for each array.

use super::{Data, DataError, Format, Limits, npy};
use bytes::Bytes;
use std::io::{Cursor, Read, Write};
use std::sync::Arc;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Returns the error of a malformed file.
fn malformed(why: impl Into<String>) -> DataError {
    DataError::Malformed { format: Format::Npz, why: why.into() }
}

/// The number of bytes of an array that are decompressed to read its header.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// Reads one array of an archive.
pub fn read(bytes: &[u8], name: &str, limits: &Limits<'_>) -> Result<Data, DataError> {
    let mut limits = *limits;
    let unpacked = with_member(bytes, name, |file, entry, size| {
        let in_it = |why: String| malformed(format!("`{file}` in it: {why}"));
        let mut beginning = Vec::new();
        entry.take(MAX_HEADER_BYTES).read_to_end(&mut beginning).map_err(|error| in_it(error.to_string()))?;
        // Both headers, that of the member and that of the array, say how much there is. Further
        // content of the member is not decompressed.
        let promised = npy::expected_file_bytes(&beginning).map_or(size, |promised| promised.min(size));
        if promised > limits.memory {
            return Err(DataError::too_large(Format::Npz));
        }
        let mut rest = Cursor::new(beginning).chain(entry);
        let unpacked = limits.read_decompressed(rest.by_ref().take(promised), promised, in_it)?;
        // The checksum at the end of a member is verified when the end is read; a member that goes
        // on is longer than promised.
        let more = rest.take(1).read_to_end(&mut Vec::new()).map_err(|error| in_it(error.to_string()))?;
        match more {
            0 => Ok(unpacked),
            _ => Err(in_it(format!("it holds more than the {promised} bytes that its header promises"))),
        }
    })?;
    let (file, unpacked) = unpacked;
    // The decompressed bytes stay in memory while cells are made of them.
    limits.reserve(unpacked.len() as u64).ok_or_else(|| DataError::too_large(Format::Npz))?;
    npy::read(&Bytes::from(unpacked), &limits).map_err(|error| match error {
        DataError::Malformed { why, .. } => malformed(format!("`{file}` in it: {why}")),
        other => other,
    })
}

/// Returns the type of one array.
pub fn describe(bytes: &[u8], name: &str) -> Option<Data> {
    let (_, beginning) = with_member(bytes, name, |file, entry, _| {
        let mut beginning = Vec::new();
        let read = entry.take(MAX_HEADER_BYTES).read_to_end(&mut beginning);
        read.map(|_| beginning).map_err(|error| malformed(format!("`{file}` in it: {error}")))
    })
    .ok()?;
    npy::describe(&beginning)
}

/// Calls `made` with the name, the content and the stated size of one member of an archive, and
/// returns its result with the name of the member.
fn with_member<T>(
    bytes: &[u8],
    name: &str,
    made: impl FnOnce(&str, &mut dyn Read, u64) -> Result<T, DataError>,
) -> Result<(String, T), DataError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| malformed(format!("it is no archive: {error}")))?;
    let names: Vec<String> = archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
    let bare = |file: &str| file.strip_suffix(".npy").unwrap_or(file).to_string();
    let Some(file) = names.iter().find(|file| *file == name || bare(file) == name) else {
        let mut there: Vec<String> = names.iter().map(|file| bare(file)).collect();
        there.sort();
        let similar = super::conversion::similar_name(name, &there);
        return Err(DataError::MissingColumn { what: "array", name: name.to_string(), there, similar });
    };
    let mut entry = archive.by_name(file).map_err(|error| malformed(format!("`{file}` in it: {error}")))?;
    let size = entry.size();
    let made = made(file, &mut entry, size)?;
    Ok((file.clone(), made))
}

/// Returns named arrays as the bytes of an archive.
pub fn write(arrays: &[(Arc<str>, Data)], limits: &Limits<'_>) -> Result<Vec<u8>, DataError> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    let unwritable = |error: String| DataError::Unwritable { why: error };
    let mut limits = *limits;
    for (name, data) in arrays {
        let bytes = npy::write(data, &limits)?;
        limits.reserve(bytes.len() as u64).ok_or_else(DataError::too_large_to_write)?;
        archive.start_file(format!("{name}.npy"), options).map_err(|error| unwritable(error.to_string()))?;
        archive.write_all(&bytes).map_err(|error| unwritable(error.to_string()))?;
    }
    let done = archive.finish().map_err(|error| unwritable(error.to_string()))?;
    Ok(done.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// An archive with one member, whose array has one number by its header, followed by zeros.
    fn archive(zeros: usize) -> Vec<u8> {
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}";
        let mut member = b"\x93NUMPY\x01\x00".to_vec();
        member.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
        member.extend(header.as_bytes());
        member.extend(1.5f64.to_le_bytes());
        member.resize(member.len() + zeros, 0);
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        archive.start_file("a.npy", options).expect("a member");
        archive.write_all(&member).expect("a member");
        archive.finish().expect("an archive").into_inner()
    }

    #[test]
    fn a_member_is_unpacked_as_far_as_its_header_promises() {
        let stop = AtomicBool::new(false);
        let limits = Limits { memory: 1 << 30, interrupt: &stop };
        assert_eq!(read(&archive(0), "a", &limits).expect("an array").shape, [1]);
        // Packed, these are some hundred kilobytes.
        let bomb = archive(200 << 20);
        assert!(bomb.len() < 1 << 20, "{}", bomb.len());
        let begun = std::time::Instant::now();
        let refused = read(&bomb, "a", &limits);
        let why = match refused {
            Err(DataError::Malformed { why, .. }) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why, "`a.npy` in it: it holds more than the 73 bytes that its header promises");
        assert!(begun.elapsed() < std::time::Duration::from_millis(500), "{:?}", begun.elapsed());
    }
}
