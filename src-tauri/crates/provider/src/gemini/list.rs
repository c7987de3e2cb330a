//! The models that a server offers, page by page.

use crate::server::Server;
use crate::{next_page, page_size, read_model_list};
use paddock_protocol::{ModelEntry, ModelError, ProviderKind};
use url::form_urlencoded;

/// Pages that are read; one holds up to a thousand models.
const PAGE_LIMIT: usize = 10;

/// `version`: the beginning of every path, where the address leaves it out.
pub(super) async fn models(server: &Server, version: &str) -> Result<Vec<ModelEntry>, ModelError> {
    let mut entries = Vec::new();
    let mut mark = None;
    for _ in 0..PAGE_LIMIT {
        let text = server.document(&path(version, mark.as_ref())).await?;
        let page = read_model_list(ProviderKind::Gemini, &text).map_err(|error| {
            let label = &server.origin.label;
            let message = format!("The list of models of {label} was not readable: {error}.");
            server.origin.protocol_error(message, &text)
        })?;
        entries.extend(page);
        mark = next_page(ProviderKind::Gemini, &text);
        if mark.is_none() {
            break;
        }
    }
    entries.sort_by(|a, b| a.model.cmp(&b.model));
    entries.dedup_by(|a, b| a.model == b.model);
    Ok(entries)
}

fn path(version: &str, mark: Option<&(&'static str, String)>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(page_size(ProviderKind::Gemini));
    query.extend_pairs(mark);
    format!("{version}models?{}", query.finish())
}
