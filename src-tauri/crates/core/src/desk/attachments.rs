//! Images that the person adds to messages.

use super::Paddock;
use super::error::storage;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use paddock_protocol::*;
use paddock_store::attachments;

impl Paddock {
    pub(super) fn add_attachment(
        &self,
        session: &SessionId,
        name: &str,
        data: &str,
    ) -> Result<Reply, ClientError> {
        let refused =
            |message: String, hint: &str| ClientError::new(ErrorCode::BadRequest, message).hint(hint);
        let bytes = STANDARD.decode(data).map_err(|error| {
            refused(
                format!("The image did not arrive whole: {error}."),
                "Add it again.",
            )
        })?;
        if bytes.len() > Attachment::LARGEST {
            let size = bytes.len() / (1024 * 1024);
            return Err(refused(
                format!("'{name}' has {size} MB; models take images up to 5 MB."),
                "Make it smaller, or cut out the part that matters.",
            ));
        }
        let Some(media_type) = Attachment::media_type_of(&bytes) else {
            return Err(refused(
                format!("'{name}' is no image that models see."),
                "Use PNG, JPEG, GIF or WebP.",
            ));
        };
        let attachment =
            attachments::keep(&self.inner.home, session, name, media_type, &bytes).map_err(storage)?;
        Ok(Reply::Attachment { attachment })
    }

    pub(super) fn attachment_data(&self, session: &SessionId, id: &str) -> Result<Reply, ClientError> {
        let bytes = attachments::read(&self.inner.home, session, id).map_err(storage)?;
        Ok(Reply::Text {
            text: STANDARD.encode(bytes),
        })
    }
}
