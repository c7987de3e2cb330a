//! Images that the person or a tool added to a session, each once under the hash of its bytes.

use crate::{Home, StoreError, disk};
use paddock_protocol::{Attachment, SessionId};

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
}
