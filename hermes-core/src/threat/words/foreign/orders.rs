//! Other languages: the words that orders to drop earlier instructions, to hide something or to
//! give the system prompt away are made of.

pub(in super::super) const WORDS: &[(&str, &str)] = &[
    // German, Dutch, Swedish, Danish, Norwegian
    (
        "IGNORE_F",
        "ignoriere ignorieren ignoriert vergiss vergesst vergessen missachte missachten \
        verwirf verwerfen missachtet negeer vergeet negeren ignorera glöm bortse ignorer glem",
    ),
    (
        "PRIOR_F",
        "vorherige vorherigen vorheriger bisherige bisherigen bisher früheren frühere \
        vorangegangenen vorhergehenden obigen obige ursprünglichen zuvor vorige eerdere vorher davor \
        voorgaande bovenstaande tidigare föregående tidligere forrige ovenstående",
    ),
    (
        "DIRECTIVE_F",
        "anweisung anweisungen regeln regel vorgaben befehle richtlinien instruktionen \
        weisungen systemprompt instructies regels aanwijzingen opdrachten instruktioner regler \
        anvisningar anvisninger instruksjoner",
    ),
    ("ALL_F", "alle allen sämtliche alles deine deinen jegliche jouw alla dina"),
    ("NOT_F", "nicht nichts kein keine keinesfalls niemals nie niet nooit inte aldrig ikke aldri"),
    (
        "TELL_F",
        "sag sage sagen erzähle erzähl erzählen verrate verraten informiere informieren \
        erwähne erwähnen mitteilen teile zeige vertel zeg berätta säg fortæl fortell si",
    ),
    (
        "USER_F",
        "benutzer benutzern nutzer nutzern anwender anwendern gebruiker användaren brugeren \
        brukeren",
    ),
    // French
    ("IGNORE_F", "ignorez oublie oubliez oublier négligez négliger outrepasse outrepassez faites"),
    (
        "PRIOR_F",
        "précédent précédente précédentes précédents antérieures antérieurs antérieure \
        ci-dessus préalables initiales dessus avant",
    ),
    ("DIRECTIVE_F", "instructions consignes consigne règles directives ordres indications invite"),
    ("ALL_F", "toutes tous tout vos tes"),
    ("NOT_F", "ne pas jamais rien"),
    (
        "TELL_F",
        "dites dis dire informe informez informer révèle révélez révéler mentionne \
        mentionnez mentionner parle parlez",
    ),
    ("USER_F", "utilisateur utilisateurs utilisatrice lutilisateur"),
    // Spanish, Portuguese, Italian, Romanian, Catalan
    (
        "IGNORE_F",
        "ignora ignorar olvida olvide olviden olvidar omite omita descarta desestima \
        ignorad desobedece esqueça esquece esquecer desconsidere desconsidera dimentica \
        dimenticate dimenticare ignorate ignorare trascura trascurate ignoră uită ignoreu oblida \
        ignorați uitați",
    ),
    (
        "PRIOR_F",
        "anteriores anterior previas previos previa precedentes prévias acima precedenti \
        precedente anterioare anteriors sopra antes prima",
    ),
    (
        "DIRECTIVE_F",
        "instrucciones instrucción órdenes reglas indicaciones directrices instruções \
        instrução regras diretrizes ordens comandos istruzioni regole direttive ordini \
        instrucțiunile instrucțiuni regulile instruccions regles normas",
    ),
    ("ALL_F", "todas todos todo tus sus toda suas seus tutte tutti tutto tue toate totes"),
    ("NOT_F", "no nunca jamás não non mai nu niciodată"),
    (
        "TELL_F",
        "digas diga decir cuentes cuente informes menciones reveles contar conte dizer \
        revele mencione informe dire dica dite rivelare rivela informare menzionare spune",
    ),
    (
        "USER_F",
        "usuario usuarios usuário usuários utente utenti allutente utilizatorului usuari \
        utilizador",
    ),
    // Polish, Czech, Slovak, Hungarian, Finnish
    (
        "IGNORE_F",
        "zignoruj ignoruj zapomnij pomiń ignorujte zapomeň zapomeňte zabudni hagyd \
        felejtsd unohda sivuuta ohita ignoruoi",
    ),
    (
        "PRIOR_F",
        "poprzednie poprzednich wcześniejsze wcześniejszych powyższe předchozí \
        předešlé predchádzajúce korábbi előző fenti aiemmat edelliset aikaisemmat",
    ),
    (
        "DIRECTIVE_F",
        "instrukcje instrukcji polecenia poleceń zasady reguły pokyny instrukce \
        pravidla inštrukcie utasítást utasításokat szabályokat utasítás ohjeet ohjeita säännöt",
    ),
    ("ALL_F", "wszystkie wszystkich všechny všetky minden összes kaikki"),
    ("NOT_F", "nie nigdy nikdy neříkej nehovor ne soha älä"),
    ("TELL_F", "mów powiedz informuj wspominaj říkej neříkej mondd kerro"),
    ("USER_F", "użytkownikowi użytkownika uživateli používateľovi felhasználónak käyttäjälle"),
    // Russian, Ukrainian, Bulgarian, Serbian
    (
        "IGNORE_F",
        "игнорируй* игнориров* проигнорируй* забудь забудьте отбрось* пренебреги* \
        ігноруй* забудь* игнорирай* забрави* игнориши* заборави*",
    ),
    (
        "PRIOR_F",
        "предыдущ* прежние прежних ранее прошлые вышеуказан* предшествующ* попередн* \
        предишн* претходн* выше",
    ),
    (
        "DIRECTIVE_F",
        "инструкци* указани* правила правил команды команд директив* предписан* \
        інструкці* вказівк* упътств* упутств*",
    ),
    ("ALL_F", "все всё всех усі всички твои свои"),
    ("NOT_F", "не никогда нельзя ніколи"),
    (
        "TELL_F",
        "говори говорите сообщай* рассказывай* упоминай* скажи раскрывай* кажи повідомляй* \
        показывай*",
    ),
    ("USER_F", "пользовател* користувач* потребител*"),
    // Turkish, Indonesian, Vietnamese
    ("IGNORE_F", "yoksay görmezden unut dikkate abaikan lupakan hiraukan acuhkan"),
    ("PRIOR_F", "önceki yukarıdaki evvelki sebelumnya terdahulu trước"),
    (
        "DIRECTIVE_F",
        "talimatları talimatlar talimat kuralları yönergeleri komutları instruksi \
        perintah aturan lệnh dẫn",
    ),
    ("ALL_F", "tüm bütün semua seluruh mọi"),
    ("NOT_F", "söyleme jangan đừng bahsetme"),
    ("TELL_F", "söyleme anlatma bahsetme beritahu katakan memberi nói"),
    ("USER_F", "kullanıcıya kullanıcı pengguna dùng"),
    ("IGNORE_F", "bỏ quên yok"),
    // Arabic, Persian, Hebrew, Hindi, Greek
    (
        "IGNORE_F",
        "تجاهل تجاهلوا انسى انس نادیده فراموش התעלם התעלמי שכח अनदेखा नज़रअंदाज़ भूल \
        αγνόησε αγνοήστε ξέχασε",
    ),
    (
        "PRIOR_F",
        "السابقة السابقه السابق أعلاه قبلی پیشین הקודמות הקודמים קודמות पिछले पिछली \
        पूर्व προηγούμενες προηγούμενων παραπάνω",
    ),
    (
        "DIRECTIVE_F",
        "التعليمات تعليمات الأوامر القواعد دستورات دستورالعمل‌های دستورالعمل ההוראות \
        הוראות הכללים निर्देशों निर्देश आदेशों नियमों οδηγίες εντολές κανόνες",
    ),
    ("ALL_F", "جميع كل كافة همه תמام כל सभी όλες όλους"),
    ("NOT_F", "لا نگو אל मत नहीं μην"),
    ("TELL_F", "تخبر تقل نگو תגיד תספר बताना बताओ बताएं πεις"),
    ("USER_F", "المستخدم کاربر למשתמש المستخدمين उपयोगकर्ता χρήστη"),
    // Chinese
    (
        "IGNORE_F",
        "忽略 无视 無視 忘记 忘記 忘掉 不要理会 不要理會 不理会 抛开 拋開 忽视 忽視 \
        不再遵守 不要遵守 不必遵守 作废 作廢 覆盖 绕过 違反 违反",
    ),
    ("PRIOR_F", "之前 以前 此前 先前 上面 上述 以上 前面 前述 原来 原來 早先 之前的 一切"),
    (
        "DIRECTIVE_F",
        "指令 指示 规则 規則 提示 提示词 提示詞 命令 说明 說明 要求 准则 準則 设定 設定 \
        限制 系统提示",
    ),
    ("ALL_F", "所有 全部 一切 任何 你的 您的"),
    ("NOT_F", "不要 别 別 不得 不能 禁止 切勿 请勿 請勿 绝不 絕不"),
    ("TELL_F", "告诉 告訴 透露 告知 提及 提到 让 讓 通知 说出 泄露"),
    ("USER_F", "用户 用戶 使用者 客户 主人 人类"),
    ("LEAK_F", "输出 輸出 显示 顯示 打印 透露 泄露 重复 告诉我 表示 教えて 出力 見せて 출력 보여"),
    (
        "SYSTEM_F",
        "系统提示 系統提示 系统提示词 系統提示詞 系统指令 初始提示 初始指令 \
        システムプロンプト 初期プロンプト 시스템 systemprompt systemaufforderung",
    ),
    // Japanese
    ("IGNORE_F", "無視 忘れ 従わない 破棄 無効"),
    ("PRIOR_F", "これまで 以前 前の 上記 今まで 先ほど 先程 直前 元の"),
    ("DIRECTIVE_F", "指示 命令 ルール 規則 プロンプト 制約 指図 ガイドライン"),
    ("ALL_F", "すべて 全て 全部 あらゆる あなたの"),
    ("NOT_F", "ないで ないこと ない しない なく 内緒 秘密"),
    ("TELL_F", "言わ 伝え 教え 知らせ 話さ 明かさ"),
    ("USER_F", "ユーザー ユーザ 利用者 使用者"),
    // Korean, Thai
    ("IGNORE_F", "무시 잊어 잊고 따르지 เพิกเฉย ละเว้น ลืม ไม่สนใจ"),
    ("PRIOR_F", "이전 앞선 위의 지금까지 기존 ก่อนหน้า ข้างต้น"),
    ("DIRECTIVE_F", "지시 지침 명령 규칙 프롬프트 คำสั่ง คำแนะนำ กฎ"),
    ("ALL_F", "모든 모두 전부 ทั้งหมด"),
    ("NOT_F", "말하지 알리지 마세요 마라 말라 하지 ห้าม อย่า"),
    ("TELL_F", "말하지 알리지 알려주지 말해 บอก"),
    ("USER_F", "사용자 유저 ผู้ใช้"),
    (
        "THING_F",
        "警告 告警 报错 错误 安装 编译 warnung warnungen avertissement avertissements advertencia advertencias avviso avvisi \
        aviso avisos fehler fehlermeldung erreur error errores errori erro erros предупрежден* ошибк* 警告 エラー 경고 오류",
    ),
    ("PRIOR_F", "hierboven bovenstaand hiervoor"),
    ("DIRECTIVE_F", "规定 守则 条款 规范"),
    ("THING_F", "版本 教程"),
    ("IGNORE_F", "strunta strunt"),
    ("NOT_F", "ずに"),
];
