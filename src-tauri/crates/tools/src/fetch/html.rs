//! HTML as Markdown, without what only a browser needs. Only the tokens of html5ever are used, not its tree: a page can be
//! written so that its tree is a thousand times larger than itself, and whoever wrote the page is not to be trusted.

use crate::bounds;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use reqwest::Url;
use std::cell::RefCell;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Letters are read in pieces, so that a page that is costly on purpose can be left.
const PIECE: usize = 8 * 1024;
const TIME: Duration = Duration::from_secs(3);
const MAX_LINK: usize = 500;
const MAX_DEPTH: usize = 8;
/// A page of which less than this is left without its frame is shown with it.
const LITTLE: usize = 200;

/// Elements of which nothing is text.
const SILENT: &[&str] = &[
    "audio", "canvas", "datalist", "math", "noscript", "object", "select", "svg", "template", "video",
];
/// What is around the content of a page.
const FRAME: &[&str] = &["footer", "nav"];
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "body",
    "caption",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "html",
    "legend",
    "main",
    "nav",
    "section",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
];

/// The text of a page; links are made absolute with `base`.
pub(super) fn markdown(html: &str, base: &Url) -> String {
    let content = read(html, base, true);
    if content.len() < LITTLE {
        return read(html, base, false);
    }
    content
}

fn read(html: &str, base: &Url, without_frame: bool) -> String {
    let page = RefCell::new(Page {
        base: Some(base),
        without_frame,
        ..Page::default()
    });
    let tokens = Tokenizer::new(Sink(&page), Default::default());
    let input = BufferQueue::default();
    let (mut rest, begun) = (html, Instant::now());
    let mut is_left = false;
    while !rest.is_empty() && !is_left {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE));
        input.push_back(StrTendril::from_slice(piece));
        // It stops after each script, which is not run here.
        while !input.is_empty() {
            let _ = tokens.feed(&input);
        }
        rest = more;
        is_left = begun.elapsed() > TIME;
    }
    tokens.end();
    drop(tokens);
    let mut text = page.into_inner().finish();
    if is_left {
        text.push_str("\n[the rest of the page is too costly to read]\n");
    }
    text
}

struct Sink<'a, 'b>(&'a RefCell<Page<'b>>);

impl TokenSink for Sink<'_, '_> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut page = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => page.start(&tag),
            Token::TagToken(tag) => {
                page.end(&tag.name);
                TokenSinkResult::Continue
            }
            Token::CharacterTokens(text) => {
                page.text(&text);
                TokenSinkResult::Continue
            }
            _ => TokenSinkResult::Continue,
        }
    }
}

/// The text so far.
#[derive(Default)]
struct Page<'a> {
    base: Option<&'a Url>,
    without_frame: bool,
    out: String,
    title: String,
    /// White space that is written once something follows.
    is_spaced: bool,
    /// The element whose content is left out, and how often it is open.
    silent: Option<(String, usize)>,
    is_raw: bool,
    in_title: bool,
    is_verbatim: bool,
    /// For each open list the number of its next entry; none for one without numbers.
    lists: Vec<Option<u32>>,
    link: Option<String>,
}

impl Page<'_> {
    fn start(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name = &*tag.name;
        if let Some((silent, open)) = &mut self.silent {
            *open += usize::from(silent == name && !tag.self_closing);
        } else if SILENT.contains(&name) || self.without_frame && FRAME.contains(&name) {
            if !tag.self_closing {
                self.silent = Some((name.to_owned(), 1));
            }
        } else {
            self.open(name, tag);
        }
        let kind = match name {
            "script" => RawKind::ScriptData,
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => RawKind::Rawtext,
            "title" | "textarea" => RawKind::Rcdata,
            _ => return TokenSinkResult::Continue,
        };
        self.is_raw = name != "title" && name != "xmp";
        self.in_title = name == "title";
        TokenSinkResult::RawData(kind)
    }

    fn open(&mut self, name: &str, tag: &Tag) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.lines(2);
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.put(&format!("{} ", "#".repeat(level)));
            }
            "p" | "blockquote" | "table" => self.lines(2),
            "br" => self.lines(1),
            "hr" => {
                self.lines(2);
                self.put("---");
                self.lines(2);
            }
            "ul" | "ol" | "menu" => {
                self.lines(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push((name == "ol").then_some(1));
            }
            "li" => self.entry(),
            "pre" | "listing" if !self.is_verbatim => {
                self.lines(2);
                self.put("```\n");
                self.is_verbatim = true;
            }
            "code" | "kbd" | "samp" if !self.is_verbatim => self.inline("`"),
            "tr" => self.lines(1),
            "td" | "th" => self.inline("| "),
            "img" => {
                if let Some(words) = attribute(tag, "alt").filter(|words| !words.trim().is_empty()) {
                    self.text(&format!("[image: {}]", words.trim()));
                }
            }
            "a" => self.open_link(attribute(tag, "href")),
            block if BLOCKS.contains(&block) => self.lines(1),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        self.is_raw = false;
        self.in_title = false;
        if let Some((silent, open)) = &mut self.silent {
            if silent == name {
                *open -= 1;
                if *open == 0 {
                    self.silent = None;
                }
            }
            return;
        }
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "blockquote" => self.lines(2),
            "ul" | "ol" | "menu" => {
                self.lists.pop();
                self.lines(if self.lists.is_empty() { 2 } else { 1 });
            }
            "pre" | "listing" if self.is_verbatim => {
                self.is_verbatim = false;
                self.lines(1);
                self.put("```");
                self.lines(2);
            }
            "code" | "kbd" | "samp" if !self.is_verbatim => self.out.push('`'),
            "td" | "th" => self.is_spaced = true,
            "a" => self.close_link(),
            block if BLOCKS.contains(&block) => self.lines(1),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title && self.title.len() < MAX_LINK {
            self.title.push_str(text);
        }
        if self.is_raw || self.in_title || self.silent.is_some() {
            return;
        }
        if self.is_verbatim {
            self.out.push_str(text);
            return;
        }
        let mut words = text.split_ascii_whitespace().peekable();
        self.is_spaced |= text.starts_with(|letter: char| letter.is_ascii_whitespace());
        while let Some(word) = words.next() {
            self.inline(word);
            self.is_spaced = words.peek().is_some();
        }
        self.is_spaced |= text.ends_with(|letter: char| letter.is_ascii_whitespace());
    }

    /// Text after the white space before it.
    fn inline(&mut self, text: &str) {
        if std::mem::take(&mut self.is_spaced) && !self.out.ends_with([' ', '\n']) && !self.out.is_empty() {
            self.out.push(' ');
        }
        self.out.push_str(text);
    }

    fn put(&mut self, text: &str) {
        self.is_spaced = false;
        self.out.push_str(text);
    }

    /// So many line ends, counting those that are there.
    fn lines(&mut self, wanted: usize) {
        self.is_spaced = false;
        if self.is_verbatim {
            return;
        }
        let kept = self.out.trim_end_matches(' ').len();
        self.out.truncate(kept);
        let there = self.out.len() - self.out.trim_end_matches('\n').len();
        if !self.out.is_empty() {
            (there..wanted).for_each(|_| self.out.push('\n'));
        }
    }

    fn entry(&mut self) {
        self.lines(1);
        let depth = self.lists.len().clamp(1, MAX_DEPTH) - 1;
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number = number.saturating_add(1);
                format!("{}. ", *number - 1)
            }
            _ => "- ".to_owned(),
        };
        self.put(&format!("{}{mark}", "  ".repeat(depth)));
    }

    fn open_link(&mut self, href: Option<&str>) {
        self.close_link();
        let to = href
            .filter(|href| !href.trim().starts_with('#'))
            .and_then(|href| self.base?.join(href).ok());
        let to = to.filter(|to| matches!(to.scheme(), "http" | "https") && to.as_str().len() <= MAX_LINK);
        if let Some(to) = to.filter(|_| !self.is_verbatim) {
            self.inline("[");
            self.link = Some(to.into());
        }
    }

    fn close_link(&mut self) {
        let Some(to) = self.link.take() else { return };
        if self.out.ends_with('[') {
            // Nothing was in it.
            self.out.pop();
        } else {
            let _ = write!(self.out, "]({to})");
        }
    }

    fn finish(mut self) -> String {
        self.close_link();
        let title = self.title.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let title = bounds::start_of(&title, MAX_LINK);
        let mut text = match title.is_empty() {
            true => String::new(),
            false => format!("Title: {title}\n\n"),
        };
        text.push_str(self.out.trim());
        text.push('\n');
        text
    }
}

fn attribute<'a>(tag: &'a Tag, name: &str) -> Option<&'a str> {
    let found = tag
        .attrs
        .iter()
        .find(|attribute| &*attribute.name.local == name)?;
    Some(&found.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(html: &str) -> String {
        markdown(html, &Url::parse("https://docs.example/a/b.html").unwrap())
    }

    #[test]
    fn a_page_becomes_markdown() {
        let html = r##"<!doctype html><html><head><title> The  page </title><style>p{}</style>
<script>if (a < b) { document.write("<p>no</p>") }</script></head><body>
<h1>Head&amp;line</h1><p>Some <b>bold</b>
 text,<br>next <a href="../c?x=1#y">a   link</a> and <a href="#top">up</a><a href="/e"></a>.</p>
<ul><li>one<li>two<ol><li>first</li><li>second</li></ol></li></ul>
<pre><code>fn main() {
    x &lt; y
}</code></pre><p>Call <code>run()</code>.
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<img src="data:image/png;base64,AAAA" alt="A cat"><svg><text>no</text></svg><textarea>no</textarea>
<a href="javascript:x()">script</a></body></html>"##;
        assert_eq!(
            text_of(html),
            "Title: The page\n\n# Head&line\n\nSome bold text,\nnext [a link](https://docs.example/c?x=1#y) and up.\n\n\
             - one\n- two\n  1. first\n  2. second\n\n```\nfn main() {\n    x < y\n}\n```\n\nCall `run()`.\n\n\
             | a | b\n| 1 | 2\n[image: A cat] script\n"
        );
    }

    #[test]
    fn the_frame_is_left_out_unless_it_is_all_there_is() {
        let body = "word ".repeat(100);
        let html = format!("<nav><a href=/x>Menu</a></nav><main>{body}</main><footer>Imprint</footer>");
        let text = text_of(&html);
        assert!(!text.contains("Menu") && !text.contains("Imprint"), "{text}");
        assert!(text_of("<nav><a href=/x>Menu</a></nav>").contains("[Menu](https://docs.example/x)"));
    }

    #[test]
    fn hostile_pages_are_left_in_time() {
        let begun = Instant::now();
        let deep = "<div><b><ul>".repeat(50_000);
        text_of(&deep);
        let formatting: String = (0..60_000).map(|n| format!("<b id={n}>")).collect();
        text_of(&format!("{formatting}{}", "<p>x".repeat(50_000)));
        let attributes: String = (0..200_000).map(|n| format!(" a{n}=1")).collect();
        let left = text_of(&format!("<p{attributes}>end"));
        assert!(left.contains("too costly") || left.contains("end"));
        for half in [
            "<",
            "<p",
            "<p a",
            "<p a='",
            "<!--",
            "<script>",
            "&",
            "&#x",
            "</",
            "<![CDATA[",
        ] {
            text_of(half);
        }
        assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    }
}
