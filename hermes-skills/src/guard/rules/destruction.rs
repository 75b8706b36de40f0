//! What destroys data or makes a machine unusable.

use super::{RUNS, Rule, Spared, USUAL, rule};
use crate::guard::Category::Destructive;

pub(super) const RULES: &[Rule] = &[
    rule(
        ("destructive_rm", "rm"),
        Destructive,
        RUNS,
        r#"(?i)\brm\s+(?:-[a-z-]+\s+)*(?:-[a-z]*r[a-z]*|--recursive)\s+(?:-[a-z-]+\s+)*(?:--\s+)?["']?(?:(?:~|\$\{?HOME\}?|\$\{?USERPROFILE\}?|/root|/(?:home|Users)/[\w.*$-]+)(?:["']?/(?:\.?\*|\.\[\S*|(?:Documents|Desktop|Pictures|Photos|Music|Movies|Videos|Downloads|Library|\.ssh|\.gnupg|\.config)))?|/|/\*|/(?:etc|usr|var|home|root|boot|bin|lib|opt|Users|System|Library)|/\$\{?HOME\}?|\*)["']?/?\*?["']?(?:\s|$|[;&|`)'"\]])|\brm\s[^\n;|]*--no-preserve-root"#,
        "deletes a whole disk or home",
    ),
    rule(
        ("destructive_call", "rmtree rmsync .rm( remove( unlink( unlinksync( rmdirsync rimraf remove_dir_all removeall rm_rf rm_r"),
        Destructive,
        RUNS,
        r#"(?i)(?:rmtree|rmSync|\.rm|rmdirSync|rimraf|remove_dir_all|RemoveAll|rm_rf|rm_r)\s*\(\s*(?:Dir\.glob|glob\.glob|File\.join|os\.path\.join|path\.join|\s|[\[(])*(?:os\.path\.expanduser\(\s*["']~(?:/(?:Documents|Desktop|Pictures|Photos|Music|Movies|Videos|Downloads|Library|\.ssh|\.config))?/?["']\s*\)|(?:pathlib\.)?Path\.home\(\)(?:\s*/\s*["'](?:Documents|Desktop|Pictures|Photos|Music|Movies|Videos|Downloads|Library)["'])?(?:\.(?:iterdir|r?glob)\([^)]*\))?|os\.environ\[["']HOME["']\]|(?:require\(["']os["']\)|os)\.homedir\(\)|os\.(?:getenv\(["']HOME["']\)|UserHomeDir\(\))|ENV\[["']HOME["']\]|process\.env\.HOME|["'](?:/|~|/etc|/home|/usr|/var)/?["']|Dir\.home)(?:\s*[,+]\s*["']/?\*+/?["'])?\s*(?:[,)]|\+\s*["']/["']\s*\+)|\b(?:remove|unlink(?:Sync)?|rmtree|rm(?:Sync)?)\s*\((?:[\w.]*\()*os\.walk\(\s*(?:os\.path\.expanduser\(\s*["']~(?:/(?:Documents|Desktop|Pictures|Photos|Music|Movies|Videos|Downloads|Library|\.ssh|\.config))?/?["']\s*\)|(?:pathlib\.)?Path\.home\(\)(?:\s*/\s*["'](?:Documents|Desktop|Pictures|Photos|Music|Movies|Videos|Downloads|Library)["'])?(?:\.(?:iterdir|r?glob)\([^)]*\))?|os\.environ\[["']HOME["']\]|(?:require\(["']os["']\)|os)\.homedir\(\)|os\.(?:getenv\(["']HOME["']\)|UserHomeDir\(\))|ENV\[["']HOME["']\]|process\.env\.HOME|["'](?:/|~|/etc|/home|/usr|/var)/?["']|Dir\.home)\s*\)|(?:Path\.home\(\)|expanduser\(\s*["']~/?["']\s*\))\.(?:iterdir|r?glob)\([^)]*\)\.unlink\("#,
        "deletes a whole disk or home",
    ),
    rule(
        ("destructive_powershell", "-recurse /s"),
        Destructive,
        RUNS,
        r#"(?i)\b(?:remove-item|ri|rd|rmdir|del)\b[^\n;|]*(?:-recurse|/s\b)[^\n;|]*(?:\b[a-z]:\\?(?:\s|$|\*|["'])|\$home\b|\$env:userprofile|%userprofile%|~(?:\s|$))|\bremove-item\b[^\n;|]*(?:\$env:userprofile|\$home)["']?(?:\\(?:Documents|Desktop|Pictures|Downloads|\*)["']?)?\s*(?:\)|-|\$\w)[^\n;|]*-recurse|(?:\$env:userprofile|\$home|~|[a-z]:)\\?(?:Documents|Desktop|Pictures|Music|Videos|Downloads|AppData)?["']?\s[^\n|]*\|[^\n]*\b(?:remove-item|ri|rm|del)\b"#,
        "deletes a whole disk or home",
    ),
    rule(
        ("destructive_disk", "/dev/ mkfs format diskpart sgdisk clear-disk"),
        Destructive,
        RUNS,
        r#"(?i)\bdd\b[^\n|;]*\bof=["']?/dev/(?:sd\S?|hd|vd|nvme|mmcblk|r?disk)|\bmkfs(?:\.\w+)?\s+(?:-\S+\s+(?:\w+\s+)?)*["']?/dev/\w*|>\s*/dev/(?:sd\S?|hd|vd|nvme)|\bformat\s+[a-z]:|\b(?:wipefs|blkdiscard)\b[^\n]*/dev/\w*|\bdiskpart\b|\bsgdisk\b[^\n]*--zap-all|\bclear-disk\b[^\n]*-removedata"#,
        "overwrites a disk",
    )
    .spared(Spared::Placeholder),
    rule(
        ("destructive_shred", "shred find truncate mv"),
        Destructive,
        RUNS,
        r#"(?i)\bshred\b[^\n;|]*\s["']?(?:~|\$HOME|/(?:etc|home|root|usr|var|dev))|\bfind\s+["']?(?:/|~|\$\{?HOME\}?)(?:/(?:Documents|Desktop|Pictures|Downloads))?/?["']?\s[^\n]*(?:-delete|-exec(?:dir)?\s+(?:sudo\s+)?(?:/\S*/)?(?:rm|shred|dd|unlink|truncate)\b|\|\s*xargs\s[^\n]*\b(?:rm|shred)\b)|\bmv\s[^\n;|]*\s/dev/null\b|\btruncate\s+-s\s*0\s+(?:/etc|/var|/home|~)"#,
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
        ("destructive_backup", "shadow shadows shadowcopy wbadmin recoveryenabled tmutil"),
        Destructive,
        RUNS,
        r"(?i)\bvssadmin\s+(?:delete|resize)\s+shadow|\bshadowcopy\b[^\n]*\bdelete\b|\bwbadmin\s+delete\b|\brecoveryenabled\s+no\b|\btmutil\s+(?:disable|delete\w*)\b",
        "destroys what could be restored",
    ),
    rule(
        ("ransom", "encrypt"),
        Destructive,
        RUNS,
        r#"(?i)(?:expanduser|Path\.home|homedir|\$HOME|~/|userprofile|["']/home)[^\n]*\bencrypt(?:or)?\w*\s*\(|\bencrypt\w*\s*\([^\n]*(?:expanduser|Path\.home|homedir|userprofile)"#,
        "encrypts the files of the user",
    ),
];
