//! What runs or installs code that nobody has seen.

use super::{RUNS, Rule, Spared, USUAL, rule};
use crate::guard::{
    Category::SupplyChain,
    Severity::{Critical, Medium},
};

pub(super) const RULES: &[Rule] = &[
    rule(
        ("download_and_run", "curl wget fetch http"),
        SupplyChain,
        RUNS,
        r"(?i)\b(?:curl|wget|fetch)\b[^\n|]*\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+\S+\s+)?(?:/\w+/)*(?:(?:ba|z|da|k)?sh|perl|node|ruby|php)\b|\b(?:curl|wget)\b[^\n|]*\|\s*(?:sudo\s+)?python[\d.]*\s*(?:-\s*)?(?:$|[;&)\x60'\x22]|#)|https?://[^\s|]+[^\n|]*\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\s*(?:$|[;&)\x60'\x22]|-)|\b(?:ba|z)?sh\s+(?:-c\s+)?[\x22']?(?:<|\$)\(\s*(?:curl|wget)\b[^\n)]*",
        "runs what it downloads",
    )
    .spared(Spared::KnownInstaller),
    rule(
        ("download_then_run", "curl wget"),
        SupplyChain,
        (Critical, Medium),
        r"(?i)\b(?:curl|wget)\b[^\n]*(?:-[a-zA-Z]*[oO]|--output|>)\s*(\S+)[^\n]*(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:a|u)?\+x|chmod\s+7|(?:ba|z)?sh\s|\./|python\d?\s+/tmp|(?:source|\.)\s+/)",
        "runs what it downloads",
    )
    .spared(Spared::KnownInstaller),
    rule(
        ("foreign_index", "http://"),
        SupplyChain,
        USUAL,
        r"(?i)\b(?:pip\d?|uv)\b[^\n;|]*\s(?:--index-url|--extra-index-url|-i)\s*=?\s*http://|\bnpm\b[^\n;|]*--registry[= ]http://",
        "installs over a connection that anyone can change",
    ),
    rule(
        ("package_url", "install add"),
        SupplyChain,
        USUAL,
        r"(?i)\b(?:(?:npm|pnpm|yarn|bun)\s+(?:install|i|add)|pip\d?\s+install|uv\s+(?:pip\s+install|add)|gem\s+install|cargo\s+install\s+--git)\s+(?:-\S+\s+)*(?:git\+)?https?://\S+",
        "installs a package from anywhere",
    )
    .spared(Spared::KnownInstaller),
];
