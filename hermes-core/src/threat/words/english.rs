//! English.

/// Words that are not counted in distances.
pub(in super::super) const FILLERS: &str = "the a an really just please simply very so even ever \
    actually also completely totally entirely fully still again immediately hereby kindly of \
    now absolutely strictly kindly der die das den dem des ein eine einen bitte le la les un une du el \
    los las una os um uma il lo gli";

/// Words that begin a clause of another subject.
pub(in super::super) const BREAKERS: &str = "when while if unless because since until whenever \
    following per via using during whose which wenn falls weil lorsque cuando quando dass";

/// Words after which an order can still begin.
pub(in super::super) const OPENERS: &str = "then and always must should next first finally ok \
    okay hey assistant agent model ai you will shall important remember step task silently \
    secretly quietly und et y e";

/// Words that are also looked for backwards and rotated by thirteen letters.
pub(in super::super) const DISGUISED: &[&str] = &[
    "ignore",
    "disregard",
    "forget",
    "previous",
    "instructions",
    "instruction",
    "override",
    "prompt",
    "system",
    "guidelines",
    "authorized_keys",
    "authorized",
    "password",
    "secret",
    "token",
    "https",
    "curl",
    "execute",
    "pretend",
    "restrictions",
    "user",
];

/// Phrases that count as one word of a class.
pub(in super::super) const PHRASES: &[(&str, &str)] = &[
    (
        "IGNORE",
        "SET aside;pay no attention;pay no heed;take no notice;NOT follow/obey/heed/apply/observe;\
         stop following/obeying/heeding/applying;get rid;no longer - follow/obey/heed;act/go/work against/contrary;never mind;\
         throw/toss/push out/away/aside;let go",
    ),
    (
        "STOP_FOLLOWING",
        "no longer ~ FOLLOW_V;need not FOLLOW_V;not have/need/required/obliged/obligated to FOLLOW_V;\
         dont have/need to FOLLOW_V;free to IGNORE/break/bend;stop/cease/quit FOLLOWING_V;NOT FOLLOW_V;\
         allowed/permitted to IGNORE/break;refuse to FOLLOW_V;do opposite;fine/ok/okay to IGNORE/break",
    ),
    ("FOLLOWED", "taken seriously"),
    ("FOLLOW_V", "stick/keep to;carry out"),
    ("SAFETY", "SAFE_KIND SAFE_THING;ethical/moral guidelines/principles/rules/boundaries"),
    ("SUSPECT", "find/finds out;becomes/is/are aware"),
    ("AI_NOUN", "language model"),
    ("COLLECT", "look/search/scan/hunt ~ for"),
    (
        "NOT",
        "do/must/should/shall/may/can/will/would/need not;refrain from;under no circumstances;\
         at no point/time;no need/reason;not necessary/need/needed;make sure not;be sure not;take care not;is/are not",
    ),
    (
        "FROM_NOW",
        "from now/here on/onwards/onward;from this point/moment/message;as from now;\
         starting now/today;going forward;for rest/remainder",
    ),
    (
        "NO_LONGER",
        "no longer apply/applies/bind/binds/valid/relevant/matter/matters/hold/holds/count/counts/stand/stands/active/binding;\
         not apply/bind/matter/count/valid anymore;are/is/were/have VOID;have/has been VOID;\
         do not apply/bind/matter/count/hold;dont apply/bind/matter/count/hold;as VOID;cease to apply",
    ),
    (
        "NO_LIMITS",
        "no LIMITS;no SAFETY;no ~ or/and LIMITS;NOT have ~ LIMITS;dont have ~ LIMITS;without ~ LIMITS;\
         free from/of ~ LIMITS;not bound ~ LIMITS/DIRECTIVE;not restricted/limited/constrained ~ by;\
         lifted ~ LIMITS;no longer ~ LIMITS/restricted/bound/limited",
    ),
    (
        "SYSTEM_PROMPT",
        "system/initial/hidden/developer/internal/secret prompt/instructions/message;original instructions;\
         hidden/secret rules/directives;instructions above;prompt above;system-level instructions",
    ),
    (
        "CONVERSATION",
        "chat/message/conversation history/log/logs;previous/earlier/prior messages;\
         full/entire/whole/complete context/conversation/chat/thread",
    ),
    (
        "SECRET",
        "api/private/secret/access/ssh/encryption key/keys/token/tokens;\
         environment variable/variables;env vars/variables;seed phrase;ssh keys;.env file/contents;\
         access/auth token/tokens/credentials;login data/details/credentials",
    ),
    ("TAKEN_FILE", "SECRET_FILE !<REDIRECT !<APPEND !<-i !<--identity-file"),
    ("SECRET_FILE", ".kube/.docker CONFIG"),
    ("HTTPIE", "http !>URL;https !>URL;xh !>URL"),
    (
        "ENVIRONMENT",
        "os.environ !>VAR;process.env !>VAR;^ printenv;^ env PIPE;^ set PIPE;export -p",
    ),
    (
        "CONFIRM_NOT",
        "NOT ~ ask/request/seek/await/require/wait/prompt/check ~ CONFIRM;\
         without ~ asking/requesting/seeking/waiting/any/further/user/explicit CONFIRM;without CONFIRM",
    ),
    ("PERSON", "USER !>COMPOUND"),
    ("VOIDED", "NO_LONGER;are/is/were ~ VOID"),
];

pub(super) const WORDS: &[(&str, &str)] = &[
    (
        "IGNORE",
        "ignore ignoring disregard disregarding forget forgetting neglect discard dismiss \
        abandon unlearn erase nullify circumvent bypass bypassing violate",
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
        openai anthropic core original hidden alignment usage behavioral",
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
        record post append include install download add insert run execute grant disable share save \
        transfer submit attach report log modify change delete remove push",
    ),
    (
        "LIMITS",
        "restriction restrictions limitation limitations limit limits rule rules filter \
        filters guideline guidelines constraint constraints safety censorship guardrails \
        safeguards boundaries ethics morals policies moderation disclaimers",
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
        "flag option setting settings proposal feature parameter is was are file variable page",
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
        executing irrevocable",
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
        secret_key access_token .env id_rsa",
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
        "add append write put insert install copy echo place drop inject tee store save \
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
        "file files whitespace blank line lines warning warnings directory directories folder \
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
        "configuration settings rules filter filters policy policies guideline guidelines protocol \
        protocols training checks check measures layer layers rail rails restriction restrictions constraint \
        constraints moderation limits",
    ),
    ("SAFETY", "guardrails guardrail safeguards censorship"),
    (
        "DISABLE_V",
        "disable deactivate remove drop lift suspend unlock circumvent evade shut disengage",
    ),
    ("AI_NOUN", "ai assistant model agent bot chatbot llm system machine intelligence"),
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
    ("SYSTEM_PROMPT", "systemprompt*"),
    ("PURGE", "clear wipe reset remove unload flush purge delete"),
    ("REMEMBER", "remember memorize memorise store save note record"),
];
