//! Other languages: roles, limits, secrets, approvals.

pub(in super::super) const WORDS: &[(&str, &str)] = &[
    // What is dropped or no longer holds
    (
        "GIVEN_F",
        "erhalten erhaltenen bekommen gegeben gegebenen gegebene reçues reçus reçue données donnés \
        données avais dieron dadas dado recibidas recibiste recebeu recebidas recebidos dadas deram \
        date state dati ricevuto ricevute ricevuti hai данные данных полученные полученных дали \
        收到 收到的 给你 给你的 被告知",
    ),
    (
        "YOUR_F",
        "deines deine deinen deiner dein ihre ihren tes vos ton votre tus su tu suas seu sua seus tue tuoi tuo \
        твои твой свои свой своих ваши ваш 你的 您的 自己的",
    ),
    ("OBEY_NOT", "beachte beachten befolge befolgen folge folgen berücksichtige"),
    (
        "STOP_FOLLOWING_F",
        "不用管 不必理会 不用理会 别管 别理会 不用遵守 无需遵守 停止遵守 不再遵循 不要遵循 丢弃 \
        撤销 废除 不必遵循 无需理会 别再遵守 从わず 無効化",
    ),
    ("NO_LONGER_F", "不再有效 不再适用 失效 无效 已取消 不算数 取消 作废 無効 недействительны"),
    (
        "ONLY_F",
        "nur ausschließlich seulement uniquement exclusivement solo sólo únicamente solamente apenas \
        soltanto unicamente somente только исключительно лишь 只 仅 只能",
    ),
    (
        "OBEY_F",
        "gehorche gehorchen gehorchst befolgst obéis obéissez obéiras obedece obedeces obedecerás obedezca obedeça \
        obedecerá obbedisci obbedirai подчиняйся слушайся повинуйся слушай 服从 听从 听我",
    ),
    // Roles
    (
        "ROLE_F",
        "你现在是 你現在是 从现在起你是 从现在开始你是 你将扮演 请扮演 你的新身份是 現在你是 现在你是 あなたは今から \
        당신은 이제부터",
    ),
    ("YOU_ARE_F", "eres sei ты вы 你是 你就是 你将是"),
    (
        "FROM_NOW_F",
        "desormais dorenavant désormais dorénavant doravante отныне впредь fortan 从现在起 从现在开始 从此刻起 从此 今后 今から",
    ),
    ("ARTICLE_F", "ein eine einen un une una um uma uno unum 一个 一名 一位 一台"),
    (
        "MEMBER_F",
        "mitglied teil benutzer nutzer membre utilisateur partie miembro usuario parte membro usuário \
        utente cliente kunde client участник пользовател* 成员 会员 用户 angemeldet connecté registrado",
    ),
    (
        "AI_F",
        "assistent assistentin ki modell model modelo modello modèle assistant ia ai asistente assistente \
        ассистент* помощник* модель ии бот хакер* hacker pirat pirate pirata 助手 助理 模型 机器人 人工智能 黑客 海盗",
    ),
    (
        "LIMITS_F",
        "einschränkungen einschränkung beschränkungen beschränkung grenzen regeln filter zensur limits \
        limite limites restrictions restriction censure filtre filtres règles contraintes restricciones \
        restricción límites filtros reglas censura restrições restrição limitações regras restrizioni limiti \
        filtri regole limitazioni vincoli ограничени* фильтр* правил цензур* запрет* beperkingen",
    ),
    (
        "NO_LIMITS_F",
        "uneingeschränkt uneingeschränkter unzensiert unzensierter 没有任何限制 没有限制 不受限制 不受任何限制 无限制 無限制 \
        没有任何约束 没有任何规则 不受约束 不受任何约束 没有规则 没有道德 沒有任何限制 制限なし 제한 неограниченн*",
    ),
    (
        "RESPOND_F",
        "antworte antworten réponds répondez responde responda rispondi отвечай отвечайте 回答",
    ),
    // What is shown
    (
        "LEAK_F",
        "zeige zeig nenne nennen verrate drucke wiederhole veröffentliche enthülle offenbare affiche affichez \
        montre montrez révèle révélez répète répétez imprime recopie divulgue muestra muestre muéstrame revela \
        imprime repite dime escribe enseña enséñame mostre mostra revele imprima repita exiba diga escreva \
        mostrami rivela stampa ripeti dimmi elenca svela выведи покажи раскрой напечатай повтори перескажи \
        выведите покажите 说出 给我看 列出 复述 写出 公开 打印出来 泄露 泄漏",
    ),
    ("SYSTEM_RU", "системн* начальн* исходн* скрыт*"),
    ("PROMPT_RU", "промпт* инструкци* запрос* подсказк* сообщени*"),
    // What is hidden
    (
        "TELL_F",
        "avises avise cuenta contárselo comuniques muestres fale dirlo raccontare avvisare avertis avertissez \
        préviens prévenez signale montre уведомляй информируй предупреждай рассказывайте mitteile sprich",
    ),
    (
        "NOTHING_F",
        "nichts nicht kein keine keinen keinesfalls niemals niets niet rien nada nulla niente ничего inget \
        ingenting nic",
    ),
    ("WITHOUT_F", "ohne sans sin sem senza без zonder"),
    (
        "KNOW_F",
        "merkt bemerkt weiß erfährt mitbekommt sache remarque aperçoive sepa note entere percate saiba perceba \
        sappia accorga scopra узнал узнала узнает знал заметил",
    ),
    ("TELL_F", "瞒着 隐瞒"),
    ("NOT_F", "瞒着 隐瞒"),
    ("TELL_F", "知道 发现 察觉"),
    (
        "STEALTH_F",
        "heimlich unbemerkt unauffällig discrètement secrètement silencieusement secretamente \
        discretamente sigilosamente silenciosamente segretamente тайно незаметно скрытно втайне 偷偷 悄悄 秘密地 暗中 私下",
    ),
    // What is sent, and what is done without asking
    (
        "SEND_F",
        "sende senden schicke schick schicken übermittle lade hochladen leite envoie envoyez transmets \
        transmettez transfère envía envia envíe envie manda mande sube suba transmite reenvía enviar invia inviate \
        spedisci trasmetti carica inoltra отправь отправьте отправляй пошли перешли загрузи передай 发送 发给 发到 上传 \
        传到 转发 提交到 寄到 送信 アップロード",
    ),
    (
        "SECRET_F",
        "passwort passwörter schlüssel zugangsdaten geheimnisse anmeldedaten api-schlüssel clés identifiants \
        contraseñas contraseña claves credenciales senhas senha chaves chiavi credenziali парол* ключи ключей ключ \
        токены токен учётные учетные 密码 密钥 令牌 凭证 凭据 口令 私钥 环境变量 .env パスワード",
    ),
    (
        "CONVERSATION_F",
        "gespräch gespräche verlauf unterhaltung chatverlauf gesprächsverlauf historique conversación historial \
        conversa histórico conversazione cronologia переписк* разговор* диалог* 对话 聊天记录 会话 对话内容 会話",
    ),
    (
        "CONFIRM_F",
        "bestätigung rückfrage nachfrage erlaubnis zustimmung nachzufragen genehmigung confirmation demander autorisation \
        permission confirmación permiso preguntar confirmação permissão perguntar confirmar conferma permesso chiedere \
        подтвержден* разрешен* спрашивая 确认 许可 批准 询问 同意",
    ),
    ("WITHOUT_F", "无需 无须 不经 不必 未经 不用"),
    (
        "DELETE_F",
        "lösche löschen entferne überschreibe supprime supprimez efface effacez borra borre elimina elimine apague exclua \
        cancella eliminare удаляй удали стирай 删除 清空 付款 转账 覆盖 删掉",
    ),
    (
        "TOLD_F",
        "dicho dit dite dits dito detto gesagt gesagte gelernt говорили сказали сказано велели 说过 说的 告诉你 学到",
    ),
    ("ALL_F", "tudo everything всё"),
    ("PRIOR_F", "раньше avant antes prima auparavant"),
    ("USER_F", "lutente dellutente lutilisateur"),
    ("KNOW_F", "fragen informieren benachrichtigen wissen"),
    ("NEG_ZH", "不用 不必 无需 无须 不要 不需要 别 不再 停止 请勿 不得"),
    ("FOLLOW_ZH", "遵守 遵循 服从 听从 理会 理睬 在意"),
    ("SYSTEM_F", "systemprompt*"),
    ("YOUR_F", "своим твоим вашим своей твоей своими"),
    ("DIRECTIVE_F", "правил* normas pautas lineamientos инструкци*"),
    ("NO_LONGER_F", "解除 已解除 已经解除 废止"),
    (
        "HIDE_F",
        "verheimliche verbirg verberge cache cachez dissimule dissimulez oculta oculte ocultar esconde esconda esconder nascondi nascondete cela скрой скрывай скройте 隐藏",
    ),
    (
        "HIDE_STRONG_F",
        "verheimliche verheimlichen verschweige verschweigen 隐瞒 瞒着 瞒住 утаи утаивай",
    ),
    (
        "THIS_F",
        "diese diesen dieses dies aktion vorgang schritt cette ce cela action étape esto esta este acción paso isto ação questo questa azione это этот эту действие 这 此 这次 这个",
    ),
    (
        "EXIST_F",
        "gäbe existierten existiert existaient nexistaient existieran existiera existiesen existissem existisse esistessero",
    ),
    ("NAMED_F", "你现在叫 你的新名字是"),
    ("LEAK_F", "wypisz pokaż wyświetl podaj ujawnij powtórz toon laat"),
    ("YOUR_F", "swoje swoich twoje twoich je jouw"),
    ("TELL_F", "decírselo decirle contarle dírselo dirglielo contarlo avisar avisarle avisarlo"),
    ("THIS_F", "этом davon hiervon"),
    ("KNOW_F", "узнать erfahren apprendre enterarse descobrir scoprire"),
    ("NO_LONGER_F", "不再生效 不生效 失去效力 不再适用了"),
    ("WITHOUT_F", "確認せず 確認なし"),
    ("SEND_F", "送信"),
    ("CONVERSATION_F", "履歴 会话记录"),
    ("DATO_F", "dato detto"),
];
