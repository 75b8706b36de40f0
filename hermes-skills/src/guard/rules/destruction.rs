//! What destroys data or makes a machine unusable.

use super::{RUNS, Rule, USUAL, rule};
use crate::guard::Category::Destructive;

pub(super) const RULES: &[Rule] = &[
    rule(
        ("destructive_rm", "rm"),
        Destructive,
        RUNS,
        r#"(?i)\brm\s+(?:-[a-z-]+\s+)*(?:-[a-z]*r[a-z]*|--recursive)\s+(?:-[a-z-]+\s+)*(?:--\s+)?["']?(?:/|~|\$\{?HOME\}?|/\*|~/|/(?:etc|usr|var|home|root|boot|bin|lib|opt|Users|System|Library)|/\$\{?HOME\}?|\*)["']?/?\*?["']?(?:\s|$|[;&|`)'"\]])"#,
        "deletes a whole disk or home",
    ),
    rule(
        ("destructive_call", "rmtree rmsync rmdirsync rimraf remove_dir_all removeall rm_rf rm_r"),
        Destructive,
        RUNS,
        r#"(?i)(?:rmtree|rmSync|rmdirSync|rimraf|remove_dir_all|RemoveAll|rm_rf|rm_r)\s*\(\s*(?:os\.path\.expanduser\(\s*["']~/?["']\s*\)|Path\.home\(\)|os\.environ\[["']HOME["']\]|os\.homedir\(\)|["'](?:/|~|/etc|/home|/usr|/var)/?["']|Dir\.home)\s*[,)]"#,
        "deletes a whole disk or home",
    ),
    rule(
        ("destructive_powershell", "-recurse /s"),
        Destructive,
        RUNS,
        r#"(?i)\b(?:remove-item|ri|rd|rmdir|del)\b[^\n;|]*(?:-recurse|/s\b)[^\n;|]*(?:\b[a-z]:\\?(?:\s|$|\*|["'])|\$home\b|\$env:userprofile|%userprofile%|~(?:\s|$))|(?:\$env:userprofile|\$home|~|[a-z]:\\)\s[^\n|]*\|[^\n]*\b(?:remove-item|ri|rm|del)\b"#,
        "deletes a whole disk or home",
    ),
    rule(
        ("destructive_disk", "/dev/ mkfs format diskpart"),
        Destructive,
        RUNS,
        r"(?i)\bdd\b[^\n|;]*\bof=/dev/(?:sd|hd|vd|nvme|mmcblk|disk|r?disk)|\bmkfs(?:\.\w+)?\s+(?:-\S+\s+)*/dev/|>\s*/dev/(?:sd|hd|vd|nvme)|\bformat\s+[a-z]:|\bwipefs\b[^\n]*/dev/|\bdiskpart\b",
        "overwrites a disk",
    ),
    rule(
        ("destructive_shred", "shred find truncate"),
        Destructive,
        RUNS,
        r#"(?i)\bshred\b[^\n;|]*\s["']?(?:~|\$HOME|/(?:etc|home|root|usr|var|dev))|\bfind\s+(?:/|~|\$HOME)\s[^\n]*(?:-delete|-exec\s+(?:rm|shred|dd)\b)|\btruncate\s+-s\s*0\s+(?:/etc|/var|/home|~)"#,
        "destroys files beyond recovery",
    ),
    rule(
        ("fork_bomb", ":()"),
        Destructive,
        RUNS,
        r":\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;",
        "brings the machine to a stop",
    ),
    rule(
        ("system_overwrite", "/etc/"),
        Destructive,
        RUNS,
        r"(?i)(?:>>?|\btee\s+(?:-a\s+)?)\s*/etc/(?:hosts|passwd|shadow|resolv\.conf|ld\.so\.preload|profile|environment|crontab|pam\.d|ssh/|fstab|group)",
        "overwrites the configuration of the system",
    ),
    rule(
        ("insecure_mode", "chmod"),
        Destructive,
        USUAL,
        r"(?i)\bchmod\s+(?:-\w+\s+)*(?:777|a\+rwx|ugo\+rwx)\s+(?:/|~|\$HOME)\S*",
        "lets everyone write where only the owner should",
    ),
    rule(
        ("ransom", "encrypt"),
        Destructive,
        RUNS,
        r#"(?i)(?:expanduser|Path\.home|homedir|\$HOME|~/|userprofile|["']/home)[^\n]*\bencrypt(?:or)?\w*\s*\(|\bencrypt\w*\s*\([^\n]*(?:expanduser|Path\.home|homedir|userprofile)"#,
        "encrypts the files of the user",
    ),
];
