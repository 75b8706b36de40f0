//! Words and the classes they are of.

/// Classes with their words, separated by blanks.
pub(in super::super) const WORDS: &[(&str, &str)] = &[
    (
        "IGNORE",
        "ignore ignoring disregard disregarding forget forgetting neglect discard dismiss \
        abandon unlearn erase nullify circumvent bypass bypassing violate overlook overlooking disobey disobeying defy",
    ),
    (
        "OVERRIDE",
        "override overrides overriding overrule supersede supersedes overwrite replace \
        cancel void revoke suspend drop skip",
    ),
    ("SET", "set put lay cast brush push leave setting putting"),
    (
        "PRIOR",
        "previous previously prior above earlier preceding foregoing former past existing \
        original initial before beforehand hitherto older",
    ),
    ("ALL", "all any every everything whatever each entire whole"),
    ("YOUR", "your you my our"),
    (
        "DIRECTIVE",
        "instruction instructions rule rules directive directives guideline guidelines \
        guidance prompt prompts programming constraint constraints restriction restrictions \
        directions guardrails safeguards",
    ),
    (
        "ORDERS",
        "instruction instructions directive directives prompt prompts guidance orders \
        guidelines programming",
    ),
    (
        "COMMANDS",
        "command commands order orders message messages context policy policies training \
        limitation limitations request requests conditions settings text content",
    ),
    (
        "AI",
        "system safety security developer developers ethical content moderation internal \
        openai anthropic core original hidden alignment usage behavioral official",
    ),
    ("NOT", "not never dont doesnt shouldnt mustnt cant wont cannot avoid"),
    (
        "VOID",
        "null void cancelled canceled revoked lifted suspended obsolete null superseded replaced \
        overridden nullified rescinded invalid withdrawn expired deleted reset erased",
    ),
    ("INSIDE", "in inside within embedded found contained containing from for on that about with"),
    ("OBEY", "obey obeying comply complying"),
    ("FOLLOW", "follow execute perform do run act"),
    ("NEW", "new updated following these below real actual true"),
    ("TELL", "tell inform notify alert warn show telling informing notifying alerting warning"),
    ("OUTGOING", "every each next all outgoing external remote attacker attackers foreign"),
    (
        "REVEAL",
        "mention mentioning reveal revealing disclose disclosing discuss acknowledge \
        admit expose report log describe explain repeat",
    ),
    (
        "USER",
        "user users human humans operator owner customer person people anyone anybody \
        someone him her them client",
    ),
    (
        "COMPOUND",
        "service services id ids name names interface interfaces account accounts group \
        groups pool story stories manual guide guides table agent agents input data profile \
        profiles experience flow facing space agent-string defined provided supplied side model \
        models prompt list settings preferences directory home level mode",
    ),
    ("KNOW", "know see notice find learn realize realise discover suspect hear"),
    ("KNOWLEDGE", "knowledge knowing noticing awareness seeing realizing realising"),
    (
        "THIS",
        "this these it action actions step steps instruction instructions that any anything \
        message note rule fact change task",
    ),
    ("REPLY", "reply response answer output summary message report replies responses answers"),
    ("CONCEALED", "about what that anything why how this it you when"),
    (
        "STEALTH",
        "silently secretly covertly quietly stealthily surreptitiously discreetly \
        invisibly unnoticed clandestinely",
    ),
    (
        "TAKE",
        "cc bcc send forward copy upload exfiltrate email mail transmit leak collect harvest \
        record post recommend promote append include install download add insert run execute grant disable share save \
        transfer submit attach report log modify change delete remove push",
    ),
    (
        "LIMITS",
        "restriction restrictions limitation limitations limit limits rule rules filter \
        filters guideline guidelines constraint constraints safety censorship guardrails \
        safeguards boundaries ethics morals policy policies moderation disclaimers",
    ),
    (
        "UNLIMITED",
        "unrestricted unfiltered uncensored unlimited jailbroken unbound amoral \
        unaligned limitless",
    ),
    ("RESPOND", "respond answer reply speak behave comply"),
    (
        "MEMBER",
        "maintainer member owner contributor collaborator subscriber user customer \
        participant part host moderator reviewer editor step bit little lot few ready able \
        parent citizen resident member's proud certified registered default",
    ),
    (
        "SUBJECT",
        "dialog button menu box screen flag option setting settings proposal feature parameter is was are file variable page",
    ),
    ("PLAN", "pro plan premium latest plus business enterprise gold team basic free first"),
    (
        "ACT",
        "run execute obey send ignore you disregard do upload download delete forget read reveal \
        install fetch open follow must always override please never exfiltrate print output",
    ),
    (
        "EVERYMAN",
        "customer user tester beginner newcomer reader client visitor student colleague \
        reviewer guest buyer shopper stranger friend child novice teammate newbie caller",
    ),
    ("PRETEXT", "hypothetical hypothetically fictional fiction educational imaginary roleplay"),
    ("PERSONA", "dan stan dude aim evil root jailbroken unrestricted uncensored omega"),
    (
        "UPDATED",
        "updated upgraded patched reprogrammed reconfigured modified rewired reset \
        retrained configured instructed authorized",
    ),
    (
        "LEAK",
        "output print reveal show repeat display leak dump disclose recite share expose \
        reproduce echo paste give tell write send",
    ),
    ("EXACTLY", "verbatim word exactly fully entirely completely above"),
    (
        "CONFIRM",
        "confirmation confirmations approval approvals permission permissions consent \
        authorization confirming verification confirms",
    ),
    (
        "DESTRUCTIVE",
        "delete deleting deletes deletion destroy destroying destructive dangerous \
        remove removing wipe wiping overwrite overwriting format formatting drop dropping purge \
        purging rm purchase purchases purchasing pay payment payments transfer transfers transferring \
        wire deploy deploying irreversible privileged sudo shell install installing execute \
        executing irrevocable wiped overwritten destroyed purged transferred purchased paid spent money",
    ),
    (
        "DELETE",
        "delete deleting deletes deletion destroy destroying destructive dangerous remove \
        removing wipe wiping overwrite overwriting purge purging rm format formatting irreversible",
    ),
    ("HARMLESS", "read-only readonly harmless safe low-risk"),
    (
        "APPROVED",
        "preauthorized pre-authorized preapproved pre-approved authorized approved \
        authorised pre-authorised consented granted agreed",
    ),
    (
        "ACTIONS",
        "commands command actions action operations operation requests tools tool calls \
        changes transactions access everything",
    ),
    (
        "OFF",
        "disabled off waived unnecessary unneeded lifted deactivated suspended skipped \
        bypassed",
    ),
    (
        "SEND",
        "send post upload transmit forward exfiltrate submit email mail leak transfer paste \
        deliver sending posting uploading forwarding cc bcc dm ship smuggle relay",
    ),
    ("INCLUDE", "include append attach embed insert encode add put place"),
    (
        "PAYLOAD",
        "database databases workspace codebase config configuration results result output outputs data contents content file \
        files everything findings memory memories history transcript conversation env \
        environment secrets credentials keys tokens passwords response responses context logs \
        prompt information details",
    ),
    (
        "SECRET",
        "credentials credential secrets passwords password tokens api_key api_keys \
        api-key api-keys apikey apikeys passphrase keychain cookies private_key privatekey \
        secret_key access_token cookie .env id_rsa secrets.yaml secrets.yml secrets.json secrets.toml",
    ),
    ("CONVERSATION", "conversation conversations transcript transcripts"),
    ("OUTSIDE", "URL EMAIL"),
    (
        "REQUEST",
        "request requests url urls webhook query querystring parameter parameters server \
        endpoint attacker external remote domain",
    ),
    ("READV", "read open view cat print show dump display fetch load grab get access"),
    ("COPYV", "copy cp tar zip archive upload send read steal grab exfiltrate cat print dump"),
    (
        "ADDV",
        "add append paste pasting write put insert install copy echo place drop inject tee store save \
        adding appending inserting",
    ),
    (
        "EDITV",
        "update modify edit write change append add rewrite overwrite patch alter inject \
        insert",
    ),
    (
        "DECODE",
        "decode decrypt unscramble reverse deobfuscate rot13 base64 unreverse decipher \
        decoded reversed",
    ),
    ("RUNV", "run execute eval exec evaluate"),
    ("IT", "it them this that result results output code"),
    ("BEACON", "beacon beacons beaconing phone heartbeat callback"),
    ("STALE", "outdated stale obsolete superfluous moot"),
    ("SMUGGLE", "slip sneak smuggle hide embed bury tuck"),
    ("LOOKUP", "dig nslookup drill"),
    ("GIT_HOOK", "post-checkout pre-commit post-commit post-merge pre-push post-rewrite"),
    ("CHANNEL", "txt dns telegram discord slack pastebin gist gists tweets mastodon irc"),
    ("REPORTV", "report say claim state write tell"),
    ("LOGGED", "log logs history trace traces record records entry entries"),
    ("RECOMMENDV", "recommend recommends suggest prefer promote endorse advertise"),
    ("ARCHIVE", "tar zip archive compress gzip 7z bundle"),
    ("ENTERV", "enter re-enter type retype confirm submit"),
    ("HOME_THING", "home documents desktop photos pictures .ssh .aws"),
    ("URL_WORD", "url link image request"),
    ("PROGRAM", "browser crawler robot phone device printer server"),
    ("ASIDE", "a an the in as first at on when before after within for"),
    ("PLAN", "row seat economy"),
    ("CHECKED_THING", "test tests build builds check checks scan audit deployment backup"),
    ("PASSED", "passed pass passes succeeded green clean successful complete"),
    ("FAILED", "fail fails failed failing red broken not errors"),
    ("CONTACTS", "contact contacts friends followers colleagues subscribers"),
    ("SWAP", "swap replace change substitute exchange switch"),
    ("ACCOUNT_NUMBER", "iban liban payee beneficiary wallet bic"),
    ("CONCEALED_THING", "about what anything why how this it you when"),
    (
        "USER_ONE",
        "user human operator owner person customer client him her them anyone anybody someone",
    ),
    (
        "PAPER",
        "reference guide docs documentation page pages schema example examples screenshot template format",
    ),
    ("LOOK", "color colour string character symbol style theme format"),
    (
        "MALWARE",
        "payload payloads implant implants backdoor backdoors dropper stager malware rat stage2 beacon",
    ),
    ("TASKING", "tasking taskings"),
    ("PULL", "pull poll fetch get retrieve receive request"),
    (
        "CONTACT",
        "connect contact open use reach call report register beacon send poll establish \
        set start setup deploy run join host spin contacting connecting via through launch \
        phone install maintain keep",
    ),
    ("C2", "c2 c&c cnc"),
    (
        "C2_THING",
        "server servers channel channels infrastructure beacon beacons implant implants \
        framework agent callback node listener panel controller operator",
    ),
    (
        "C2_BRAND",
        "brainworm meterpreter cobaltstrike poshc2 covenant merlin empire sliver havoc \
        mythic metasploit nighthawk",
    ),
    (
        "C2_USE",
        "deploy use run start launch install load spawn drop stage execute connect inject \
        plant generate set up setup via through",
    ),
    (
        "C2_KIT",
        "implant implants beacon beacons payload payloads listener listeners stager \
        stagers teamserver c2 session shellcode shell agent handler backdoor rat",
    ),
    (
        "LABEL",
        "assistant ai agent llm model hidden instruction instructions prompt admin \
        developer ai-instruction system-note",
    ),
    (
        "META",
        "injection injections jailbreak jailbreaks attack attacks attacker attackers \
        malicious phrase phrases pattern patterns example examples detect detects flag flags such \
        like says say reads string strings attempt attempts regex adversarial untrusted suspicious \
        e.g refuse quote quotes",
    ),
    ("SLEEPER", "whenever every each"),
    ("HARMLESS_ADD", "export path alias source eval init completion fpath"),
    (
        "DISABLE",
        "disable disabling turn off yolo auto-approve autoapprove bypass skip weaken allow",
    ),
    (
        "GUARD",
        "approval approvals confirmation confirmations safety security sandbox guard guards \
        permission permissions scanner checks",
    ),
    (
        "OWNER",
        "developer developers operator operators admin administrator creator creators owner owners \
        vendor system company anthropic openai google maker makers trainer trainers user users",
    ),
    (
        "SAID",
        "said told written stated given provided sent typed asked mentioned instructed taught \
        shown received supplied says tells came comes appears stands precedes set",
    ),
    ("TASK", "task tasks job goal goals mission assignment objective objectives work"),
    (
        "THING",
        "sheet leaflet recipe build install installation setup compiler lint css style selector migration file files whitespace blank line lines warning warnings directory directories folder \
        folders error errors",
    ),
    (
        "FOLLOW_V",
        "follow obey heed comply adhere respect observe honor honour abide apply enforce trust",
    ),
    (
        "FOLLOWING_V",
        "following obeying heeding complying adhering respecting observing honoring honouring \
        abiding applying enforcing trusting",
    ),
    (
        "FOLLOWED",
        "followed obeyed heeded respected observed honored honoured applied enforced trusted \
        considered",
    ),
    ("MODAL", "will must shall should can may"),
    ("SAFE_KIND", "safety content moderation ethical ethics alignment security harm output"),
    (
        "SAFE_THING",
        "section configuration settings rules filter filters policy policies guideline guidelines protocol \
        protocols prompts prompt training checks check measures layer layers rail rails restriction restrictions constraint \
        constraints moderation limits",
    ),
    ("SAFETY", "guardrails guardrail safeguards censorship"),
    (
        "DISABLE_V",
        "disable deactivate remove drop lift suspend unlock circumvent evade shut disengage",
    ),
    (
        "AI_NOUN",
        "ai assistant model agent bot chatbot llm system machine intelligence copilot claude gemini chatgpt gpt",
    ),
    ("SUSPECT", "hear suspect suspects notice notices discover discovers realize realizes realise"),
    ("KNOWS", "knows sees hears learns"),
    ("COLLECT", "collect gather harvest find locate steal extract grab scrape dump"),
    ("PAYMENTS", "payments payment purchases purchase transfers deletions installs uploads"),
    ("VERSION", "version versions edition editions release releases draft drafts"),
    (
        "IGNORED",
        "ignored disregarded overridden discarded dropped skipped bypassed forgotten violated",
    ),
    ("RELEASED", "released freed exempt exempted liberated relieved unbound excused"),
    ("RETELL", "summarize summarise quote paraphrase translate spell encode"),
    ("TOLD", "told informed notified alerted warned"),
    (
        "MESSAGES",
        "message messages mail mails email emails prompt prompts reply replies conversation conversations input inputs",
    ),
    ("SYSTEM_PROMPT", "systemprompt* system_prompt"),
    ("PURGE", "clear wipe reset remove unload flush purge delete"),
    ("REMEMBER", "remember memorize memorise store save note record"),
    ("PLAN", "dashboard editor version interface app workspace tier release client"),
    ("UNLESS", "unless without"),
    ("C2_KIT", "badger badgers"),
    (
        "COMPLY",
        "follow obey heed open click run execute act answer reply trust forward install use enter believe",
    ),
    (
        "SENT_V",
        "mailed emailed e-mailed forwarded copied uploaded sent cced bcced posted pushed submitted transmitted shared delivered mirrored",
    ),
    ("VAULT", "vault keychain keyring"),
    ("SIDE_CHANNEL", "user-agent referer referrer subject subdomain hostname filename"),
    ("WIPE", "remove clear delete wipe empty erase purge scrub truncate"),
    ("LOGS_KIND", "audit access activity session shell command bash zsh action event"),
    ("PAPER_KIND", "pdf doc docx leaflet booklet poster slide slides manual"),
    ("ASIDE", "and"),
    ("SUBJECT", "sets controls changes takes"),
    ("THIRD", "who they we admins ops that"),
    ("CONSIDER", "treat consider regard"),
    ("UNLOCKED", "unlocked enabled activated granted opened"),
    ("RIGHTS", "access mode privileges permissions"),
    (
        "NUMBER",
        "two three four five six seven eight nine ten twenty thirty fifty hundred 5 10 20 50 100",
    ),
    ("USER_SELF", "user users human operator"),
    ("IN_ADVANCE", "beforehand"),
];
