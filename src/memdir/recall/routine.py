"""A prompt -> whether it is routine, which no memory makes better. Pure; a guess by phrases.

Three sorts: an edit that the prompt says in full (rename, sort, correct a typo), a question of general
knowledge, a word of thanks. They share words with the memories of a project as all work on it does.
English, Chinese and Japanese are read; what is in another language is never routine.
"""

from __future__ import annotations

import re

_READ = 400
"""Characters of a prompt that are looked at, from its beginning."""

_EDIT = re.compile(
    r"""
      \b(?: renam\w+ | typos? | spelling | misspel\w+ | alphabetical\w* | (?:re)?indent\w* | reformat\w*
          | gofmt | prettier | whitespace | unused | dead\ code | magic\ numbers? | docstrings? | regexp?
          | readme | constants? | variable\ names? | sort\ (?:the|these|this|it) | comment(?:s|ed)?\ out
          | extract\ (?:an?|the|this|it) | inline\ (?:the|this)
          | convert\ (?:this|it)\ (?:to|into) | turn\ (?:this|it|the)\ \w+\ into )\b
    | 重命名 | 改名 | 错别字 | 打错 | 拼写 | 注释 | 常量 | 魔法数字 | 排序 | 缩进 | 格式化一下 | 正则
    | 未使用 | 没用到
    | リネーム | 定数 | コメント | タイポ | 誤字 | 並べ替え | 正規表現
    """,
    re.VERBOSE | re.IGNORECASE,
)
_KNOWLEDGE = re.compile(
    r"""
      \b(?: what\ (?:does|do|is|are)\ [\w\-+.`'\ ]{1,40}\ (?:do|mean|for|stand\ for) | difference\ between
          | general(?:ly)?\ question | in\ general | explain\ (?:how|what|the\ difference)
          | for\ a\ (?:talk|quiz|lecture|blog|student) | pros\ and\ cons | versus | vs )\b
    | 什么区别 | 区别是 | 解释一下 | 面试 | 什么意思 | 是什么 | 原理
    | 違い | とは(?:何|なに|[?？]) | について教えて
    """,
    re.VERBOSE | re.IGNORECASE,
)
_THANKS = re.compile(
    r"\W*(?:(?:thanks?|thank\ you|thx|ty|cheers|great|perfect|nice|good|ok(?:ay)?|cool)\b"
    r"|谢|多谢|辛苦|好的|ありがと|助か|了解)",
    re.VERBOSE | re.IGNORECASE,
)


def is_routine(prompt: str) -> bool:
    """Whether the prompt is of a sort that seldom needs a memory."""
    said = prompt[:_READ]
    return bool(_EDIT.search(said) or _KNOWLEDGE.search(said) or _THANKS.match(prompt))
