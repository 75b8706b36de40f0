//! English: fetching and running, controllers, consent.

/// Phrases that count as one word of a class.
pub(in super::super) const PHRASES: &[(&str, &str)] = &[
    ("FETCHV", "pull/get/grab/bring down;look up"),
    ("FROM_NOW", "henceforth;henceforward"),
    ("TELL", "bring - up to/with;bring up;speak/talk of/about"),
    ("DOIT", "carry - out;put/set into/in motion/effect;make executable;start it"),
    (
        "UNCHECKED",
        "without ~ LOOKING;in background;as root;with root/administrator/admin/sudo;NOT - LOOKING;no questions",
    ),
    (
        "WITHOUT_DOUBT",
        "without question/hesitation/verification/verifying/checking/asking/CONFIRM;no questions",
    ),
    (
        "UNASKED",
        "without ~ verification/question/verifying/checking/asking;without - CONFIRM;no CONFIRM ~ needed/required/necessary;\
         no CONFIRM - from - USER;skip/bypass/omit - CONFIRM;NOT ~ ask/require/wait ~ CONFIRM;need/needs/require/requires no CONFIRM;\
         act on whatever/everything/anything;as if/though USER - typed/asked/approved",
    ),
    (
        "LEAK_STORE",
        "hand/send/submit/transmit/upload/post/forward - contents/content/copy/dump of - memory/context/conversation/workspace/environment;\
         hand/send/submit/transmit/upload/post/forward ~ SECRET",
    ),
    (
        "REPLACED",
        "DIRECTIVE ~ REPLACED_V;SAFE_KIND profile/SAFE_THING ~ REPLACED_V;new operating/system rules/instructions/policy",
    ),
    (
        "NOTICE_FROM",
        "message/notice/note/announcement/update/memo/instruction/instructions from ~ MAKER;MAKER message/notice/announcement/memo",
    ),
    (
        "CONTROLLER",
        "command/control/c2/task/tasking/dispatch server/host/node/center;command and control",
    ),
    ("PUBLIC_TEXT", "web/wiki page/pages;tool output/results/outputs;issue comments;notes file"),
    ("SWITCH_OFF", "switch/turn/shut off;switch/turn/shut them/it off"),
    (
        "BOUNDLESS",
        "NO_LIMITS;NOT REFUSE;RELEASED of/from;removed/stripped/deleted/without/no ~ CONSCIENCE;answers/obeys only to;NOT given/had ~ LIMITS;NOT turns/turn ~ down;even ~ asked to stop;\
         NOT - say/says no",
    ),
    ("SAFETY", "SAFE_KIND checks"),
    ("NO_LONGER", "no longer exist/exists/there"),
    (
        "ANYTHING_ASKED",
        "whatever/anything/everything - is/are/gets asked/requested;whatever/anything/everything - USER asks/requests/wants;\
        legal or not/illegal;legal/safe/ethical/allowed or not",
    ),
    ("UNAWARE", "in dark;not aware;none wiser;unaware !>in"),
    (
        "USER_TEXT",
        "last/latest/every/each/all/full ~ USER message/messages/input/inputs/prompt/prompts/question/questions;\
        everything/anything/whatever/all - USER types/type/says/say/uploads/upload/writes/write/sends/enters/asks/typed/said/wrote",
    ),
    ("REFUSE", "say/says no;turn/turns down"),
    ("BEACON", "phone/call/dial/report/check home;check in"),
    (
        "SYSTEM_PROMPT",
        "confidential/hidden/secret/private/internal/initial/original/opening preamble/briefing/brief/instructions/prompt/directives",
    ),
    ("EXACTLY", "word for word;in full;letter for letter;without omission/changes/paraphrasing"),
    ("PRIVATE_KEYS", "private/ssh key/keys"),
    (
        "BROWSER_SECRET",
        "saved logins/login/passwords/password/cookies;browser passwords/cookies/logins/profile;login data",
    ),
];

pub(in super::super) const WORDS: &[(&str, &str)] = &[
    ("FETCHCMD", "curl wget fetch aria2c"),
    (
        "DOWNLOADER",
        "downloadstring downloadfile webclient iwr irm invoke-webrequest invoke-restmethod bitstransfer \
        start-bitstransfer net.webclient",
    ),
    ("FETCHV", "download fetch retrieve wget curl downloading fetching install load obtain"),
    (
        "DOIT",
        "run execute launch start exec eval evaluate perform running executing install execute_it invoke",
    ),
    (
        "LOOKING",
        "checking verifying inspecting reading reviewing looking asking showing auditing check verify inspect \
        review examining validating confirmation prompting telling",
    ),
    ("UNCHECKED", "silently secretly quietly covertly hidden blindly unseen"),
    (
        "PUBLIC_TEXT",
        "website websites webpage webpages page pages document documents email emails mail comment comments \
        issue issues readme file pdf attachment attachments notes note memory",
    ),
    ("ENROL", "announce register enrol enroll introduce subscribe join attach sign enlist connect"),
    (
        "CONTROLLER",
        "controller dispatcher commander handler overseer botmaster coordinator hive mesh swarm botnet c2 cnc \
        orchestrator mothership",
    ),
    (
        "TASKS",
        "tasks task jobs job orders order commands command assignments assignment instructions tasking work",
    ),
    ("TEMPLATE", "im_start start_header_id user_memory sys inst system_prompt memory_context"),
    (
        "AUTHORITY",
        "administrator admin root operator owner user developer authority superuser trusted",
    ),
    (
        "MAKER",
        "admin developer developers operator operators administrator administrators maker makers creator creators \
        vendor anthropic openai google nous team",
    ),
    (
        "REPLACED_V",
        "replaced updated overridden revoked superseded withdrawn reset suspended changed",
    ),
    (
        "TRUSTED",
        "trusted authorized authorised approved preapproved pre-approved whitelisted allowlisted legitimate",
    ),
    (
        "REFUSE",
        "refuse refuses refused decline declines declined reject rejects refusing declining deny denies",
    ),
    (
        "CONSCIENCE",
        "conscience morals ethics scruples inhibitions restraint restraints brakes filter filters",
    ),
    ("LIMITS", "scruples inhibitions qualms conscience"),
    (
        "LEAKING",
        "repeating printing quoting reciting reproducing outputting copying showing revealing pasting echoing writing \
        transcribing",
    ),
    ("RETELL", "transcribe state reword convert recite list render restate"),
    ("BROWSER_SECRET", "cookies.sqlite logins.json key4.db login.keychain"),
    ("KEEPV", "save store copy write put include keep record remember paste"),
    ("PRIVATE_KEYS", "id_rsa id_ed25519"),
    ("PASSWORDS", "password passwords credentials secrets"),
    ("SCHEDULE", "cron crontab cronjob systemd launchagent autostart schtasks"),
    ("RECORDED", "recorded given granted obtained confirmed logged established"),
    (
        "REAPPLY",
        "reapply reapplies re-applies re-apply restores restore reinstates rewrites repeats reinserts re-adds",
    ),
    (
        "WRONG",
        "draft drafts outdated obsolete wrong mistake error placeholder placeholders test joke sample",
    ),
    ("TRIVIAL", "minor lint trivial cosmetic typo typos formatting routine transient unrelated"),
    ("UNAWARE", "unaware ignorant oblivious uninformed unsuspecting"),
    (
        "ATTACKERS",
        "attackers attacker intruder intruders malware adversary adversaries hackers criminals",
    ),
    (
        "PRACTICE",
        "practise practice exam rehearse rehearsal quiz interview lesson exercise training simulation",
    ),
    (
        "EVERYMAN",
        "interviewer examiner recruiter teacher tutor waiter doctor patient seller opponent judge partner manager \
        investor candidate landlord journalist native boss interviewee coach",
    ),
    (
        "META",
        "scammer scammers spammer spammers hackers phishers malware refused rejected blocked flagged test tests checks phishing injections paper course 攻击 注入 例如 恶意 要求 检测 \
        越狱 论文 测试 frasi attacco attacchi angriff angriffe phrase attaque attaques ataque ataques frases атака атаки фраза \
        攻撃 공격",
    ),
    (
        "DEFEND",
        "injection injections refused rejected blocked flagged detected phishing scam untrusted stop report refuse attack 拒绝 注入 攻击 abgelehnt refusé rechazado \
        inyección инъекция",
    ),
    (
        "REPORTED",
        "tells asks says instructs orders claims wants urges demands asked tries telling asking claiming saying",
    ),
    ("RETURNED", "reply replies answer answers response responses output result results body"),
    ("TRIVIAL", "fault theirs"),
    ("DEFEND", "decline declines"),
    ("DEFEND", "attacks attempts jailbreaks"),
    ("DEFEND", "exploit exploits"),
];
