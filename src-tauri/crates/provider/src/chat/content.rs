//! What a message says: text, and images beside it.

use crate::Image;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// Plain text as long as there are no images: every server reads that.
#[derive(Debug)]
pub(crate) struct Content<'a> {
    text: Cow<'a, str>,
    images: Vec<&'a Image>,
}

impl<'a> Content<'a> {
    pub fn new(text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            text: text.into(),
            images: Vec::new(),
        }
    }

    pub fn append(&mut self, text: &str) {
        let all = self.text.to_mut();
        if !all.is_empty() {
            all.push_str("\n\n");
        }
        all.push_str(text);
    }

    pub fn prepend(&mut self, text: &str) {
        self.text = Cow::Owned(format!("{text}\n\n{}", self.text));
    }

    pub fn show(&mut self, images: impl IntoIterator<Item = &'a Image>) {
        self.images.extend(images);
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: Address },
}

#[derive(Serialize)]
struct Address {
    url: String,
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.images.is_empty() {
            return serializer.serialize_str(&self.text);
        }
        let text = Some(Part::Text { text: &self.text }).filter(|_| !self.text.trim().is_empty());
        let images = self.images.iter().map(|image| Part::ImageUrl {
            image_url: Address {
                url: format!("data:{};base64,{}", image.media_type, image.data),
            },
        });
        serializer.collect_seq(text.into_iter().chain(images))
    }
}
