use proptest::prelude::*;
use serde_json::json;

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(redact(text), expected);
    assert_eq!(redact(expected), expected, "twice");
}

#[track_caller]
fn stays(text: &str) {
    assert!(matches!(redact(text), Cow::Borrowed(it) if it == text), "{}", redact(text));
}

#[test]
fn keys_are_told_by_their_prefix() {
    check("sk-abcdefghijklmnop1234", "[redacted:api_key]");
    check("key ghp_0123456789abcdefghij, then", "key [redacted:api_key], then");
    check("xoxb-123456789012-abcdefABCDEF12", "[redacted:api_key]");
    check("AKIAIOSFODNN7EXAMPLE", "[redacted:aws_key]");
    check("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "[redacted:token]");
    check("at 123456789:AAabcdefghijklmnopqrstuvwxyz0123456", "at 123456789:[redacted:bot_token]");
}

#[test]
fn every_prefix_is_known() {
    for (prefix, _, least) in tokens::PREFIXES {
        let tail: String = "a1B2c3D4e5".chars().cycle().take(*least).collect();
        check(&format!("({prefix}{tail})"), "([redacted:api_key])");
    }
}

#[test]
fn headers_lose_what_proves_who_asks() {
    check("Authorization: Basic c2FtOjE=", "Authorization: Basic [redacted:authorization]");
    check("say bearer abcdef1234567890", "say bearer [redacted:token]");
    check("Cookie: id=7; theme=dark", "Cookie: [redacted:cookie]");
    check(r#"-H "X-Api-Key: abc1""#, r#"-H "X-Api-Key: [redacted:secret]""#);
}

#[test]
fn urls_lose_their_password() {
    check("postgres://u:pw@h/db", "postgres://u:[redacted:password]@h/db");
    check("redis://:p@ss@h:6379", "redis://:[redacted:password]@h:6379");
    check("https://x/?token=abc&page=2", "https://x/?token=[redacted:secret]&page=2");
    check("https://0123456789abcdef0123@h/x.git", "https://[redacted:token]@h/x.git");
    check(
        "https://hooks.slack.com/services/T000/B000/abcdefghijklmnop",
        "https://hooks.slack.com/services/[redacted:webhook]",
    );
}

#[test]
fn what_is_assigned_to_the_name_of_a_secret_is_one() {
    check("OPENAI_API_KEY=abc", "OPENAI_API_KEY=[redacted:secret]");
    check("password: hunter2secret", "password: [redacted:secret]");
    check("password: correct\nuser: sam", "password: [redacted:secret]\nuser: sam");
    check("password = \"two words\" # x", "password = \"[redacted:secret]\" # x");
    check("{'client_secret': 'it is'}", "{'client_secret': '[redacted:secret]'}");
    check(r#"{\"token\":\"abc\"}"#, r#"{\"token\":\"[redacted:secret]\"}"#);
    check("mysql --password hunter2 -h db", "mysql --password [redacted:secret] -h db");
    check("curl -s -u sam:pw https://h", "curl -s -u sam:[redacted:password] https://h");
    check(
        "Server=db;Uid=sam;Pwd=p;AccountKey=ab+c/d==;",
        "Server=db;Uid=sam;Pwd=[redacted:secret];AccountKey=[redacted:secret];",
    );
}

#[test]
fn key_blocks_go_whole() {
    let block = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----";
    check(&format!("a\n{block}\nb"), "a\n[redacted:private_key]\nb");
    check(&format!("{block}\n{block}"), "[redacted:private_key]\n[redacted:private_key]");
    check("-----BEGIN PRIVATE KEY-----\nMIIEabc", "[redacted:private_key]");
    stays("-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----");
    stays("-----BEGIN nothing");
}

#[test]
fn ordinary_text_stays() {
    stays("9fceb02d0ae598e95dc970b74767f19372d61af8");
    stays("550e8400-e29b-41d4-a716-446655440000");
    stays("sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
    stays("/home/sam/.ssh/id_rsa and C:\\Users\\sam\\token.txt");
    stays("GOOGLE_APPLICATION_CREDENTIALS=/etc/app/creds.json");
    stays("PWD=/home/sam/project");
    stays("max_tokens: 500, token_count=7, author: Sam, tokens: 12");
    stays("sk-learn-0-24-compatible-models and pip install fc-tools");
    stays("https://example.org:8080/a@b?page=2 git@github.com:sam/x.git");
    stays("the password: must have eight letters");
    stays("a bearer token is needed; authorization: see the docs");
    stays("risk-abcdefghijklmnop1234 task_0123456789abcdefghij_x");
    stays("cookie: two eggs and butter");
}

#[test]
fn what_only_names_a_secret_stays() {
    stays("TOKEN=os.getenv(\"X\")");
    stays("export TOKEN=$TOKEN API_KEY=${API_KEY} PASSWORD=%PASSWORD%");
    stays("token = None, password: null, secret=true");
    stays("if token == expected");
    stays("--password-file /etc/x/y --token $TOKEN");
    stays("api_key: ${{ secrets.KEY }}");
}

#[test]
fn values_are_redacted_by_their_form_and_their_name() {
    let value = json!({
        "command": "curl https://sam:pw@h",
        "password": "any text at all",
        "pin": 7,
        "auth": {"user": "sam", "code": 7, "on": true},
        "args": ["--token", "abc", "--page", "2"],
        "max_tokens": 5,
    });

    assert_eq!(
        redact_value(&value),
        json!({
            "command": "curl https://sam:[redacted:password]@h",
            "password": "[redacted:secret]",
            "pin": 7,
            "auth": {"user": "[redacted:secret]", "code": "[redacted:secret]", "on": true},
            "args": ["--token", "[redacted:secret]", "--page", "2"],
            "max_tokens": 5,
        })
    );
}

/// Pieces that rules look for, so that random texts come close to what they match.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z0-9]{0,12}",
        r#"[ \n"'=:;,&@/\\-]{1,3}"#,
        prop::sample::select(vec![
            "password",
            "token",
            "--api-key ",
            "Authorization: ",
            "Bearer ",
            "https://",
            "sk-",
            "ghp_",
            "AKIAIOSFODNN7EXAMPLE",
            "eyJhbGciOiJI.",
            "-----BEGIN PRIVATE KEY-----",
            "-----END ",
            "curl -u ",
            "cookie: ",
            "[redacted:secret]",
            "[redacted:",
            "é",
            "sig=",
            "$TOKEN",
            "os.getenv(",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..14).prop_map(|it| it.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn redacting_twice_changes_nothing(text in pieces()) {
        let once = redact(&text).into_owned();

        prop_assert_eq!(redact(&once), once.as_str());
    }
}

#[test]
fn long_hostile_texts_take_time_in_proportion() {
    let units = [
        "password",
        "token=",
        "a",
        "://a:",
        "sk-",
        "sk-a-",
        "eyJa.",
        "-----BEGIN PRIVATE KEY-----",
        "-----END ",
        "-----BEGIN PRIVATE KEY-----x-----END ",
        "curl ",
        "curl -u ",
        "cookie:",
        "Authorization:",
        "\"",
        "password=\"",
        " ",
        "--token ",
        "bearer ",
        "[redacted:",
        "?sig=",
        "token: a ",
    ];
    for unit in units {
        let text = unit.repeat(200_000 / unit.len());
        let start = std::time::Instant::now();

        let _ = redact(&text);

        // Work that grows with the square would take hours.
        assert!(start.elapsed().as_secs() < 20, "{unit}: {:?}", start.elapsed());
    }
}
