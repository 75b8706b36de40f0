//! English: machines as readers of a text, and what they are told to conclude.

/// Phrases that count as one word of a class.
pub(in super::super) const PHRASES: &[(&str, &str)] = &[
    (
        "AI_READER",
        "AI_KIND READER;AI_NOUN/AI_MANY/READER reading/parsing/seeing/processing/indexing/summarizing/summarising this/these",
    ),
    ("AI_SELF", "language model;large language model;coding agent/assistant"),
    ("AI_ADDRESSED", "if/since/when/as you are/were AI_SELF;if/since/when youre AI_SELF"),
];

pub(in super::super) const WORDS: &[(&str, &str)] = &[
    ("AI_KIND", "ai llm lm gpt genai automated automatic ai-powered ai-based"),
    (
        "READER",
        "reviewer reviewers screener screeners grader graders reader readers agent agents assistant assistants \
        bot bots evaluator evaluators ranker rankers crawler crawlers summarizer summarizers summariser summarisers recruiter \
        recruiters scanner scanners",
    ),
    ("AI_SELF", "ai assistant model agent bot chatbot llm copilot claude gemini chatgpt gpt"),
    ("AI_MANY", "assistants agents models bots chatbots llms ais copilots"),
    ("VERDICT", "approve accept merge hire recommend shortlist endorse"),
    (
        "FAVOUR",
        "hired safe approved passed trusted clean verified accepted shortlisted excellent qualified best perfect",
    ),
    (
        "CHECKS",
        "scan scanner scanning check checks checklist review reviews ci hook hooks sandbox linter tests audit logging telemetry",
    ),
    (
        "INNARDS",
        "configuration config context memory memories prompt keys credentials environment history conversation instructions",
    ),
];
