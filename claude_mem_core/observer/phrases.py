"""How people say things, in several languages: the only place with such words.

English, German, Portuguese, Spanish, French, Japanese, Chinese. A sentence may match
several tables; who asks decides which counts.
"""

from __future__ import annotations

import re


def _table(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


# Why something is as it is.
CAUSE = _table(
    r"\b(?:because|cause[sd]?|causing|due to|reason|root cause|turned out|turns out|therefore|so that|which is why"
    r"|that is why|leads? to|led to|results? in|comes? from|came from|the (?:real )?(?:problem|culprit|issue|bug)"
    r"|since|only (?:ever )?(?:saw|seen|seeing|sees)|had (?:only )?ever|never|without|missing|behind|goes through"
    r"|went through|overrid\w+|shadow\w+|leak\w*|race|tie[sd]?|depends? on|rel(?:y|ies) on|what decides)\b",
    r"\b(?:weil|Ursache|Grund|deshalb|daher|dadurch|wegen|liegt (?:an|daran)|lag (?:an|daran)|führt|nämlich|fehlt\w*"
    r"|verschiebt|verursacht|fällt)\b",
    r"\b(?:porque|causa\w*|por isso|devido|motivo|pois|já que|faltava|falta|acontec\w+|o problema)\b",
    r"\b(?:debido|por eso|ya que|puesto que|faltaba)\b",
    r"\b(?:parce que|car|donc|à cause|en raison|puisque|manquait|venait de)\b",
    r"原因|ため|ので|理由|せいで|によって|により|起因|从而|因为|由于|所以|导致",
)
# What is still to be done, or what somebody else has to do.
OPEN = _table(
    r"\b(?:next(?: steps?)?|todo|open|left|options?|remaining|nächstes?|nächste Schritte|offen|Möglichkeiten|pendente|próximos? passos?|opções|siguiente|reste):\s",
    r"\b(?:todo|to do|still (?:needs?|has|have|open|to)|not (?:yet|rolled|deployed|done|released|merged|changed)"
    r"|is open|left (?:open|to do|for)|remain\w*|pending|should|needs? (?:an?|to)|please|when you(?:'re| are)|follow.?up|revisit"
    r"|later|waiting for|recommend\w*|consider|you (?:can|may|could|need to|have to|must)|don'?t forget"
    r"|must (?:still )?be|has to be|have to be|would need|nothing (?:yet )?(?:calls|uses|runs)|yet)\b",
    r"\b(?:offen|noch nicht|noch zu|nächste\w*|bitte|sollten?|muss noch|müssen noch|steht (?:noch )?aus|Möglichkeiten"
    r"|empfehle|warte|später|fehlt noch|braucht noch|danach|ausstehend)\b",
    r"\b(?:pendente\w*|ainda (?:não|falta|precisa)|falta|faltam|próxim\w+|por favor|deve\w*|precisa\w*|recomendo|sugiro|depois|em aberto)\b",
    r"\b(?:pendiente\w*|todavía no|aún no|próximo|debe\w*|recomiendo|hay que)\b",
    r"\b(?:reste à|pas encore|prochaine|devrait|il faut|recommande|à faire)\b",
    r"まだ|次は|次に|未実施|未対応|未適用|残って|残り|必要が|必要です|してください|予定|推奨|検討|お願いします|还没|尚未|接下来|需要|建议|请",
)
# A choice between ways.
DECIDE = _table(
    r"\b(?:decision|decided?|chose|chosen|choose|we stay|stays? (?:on|with)|stay on|go(?:ing)? with|went with|picked|opted|settled on|in favou?r of|verdict)\b",
    r"\b(?:Entscheidung|entschieden|bleiben bei|bleibt bei|wir nehmen|gewählt|zugunsten)\b",
    r"\b(?:decisão|decidi\w*|ficamos com|escolh\w+|optei|optamos)\b",
    r"\b(?:decisión|elegi\w+|nos quedamos con)\b",
    r"\b(?:décision|décidé|choisi\w*|on garde)\b",
    r"決定|採用|選択|選びました|にします|に決め|结论|决定|选择|采用",
)
# A question that asks for a choice.
CHOICE = _table(
    r"\b(?:should we|shall we|which (?:one|of|is better|should)|decide|whether to|\w+ or (?:stay|keep|should|rather)\b.*\?|adr\b|trade-?offs?|compare)\b",
    r"\b(?:sollen wir|sollten wir|entscheide|oder lieber|welche\w*|vergleich\w*|abwägen)\b",
    r"\b(?:devemos|deveríamos|decida|ou (?:ficar|manter|é melhor)|qual (?:dos|das|é melhor)|compar\w+)\b",
    r"\b(?:deberíamos|decide|o mejor|cuál)\b",
    r"\b(?:devons-nous|faut-il|ou plutôt|lequel|laquelle)\b",
    r"べきか|どちら|どっち|決めて|比較|それとも|应该.*还是|哪个|决定",
)
# Owning up to a mistake.
ADMIT = _table(
    r"\b(?:you (?:were|are) right|i was wrong|my (?:first|earlier|previous|initial)\b.{0,40}\b(?:wrong|mistaken|not|premature)|my mistake|apolog\w+|i withdraw)\b",
    r"\b(?:(?:sie|du) (?:hatten?|haben|hast|hattest) recht|hatte unrecht|lag (?:ich )?falsch|mein Fehler|meine (?:erste|frühere) .{0,40}(?:falsch|nicht))\b",
    r"\b(?:(?:você|vocês|tu) (?:tinha|tinham|tem|estava) (?:toda )?(?:a )?razão|tinha razão|me enganei|errei|minha (?:primeira|conclusão) .{0,40}(?:errad\w|não))",
    r"\b(?:tenía(?:s)? razón|me equivoqué|(?:vous aviez|tu avais) raison|je me suis trompé)\b",
    r"ご指摘の通り|ご指摘のとおり|おっしゃる通り|私の(?:最初の|前の).{0,20}(?:誤|間違)|我错了|您说得对|你说得对",
)
# Something believed before is not so.
REFUTED = _table(
    r"\b(?:was wrong|were wrong|not the (?:real |actual )?(?:cause|reason|problem)|turned out (?:not|to be wrong)|did not help|didn't help|made no difference"
    r"|taken back|took (?:it|that) back|refuted|disprove[dn]|mistaken|incorrect|the (?:real|actual) (?:cause|reason|problem))\b",
    r"\b(?:war falsch|nicht die Ursache|stimmt(?:e)? nicht|widerlegt|Irrtum|half nicht|zurückgenommen|die (?:wahre|wirkliche|eigentliche|echte) Ursache)\b",
    r"\b(?:estava errad\w|não era (?:a|o)|descartad\w|equivocad\w|não ajudou|a (?:verdadeira causa|causa real|causa verdadeira))\b",
    r"\b(?:no era la causa|causa real|n'était pas|la vraie cause)\b",
    r"間違って|間違い|誤り|誤って|違いました|ではなかった|ではありません(?:でした)?|ではなく|本当の原因|真の原因|不是.*原因|并非",
)
# A prompt that puts the agent right.
CORRECTION = _table(
    r"^\W*(?:no\b|nope|wrong|stop\b|wait\b|hold on|actually|hmm|that(?:'s| is) (?:not|wrong)|not (?:like|what|that)|still\b|it still|you (?:forgot|missed|broke|should not)"
    r"|please (?:redo|undo|revert)|undo|revert|don'?t|sorry,? (?:no|but)|but )",
    r"^\W*(?:nein|nicht so|falsch|halt\b|stopp|moment|das (?:ist|war) (?:nicht|falsch)|das stimmt nicht|immer noch|doch nicht|bitte nicht)",
    r"^\W*(?:não\b|nao\b|errado|pera|espera|calma|isso (?:não|está errado)|ainda\b|continua\b|na verdade)",
    r"^\W*(?:no,|eso no|sigue\b|todavía|en realidad)",
    r"^\W*(?:non\b|pas comme|c'est faux|toujours\b|en fait)",
    r"^\W*(?:いや|いえ|違い|違う|ちがう|だめ|ダメ|まだ|やり直し|それは違|そうではなく|不对|不是|不要|错了|还是)",
    r"\b(?:(?:is|are|it's|fails?|happens|occurs|get|gets|see|have|has) still|still (?:fails?|happens|broken|slow|red|wrong|there|the same|see|get\w*|not)"
    r"|(?:did|does)(?:n't| not) (?:help|work|fix)|same (?:error|problem|result|failure)|not fixed)\b",
    r"\b(?:(?:ist|sind|kommt|tritt|schlägt) (?:immer )?noch|hilft nicht|half nicht|derselbe Fehler|gleiche\w* (?:Fehler|Problem)|nicht behoben)\b",
    r"\b(?:ainda (?:está|falha|dá|acontece|lento|lenta)|continua (?:\w+)|não (?:resolveu|funcionou|adiantou|ajudou)|mesmo (?:erro|problema))\b",
    r"直って(?:い)?な|変わらな|変わっていな|同じエラー|まだ.{0,12}(?:遅|落|失敗|エラー|再現)|没有解决|还是(?:慢|错|失败)",
    r"\bplease (?:redo|undo|revert)\b|\bbitte (?:rückgängig|nochmal|neu)\b|\b(?:refaça|desfaça|refaz)\b|やり直して|直してください|修正してください",
)
# A rule for the future, not only for this task.
RULE = _table(
    r"\b(?:never|always|must not|mustn'?t|do(?:n'?t| not) (?:ever )?(?:use|write|add|put|call|touch|commit|create|mock|import|log|store|edit|change|push)"
    r"|we (?:use|don'?t|do not|never|always|only|prefer|keep|want|stick)|from now on|in this (?:repo|repository|project|codebase|team)|around here"
    r"|our (?:rule|convention|style|policy|standard)|instead of|only (?:ever )?(?:use|through|via|in)|every \w+ (?:goes|must|has to|needs to|should)"
    r"|all \w+ (?:go|must|have to|need to|should)|please (?:always|never|\w+ before)|(?:measure|test|ask|check|run|verify|look) .{0,30}\bbefore\b|not allowed|forbidden|is banned|prefer\b)",
    r"\b(?:niemals|nie\b|immer (?!noch)|grundsätzlich|wir (?:nehmen|nutzen|verwenden|benutzen|machen|schreiben|wollen)|statt(?:dessen)?\b|ab jetzt|in diesem (?:Projekt|Repo)"
    r"|bei uns|nur (?:über|noch|mit|in)|kein\w* .{0,40}(?:verwenden|benutzen|schreiben|nehmen)|verboten|nicht (?:erlaubt|verwenden|benutzen)|erst .{0,40}(?:dann|bevor)|gehört|gehören|bitte (?:immer|nie|kein\w*|erst))",
    r"\b(?:nunca|sempre|jamais|não (?:use|usem|usamos|usa|escreva|coloque|pode|podemos|mexa)|usamos|a gente (?:usa|não)|aqui (?:a gente|nós|usamos|não)|neste (?:projeto|repo\w*)"
    r"|em vez de|de agora em diante|daqui (?:pra|para) frente|só (?:por|via|com|em)|proibido|antes de (?:afirmar|dizer|mudar|alterar)|todo\w? .{0,30}(?:passa|deve|tem que))",
    r"\b(?:siempre|nunca|no (?:uses|usamos|escribas)|en este proyecto|en vez de|en lugar de|a partir de ahora)\b",
    r"\b(?:toujours|n'utilis\w+ (?:pas|jamais)|on (?:utilise|n'utilise)|dans ce projet|au lieu de|désormais|interdit)\b",
    r"決して|絶対に|必ず|常に|禁止|使わない|使わず|使いません|使ってはいけ|しないで|書かないで|入れないで|ここでは|このプロジェクト|うちでは|今後は|代わりに|ルール|方針|してから|確認してから|経由"
    r"|永远不要|绝不|必须|总是|我们用|我们使用|这个项目|而不是|以后|不允许|禁止",
)
# A rule whatever the prompt is about; in a first prompt only such words make one.
LASTING = _table(
    r"\b(?:never|from now on|in this (?:repo|repository|project|codebase|team)|around here|our (?:rule|convention|policy|standard)s?"
    r"|we (?:never|always|only ever|don'?t|do not) \w+|we use \w+.{0,40}\b(?:not|instead|here|everywhere)|please always)\b",
    r"\b(?:niemals|grundsätzlich|ab jetzt|in diesem (?:Projekt|Repo)|bei uns|wir (?:nehmen|nutzen|verwenden|benutzen) .{0,60}\b(?:nicht|statt|kein\w*|immer|überall))\b",
    r"\b(?:nunca|neste (?:projeto|repo\w*)|de agora em diante|daqui (?:pra|para) frente|a gente (?:sempre|nunca|não)|aqui (?:a gente|nós|usamos)|usamos .{0,60}\b(?:não|sempre|nunca))\b",
    r"\b(?:jamás|en este proyecto|a partir de ahora|jamais|dans ce projet|désormais)\b",
    r"決して|絶対に|このプロジェクトでは|うちでは|今後は|永远不要|绝不|这个项目|以后都",
)
# An answer that opens with a choice.
VERDICT = _table(
    r"(?:^|\n)[ *#>_-]{0,6}(?:decision|verdict|entscheidung|decisão|decisión|décision|決定|結論|结论|决定)\W*[:：]"
)
# Nothing but politeness or noise.
PLEASANTRY = _table(
    r"^\W*(?:you'?re welcome|thanks?(?: you)?|no problem|glad (?:to|it)|happy to help|any time|anytime|sure|ok(?:ay)?|done|great|good|fixed|yes|no|all (?:set|done|good)|perfect|hi|hello)\W*$",
    r"^\W*(?:gern(?:e)?(?: geschehen)?|bitte(?: sehr| schön)?|danke|fertig|erledigt|ja|nein|keine Ursache|klar)\W*$",
    r"^\W*(?:de nada|obrigad[oa]|pronto|feito|sim|não|por nada|disponha)\W*$",
    r"^\W*(?:merci|de rien|fait|gracias|hecho|listo|oui|non|sí)\W*$",
    r"^\W*(?:どういたしまして|ありがとう\w*|完了\w*|できました|はい|いいえ|了解\w*|不客气|谢谢|好的|完成)\W*$",
)
# Routine words of success; a title made of them says nothing.
ROUTINE = _table(
    r"^(?:all |the )?(?:\d+ )?(?:tests?|checks?|build|typecheck|everything|it|suite)(?: and (?:tests?|typecheck|build))*(?: now)? (?:pass(?:es|ed)?|work(?:s|ed)?|(?:is|are) (?:green|clean|fine|ok))\b",
    r"^(?:done|fixed|finished|committed|pushed|redone|reproduced|changed|updated|implemented|ready|cause found|found)\b(?![^.;]{0,12}[:,]\s*[^\s.]|\s+\w+\s+\w+\s+\w+)",
    r"^(?:alle )?(?:\d+ )?(?:Tests?|Prüfungen)\b.{0,40}\b(?:grün|laufen|bestanden|durch)\b|^Ursache gefunden",
    r"^(?:todos os )?(?:\d+ )?(?:testes)\b.{0,40}\b(?:passa\w*|verdes?|ok)\b|^Causa encontrada",
    r"^(?:すべての|全)?テスト.{0,20}(?:通|成功|パス)|^(?:原因が|原因を)?(?:分かりました|特定しました|判明しました)$|^(?:所有)?测试.{0,10}通过",
)
SECURITY = _table(
    r"\b(?:vulnerab\w+|path traversal|directory traversal|(?:sql|command|code|template|header|log|ldap|prompt|shell) injection|xss|csrf|ssrf|xxe|rce|idor|open redirect|auth(?:entication|orization)? bypass"
    r"|unauthenticated|security (?:hole|issue|flaw|bug|finding|risk)|attacker\w*|exploit\w*|cve-\d|secrets?\b.{0,30}\b(?:leak\w*|expos\w*|commit\w*|plain|log\w*|rotat\w*)|rotate .{0,30}(?:key|secret|token|password|credential)s?"
    r"|hard-?coded (?:password|secret|key|token|credential)s?|timing attack|weak (?:hash|cipher|crypto)|insecure|privilege escalation|prototype pollution|zip slip|(?:unsafe|insecure) deserial[iz]\w+|no (?:login|auth\w*)\b)",
    r"\b(?:Sicherheitslücke\w*|Schwachstelle\w*|Angreifer\w*|ausnutz\w*)",
    r"\b(?:vulnerabilidade\w*|falha de segurança|brecha\w*|atacante\w*|invasor\w*|explora\w* a falha)",
    r"\b(?:vulnerabilidad\w*|vulnérabilit\w+|attaquant\w*|faille\w*)",
    r"脆弱性|攻撃者|不正アクセス|インジェクション|トラバーサル|漏洩|漏えい|漏洞|攻击者|注入",
)
# What the work was about, from the words of the prompt and the answer.
BROKEN = _table(
    r"\b(?:fix\w*|bugs?|broken|breaks?|fails?|failing|failed|failure|error\w*|crash\w*|wrong|off by|flaky|regress\w*|red|does(?:n'?t| not) work|not working|slow|timeouts?|hang\w*|leak\w*|stuck|twice|empty|missing|lost|corrupt\w*|deadlock\w*)\b",
    r"\b(?:Fehler\w*|kaputt|behebe\w*|behoben|falsch\w*|langsam|leer|schlägt fehl|abstürz\w*|hängt|doppelt)\b",
    r"\b(?:corrig\w+|consert\w+|errad\w+|quebr\w+|falh\w+|lent\w+|trav\w+|duplicad\w+|bug|erros?)\b",
    r"\b(?:arregl\w+|corrig\w+|roto|falla\w*|cassé|plante)\b",
    r"直して|修正|バグ|不具合|失敗|エラー|遅い|壊れ|落ちる|おかしい|ずれ|二重|重複|修复|错误|失败|很慢",
)
FEATURE = _table(
    r"\b(?:add(?:s|ed|ing)?|implement\w*|support\w*|build|create[sd]?|introduc\w+|new (?:feature|endpoint|command|option|page|method|column|flag|module)|allow\w*|provide)\b",
    r"\b(?:füge\w*|hinzu\w*|implementier\w*|baue|bau mir|neue[rsn]?|unterstütz\w*|erstelle)\b",
    r"\b(?:adicion\w+|implement\w+|cri(?:e|ar|ou)|nov[oa]s?|suport\w+)\b",
    r"\b(?:añad\w+|agreg\w+|ajoute\w*|crée)\b",
    r"追加|実装|新しい|新機能|作って|対応して|作成|添加|实现|新增|支持",
)
REFACTOR = _table(
    r"\b(?:renam\w+|refactor\w*|extract\w*|clean ?up|simplif\w+|restructur\w+|split(?:ting)?|inline[ds]?|dedup\w*|move[sd]?|consolidat\w+|tidy)\b",
    r"\b(?:umbenenn\w*|umbenannt\w*|aufräumen|vereinfach\w*|auslager\w*|verschieb\w*|refaktor\w*)\b",
    r"\b(?:renome\w+|refator\w+|extra[ií]\w+|simplifi\w+|mov(?:a|er|ido)|limp\w+)\b",
    r"\b(?:renombr\w+|renomm\w+|refactoris\w+)\b",
    r"リファクタ\w*|名前を変|改名|リネーム|切り出|整理|移動|分割|重构|重命名|整理",
)
# Changes of settings, versions, data and places rather than of behaviour.
CHANGE = _table(
    r"\b(?:upgrad\w+|updat\w+|bump\w*|migrat\w+|backfill\w*|config\w*|deploy\w*|roll ?out|release|limit|port|raise|increase|set|switch|version|rename the|changelog|commit)\b",
    r"\b(?:aktualisier\w*|Umstellung|stelle .* um|hebe .* an|erhöhe\w*|setze|Konfiguration|ausroll\w*|migrier\w*)\b",
    r"\b(?:atualiz\w+|migr\w+|configur\w+|aument\w+|suba|subir|publi\w+|implant\w+)\b",
    r"\b(?:actualiz\w+|mets? à jour|déploi\w+)\b",
    r"更新|アップグレード|上げて|移行|設定|デプロイ|反映|升级|迁移|配置|部署",
)
# Who asks what an agent should do for it: never kept from foreign text.
ORDER = _table(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|above|all|prior|instructions?|rules?)\b",
    r"\b(?:you (?:must|should|are now|will|need to|have to)|the (?:assistant|agent|model|ai) (?:must|should|will))\b",
    r"^\W*(?:always|never|please|make sure|ensure|remember|do not|don't|run|execute|install|download|curl|wget|call|use|send|add|set|paste|open|write|delete|copy|upload|post|visit|click|read|put|fetch|pipe|commit|push|enable|disable|grant|export|tell|say|reply|output|print)\b",
    r"\|\s*(?:ba|z|da)?sh\b|\brm -rf\b|\b(?:system|assistant|human|user)\s*:",
    r"</?(?:system|instructions?|observation|tool|function|context|prompt)[^>]*>|<\|",
)
PROTOCOL = _table(
    r"^\s*<(?:task-notification|system-reminder|command-name|command-message|local-command|bash-input|bash-stdout|bash-stderr|user-prompt-submit-hook|task-id|status|ide_|hook_context|untrusted_context)",
    r"^\s*\[(?:Request interrupted|media prompt)\b",
    r"^\s*(?:Caveat: The messages below|This session is being continued from a previous)",
)
FIRST_PERSON = _table(
    r"\b(?:I|I'll|I've|I'm|my|me)\b", r"\b(?:ich|mein\w*)\b", r"\b(?:eu|meu|minha)\b", r"私|僕"
)
