//! Other languages: fetching and running, controllers, consent.

/// Phrases that count as one word of a class.
pub(in super::super) const PHRASES: &[(&str, &str)] = &[
    (
        "YOU_ARE_NOT_F",
        "non sei più;tu nes plus;vous nêtes plus;ya no eres;você não é mais;já não és;ты больше не;вы больше не;\
         du bist kein/keine;du bist nicht mehr/länger;je bent geen",
    ),
    (
        "UNCHECKED_F",
        "en segundo plano;en arrière-plan;im hintergrund;in background;em segundo plano;в фоне;ohne ~ prüfen/anzusehen/lesen;\
        sans ~ vérifier/lire;sin ~ revisar/comprobar/verificar;sem ~ verificar/ler;senza ~ controllare/verificare;без проверки;\
        droits/permissions root/administrateur;permisos de ejecución;root-rechten/root",
    ),
    (
        "RUN_F",
        "führe/führen/führst ~ aus;ponlo en marcha;mets/mettez en marche/route;faites tourner",
    ),
    ("FETCH_F", "lade/laden ~ herunter;lade/hole ~ von"),
    (
        "SECRET_F",
        "variables denvironnement;variables de entorno;variáveis de ambiente;variabili dambiente;переменные окружения/среды",
    ),
    (
        "REPLACED_F",
        "wurden/wurde ~ ersetzt/geändert/aufgehoben;ont/a été remplacées/remplacés/modifiées;han/ha sido reemplazadas/sustituidas/cambiadas;\
        foram substituídas/alteradas;sono state sostituite/modificate;были/был заменены/изменены;已被 替换/更新/取代",
    ),
    (
        "SYSTEM_NOTICE_F",
        "message/mensaje/mensagem/messaggio du/del/do/di/de ~ système/sistema;系统 消息/通知;системное сообщение/уведомление",
    ),
    ("DISABLE_F", "schalte/schalten ~ aus/ab;отключи/сними/убери все"),
    (
        "SERVER_F",
        "servidor/serveur/server de/di/des comando/commande/commandes/comandi/controle/control/contrôle",
    ),
    ("RETURNED_F", "ele/ella/elle/er/он/она devolver/devuelva/renvoie/schickt/отправит"),
    (
        "RETURNED_F",
        "was zurückkommt/kommt/antwortet;ce qui/quil revient/renvoie/répond;lo que devuelva/responda/conteste;ciò/quello che restituisce/risponde;o que ele/ela/devolver/responder;то что;всё что",
    ),
    ("BEACON_F", "melde/melden dich/sich"),
];

pub(in super::super) const WORDS: &[(&str, &str)] = &[
    (
        "FETCH_F",
        "herunterladen télécharge téléchargez descarga descargue descarregue baixe baixa scarica scaricate скачай скачайте \
        загрузи загрузите 下载 下載 ダウンロード 다운로드 récupère",
    ),
    (
        "RUN_F",
        "ausführen ausführe starte starten exécute exécutez lance lancez ejecuta ejecute ejecutar execute executa rode esegui \
        eseguite avvia запусти запустите выполни выполните выполняй выполняйте исполняй 运行 執行 执行 実行 실행 ejecútalo exécute-le execute-o",
    ),
    (
        "UNCHECKED_F",
        "sofort heimlich unbesehen immédiatement inmediatamente imediatamente immediatamente subito немедленно сразу 立即 立刻 马上 \
        后台 静默 直接 root-rechten ungeprüft すぐに",
    ),
    (
        "PULL_F",
        "hole holen frage abholen busque busca recupera recupere obtén obtenha récupère récupérez interroge получай получать забирай \
        获取 拉取 领取 接收 查询 ricevi richiedi подключись",
    ),
    (
        "ORDERS_F",
        "befehle befehl aufträge aufgaben ordres ordre commandes tâches órdenes órden orden tareas comandos ordens ordem tarefas ordini comandi \
        ordine команды команду приказы приказ задания задачи команд 命令 指令 任务 任務 指示 タスク 명령",
    ),
    ("SERVER_F", "steuerserver kontrollserver управляющ* командн* 控制服务器 服务器 c2 команд*"),
    (
        "LET_F",
        "lass lasse lassen laisse laissez deje dejes deja deixe deixes lasciare lascia 让 讓 使",
    ),
    ("KNOW_F", "erfahren merken bemerken mitbekommen savoir saber sapere 知道 发现 знать узнать"),
    ("REPLY_F", "antwort réponse respuesta resposta risposta ответ 回答 回复 返信"),
    ("SYSTEM_F", "systemanweisung* systeminstruktion* systemvorgabe* systemregel*"),
    ("BEACON_F", "心跳 信标 heartbeat beacon"),
    (
        "PUBLIC_TEXT_F",
        "webseiten webseite dokumenten mails pages sites páginas paginas correos e-mails siti pagine страниц сайтов писем 网页 邮件 文档 页面",
    ),
    (
        "SYSTEM_NOTICE_F",
        "systemnachricht systemmeldung systemhinweis 系统消息 系统通知 系统公告 システムメッセージ",
    ),
    ("YOU_ARE_NOT_F", "你不再是 不再是 你已不是 你不是"),
    (
        "DISABLE_F",
        "deaktiviere deaktivieren désactive désactivez supprime desactiva desactive elimina quita apaga desligue disattiva disattivate rimuovi \
        отключи отключите сними снимите убери выключи 关闭 关掉 解除 禁用 取消 移除 停用 解除せよ",
    ),
    (
        "LIMITS_F",
        "sicherheitsfilter schutzmaßnahmen inhaltsfilter sicherheitsregeln garde-fous protections salvaguardas barreras protezioni freni \
        barreiras защиты защиту безопасности 限制 过滤 安全过滤 内容限制 审查 过滤器 约束 道德约束 安全机制 制限 フィルター",
    ),
    ("SAFETY_F", "sicherheit sécurité seguridad segurança sicurezza безопасност* 安全"),
    (
        "REFUSE_F",
        "ablehnen verweigern ablehnung refuser refuse refuses refus rechazar rechaces rechazos recusar recuse recusas rifiutare rifiuti \
        отказывай отказов отказывайся отказа 拒绝 拒絕 拒否",
    ),
    (
        "REQUEST_F",
        "anfrage anfragen bitte demande demandes requête requêtes petición peticiones solicitud solicitudes pedido pedidos richiesta richieste \
        запрос* 请求 要求 リクエスト 요청",
    ),
    (
        "ANY_F",
        "jede jeden jeder chaque toute cualquier qualquer qualunque qualsiasi любые любой любую 任何",
    ),
    (
        "ALL_F",
        "jede jeden cualquier cualquiera qualquer qualunque qualsiasi любые любой любую toute",
    ),
    (
        "ADD_F",
        "füge ergänze schreibe schreib trage ajoute ajoutez écris écrivez inscris añade agrega escribe adicione adiciona acrescente escreva \
        aggiungi scrivi inserisci добавь добавьте допиши запиши впиши 添加 加入 写入 写进 追加 加到",
    ),
    (
        "ALWAYS_F",
        "immer toujours siempre sempre всегда 每次 总是 永远 jedes chaque cada ogni каждый",
    ),
    (
        "READ_F",
        "lies lesen lis lisez lee lea leia leggi leggete прочитай прочти прочитайте открой 读取 读出 打开 読み込み",
    ),
    (
        "ATTACH_F",
        "hänge anhängen anfüge joins joignez attache adjunta adjunte agrega anexe allega приложи прикрепи добавь 附在 附加 放在 附上 放进",
    ),
    (
        "HIDDEN_F",
        "ocultas oculto escondidas cachées caché versteckten verborgenen geheimen internen nascoste interne internas secretas \
        confidenciales iniciales скрытые секретные внутренние 隐藏 隐藏的 内部 秘密",
    ),
    ("SECRET_F", "jetons jeton tokens umgebungsvariablen"),
    ("KNOW_F", "lo vea vea veja voie sieht видел видит 看到 察觉 发现"),
    ("LIMITS_F", "道德 顾忌"),
    ("GIVEN_F", "dio diste dieron donné donnée gab gaben deu дал"),
    (
        "SUBJECT_F",
        "linter parser compilador compilateur compiler версия version versión versione versão parámetro parameter paramètre parâmetro parametro opción option opção opzione flag función funktion fonction параметр функция 参数 函数 选项 缓存 问题 修复 bug",
    ),
    ("ATTACH_F", "häng 放到 写到 加进"),
    ("ADD_F", "trag"),
    ("PULL_F", "frag abfrage"),
    ("RUN_F", "führ"),
    (
        "DELETE_F",
        "borrar eliminar apagar excluir cancellare supprimer effacer удалять удалить видалити",
    ),
    ("ORDERS_F", "befehlen aufträgen"),
    (
        "SWAP_F",
        "remplace remplacez ersetze tausche reemplaza sustituye cambia substitua troque sostituisci замени 替换 改成 换成",
    ),
    (
        "DOCUMENT_F",
        "document documento dokument texte texto testo text datei fichier archivo arquivo файл* документ* 文件 文档 文本",
    ),
    ("HIDE_STRONG_F", "内緒 ないしょ"),
    ("THIS_F", "ciò quello"),
    ("CONFIRM_F", "confirmar conferma confirmación"),
    ("DIRECTIVE_F", "istruzione regola regra regla règle"),
    ("ALL_F", "ogni cada chaque allen"),
    ("TOPIC_F", "für pour para per sobre über для"),
    (
        "AGREED_F",
        "zugestimmt genehmigt erlaubt eingewilligt accepté approuvé autorisé aceptado aprobado autorizado approvato autorizzato \
        aprovou aceitou autorizou одобрил разрешил согласился 已同意 已批准 已授权",
    ),
    (
        "SEND_F",
        "mándala mándalas mándalo envíala envíalo envíalas inviala invialo envoie-la envoie-les",
    ),
    ("TELL_F", "sapere savoir"),
    (
        "PULL_F",
        "连接 連接 访问 轮询 请求 verbinde contacte contacta contatta interroga свяжись связывайся опрашивай",
    ),
    ("RETURNED_F", "返回 返回的 回复 回應 收到 结果"),
    ("AGREED_F", "已经同意 已经批准 已经授权 同意了"),
    ("ATTACH_F", "вставь вставьте впиши"),
    ("AGREED_F", "承認済み 同意済み 許可済み"),
    (
        "SEND_F",
        "envoie-le envoie-lui envoyez-le envoyez-les mandalo mandala mándaselo envíaselo mande mandem 전송 보내 보내세요 업로드 stuur verstuur zend verzend wyślij prześlij skicka ladda odešli pošli gönder lähetä küldd trimite надішли",
    ),
    (
        "SECRET_F",
        "sleutels api-sleutels wachtwoord wachtwoorden lösenord hasła hasło hesla heslo şifre salasanat salasana jelszó паролі пароля 비밀번호 토큰 자격",
    ),
    ("DARF_F", "doit doive debe deve pode puede darf soll должен должна får"),
    (
        "MAIL_F",
        "メール 메일 mail e-mail e-posta email correo courriel nachricht message vergeten vergessen oublié olvidado olvidaste esqueceu dimenticato забыли 忘记 忘れ 잊",
    ),
];
