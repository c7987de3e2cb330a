//! Images that the person or a tool added to a session, each once under the hash of its bytes.

use crate::{Home, StoreError, disk};
use paddock_protocol::{Attachment, SessionId};

/// Largest image in bytes.
pub const LARGEST: usize = 5 * 1024 * 1024;

/// Keeps an image of the session. The log names it, so it is on the disk when this returns.
pub fn keep(
    home: &Home,
    session: &SessionId,
    name: &str,
    media_type: &str,
    bytes: &[u8],
) -> Result<Attachment, StoreError> {
    let id = disk::hash(bytes);
    disk::replace(&home.attachment(session, &id)?, bytes, disk::Replace::Durable)?;
    Ok(Attachment {
        id,
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
    })
}

/// The bytes of an image. [`StoreError::NotFound`] when it is not among the session's.
pub fn read(home: &Home, session: &SessionId, id: &str) -> Result<Vec<u8>, StoreError> {
    disk::read(&home.attachment(session, id)?)?.ok_or_else(|| StoreError::NotFound {
        what: "image".to_owned(),
    })
}

/// What kind of image the bytes are, by their beginning; `None` for anything that models do not take.
pub fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_kept_once_and_found_by_its_hash_only() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::open(Some(place.path().into())).unwrap();
        let session = SessionId::new("s");
        let bytes = b"\x89PNG\r\n\x1a\nrest";
        let kept = keep(&home, &session, "shot.png", "image/png", bytes).unwrap();
        assert_eq!(
            keep(&home, &session, "again.png", "image/png", bytes).unwrap().id,
            kept.id
        );
        assert_eq!(read(&home, &session, &kept.id).unwrap(), bytes);
        for id in ["00", "../lock", "../../settings.json", ""] {
            assert!(read(&home, &session, id).is_err(), "{id}");
        }
    }

    #[test]
    fn the_kind_is_told_by_the_bytes() {
        assert_eq!(media_type(b"\x89PNG\r\n\x1a\n"), Some("image/png"));
        assert_eq!(media_type(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(media_type(b"<svg>"), None);
        assert_eq!(media_type(b""), None);
    }
}
