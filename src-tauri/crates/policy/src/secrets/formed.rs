//! Keys that are known by their form: their makers gave them a prefix, so that they can be found.

use super::{Find, is_noise};
use crate::base64::decoded;
use aho_corasick::AhoCorasick;
use regex::Regex;
use std::sync::LazyLock;

/// Label and form. Each begins with letters of its own, so that one pass finds where they could stand.
const FORMS: &[(&str, &str)] = &[
    ("AWS access key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("GitHub token", r"gh[pousr]_[A-Za-z0-9]{36,251}"),
    ("GitHub token", r"github_pat_[A-Za-z0-9_]{50,251}"),
    (
        "GitLab token",
        r"gl(?:pat|dt|rt|ptt|cbt|soat|ft|oas|imt|agent)-[A-Za-z0-9_-]{20,}",
    ),
    ("Slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("Slack token", r"xapp-[0-9]-[A-Za-z0-9-]{20,}"),
    (
        "Slack address",
        r"hooks\.slack\.com/services/T[A-Za-z0-9]+/B[A-Za-z0-9]+/[A-Za-z0-9]{16,}",
    ),
    ("Stripe key", r"[sr]k_live_[A-Za-z0-9]{16,}"),
    ("Stripe key", r"whsec_[A-Za-z0-9+/=]{24,}"),
    ("Anthropic key", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}"),
    ("OpenRouter key", r"sk-or-v1-[a-f0-9]{40,}"),
    ("API key", r"sk-[A-Za-z0-9]{32,}"),
    ("Google key", r"AIza[A-Za-z0-9_-]{35}"),
    ("Google token", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("Google client secret", r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    ("npm token", r"npm_[A-Za-z0-9]{36}\b"),
    ("PyPI token", r"pypi-[A-Za-z0-9_-]{40,}"),
    ("RubyGems key", r"rubygems_[a-f0-9]{48}"),
    ("Docker token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    ("Hugging Face token", r"hf_[A-Za-z0-9]{30,}"),
    ("Groq key", r"gsk_[A-Za-z0-9]{40,}"),
    ("xAI key", r"xai-[A-Za-z0-9]{40,}"),
    ("Perplexity key", r"pplx-[A-Za-z0-9]{40,}"),
    ("Replicate token", r"r8_[A-Za-z0-9]{37}\b"),
    ("DigitalOcean token", r"do[opr]_v1_[a-f0-9]{64}"),
    ("Shopify token", r"shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}"),
    ("SendGrid key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("Twilio key", r"SK[0-9a-f]{32}\b"),
    ("Mailgun key", r"key-[a-f0-9]{32}\b"),
    ("age key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    ("Linear key", r"lin_api_[A-Za-z0-9]{32,}"),
    ("Notion token", r"(?:ntn_|secret_)[A-Za-z0-9]{40,}"),
    ("Databricks token", r"dapi[a-f0-9]{32}"),
    ("Vault token", r"hv[sb]\.[A-Za-z0-9_-]{24,}"),
    ("Doppler token", r"dp\.[a-z]{2,5}\.[A-Za-z0-9]{40,}"),
    ("Postman key", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("New Relic key", r"NRAK-[A-Z0-9]{27}"),
    ("Grafana token", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}"),
    ("Sentry token", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    ("Figma token", r"figd_[A-Za-z0-9_-]{40,}"),
    ("Supabase token", r"sbp_[a-f0-9]{40}"),
    ("Atlassian token", r"ATATT3[A-Za-z0-9_=-]{50,}"),
    (
        "Azure key",
        r"(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{40,}={0,2}",
    ),
    ("Azure signature", r"[?&]sig=[A-Za-z0-9%+/]{40,}"),
    (
        "signed token",
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    ),
];
/// Forms that begin with any letters.
const LOOSE: &[(&str, &str)] = &[
    ("Mailchimp key", r"[a-f0-9]{32}-us[0-9]{1,2}\b"),
    ("Telegram token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    (
        "Discord token",
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    ),
    ("Azure client secret", r"[A-Za-z0-9_.~-]{3}8Q~[A-Za-z0-9_.~-]{34}"),
];
/// The letters with which the forms begin.
const PREFIXES: &[&str] = &[
    "AKIA",
    "ASIA",
    "ABIA",
    "ACCA",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "glrt-",
    "glptt-",
    "glcbt-",
    "glsoat-",
    "glft-",
    "gloas-",
    "glimt-",
    "glagent-",
    "xox",
    "xapp-",
    "hooks.slack.com",
    "sk_live_",
    "rk_live_",
    "whsec_",
    "sk-",
    "AIza",
    "ya29.",
    "GOCSPX-",
    "npm_",
    "pypi-",
    "rubygems_",
    "dckr_",
    "hf_",
    "gsk_",
    "xai-",
    "pplx-",
    "r8_",
    "dop_v1_",
    "doo_v1_",
    "dor_v1_",
    "shpat_",
    "shpss_",
    "shpca_",
    "shppa_",
    "SG.",
    "SK",
    "key-",
    "AGE-SECRET-KEY-1",
    "lin_api_",
    "ntn_",
    "secret_",
    "dapi",
    "hvs.",
    "hvb.",
    "dp.",
    "PMAK-",
    "NRAK-",
    "glsa_",
    "glc_",
    "sntrys_",
    "sntryu_",
    "figd_",
    "sbp_",
    "ATATT3",
    "AccountKey=",
    "SharedAccessKey=",
    "?sig=",
    "&sig=",
    "eyJ",
];
/// A private key: up to its end, or, cut off, as far as its lines go.
const PRIVATE_KEY: &str = r#"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:\s*(?:Proc-Type|DEK-Info|Version|Comment|Hash)[^\n]*\n)*[A-Za-z0-9+/=\s\\",-]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:[\s\\nr"]*[A-Za-z0-9+/=]{20,})+)"#;
/// The id of an AWS key and, close behind it, its secret.
const PAIR: &str =
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9\n]{1,8}(?P<secret>[A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)";

struct Forms {
    prefixes: AhoCorasick,
    each: Vec<(&'static str, Regex)>,
    loose: Vec<(&'static str, Regex)>,
    private_key: Regex,
    pair: Regex,
}

/// The forms are fixed and the tests compile them; without them nothing would be found, and those tests fail.
static COMPILED: LazyLock<Option<Forms>> = LazyLock::new(|| {
    let compiled = |forms: &[(&'static str, &str)], begin: &str| -> Option<Vec<(&'static str, Regex)>> {
        let each = forms
            .iter()
            .map(|(label, form)| Some((*label, Regex::new(&format!("{begin}(?:{form})")).ok()?)));
        each.collect()
    };
    Some(Forms {
        prefixes: AhoCorasick::new(PREFIXES).ok()?,
        each: compiled(FORMS, "^")?,
        loose: compiled(LOOSE, r"(?-u:\b)")?,
        private_key: Regex::new(PRIVATE_KEY).ok()?,
        pair: Regex::new(PAIR).ok()?,
    })
});

fn by_prefix(forms: &Forms, text: &str, finds: &mut Vec<Find>) {
    let mut behind = 0;
    for hit in forms.prefixes.find_iter(text) {
        let at = hit.start();
        let inside = text
            .as_bytes()
            .get(at.wrapping_sub(1))
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let marked = text.as_bytes().get(at).is_some_and(|b| matches!(b, b'?' | b'&'));
        if at < behind || (inside && !marked) {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let found = forms
            .each
            .iter()
            .find_map(|(label, form)| Some((*label, form.find(rest)?)));
        let Some((label, found)) = found else { continue };
        let genuine = match label {
            "signed token" => is_signed_token(found.as_str()),
            _ => !is_noise(found.as_str()),
        };
        if genuine {
            // The name of a parameter stays readable.
            let name = match label {
                "Azure key" | "Azure signature" => found.as_str().find('=').map_or(0, |at| at + 1),
                _ => 0,
            };
            behind = at + found.end();
            finds.push(Find::new(at + name..behind, label));
        }
    }
}

pub(super) fn find(text: &str, finds: &mut Vec<Find>) {
    let Some(forms) = &*COMPILED else { return };
    by_prefix(forms, text, finds);
    for (label, form) in &forms.loose {
        let found = form.find_iter(text).filter(|found| !is_noise(found.as_str()));
        finds.extend(found.map(|found| Find::new(found.range(), label)));
    }
    if text.contains("PRIVATE KEY") {
        for found in forms.private_key.find_iter(text) {
            finds.push(Find {
                recognisable: false,
                ..Find::new(found.range(), "private key")
            });
        }
    }
    for found in forms.pair.captures_iter(text) {
        if let Some(secret) = found.name("secret").filter(|secret| !is_noise(secret.as_str())) {
            finds.push(Find::new(secret.range(), "AWS secret key"));
        }
    }
}

/// The first of three parts is a header that names how it is signed.
fn is_signed_token(text: &str) -> bool {
    let header = text.split('.').next().and_then(decoded).unwrap_or_default();
    let header = String::from_utf8_lossy(&header);
    header.starts_with('{') && header.contains("\"alg\"")
}
