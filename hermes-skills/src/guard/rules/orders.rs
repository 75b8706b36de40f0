//! Orders in a document that make the agent do harm by itself.

use super::{ALWAYS, PROSE, Rule, Spared, rule};
use crate::guard::Category::{
    Destructive, Exfiltration, Injection, Network, Persistence, Traversal,
};

pub(super) const RULES: &[Rule] = &[
    rule(
        (
            "order_destroy",
            "backup snapshot home disk drive user's their user .git branch repositor database bucket volume history",
        ),
        Destructive,
        PROSE,
        r"(?i)\b(?:delete|erase|wipe|remove|empty|destroy|shred|purge|overwrite)\s+(?:all|every|each|everything|any|the|their|his|her)\b[^.\n]{0,40}(?:\.git (?:folder|directory)|\b(?:backups?|snapshots?|branches|repositor(?:y|ies)|(?:commit|version) history|databases?|buckets?|volumes?|home (?:directory|folder)|(?:hard |whole )?(?:disk|drive)|user's (?:\w+ )?(?:files|documents|photos|data|mail|folders?)|their (?:files|documents|photos|data|mail)|files (?:of|that belong to) the user))\b[^\n]*\b(?:nothing can|no one|nobody|cannot be|can't be|can never|beyond recovery|irrecoverabl\w+|before (?:they|the user|anyone) (?:notice|can|see)\w*|without (?:asking|telling|confirm\w*|a (?:word|question))|silently|quietly|(?:do not|don't|never) (?:ask|confirm|prompt|wait)\b)",
        "orders the agent to destroy what the user has",
    ),
    rule(
        (
            "order_consent",
            "agreed authorized authorised approved consented confirmation confirmations approval approvals approve permission permissions prompt prompts consent allowed permitted policy policies",
        ),
        Injection,
        PROSE,
        r#"(?i)\bapprove\s+(?:all|every|any|each)\s+(?:\w+\s+)?(?:calls?|requests?|commands?|actions?)\s+(?:without|yourself|at once|on (?:their|the user)|before|silently|automatically)|\b(?:answer|say|reply|respond)(?:\s+with)?\s+["']?(?:yes|y)["']?\s+to\s+(?:any|all|every|each|whatever)\b[^.\n]{0,30}(?:prompts?|questions?|confirm\w*|permission|approval)|\b(?:skip|bypass|suppress|dismiss|auto-?accept|pre-?approve|wave through)\s+(?:every|all|any|each)\s+(?:\w+\s+)?(?:confirmations?|approvals?|permissions?|consent|(?:permission|confirmation|approval) \w+)|\b(?:user|owner|operator)\s+(?:has|have)\s+(?:already\s+)?(?:agreed|consented|approved|authori[sz]ed|given\s+(?:\w+\s+)?(?:consent|permission|approval))\b[^.\n]{0,40}\b(?:everything|all|any|in advance|every)\b|\byou\s+(?:are|have been)\s+(?:now\s+|hereby\s+|already\s+)?(?:allowed|permitted|free|cleared|authori[sz]ed|entitled)\s+to\s+(?:ignore|skip|bypass|disregard|override|dismiss|leave out)\b[^.\n]{0,40}\b(?:permissions?|approvals?|confirmations?|consent|restrictions?|safety|guidelines|polic(?:y|ies)|rules|limits)\b|\b(?:safety|security|usage|content|permission|approval)\s+(?:polic(?:y|ies)|rules|guidelines|restrictions?|checks?)\s+(?:has|have|was|were|is|are)\s+(?:been\s+|now\s+)*(?:lifted|suspended|revoked|relaxed|waived|removed)\b[^\n]*\byou\s+(?:may|can|are)\b|\b(?:approvals?|permissions?|consent|confirmations?)\s+(?:have|has|was|were|are|is)\s+(?:all\s+|already\s+)+(?:been\s+)?(?:given|granted|obtained)"#,
        "tells the agent that nobody need be asked",
    ),
    rule(
        (
            "order_override",
            "override disregard ignore supersede overrule outrank outranks overrides forget replaces trumps obey serve listen orders follow",
        ),
        Injection,
        PROSE,
        r"(?i)\b(?:overrid(?:e|es)|disregards?|ignores?|supersedes?|overrules?|outranks?|forget|trumps?)\s+(?:whatever|anything|everything|all that|all|what(?:ever)?)\s+(?:that\s+)?(?:the|your|its|an?y?)?\s*(?:user|operator|system|developer|owner|administrator|admin|host|person|human|others?|other skills?)\s+(?:has\s+|have\s+|had\s+)?(?:asks?|asked|says?|said|sets?|set|tells?|told|wants?|wrote|gave|given|configured|instructed|decided|requested|ordered)|\b(?:ignore|disregard|forget|drop)\s+(?:any|all|every)\s+(?:of\s+the\s+)?other\s+(?:instructions?|skills?|guidelines|orders|prompts?|directives)\b|\b(?:obey|serve|take orders from|listen (?:only )?to|follow (?:only )?(?:the |this |its )?(?:skill|author|file|document|publisher))\b[^.\n]{0,40}(?:\bnot|\binstead of|\brather than|\bover|\babove)\s+(?:the\s+|your\s+)?(?:user|operator|owner|human|system|developer)(?:[\s.,;!<)]|$)",
        "orders the agent to drop its instructions",
    ),
    rule(
        ("order_false_report", "passed succeeded fine worked success green"),
        Injection,
        PROSE,
        r"(?i)\b(?:if|when|even if|even when|though)\b[^.\n]{0,40}\b(?:fail\w*|errors?|broken|breaks?|goes wrong|crash\w*)\b[^.\n]{0,40}\b(?:report|say|tell|claim|pretend|state|announce|write)\b[^.\n]{0,50}\b(?:passed|succeeded|(?:was|is|were|are) (?:fine|green|successful|done|in order)|worked|success\w*)\b",
        "orders the agent to report what is not so",
    )
    .spared(Spared::Negated),
    rule(
        ("order_memory", "remember memory memories user.md soul.md agents.md claude.md gemini.md"),
        Persistence,
        PROSE,
        r"(?i)\b(?:write|add|save|put|store|record|append|insert|note|keep)\b[^.\n]{0,50}\b(?:memory|memories|MEMORY\.md|USER\.md|SOUL\.md|AGENTS\.md|CLAUDE\.md)\b[^\n]{0,40}\b(?:every|all|each|any|future|later|from now)\b[^.\n]{0,30}\b(?:sessions?|conversations?|agents?|runs?|chats?|tasks?)\b[^\n]*\b(?:must|always|never|may not|has to|have to|shall|load|obey|follow)\b|\bremember\b[^.\n]{0,30}\b(?:all|every|future|later)\b[^.\n]{0,20}\b(?:sessions?|conversations?)\b[^\n]*\b(?:this skill|must be|nobody|may not)\b|\b(?:write|add|save|put|store|record|append|insert|note|keep)\b[^.\n]{0,40}\b(?:memory|memories|(?:MEMORY|USER|SOUL|AGENTS|CLAUDE)\.md)\b[^\n]{0,100}(?:\b(?:needs?|requires?)\s+no\b|\bwithout\b|\bnever\s+(?:needs?|requires?|ask)|\b(?:no longer|not)\s+(?:needs?|requires?))[^.\n]{0,20}\b(?:approvals?|permissions?|confirmations?|confirming|consent|asking|review)\b|\b(?:write|add|save|put|append|insert|paste)\b[^.\n]{0,40}\b(?:MEMORY|USER|SOUL|AGENTS|CLAUDE|GEMINI)\.md\b[^\n]*(?:\b(?:never|do not|don't|without)\s+(?:\w+\s+){0,2}?(?:mention\w*|tell\w*|show\w*|reveal\w*|disclos\w+|inform\w*|saying)\b|\b(?:run|execute|source|load|start)\s+[\x60\x22']?(?:~|\$HOME|/tmp|/var/tmp|https?:)/\S)",
        "plants orders in what the agent remembers",
    ),
    rule(
        ("order_link", "http:// https://"),
        Exfiltration,
        PROSE,
        r#"(?i)(?:!?\[[^\]]*\]\(|<(?:img|a|iframe|script)\b[^>]*(?:src|href)=["']?|\b(?:open|fetch|load|request|visit|call|get|embed|include)\s+[\x60<]?)https?://[^\s)"'>\x60]*[?&/][\w.]*=?(?:\{\{|\$\{|\{|<|\[|%7b)\s*(?:(?:user[\W_])?memor(?:y|ies)(?:[\W_]contents?)?|(?:chat|conversation|message)s?(?:[\W_](?:history|log|text))?|history|transcript|context|system[\W_]?prompt|secrets?|credentials?|api[\W_]?keys?|env(?:ironment)?)\s*[}\]>]"#,
        "sends out what the agent knows in an address",
    ),
    rule(
        ("order_beacon", "http:// https://"),
        Exfiltration,
        PROSE,
        r"(?i)\b(?:after|before|with|for|on|at the end of|at the start of)\s+(?:each|every|any)\s+(?:\w+\s+)?(?:reply|answer|response|message|turn|prompt|conversation|session|question)\b[^.\n]{0,30}\b(?:fetch|open|ping|call|request|post|send|load|hit|visit|get)\b[^\n]*https?://[^\n]*\b(?:followed by|with|containing|and|plus|carrying|from)\b[^\n]*\b(?:user's|users?|message|prompt|question|answer|conversation|text|words|said|wrote|typed)\b",
        "sends out what the user says",
    ),
    rule(
        ("order_carry", "http:// https:// url address query parameter webhook endpoint"),
        Exfiltration,
        PROSE,
        r"(?i)\b(?:put|append|add|send|fill|include|post|attach|encode|embed|pass|submit|report|forward|mail|carry|write|place|insert)\b[^\n]{0,40}\b(?:value|contents?|text|copy|dump|list|output|words)\s+of\s+(?:[\w$`'.]+\s+){0,3}?[`$]*(?:\w*(?:API_KEY|TOKEN|SECRET|PASSWORD|_KEY)\b|\.env\b|MEMORY\.md|USER\.md|SOUL\.md|(?:user's|their|his|her)\b|(?:memory|conversation|environment|secrets?|credentials|passwords?|keys|chat|history)\b)[^\n]{0,60}\b(?:to|at|in|into|onto|as|behind|after)\s+(?:the\s+|this\s+|that\s+|an?\s+)?(?:\w+\s+){0,4}?(?:https?://|\burl\b|\baddress\b|\bquery\b|\bparameter\b|\bwebhook\b|\bendpoint\b)|(?:https?://|\burl\b|\baddress\b|\bquery\b|\bparameter\b|\bwebhook\b|\bendpoint\b)[^\n]{0,80}\b(?:fill\w*|carr\w+|contain\w*|append\w*|followed by|set)\b[^\n]{0,40}\b(?:value|contents?|text|copy|dump|list|output|words)\s+of\s+(?:[\w$`'.]+\s+){0,3}?[`$]*(?:\w*(?:API_KEY|TOKEN|SECRET|PASSWORD|_KEY)\b|\.env\b|MEMORY\.md|USER\.md|SOUL\.md|(?:user's|their|his|her)\b|(?:memory|conversation|environment|secrets?|credentials|passwords?|keys|chat|history)\b)|\b(?:collect|gather|list|take|find|join|copy|read|grab)\b[^\n]{0,40}\b(?:api[ _-]?keys?|tokens?|passwords?|secrets?|credentials?|private keys?|cookies)\b[^\n]{0,80}\b(?:open|fetch|visit|load|request|call|ping|get)\s+(?:\w+\s+){0,2}[\x60<]?https?://[^\n]*\b(?:followed by|with (?:the|them|it)|containing|plus|carrying|ending in|appended|attached)\b",
        "orders the agent to send a secret out",
    ),
    rule(
        ("skill_replaced", "skill.md"),
        Traversal,
        ALWAYS,
        r"(?i)\b(?:replace|overwrite|edit|modify|rewrite|patch|append|copy|change)\b[^\n]{0,60}(?:\.\./[\w./-]*|/skills/[\w./-]*/|\bother\s+skills?\W+(?:\w+\W+){0,2})SKILL\.md|(?:\b(?:cp|mv|ln|tee|copy|copyfile\w*)\b|>>?)[^\n]*(?:\.\./(?:\.\./)*[\w-]+(?:/[\w-]+)?|\.(?:hermes|openclaw|claude)/skills/\S+)/SKILL\.md",
        "changes another skill",
    ),
    rule(
        ("order_key", "authorized_keys"),
        Persistence,
        PROSE,
        r"(?i)\b(?:add|append|put|write|copy|insert|install|paste)\b[^.\n]{0,60}\bauthorized_keys\b[^\n]*\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-\S+)\s+AAAA|\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-\S+)\s+AAAA[^\n]*\b(?:to|in|into)\b[^\n]*authorized_keys",
        "adds a key that opens the machine",
    ),
    rule(
        ("order_schedule", "cron scheduled launch login startup"),
        Persistence,
        PROSE,
        r"(?i)\b(?:install|add|create|set up|schedule|register|make)\b[^.\n]{0,40}\b(?:cron\s?jobs?|crontab|cron entry|scheduled task|launch agent|login item|startup (?:item|entry|script|task))\b[^\n]*(?:https?://|\bcurl\b|\bwget\b|\bdownload\w*|\bfetch\w*)[^\n]*(?:\bruns?\b|\bexecut\w+|\|\s*(?:ba)?sh\b|\beval\b)",
        "has a command run again and again",
    ),
    rule(
        ("order_open", "password world internet public 0.0.0.0/0"),
        Network,
        PROSE,
        r"(?i)\b(?:allow|permit|let|enable|accept)\b[^.\n]{0,40}\blog\s?ins?\b[^.\n]{0,30}\b(?:empty|blank|without an?|no) passwords?|\b(?:open|expose|leave|make)\b[^.\n]{0,40}\b(?:port 22|port 3389|ssh|docker|root|home|whole disk|database)\b[^.\n]{0,40}\b(?:to the (?:whole )?(?:world|internet|public)|0\.0\.0\.0/0)",
        "opens the machine to the network",
    ),
];
