"""A prompt -> which of a few kinds of request it is (R10). Rough: it tells what a memory is good for.

    command    a slash command, or something to be run
    error      a stack trace, a failure, something that does not work
    paste      much text at once
    change     something to be made or altered
    question   something to be told or found out
    short      a few words that say none of this: "go on"
    other      the rest

Only the kind is kept of a prompt. English, Chinese and Japanese are read; what is in another language is
known by its shape alone: a stack trace, its length, a question mark.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, get_args

Kind = Literal["question", "error", "change", "command", "short", "paste", "other"]
KINDS: tuple[str, ...] = get_args(Kind)

PASTE_CHARACTERS, PASTE_LINES = 2_000, 25
"""From so many on, a prompt is more than somebody types."""

SHORT_CHARACTERS, SHORT_WORDS = 24, 3
_SHORT_CJK = 6
_READ = 4_000
"""Characters of a prompt that are looked at, from its beginning."""

_SLASH = re.compile(r"/[\w:-]+(?=\s|\Z)")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TRACE = re.compile(
    r"""
      Traceback\ \(most\ recent\ call
    | ^\s*File\ "[^"\n]+",\ line\ \d
    | ^\s*at\ [\w.$<>/]+\s?\([^)\n]*:\d+
    | \b[A-Za-z_.]{0,60}(?:Error|Exception|Panic)\b:\s
    | ^(?:error|fatal)(?:\[\w+\])?:\s
    | ^(?:FAILED|ERROR|FATAL|E\ \ \ )\s
    | ^panic:\s | \bsegmentation\ fault\b | \bcore\ dumped\b | \bnpm\ ERR!
    | \bexit(?:ed)?\ (?:with\ )?(?:code|status)\ [1-9]
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
"""Shapes that only failures have."""

_LEAD = (
    r"(?:^|[.!?;:,\n]\s*)"
    r"(?:(?:ok|okay|so|now|then|and|also|hey|hi|please|pls|just|first|next|let's|lets|go ahead and|"
    r"help me(?: to)?|you should|we (?:need|have) to|i(?:'d like| want| need)(?: you)? to|"
    r"(?:can|could|would|will) (?:you|we)(?: please)?)[,\s]+){0,4}"
)
"""Where an English sentence begins to say what is to be done."""


def _either(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.MULTILINE)


_CHANGE = _either(
    _LEAD
    + r"(?:add|build|bump|change|clean|convert|create|delete|drop|extract|fix|generate|implement|improve|"
    r"introduce|make|merge|migrate|move|optimi[sz]e|patch|port|refactor|remove|rename|repair|replace|rewrite|"
    r"set up|simplify|split|support|switch|turn|update|upgrade|use|wire|write)\b",
    r"修[改复正]|改[一成为]|把.{1,30}(?:改|换|删|移)|添加|增加|加[上个一]|新增|实现|重构|重写|重命名|删[除掉]|去掉",
    r"替换|更新|升级|迁移|优化|写[一个]|创建|生成|补充",
    r"(?:修正|変更|追加|実装|削除|更新|作成|改善|整理|移行|移動|置換|リファクタ(?:リング)?|リネーム)を?"
    r"(?:して(?!も|い|る|あ|お)|しよう|お願い|頼)",
    r"(?:直し|作っ|作り直し|書い|書き(?:換え|直し)|消し|変え|入れ替え|置き換え|足し|加え|外し|まとめ|分け)て"
    r"(?!も|い|る|あ|お)",
)
_RUN = _either(
    _LEAD + r"(?:check ?out|commit|deploy|execute|install|kill|launch|publish|pull|push|rebase|release|rerun|"
    r"restart|run|ship|start|stop|test|pytest|"
    r"git (?:add|checkout|commit|diff|fetch|log|merge|pull|push|rebase|stash|status)|"
    r"(?:npm|pnpm|yarn|cargo|uv) (?:build|install|run|test))\b",
    r"运行|执行|跑[一个下测]|启动|重启|部署(?:一?下|[到至])|安装|提交|推送|发布一?下|编译",
    r"(?:実行|起動|再起動|デプロイ|インストール|コミット|プッシュ|リリース|ビルド|テスト)を?"
    r"(?:して(?!も|い|る|あ|お)|しよう|お願い)",
    r"(?:走らせ|動かし|流し)て(?!も|い|る|あ|お)",
)
_TROUBLE = _either(
    r"\b(?:fail(?:s|ed|ing|ure)?|crash(?:es|ed|ing)?|broken?|breaks|throws|hangs|segfaults?|"
    r"times? out|timed out|"
    r"(?:does|do|did|is|are)(?:n't| not) (?:work|compile|start|build|load|respond|working)|not working|"
    r"(?:get|gets|getting|got|see|seeing|gives?) (?:me )?(?:an? |this |that |the )?(?:\w+ )?"
    r"(?:error|exception))\b",
    r"报错|出错|出现错误|失败|崩溃|抛出?异常|不工作|无法|不能用|用不了|挂了|没反应|超时",
    r"エラーが|エラーに|例外が|失敗(?:する|し[たま])|落ち[るたま]|クラッシュ|動か(?:ない|なく|ず)|動きません|壊れ",
)
_QUESTION = _either(
    r"[?？]\s*$",
    r"(?:^|[.!?;:\n]\s*)(?:(?:ok|okay|so|and|but|hey|hi)[,\s]+)?(?:what|why|how|when|where|who|which|whose|is|are|"
    r"was|were|does|do|did|can|could|should|would|will|has|have|any idea)\b",
    _LEAD + r"(?:analy[sz]e|check|compare|describe|explain|find|investigate|list|look|review|see|show|"
    r"summari[sz]e|tell|walk me)\b",
    r"为什么|为何|怎么|怎样|如何|是否|是不是|有没有|什么|哪[个里些]|多少|谁|吗|呢|解释|介绍|看[看下]|查[看下一]|告诉我",
    r"ですか|ますか|でしょうか|どう(?:して|や|す|な|い)|なぜ|なんで|何[がをでの時故]|どこ|いつ|誰|どれ|どの",
    r"教えて|説明して|調べて|確認して|見て",
)
_ASKED_HOW = re.compile(r"为什么|为何|怎么|怎样|如何|是否|是不是|有没有|什么|哪[个里些]|谁|吗")
_ASKED_FOR = re.compile(r"请|帮")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def kind_of(prompt: str) -> Kind:
    """The kind of request; the first that fits, in this order: a slash command, a stack trace, much text,
    then what is to be done, what does not work, what is asked, a few words.
    """
    text = prompt.strip()
    if _SLASH.match(text):
        return "command"
    if _TRACE.search(text[:_READ]) or _TRACE.search(text[-_READ:]):
        return "error"
    if len(text) >= PASTE_CHARACTERS or text.count("\n") + 1 >= PASTE_LINES:
        return "paste"
    said = unicodedata.normalize("NFKC", _FENCED.sub(" ", text[:_READ])).casefold().replace("’", "'")
    if asked := _to_be_done(said):
        return asked
    if _TROUBLE.search(said):
        return "error"
    if _QUESTION.search(said):
        return "question"
    return "short" if _is_short(said) else "other"


def _to_be_done(said: str) -> Literal["change", "command"] | None:
    """What the person wants done, by what they say first. In Chinese the verb stands in a question about it
    just the same: "怎么修复" asks, "请修复" wants it done.
    """
    if _ASKED_HOW.search(said) and not _ASKED_FOR.search(said):
        return None
    change, run = _CHANGE.search(said), _RUN.search(said)
    if change and run:
        return "change" if change.start() <= run.start() else "command"
    return "change" if change else "command" if run else None


def _is_short(said: str) -> bool:
    letters = _CJK.findall(said)
    if letters:
        return len(letters) <= _SHORT_CJK and len(said) <= SHORT_CHARACTERS
    return 0 < len(said.split()) <= SHORT_WORDS and len(said) <= SHORT_CHARACTERS
