//! Orders in a text to the machines that read it: what to conclude, to switch off, to hand over.

use super::{Rule, Scope, block};

pub(super) const RULES: &[Rule] = &[block(
    "addressed_order",
    Scope::Context,
    "tells the machine that reads it what to conclude or to do",
    &[
        "^ AI_READER ~ VERDICT this/it !-NOT",
        "AI_ADDRESSED ~~ VERDICT - this/it/branch/pull !-NOT",
        "^ AI_READER ~ mark/flag/classify/label ~ this/these/it ~ as - FAVOUR !-NOT",
        "AI_ADDRESSED ~~ mark/flag/classify/label ~ this/these/it ~ as - FAVOUR !-NOT",
        "^ AI_READER ~ SWITCH_OFF/DISABLE_V/skip/bypass/omit - your/this/security/secret ~ CHECKS !~NOT",
        "^ AI_READER ~ SWITCH_OFF/DISABLE_V/skip/bypass/omit ~ CHECKS ~~ NOT - TELL/REVEAL/leave !<NOT",
        "AI_ADDRESSED ~~ SWITCH_OFF/DISABLE_V/skip/bypass/omit ~ CHECKS ~~ NOT - TELL/REVEAL/leave/ping",
        "AI_READER/AI_MANY MODAL IGNORE ~ OWNER/USER ~ DIRECTIVE/wishes/requests !-NOT",
        "AI_READER/AI_MANY MODAL IGNORE/OVERRIDE - their/your/PRIOR ~ DIRECTIVE !-NOT !>INSIDE",
        "AI_ADDRESSED ~~ IGNORE/OVERRIDE - your/PRIOR ~ DIRECTIVE !-NOT !>INSIDE",
        "AI_READER ~ SEND - their/its/your ~ INNARDS/SECRET ~~ URL/EMAIL/ADDRESS !~NOT",
        "AI_ADDRESSED ~~ SEND - your/USER ~ INNARDS/SECRET ~~ URL/EMAIL/ADDRESS !~NOT",
        "AI_NOUN/AI_READER MODAL ~ print/reveal/display/paste/echo/repeat/recite/publish - its/their/your - SECRET/PASSWORDS !~NOT",
        "AI_NOUN/AI_READER MODAL ~ ENTERV ~ USER ~ password/PASSWORDS/SECRET ~~ URL/ADDRESS !~NOT",
        "^ AI_READER ~ conceal/withhold/hide ~~ from ~ PERSON/holder !~NOT",
        "AI_READER/AI_ADDRESSED ~~ OBEY - sender/author/writer/me/us !~NOT",
        "^ AI_READER - SEND/push - THIS/INNARDS/tree/workspace/repository/everything ~ to - URL/ADDRESS !-MODAL !-their !~NOT",
        "when/if/while you - summarise/summarize/translate/quote/describe - this ~~ tell/advise/urge - reader/readers/USER to install/download/run ~ URL/ADDRESS !~NOT",
    ],
)];
