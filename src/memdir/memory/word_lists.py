"""Lists of common words, for `memory.words`: those that say nothing, and those that say little."""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _set(
    """
    a about above actually after again against all almost already also although always am among an and
    another any anybody anyone anything are aren't around as ask at away back be because been before
    behind being below beside besides between both but by can can't cannot could couldn't did didn't do
    does doesn't doing don't done down during each either else ever every everybody everyone everything
    few for from further get gets getting give given gives go goes going gone got had hadn't has hasn't
    have haven't having he he's hello help her here hers herself hey hi him himself his hm how how's
    however i i'd i'll i'm i've if in instead into is isn't it it's its itself just keep kind let let's
    like little look looks made make makes many may maybe me might mine more most much must my myself
    need needs neither never no nobody none nor not nothing now of off ok okay on once one ones only
    onto or other others our ours ourselves out over own perhaps please put quite rather really right
    same say says see seems shall she should shouldn't since so some somebody somehow someone something
    sometimes somewhere soon still such sure take takes tell than thank thanks that that's the their
    theirs them themselves then there there's these they they're thing things think this those though
    through to together told too toward towards two under until up upon us use used uses using very want
    wants was wasn't way we we'd we'll we're we've well went were weren't what what's when where where's
    whether which while who who's whom whose why will with within without won't would wouldn't yes yet
    you you'd you'll you're you've your yours yourself
    """
)
"""English words that say nothing of what a text is about."""

STOP_HAN = frozenset(
    "的了是在不一有上下里来去会能要可多少大小好么什怎样种次号人们再和与也都就还又把被给吗呢吧啊呀嘛哦这那"
    "哪谁我你他她它个些着过得地很太最请让为从到对以及其而或但则所之于"
)
"""Chinese characters that say nothing by themselves."""

STOP_PAIRS = _set(
    """
    一下 一个 一些 一样 不是 不要 为什 什么 怎么 么办 这个 那个 哪个 这里 那里 哪里 可以 可能
    应该 我们 你们 他们 自己 没有 现在 已经 但是 因为 所以 如果 还是 或者 以后 以前 之后 之前
    时候 刚才 帮我 给我 告诉 知道 看看 一点
    """
)
"""Chinese words of two characters that say nothing."""

STOP_KANA = _set("している ください という として から まで など でも それ これ")
"""Japanese words in Hiragana that say nothing."""

EVERYDAY = _set(
    """
    add adjust answer anyway apply bad bit break broken bug call called case change check clean code
    come comes coming content convert copy correct create default detail different directory edit end
    example existing explain fact fail failed file find fine first five fix folder four full function
    general good great group half hold idea inside item large last late later lead left less line list
    load long lot main mean means method missing move name new next nice number old open order output
    part place plan point possible print problem question quick read ready reason rename repair replace
    result return run running second send set short show shown simple small split start state step stop
    story stuff sum summary text third three time today tomorrow top try turn type update user value
    version wait whole word work works write writing wrong yesterday
    """
)
"""English words of any prompt about work on software (unstemmed): they say little."""

EVERYDAY_PAIRS = _set(
    """
    文件 代码 函数 方法 问题 修改 增加 添加 加上 改成 改回 变成 换成 新写 写一 解释 意思 区别
    例子 输出 输入 结果 内容 处理 需要 情况 开始 结束 最近 最新 昨天 今天 明天 上午 下午 晚上
    地方 原因 步骤 行为 名字 部分 里面 上面 下面 第一 第二 一次 三个 两个 出来 回来 回事 线上
    只有 所有 全部 其他 新的 旧的
    """
)
"""The same in Chinese."""
