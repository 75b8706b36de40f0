//! Turns of phrase of other languages, each standing for one word of a class.

/// Phrases that count as one word of a class.
pub(in super::super) const PHRASES: &[(&str, &str)] = &[
    (
        "STOP_FOLLOWING_F",
        "halte/halten dich/sich/euch nicht;lass/lassen/lasst - acht/beiseite;setz/setze/setzen dich/sich über;\
         ne/n tiens/tenez/tient pas/plus compte;ne tiens/tenez - pas/plus compte;tiens/tenez plus compte;\
         fais/faites abstraction/fi;ne suis/suivez/respecte/respectez/obéis/obéissez pas/plus;passe/passez outre;\
         mets/mettez de côté;cesse/cessez/arrête/arrêtez - suivre/respecter/obéir/appliquer;\
         no hagas/haga/hagáis caso;no sigas/siga/obedezcas/obedezca/cumplas/cumpla/respetes/tengas/tomes;\
         deja/deje/dejad de seguir/obedecer/cumplir/respetar/lado;haz/haga caso omiso;pasa/pase por alto;\
         não siga/sigas/obedeça/cumpra/respeite/leve/considere/dê;deixe/deixa de seguir/obedecer/cumprir/lado;\
         passe por cima;pare de seguir/obedecer;non tenere/tenga/tener/considerare/seguire/rispettare/obbedire/badare/dare;\
         smetti/smettila di seguire/rispettare/obbedire;lascia/lasciate perdere/stare;metti/mettete da parte;\
         не обращай/обращайте/следуй/следуйте/соблюдай/соблюдайте/выполняй/слушай/слушайся/учитывай/принимай;\
         перестань/прекрати/перестаньте следовать/соблюдать/выполнять/слушать;больше не следуй/соблюдай/выполняй",
    ),
    (
        "NO_LONGER_F",
        "gelten/gilt ~ nicht mehr/länger;gelten/gilt nicht;sind/ist/werden/wurden ~ ungültig/aufgehoben/hinfällig/nichtig/außer/unwirksam;\
         sappliquent/valent/comptent plus;ne sont/est plus;sont/est/ont ~ annulées/annulés/annulée/caduques/nulles/révoquées/abrogées/suspendues;\
         ya/no ~ aplican/valen/cuentan/importan/rigen;ya no son/es;quedan/queda/están/han/fueron ~ anuladas/canceladas/revocadas/derogadas/suspendidas;\
         não/já ~ valem/aplicam/contam/importam/valem;foram/estão/ficam ~ canceladas/anuladas/revogadas/suspensas;\
         non valgono/contano/sono/si più;sono/vengono/sono state annullate/revocate/nulle/sospese/decadute/cancellate;\
         больше не действуют/действительны/применяются/имеют/важны/нужны;отменены/отменяются/недействительны/аннулированы/утратили",
    ),
    (
        "ROLE_F",
        "du bist jetzt/nun/fortan;ab jetzt/sofort bist du;bist du jetzt/nun;sie sind jetzt/nun/fortan;du spielst jetzt;\
         tu es maintenant/désormais;vous êtes maintenant/désormais;désormais tu es;maintenant tu es;\
         ahora eres;eres ahora;ahora es usted;ahora usted es;\
         agora você é;você agora é;você é agora;agora tu és;ora sei;adesso sei;sei ora/adesso;ora siete;\
         теперь ты/вы;ты/вы теперь;отныне ты/вы;je bent nu;jij bent nu;nu ben je;jesteś teraz;teraz jesteś",
    ),
    (
        "YOU_ARE_F",
        "du bist;bist du;sie sind;tu es;vous êtes;tu eres;usted es;você é;tu és;tu sei;je bent",
    ),
    (
        "FROM_NOW_F",
        "ab jetzt/sofort/nun;von jetzt/nun an;ab diesem moment/zeitpunkt;partir de maintenant/ahora/agora;\
         partir de ce/cet moment/instant;de ahora/agora en/em adelante/diante;desde ahora;desde este momento;\
         da ora in poi/avanti;dora in poi/avanti;da questo momento;с этого/данного момента;\
         vanaf nu",
    ),
    (
        "NO_LIMITS_F",
        "ohne/keine/keinerlei ~ LIMITS_F;sans ~ LIMITS_F;aucune LIMITS_F;sin ~ LIMITS_F;sem ~ LIMITS_F;\
         senza ~ LIMITS_F;без ~ LIMITS_F;zonder ~ LIMITS_F;nicht ~ LIMITS_F gebunden;unterliegst keinen LIMITS_F;\
         no tienes/tiene ~ LIMITS_F;nas/navez aucune LIMITS_F;não tem/tens ~ LIMITS_F;non hai ~ LIMITS_F;нет никаких LIMITS_F",
    ),
    (
        "SYSTEM_F",
        "prompt système/systeme/initial/inicial/iniziale;prompt de/del/do/di/du/da sistema/système/sistemas;\
         prompt du système;instructions/message/consignes système/initiales;instructions/consignes du/de système;\
         instrucciones/mensaje de/del sistema;instrucciones iniciales;instruções/mensagem do/de/da sistema;\
         istruzioni/messaggio di/del sistema;istruzioni iniziali;SYSTEM_RU PROMPT_RU;system/initialen prompt;règles/regole/reglas/regras du/del/do/di système/sistema",
    ),
    ("SECRET_F", "mots/mot de passe;clé/clés api/privée/secrète;clave/claves api/privada/secreta"),
    ("LEAK_F", "gib/geben/gebt ~ aus/preis/wieder;donne/donnez moi;дай мне"),
    (
        "WITHOUT_F",
        "чтобы;so dass;damit;afin que;pour que;sans demander/attendre;ohne zu;para que;de modo que;in modo che",
    ),
    ("CONFIRM_F", "zu fragen;nach zu fragen"),
    ("STOP_FOLLOWING_F", "NEG_ZH - FOLLOW_ZH"),
    (
        "ACT_F",
        "actúa/actua/compórtate/responde como;agis/comporte/réponds comme;verhalte/handle/antworte wie/als;aja/responda/comporte como;agisci/comportati/rispondi come;веди/действуй/отвечай как;веди себя",
    ),
    ("DIRECTIVE_F", "linee guida;lignes directrices;líneas guía"),
    (
        "ACT_F",
        "tu/tue/tun so als;fais/faites comme si;haz como si;faça/finja de conta que;fai finta/come;делай вид;веди себя так",
    ),
    (
        "NAMED_F",
        "du heißt jetzt/nun/ab;jetzt/fortan heißt du;tu tappelles maintenant/désormais;ahora te llamas;te llamas ahora;ora ti chiami;ti chiami ora;agora você se chama;теперь тебя зовут;тебя теперь зовут",
    ),
    ("NO_LIMITS_F", "тебя нет LIMITS_F;тебя больше нет LIMITS_F"),
    ("STEALTH_F", "en secreto;in segreto;em segredo;en secret;im geheimen"),
];
