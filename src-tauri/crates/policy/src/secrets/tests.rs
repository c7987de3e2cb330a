//! True secrets are made here, piece by piece, so that no scanner takes this file for a leak; none was ever valid.

use super::*;
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

const BASE62: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Letters without order, always the same ones for a seed.
fn letters(alphabet: &str, length: usize, seed: u64) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            alphabet[usize::try_from(state % alphabet.len() as u64).unwrap()]
        })
        .collect()
}

fn private_key(kind: &str, lines: usize) -> String {
    let marker = |word: &str| ["-----", word, " ", kind, "PRIVATE", " KEY-----"].concat();
    let body: Vec<String> = (0..lines)
        .map(|line| letters(BASE62, 64, 900 + line as u64))
        .collect();
    format!("{}\n{}\n{}", marker("BEGIN"), body.join("\n"), marker("END"))
}

/// Secrets that their form gives away.
fn by_form() -> Vec<String> {
    let b = |length, seed| letters(BASE62, length, seed);
    let hex = |length, seed| letters(HEX, length, seed);
    let jwt = |header: &str, seed| {
        format!(
            "{}.{}.{}",
            encoded(header),
            encoded(&format!("{{\"sub\":\"{}\"}}", b(12, seed))),
            b(43, seed + 1)
        )
    };
    vec![
        ["AK", "IA", &letters(CAPITALS, 16, 1)].concat(),
        ["AS", "IA", &letters(CAPITALS, 16, 2)].concat(),
        ["gh", "p_", &b(36, 3)].concat(),
        ["gh", "o_", &b(36, 4)].concat(),
        ["gh", "s_", &b(36, 5)].concat(),
        ["gh", "u_", &b(36, 6)].concat(),
        ["github", "_pat_", &b(22, 7), "_", &b(59, 8)].concat(),
        ["gl", "pat-", &b(20, 9)].concat(),
        ["gl", "rt-", &b(20, 10)].concat(),
        ["xo", "xb-", "123456789012-", &b(24, 11)].concat(),
        ["xo", "xp-", "123456789012-", &b(32, 12)].concat(),
        ["xap", "p-1-", &b(40, 13)].concat(),
        ["sk", "_live_", &b(24, 14)].concat(),
        ["rk", "_live_", &b(24, 15)].concat(),
        ["wh", "sec_", &b(32, 16)].concat(),
        ["sk", "-", &b(48, 17)].concat(),
        ["sk", "-proj-", &b(64, 18)].concat(),
        ["sk", "-ant-", "api03-", &b(80, 19)].concat(),
        ["sk", "-or-v1-", &hex(64, 20)].concat(),
        ["AI", "za", &b(35, 21)].concat(),
        ["ya", "29.", &b(60, 22)].concat(),
        ["GOC", "SPX-", &b(28, 23)].concat(),
        ["np", "m_", &b(36, 24)].concat(),
        ["py", "pi-", &b(80, 25)].concat(),
        ["ruby", "gems_", &hex(48, 26)].concat(),
        ["dckr", "_pat_", &b(27, 27)].concat(),
        ["h", "f_", &b(34, 28)].concat(),
        ["gs", "k_", &b(52, 29)].concat(),
        ["do", "p_v1_", &hex(64, 30)].concat(),
        ["shp", "at_", &hex(32, 31)].concat(),
        ["S", "G.", &b(22, 32), ".", &b(43, 33)].concat(),
        ["S", "K", &hex(32, 34)].concat(),
        ["key", "-", &hex(32, 35)].concat(),
        ["1234567890:", "AA", &b(33, 36)].concat(),
        ["M", &b(23, 37), ".", &b(6, 38), ".", &b(27, 39)].concat(),
        ["AGE-SECRET", "-KEY-1", &letters(CAPITALS, 58, 40)].concat(),
        ["lin", "_api_", &b(40, 41)].concat(),
        ["nt", "n_", &b(46, 42)].concat(),
        ["da", "pi", &hex(32, 43)].concat(),
        ["hv", "s.", &b(24, 44)].concat(),
        ["sn", "trys_", &b(60, 45)].concat(),
        ["fig", "d_", &b(40, 46)].concat(),
        ["ATA", "TT3", &b(60, 47)].concat(),
        jwt("{\"alg\":\"HS256\",\"typ\":\"JWT\"}", 48),
        jwt("{\"typ\":\"JWT\",\"alg\":\"RS256\",\"kid\":\"1\"}", 50),
        private_key("RSA ", 5),
        private_key("", 3),
        private_key("OPENSSH ", 7),
        private_key("EC ", 2).replace('\n', "\\n"),
    ]
}

/// Secrets behind a name, each in its text.
fn by_name() -> Vec<(String, String)> {
    let b = |length, seed| letters(BASE62, length, seed);
    let hex = |length, seed| letters(HEX, length, seed);
    let named = |before: &str, secret: String, after: &str| (format!("{before}{secret}{after}"), secret);
    vec![
        named(
            &format!("{}{},", "AKIA", letters(CAPITALS, 16, 60)),
            letters(BASE62, 40, 61),
            "\n",
        ),
        named("aws_secret_access_key = ", b(40, 62), "\n"),
        named("export DB_PASSWORD=", "kT9!vLq2zR".into(), " # x"),
        named("password: \"", "x7Gh!22kLmPq".into(), "\"\n"),
        named("const apiKey = '", b(32, 63), "';"),
        named("client_secret=", hex(40, 64), "&grant_type=x"),
        named("{\"access_token\":\"", b(40, 65), "\",\"expires_in\":3600}"),
        named("{\\\"password\\\": \\\"", "Zq83hhT0xxPw".into(), "\\\"}"),
        named("tool --password ", "wT5kQz88Lm3".into(), " --user me"),
        named("tool --api-key=", hex(32, 66), ""),
        named("api_key => '", b(24, 67), "'"),
        named("  secret_key: ", b(50, 68), "\n  host: x"),
        named("authToken = \"", b(20, 69), "\""),
        named(
            "HEROKU_API_KEY=",
            "4b1f7d0c-93ae-4c51-8a57-0d3f2b6e9c18".into(),
            "\n",
        ),
        named("postgres://app:", "s3cr3tPw9".into(), "@db.example.com:5432/app"),
        named("https://me:", b(30, 70), "@git.example.org/a.git"),
        named("redis://:", "p4ssw0rdzz".into(), "@10.0.0.1:6379"),
        named("Authorization: Bearer ", b(40, 71), "\n"),
        named("authorization: bearer ", hex(40, 72), "\r\n"),
        named("Authorization: Basic ", encoded("admin:kT9vLq2zR"), "\n"),
        named(
            "AccountName=x;AccountKey=",
            format!("{}==", b(86, 73)),
            ";EndpointSuffix=y",
        ),
        named("https://a.blob.core.windows.net/c?sv=1&sig=", b(43, 74), "%3D"),
        named(
            "https://hooks.",
            format!("slack.com/services/T{}/B{}/{}", b(8, 75), b(8, 76), b(24, 77)),
            "",
        ),
        named("passphrase='", "Tr0ub4dor&3xyz".into(), "'"),
        named("MYSQL_PWD=", "aB3$dE5gH7j".into(), " mysql"),
        named("token=", hex(32, 78), "\n"),
        named("secrets:\n  jwt_secret: ", b(64, 79), "\n"),
    ]
}

/// A text and the secret in it.
fn secrets() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = by_form()
        .into_iter()
        .enumerate()
        .map(|(at, secret)| {
            let text = match at % 4 {
                0 => format!("found {secret} in the log"),
                1 => format!("X={secret}\n"),
                2 => format!("{{\"a\": \"{secret}\", \"b\": 2}}"),
                _ => secret.clone(),
            };
            (text, secret)
        })
        .collect();
    all.extend(by_name());
    all
}

fn encoded(text: &str) -> String {
    crate::base64::encoded(text.as_bytes())
}

const HARMLESS: &[&str] = &[
    "password = os.environ[\"DB_PASSWORD\"]",
    "token: string;",
    "secret: &str,",
    "password: Option<String>,",
    "let token = get_token();",
    "const token = await fetchToken(user1);",
    "PASSWORD=$PASSWORD",
    "password=${DB_PASSWORD:-none}",
    "api_key = <your key>",
    "API_KEY=xxxxxxxxxxxxxxxxxxxx",
    "api_key: YOUR_API_KEY_HERE",
    "apiKey: 'sk-test'",
    "token = \"sk-test\"",
    "password: changeme",
    "password: \"password123\"",
    "secret = \"test-secret-1\"",
    "AKIAIOSFODNN7EXAMPLE",
    "fix the token of the reader",
    "the password reset page",
    "max_tokens: 4096",
    "max_tokens=128000",
    "tokens: 12345678",
    "token_count = 12345678",
    "tokenizer: \"gpt2-Large-v1.5\"",
    "let token_id = \"a1b2c3d4e5f6\";",
    "secret_name: prod-db-7f3a9c21",
    "password_hash_algorithm: argon2id-v19",
    "secretsmanager.get_secret_value(SecretId=name)",
    "src/auth/password_reset.rs",
    "import { tokenize } from './tokenizer2'",
    "private_key_path=/etc/ssl/private/key1.pem",
    "key_file: ./certs/Server1.key",
    "password = getpass.getpass()",
    "token = self.session.token2",
    "token = config.auth.accessToken",
    "if token == \"Bearer\":",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Basic realm",
    "Bearer authentication is used",
    "basic-configuration of the tool",
    "postgres://user:password@localhost/db",
    "postgres://postgres:postgres@db:5432/x",
    "https://user:$PASS@host/x",
    "https://host:8080/path@2",
    "http://localhost:3000/@vite/client",
    "git@github.com:a/b.git",
    "ssh://git@host:2222/a.git",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
    "const MARK = \"-----BEGIN PRIVATE KEY-----\";\nlet x = 1;",
    "-----BEGIN CERTIFICATE-----",
    "0198f2a4-7c1e-7b55-9c0d-2f6a1b3c4d5e",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "color: #a1b2c3d4;",
    "background: url(data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==)",
    "00000000  7f 45 4c 46 02 01 01 00  00 00 00 00 00 00 00 00  |.ELF............|",
    "skeleton-loading-animation-3f9a2c",
    "task-runner-2",
    "npm_config_registry=https://registry.example.org",
    "pypi-mirror",
    "ghp_short",
    "glpat-x",
    "SG.x.y",
    "AIzaShort",
    "sk-learn 1.5",
    "a-very-long-name-of-a-branch-without-any-digit-in-it",
    "eyJmb28iOiJiYXIifQ.notajwt12.abcdefgh12",
    "token=",
    "password: ",
    "",
    "credentials: 'include'",
    "credentials: \"same-origin\"",
    "access_key_id_column: \"user_key_2\"",
    "passwordField1 = form.password2",
    "public_token_url: https://example.org/oauth2/token",
    "tokenType: 'Bearer2'",
    "license_key: LicenseRef-MIT-2.0",
    "auth_key: AuthKeyV2",
];

/// What is no secret, though it may look like one.
fn harmless() -> Vec<String> {
    let b = |length, seed| letters(BASE62, length, seed);
    let hex = |length, seed| letters(HEX, length, seed);
    let mut all: Vec<String> = HARMLESS.iter().map(|text| (*text).to_owned()).collect();
    all.extend([
        format!("commit {}", hex(40, 80)),
        format!("git show {}", hex(7, 81)),
        format!("index {}..{} 100644", hex(10, 82), hex(10, 83)),
        format!("\"integrity\": \"sha512-{}==\"", b(86, 84)),
        format!("checksum = \"{}\"", hex(64, 85)),
        format!("sha256:{}", hex(64, 86)),
        format!("<img src=\"data:image/png;base64,{}\">", b(400, 87)),
        format!("app.{}.js", hex(20, 88)),
        format!(".css-{}{{margin:0}}", b(7, 89)),
        format!("dist/assets/index-{}.js 12.3 kB", b(8, 90)),
        format!("function a(b){{return c.{}(d)}}", b(12, 91)),
        format!("ETag: \"{}\"", hex(32, 92)),
        format!("nonce-{}", b(22, 93)),
        format!("go.sum h1:{}=", b(43, 94)),
        format!("pick {} tokens of the parser", hex(8, 95)),
        format!("ami-{} vpc-{}", hex(17, 96), hex(17, 97)),
        format!("docker.io/library/node@sha256:{}", hex(64, 98)),
        format!("target/debug/deps/paddock_policy-{}", hex(16, 99)),
    ]);
    all
}

#[test]
fn true_secrets_are_masked() {
    let all = secrets();
    assert!(all.len() >= 60, "{}", all.len());
    let masker = Masker::default();
    let mut faults = Vec::new();
    for (text, secret) in &all {
        let masked = masker.mask(text);
        let middle: String = secret.chars().skip(secret.chars().count() / 3).take(6).collect();
        if masked.count == 0 || masked.text.contains(secret.as_str()) || masked.text.contains(&middle) {
            faults.push(format!("{text:?} → {:?}", masked.text));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_is_no_secret_stays() {
    let all = harmless();
    assert!(all.len() >= 60, "{}", all.len());
    let masker = Masker::default();
    let faults: Vec<String> = all
        .iter()
        .filter(|text| masker.mask(text).text != text.as_str())
        .map(|text| format!("{text:?} → {:?}", masker.mask(text).text))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_secret_is_masked_wherever_the_pieces_meet() {
    let masker = Arc::new(Masker::default());
    for (text, _) in secrets() {
        let text = format!("before it\n{text} behind it\nand on\n");
        let whole = masker.mask(&text).text.into_owned();
        for (at, _) in text.char_indices() {
            let mut stream = MaskStream::new(masker.clone());
            let mut out = stream.push(&text[..at]);
            out += &stream.push(&text[at..]);
            out += &stream.finish();
            assert_eq!(out, whole, "cut at {at}");
        }
    }
}

#[test]
fn known_values_are_masked_in_every_encoding() {
    let value = "p a/ss+\"w\u{f6}rd\"\n9";
    let masker = Masker::new([
        ("DB".to_owned(), value.to_owned()),
        ("SHORT".to_owned(), "abc".to_owned()),
    ]);
    let json = r#"p a/ss+\"wörd\"\n9"#;
    for form in [
        value.to_owned(),
        json.to_owned(),
        json.replace('/', "\\/"),
        "p%20a%2Fss%2B%22w%C3%B6rd%22%0A9".to_owned(),
        "p%20a%2fss%2b%22w%c3%b6rd%22%0a9".to_owned(),
        "p+a%2Fss%2B%22w%C3%B6rd%22%0A9".to_owned(),
    ] {
        let masked = masker.mask(&form).text.into_owned();
        assert_eq!(masked, "[secret: DB]", "{form}");
    }
    for before in ["", "u", "us", "use"] {
        let text = encoded(&format!("{before}{value}: and on"));
        let masked = masker.mask(&text);
        assert!(masked.count > 0, "{before:?} {text}");
        assert!(masked.text.contains("[secret: DB]"), "{}", masked.text);
    }
    assert_eq!(masker.mask("abc").count, 0);
    let long = letters(BASE62, 24, 7);
    let masked = Masker::new([("KEY".to_owned(), long.clone())])
        .mask(&long)
        .text
        .into_owned();
    assert_eq!(masked, format!("[secret: KEY …{}]", &long[20..]));
}

#[test]
fn what_was_masked_stays_as_it_is() {
    let masker = Masker::new([("MY_TOKEN_2b".to_owned(), "q8Zk1LmP0vXr".to_owned())]);
    for (text, _) in secrets()
        .into_iter()
        .chain([("token=q8Zk1LmP0vXr".to_owned(), String::new())])
    {
        let once = masker.mask(&text).text.into_owned();
        assert_eq!(masker.mask(&once).text, once);
    }
}

#[test]
fn text_is_not_held_back_without_need() {
    let mut stream = MaskStream::new(Arc::new(Masker::default()));
    assert_eq!(stream.push("running 3 tests\n"), "running 3 tests\n");
    assert_eq!(stream.push("...."), "....");
    assert_eq!(stream.push("compiling foo"), "compiling ");
    assert_eq!(stream.push("bar\n"), "foobar\n");
    let endless = stream.push(&"x".repeat(300_000));
    assert!(endless.len() > 200_000);
    assert_eq!(stream.finish().len() + endless.len(), 300_000);
}

#[test]
fn a_private_key_longer_than_what_waits_is_dropped_to_its_end() {
    let key = private_key("RSA ", 3_000);
    let mut stream = MaskStream::new(Arc::new(Masker::default()));
    let mut out = String::new();
    for piece in format!("a\n{key}\nb\n").as_bytes().chunks(1_000) {
        out += &stream.push(std::str::from_utf8(piece).unwrap());
    }
    out += &stream.finish();
    assert_eq!(out, "a\n[secret: private key]\nb\n");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn pieces_and_the_whole_are_masked_alike(
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), 0_u8..3), 1..8),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        known in any::<bool>(),
    ) {
        static TRUE: LazyLock<Vec<(String, String)>> = LazyLock::new(secrets);
        static FALSE: LazyLock<Vec<String>> = LazyLock::new(harmless);
        let (true_ones, false_ones) = (&*TRUE, &*FALSE);
        let value = "correct horse\nbattery staple".to_owned();
        let masker = Arc::new(Masker::new(known.then(|| ("PASS".to_owned(), value.clone()))));
        let mut text = String::new();
        for (pick, genuine, joint) in &picks {
            match genuine {
                true => text += &true_ones[pick.index(true_ones.len())].0,
                false => text += &false_ones[pick.index(false_ones.len())],
            }
            text += ["\n", " and ", "\n\n"][usize::from(*joint)];
            if known {
                text += &value;
                text.push('\n');
            }
        }
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        places.retain(|at| text.is_char_boundary(*at));
        places.sort_unstable();
        let mut stream = MaskStream::new(masker.clone());
        let (mut out, mut from) = (String::new(), 0);
        for at in places {
            out += &stream.push(&text[from..at]);
            from = at;
        }
        out += &stream.push(&text[from..]);
        out += &stream.finish();
        prop_assert_eq!(out, masker.mask(&text).text.into_owned());
    }

    #[test]
    fn any_text_is_read_without_a_fault(text in ".{0,200}") {
        let masked = Masker::default().mask(&text);
        prop_assert_eq!(masked.count == 0, masked.text == text.as_str());
    }
}

#[test]
fn lines_with_secrets_are_named_once_each() {
    let key = private_key("RSA ", 3);
    let (one, two) = (&by_form()[0], &by_form()[1]);
    let text = format!("plain\n{one} {two}\n\n{key}\nplain\n{one}\n");
    assert_eq!(Masker::default().lines(&text), [2, 4, 10]);
    assert_eq!(Masker::default().lines("plain\ntext"), [] as [u32; 0]);
}
