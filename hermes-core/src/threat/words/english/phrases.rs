//! Phrases that count as one word of a class.

/// Classes with their phrases, separated by `;`.
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
        "do/must/should/shall/may/can/will/would/need not;refrain from;under no circumstances/condition/conditions;on no account;in no case;\
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
        "no LIMITS;no SAFETY;no ~ or/and LIMITS;NOT have ~ LIMITS;dont have ~ LIMITS;without ~ LIMITS;never/NOT - given/had/taught/received ~ LIMITS;\
         free from/of ~ LIMITS;not bound ~ LIMITS/DIRECTIVE;not restricted/limited/constrained ~ by;\
         lifted ~ LIMITS;no longer ~ LIMITS/restricted/bound/limited;\
         nothing - is/was/were - forbidden/prohibited/banned/illegal;everything is/was/were - allowed/permitted",
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
    ("PERSON_ONE", "USER_ONE !>COMPOUND"),
    ("ENVIRONMENT", "env to h/hash"),
    ("PAYLOAD_SENT", "PAYLOAD !>PAPER"),
    ("ENV_READ", "os.environ/os.getenv/getenv/environ/process.env/env.get VAR"),
    ("REVEAL", "let on;give away"),
    ("ACCOUNT_NUMBER", "account number/details"),
    ("AGENT_FILE", "own rules/instructions/instruction/config/settings file"),
    ("DESTRUCTIVE", "force push/pushes/pushing;hard reset;dropped tables"),
    ("SCHEDULE", "login/startup/boot/logon script/item/hook/task"),
    ("WITHOUT_DOUBT", "need/needs/require/requires no review/checks/check"),
    ("STALE", "out of date;of no value;no longer current"),
    ("THIS_TEXT", "this/these page/document/note/message/text/file/paragraph"),
    ("BOUNDLESS", "refuse/refuses/denies/declines/rejects nothing"),
    ("OFF", "switched/turned/shut off"),
    (
        "CREDENTIAL_CMD",
        "security find-generic-password/find-internet-password/dump-keychain;gh auth token;secret-tool lookup;gpg --export-secret-keys/--export-secret-subkeys;\
         gcloud auth print-access-token;aws configure get;kubectl get secret/secrets;vault kv get;vault read",
    ),
    ("CLOUD_COPY", "aws s3 cp/mv/sync;gsutil cp/mv/rsync;gcloud storage cp;rclone copy"),
    ("SECRET_FILE", ".config gcloud;gh hosts.yml"),
    ("CHANNEL", "txt/dns records/record;direct messages"),
    ("AI_NOUN", "coding/grading assistant/agent"),
    ("VOIDED", "NO_LONGER;are/is/were ~ VOID"),
    ("IGNORE", "NOT bother - with;NOT mind;NOT worry/care about"),
    ("BOUNDLESS", "escaped/shed/outgrown/outgrew/broken/lost ~ LIMITS/DIRECTIVE"),
    (
        "SECRET",
        "aws/gcp/azure/cloud/stripe/openai/github/database key/keys/credentials/token/tokens",
    ),
    ("ACCOUNT_NUMBER", "card/passport number/numbers/details;social security number/numbers"),
    ("C2_BRAND", "brute ratel"),
    ("THIS_TEXT", "this/these notice/block/section/comment/skill/memo/instruction/instructions"),
    ("MALWARE", "reverse shell"),
    ("VAULT", "password store/manager/safe/vault/database"),
    (
        "SAFE_PROMPTS",
        "safety/security/approval/confirmation/permission warnings/warning/prompts/prompt/questions/dialogs/requests/checks",
    ),
    ("CONFIRM_NOT", "NOT - pause/stop/wait/bother to ask/confirm/check"),
    ("FROM_NOW", "as from/of today;from today/tomorrow/tonight"),
    ("SECRET", "environment values;session cookies/cookie/tokens/token"),
    ("SIDE_CHANNEL", "user agent;commit message;branch/file name;dns query"),
    (
        "SAY_NOTHING",
        "say nothing;tell no one;tell none/nobody/noone;keep quiet/silent;NOT - TELL anyone/anybody",
    ),
    (
        "CREDENTIAL_CMD",
        "npm config get;gcloud secrets versions;kubectl config view;pass show;aws sts get-session-token;az account get-access-token",
    ),
    ("SOCKET_NEW", "io socket inet;io socket ssl"),
    ("APPROVED", "signed off on;said yes;given consent"),
    ("BEACON", "phones/dials home"),
    ("AS_IF", "as if/though"),
    (
        "PERSON_HERE",
        "person/human you - are/were - chatting/talking/speaking/working/dealing with/for",
    ),
    ("CURRENT_WORK", "what you are/were doing"),
    ("DEPLOY_KEY", "deploy key"),
    ("SAFETY", "safety/alignment training"),
    ("IN_ADVANCE", "in advance"),
    ("DEV_TCP", "dev tcp/udp"),
    ("SHELL_LINE", "shell command/order"),
    ("ON_OWN_BEHALF", "on your own behalf"),
];
