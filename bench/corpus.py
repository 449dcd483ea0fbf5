"""A seed and a number -> so many memories of a coding agent, and prompts of which each has one right answer.

All of it is invented here: a memory is about one aspect of one component of one project, and no two are about
the same. The first `TARGETS` memories are what the prompts ask for, so every size has the same prompts, and a
smaller corpus is the beginning of a larger one. The prompts ask in four ways:

    name         project, component and aspect, as the description has them
    body         a fact that stands in the body alone, with project and component
    prompt       a request of 40 to 80 words (80 to 160 Chinese characters), most of it about other things
    identifier   a ticket, or a name in the code that many projects have, with the project

One memory in five is Chinese, and every other of these has no Latin word for its project. But for tickets, no
word of a prompt is to be found in its target alone, from 1,000 memories on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Literal

Kind = Literal["name", "body", "prompt", "identifier"]
KINDS: tuple[Kind, ...] = ("name", "body", "prompt", "identifier")

TARGETS = 200
"""Memories that are asked for: 160 English, 40 Chinese."""

EARLY_PROJECTS, EARLY_BARE = 10, 3
"""The targets belong to so few projects, those without a Latin word for theirs to even fewer, so that in a
small corpus too a project's name tells little."""

FOLDER = 2000
"""Files in a folder, at most."""

EPOCH_NS = 1_793_500_000 * 10**9  # the newest mtime, in nanoseconds
SPREAD = 400 * 86_400  # seconds over which the mtimes are spread


@dataclass(frozen=True, slots=True)
class File:
    """One memory. `path`: relative to the memory directory, with `/`."""

    path: str
    text: str
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Query:
    """A prompt. `target`: the path of the one right answer, the only file that holds all of `needs`, in
    whatever case."""

    text: str
    kind: Kind
    lang: Literal["en", "zh"]
    target: str
    needs: tuple[str, ...]


# component, in Chinese
_COMPONENTS = """
ledger writer|账本写入器; invoice renderer|发票渲染器; session broker|会话经纪; image resizer|图片缩放器
search crawler|搜索爬虫; payout scheduler|付款调度器; audit collector|审计收集器; webhook relay|回调转发器
coupon engine|优惠券引擎; geo lookup|地理查询; mail gateway|邮件网关; video transcoder|视频转码器
stock mirror|库存镜像; consent archive|同意书档案; feed assembler|信息流组装; metrics agent|指标探针
badge issuer|徽章签发器; snapshot pruner|快照清理器; chat presence|在线状态; price oracle|报价引擎
form validator|表单校验器; route planner|路线规划器; document parser|文档解析器; shipping labeler|面单打印机
voice bridge|语音桥接; tenant directory|租户名录; quota keeper|配额管家; export worker|导出工人
map tiler|瓦片生成器; thumbnail proxy|缩略图代理; risk scorer|风险评分器; survey builder|问卷生成器
"""

# aspect; a fact about it; a question that the fact answers (all three again in Chinese)
_ASPECTS = """
retry rules|the third attempt waits {n} seconds and the fourth gives up|how long does the third attempt wait
重试规则|第三次尝试等待{n}秒，第四次放弃|第三次尝试要等待多久
listening address|it binds to loopback {n}, never to the public interface|to which loopback number is it bound
监听地址|只绑定本机回环{n}，不碰公网网卡|绑定的本机回环是多少
cache lifetime|entries go stale after {n} minutes unless pinned|when do unpinned entries go stale, in minutes
缓存寿命|条目若未钉住，{n}分钟后陈旧|未钉住的条目几分钟后陈旧
schema migration|the backfill moves {n} rows a batch, at night|how many rows does the backfill move per batch
表结构迁移|回填在夜里做，每批搬{n}行|夜里的回填每批搬几行
log sampling|one in {n} chatty events survives|what share of the chatty events survives
日志采样|啰嗦事件每{n}条留存一条|啰嗦事件留存的比例
access tokens|the vault robot rotates secrets every {n} days|how often does the vault robot rotate secrets
访问令牌|保险库机器人每{n}天轮换签名密钥|保险库机器人多久轮换签名密钥
release freeze|merges stay closed until tag {n} has soaked|until which tag do merges stay closed
发布冻结|标签{n}浸泡完之前不准合并|标签浸泡到哪个才准合并
on-call rota|pages go to rota {n}, at weekends to the platform guild|who gets pages at weekends, which guild
值班轮换|呼叫转给{n}组，周末转给平台行会|周末的呼叫转给谁
memory ceiling|the container dies above {n} resident megabytes|above how many resident megabytes does it die
内存上限|容器常驻超过{n}兆就被杀掉|容器常驻多少兆会被杀掉
test fixtures|the golden picture of {n} accounts comes from the seed flag|whence comes the golden picture
测试夹具|黄金样本含{n}个账户，用种子参数重新生成|黄金样本怎样重新生成
time zones|the business day closes at minute {n} of UTC|at which minute does the business day close
时区处理|时刻以世界时保存，营业日在第{n}分钟关账|营业日在第几分钟关账
rate limiting|a tenant has {n} burst permits a minute|how many burst permits has a tenant
限流策略|每个租客每分钟有{n}张突发许可|租客有几张突发许可
backup window|the dump leaves for cold storage at minute {n}|when does the dump leave for cold storage
备份窗口|转储在整点过{n}分送往冷存储|转储几分送往冷存储
feature flags|the rollout halts at {n} percent of the cohort|at what percent does the rollout halt
功能开关|放量停在人群的百分之{n}|放量停在人群的百分之几
error budget|{n} failed probes a week forbid further launches|how many failed probes forbid launches
错误预算|一周{n}次探测失败就禁止上新|探测失败几次就禁止上新
backlog alarm|the siren sounds at {n} waiting parcels|at how many waiting parcels does the siren sound
积压告警|等待的包裹到{n}件就拉警笛|等待的包裹多少件拉警笛
pagination|the cursor carries {n} records a slice|how many records does the cursor carry per slice
分页方式|游标每片携带{n}条记录|游标每片携带几条记录
encryption at rest|blobs are sealed in envelope version {n}|in which envelope version are blobs sealed
静态加密|大对象用第{n}版信封密封|大对象用哪版信封密封
toolchain pinning|the compiler stays at revision {n} since a linker crash|why does the compiler stay behind
工具链锁定|编译器因链接崩溃停在修订{n}|编译器为何停在旧修订
review habit|two approvals above {n} touched paths|above how many touched paths are two approvals due
评审习惯|改动超过{n}处要两人批准|改动超过多少要两人批准
"""

_STEMS, _ENDS = (
    "mar tol ves kad bru lin osk pel ruv zan hef dor",
    "enko ivia andur ostra umel irra aquin ethos olka yster",
)
_LATIN = [a + b for a, b in product(_STEMS.split(), _ENDS.split())]
_HAN = [a + b for a, b in product("青石银松铁赤霜玄琥苍岚澄", "鹭榴杉雀湾岭舟钟帆隼")]
_STRIDE = 7  # so that neighbours among the projects have little of their names in common
_PEOPLE, _TOOLS, _AREAS, _STUFF = (
    line.split()
    for line in (
        "Ines Okoro Tamsin Bela Yusuf Greta Pavel Noor Henk Sanna Dario Miku",
        "pytest ruff docker kubectl psql make terraform vite cargo git redis-cli helm",
        "backend frontend operations platform billing research mobile data",
        """
        adapter batch branch bucket buffer builder bundle callback catalogue channel checkpoint client
        cluster codec column commit config connector consumer context counter credential daemon dashboard
        dataset deadline decoder delta digest dispatcher driver endpoint envelope event executor factory
        fallback filter flag flow formatter gateway graph guard handler hash header heartbeat helper hook
        importer index iterator job journal kernel key label latch layer lease listener loader lock
        manifest mapper marker matrix mutex namespace node notifier offset orphan packet parcel partition
        patch pipeline plugin pointer policy pool probe producer profile promise provider proxy pruner
        queue reader record registry replica report resolver resource router runner sandbox schema scope
        script sequence serializer shard signal sink socket source span stream stub subscriber switch
        table task template thread throttle ticket timer topic tracer transform tree trigger tunnel vector
        view volume walker watcher widget window wrapper writer zone
        """,
    )
)

_REMARKS = """
`{path}` is where it lives; `{ident}` is only a thin wrapper around it
{who} tried a {w} in front of the {w2} and took it out again on {date}
Do not trust the {w} count in the dashboard, it lags by about {n} {w2}s
`{tool}` prints `{code}` when the {w} is missing; rerun with `--{w2}={n}`
The {w} in staging differs: {n} there, twice that in production
Until {date} this was done by a {w} in `{path}`, which nobody misses
Reproduced with `{tool} run {w} --limit {n}`; the stack ends in `{ident}`
{who} prefers a small {w} per {w2} over one that knows everything
When `{ident}` returns nothing, look at the {w} first and the {w2} second
See {other} for the discussion, especially what {who} wrote about the {w}
`{code}` means that the {w} was closed while the {w2} still had {n} items
The {w} must never be shared with another {w2}; that cost us a day on {date}
Why: a late {w} once overwrote {n} rows and no {w2} noticed
After a deploy wait {n} s, then check `{path}` for a fresh {w}
`{ident}({w}, {w2})` is not idempotent, in spite of its docstring
The numbers of {date}: {n} ms median, {n2} ms at the 95th percentile, {w} on
Old name of the {w}: `{ident}`. Some scripts in `{path}` still say so
Asked {who}: the {w2} stays as it is until the next {w} is bought
Local runs need `{word}_{w}=1` in the environment, or `{tool}` hangs
There are {n} open items about the {w}; the worst is {other}
"""
_REMARKS_ZH = """
代码在 `{path}`，`{ident}` 只是一层包装
{date} 试过在前面加一层，后来又撤了，原因见 {other}
面板上的数字别全信，大约落后{n}条
`{tool}` 报 `{code}` 时先看配置，再带 `--{w}={n}` 重跑
预发环境不同，那边是{n}，生产要翻倍
以前靠 `{path}` 里的脚本，现在没人怀念它
用 `{tool} run {w}` 可以复现，调用栈停在 `{ident}`
同事更喜欢小而专的模块，而不是什么都懂的大模块
`{ident}` 返回空时，先查上游，再查下游
`{code}` 表示连接已断，而对方还有{n}个没处理完
绝不能和别的环境共用一份，{date} 因此耽误了一天
原因：有一回迟到的消息覆盖了{n}行，谁也没发现
上线后等{n}秒，再看看有没有新产物
{date} 的数字：中位数{n}毫秒，九五分位{n2}毫秒
问过产品那边，暂时维持现状，等下一批机器到了再说
本地跑之前要先设环境变量，不然会卡住不动
尚有{n}个未关闭的事项，最麻烦的是 {other}
文档写得比实际乐观，以这里为准
"""

_NOISE = """
I am back on the branch from yesterday and two of the tests are still red
please keep the commit small, and do not touch the changelog before I have looked at it
the editor lost my layout again so bear with me if I paste the wrong window
lunch is at half past twelve and I would like to have a first draft by then
there was a message from the customer this morning but I have not answered it
we can argue about style afterwards, for the moment it only has to be right
my colleague says that the pipeline was slow all week and nobody knows the reason
if you have to guess, say so, and write the guess into the pull request
I have already thrown away one attempt because it grew far too clever for its own good
"""
_NOISE_ZH = """
昨天那个分支我又切回来了，还有两个用例是红的
提交尽量小一点，变更记录等我看过再动
编辑器的布局又丢了，粘错窗口请多包涵
中午之前我想先看到一版草稿
客户早上发来一封信，我还没有回
风格以后再争，眼下先求正确
同事说流水线慢了一整周，没人知道为什么
要是只能猜，就直说是猜的，写进合并请求里
"""

_DESCRIPTIONS = (
    "{aspect} of the {component} in {project}",
    "{project}: what holds for the {component}, {aspect}",
    "How {project} does {aspect} in its {component}",
)
_DESCRIPTIONS_ZH = (
    "{project}的{component}：{aspect}",
    "关于{project}项目{component}的{aspect}",
    "{aspect}约定（{project}，{component}）",
)
_ASKED = {
    "name": (
        "What did we settle about {aspect} for the {component} of {project}?",
        "{project} {component} {aspect}",
        "remind me how the {component} in {project} stands with {aspect}",
    ),
    "body": ("In {project}, the {component}: {question}?", "{question} in the {component} of {project}?"),
    "prompt": (
        "what I want today is a change to {aspect} of the {component} in {project}",
        "have a look at the {component} of {project}, its {aspect} bother me",
    ),
    "identifier": (
        "`{ident}` in {project}: anything to know before I change it?",
        "where did {ticket} end up",
    ),
}
_ASKED_ZH = {
    "name": (
        "{project}的{component}，{aspect}当时怎么定的？",
        "{project} {component} {aspect}",
        "提醒我一下{component}的{aspect}，{project}那个",
    ),
    "body": ("{project}的{component}，{question}？", "{question}？我说的是{project}的{component}"),
    "prompt": ("今天想改{project}里{component}的{aspect}", "看一下{project}的{component}，{aspect}不太对劲"),
    "identifier": ("{project}里的 `{ident}` 改之前要知道什么？", "{ticket} 后来怎么样了"),
}


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


_COMPONENT = [tuple(one.strip().split("|")) for one in ";".join(_lines(_COMPONENTS)).split(";")]
_ASPECT = [tuple(line.split("|")) for line in _lines(_ASPECTS)]  # English and Chinese take turns
_FILLER = {"en": _lines(_REMARKS), "zh": _lines(_REMARKS_ZH)}
MOST = len(_LATIN) * len(_COMPONENT) * (len(_ASPECT) // 2)
"""Memories there can be."""


@dataclass(frozen=True, slots=True)
class _Topic:
    """What one memory is about, in its own language."""

    lang: Literal["en", "zh"]
    project: str
    component: str
    aspect: str
    fact: str
    question: str
    ident: str  # the same for all projects
    ticket: str


class Corpus:
    """The memories and the prompts of a seed, each made when it is asked for, and always the same."""

    def __init__(self, seed: int = 7) -> None:
        self._seed = seed
        rng = Random(f"{seed}/order")
        each = len(_COMPONENT) * (len(_ASPECT) // 2)
        bare = rng.sample(range(EARLY_BARE * each), TARGETS // 10)
        named = rng.sample(sorted(set(range(EARLY_PROJECTS * each)) - set(bare)), TARGETS - len(bare))
        early = [(bare if _is_bare(number) else named).pop() for number in range(TARGETS)]
        rest = sorted(set(range(MOST)) - set(early))
        rng.shuffle(rest)
        self._order = early + rest
        self._asked_for = frozenset(early)

    def files(self, size: int, *, start: int = 0) -> Iterator[File]:
        """The first `size` memories, without the first `start` of them.

        Raises:
            ValueError: there are only `MOST`; or a prompt would have two right answers: the seed is no good.
        """
        if size > MOST:
            raise ValueError(f"there are only {MOST} different memories")
        queries = self.queries(TARGETS)
        for number in range(start, size):
            file = self._file(number)
            text = file.text.casefold()
            for query in queries:
                if all(need in text for need in query.needs) != (file.path == query.target):
                    raise ValueError(f"seed {self._seed}: {query.text!r} has not one answer ({file.path})")
            yield file

    def queries(self, size: int) -> list[Query]:
        """The prompts whose target is there at this size: all of them from `TARGETS` memories on."""
        return [self._query(number) for number in range(min(size, TARGETS))]

    def write(self, directory: Path, size: int, *, start: int = 0) -> int:
        """Write these memories; how many bytes they have. The mtimes are set, the same in each run."""
        folders, total = set[str](), 0
        for file in self.files(size, start=start):
            folder, _, name = f"{directory}/{file.path}".rpartition("/")
            if folder not in folders:
                os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - tens of thousands of times, as the next
                folders.add(folder)
            total += _write(f"{folder}/{name}", file)
        return total

    # -- one memory -----------------------------------------------------------------------------------------

    def _topic(self, number: int) -> _Topic:
        at, aspect = divmod(self._order[number], len(_ASPECT) // 2)
        project, component = divmod(at, len(_COMPONENT))
        english, chinese = _COMPONENT[component]
        ident = f"{english.title().replace(' ', '')}.{_snake(_ASPECT[2 * aspect][0])}"
        lang: Literal["en", "zh"] = "zh" if number % 5 == 4 else "en"
        bare = _is_bare(number)
        name, fact, question = _ASPECT[2 * aspect + (lang == "zh")]
        project = project * _STRIDE % len(_LATIN)
        latin = _LATIN[project].title()
        return _Topic(
            lang=lang,
            project=_HAN[project] if bare else latin,
            component=chinese if lang == "zh" else english,
            aspect=name,
            fact=fact,
            question=question,
            ident=ident,
            ticket=f"工单{10_000 + number}" if bare else f"{latin[:3].upper()}-{10_000 + number}",
        )

    def _file(self, number: int) -> File:
        topic, rng = self._topic(number), Random(f"{self._seed}/{number}")
        chinese = topic.lang == "zh"
        described = rng.choice(_DESCRIPTIONS_ZH if chinese else _DESCRIPTIONS)
        fact = topic.fact.format(n=rng.randrange(3, 2000))
        facts = [
            _said(f"{fact}（{topic.ticket}）" if chinese else f"{fact} ({topic.ticket})", topic.lang),
            _said(f"入口是 `{topic.ident}`" if chinese else f"it is set in `{topic.ident}`", topic.lang),
        ]
        count = 3 + int(38 * rng.betavariate(1.35, 1.75 if not chinese else 1.35))
        body = [*facts, *(self._remark(topic, number, rng) for _ in range(count - len(facts)))]
        rng.shuffle(body)
        if rng.random() < 0.4:
            body[0] = f"## {topic.aspect}\n{body[0]}"
        head = {
            "name": _title(topic, number, rng),
            "description": _upper(described.format(**_slots(topic))),
            "type": rng.choice(("project", "project", "reference", "feedback")),
        }
        front = "".join(f"{key}: {_scalar(value)}\n" for key, value in head.items())
        text = f"---\n{front}---\n\n" + "\n".join(body) + "\n"
        age = rng.randrange(SPREAD * 10**6)  # µs
        return File(path=_path(topic, number, rng), text=text, mtime_ns=EPOCH_NS - age * 1000)

    def _remark(self, topic: _Topic, number: int, rng: Random) -> str:
        """One more line of the body: about this and that, now and then about a component beside it."""
        chinese = topic.lang == "zh"
        if rng.random() < 0.02:
            beside = rng.randrange(len(_COMPONENT))
            at, aspect = divmod(self._order[number], len(_ASPECT) // 2)
            project = at // len(_COMPONENT)
            there = (project * len(_COMPONENT) + beside) * (len(_ASPECT) // 2) + aspect
            if there not in self._asked_for:  # else this would be a second answer to what is asked there
                near = _COMPONENT[beside][chinese]
                return _said(
                    f"和{near}是同一批人维护" if chinese else f"it has one owner with the {near}", topic.lang
                )
        w, w2 = rng.sample(_STUFF, 2)
        word = "".join(rng.choice(_LATIN)[:3] + rng.choice("aeiou") for _ in range(2))
        said = rng.choice(_FILLER[topic.lang]).format(
            w=w,
            w2=w2,
            word=word.upper(),
            n=rng.randrange(2, 9999),
            n2=rng.randrange(100, 9999),
            who=rng.choice(_PEOPLE),
            tool=rng.choice(_TOOLS),
            date=f"2026-{rng.randrange(1, 11):02}-{rng.randrange(1, 29):02}",
            path=f"{rng.choice(_AREAS)}/{w}/{word if rng.random() < 0.3 else rng.choice(_STUFF)}.py",
            ident=f"{w2.title()}{rng.choice(_STUFF).title()}.{rng.choice(_STUFF)}_{w}",
            code=f"ERR_{w2.upper()}_{rng.randrange(100, 600)}",
            other=f"#{rng.randrange(100, 9999)}",
        )
        return _said(said, topic.lang)

    # -- one prompt -----------------------------------------------------------------------------------------

    def _query(self, number: int) -> Query:
        topic, rng = self._topic(number), Random(f"{self._seed}/query/{number}")
        # How many of its language come before it; of the Chinese, half have no Latin word in each kind.
        place = number // 5 // 2 if topic.lang == "zh" else number // 5 * 4 + number % 5
        kind, by_ticket = KINDS[place % 4], place // 4 % 2
        asked = (_ASKED_ZH if topic.lang == "zh" else _ASKED)[kind]
        shape = asked[by_ticket] if kind == "identifier" else rng.choice(asked)
        core = _upper(shape.format(**_slots(topic)))
        about = (topic.project, topic.component)
        needs: dict[Kind, tuple[str, ...]] = {
            "name": (*about, topic.aspect),
            "body": (*about, max(topic.fact.split("{n}"), key=len)),
            "prompt": (*about, topic.aspect),
            "identifier": (topic.ticket,) if by_ticket else (topic.project, topic.ident),
        }
        text = _with_noise(core, topic.lang, rng) if kind == "prompt" else core
        folded = tuple(need.casefold() for need in needs[kind])
        return Query(text, kind, topic.lang, self._file(number).path, folded)


def _with_noise(core: str, lang: str, rng: Random) -> str:
    """The request among sentences about other things."""
    chinese = lang == "zh"
    noise = _lines(_NOISE_ZH if chinese else _NOISE)
    said, aim = [core], rng.randrange(80, 130) if chinese else rng.randrange(42, 64)
    for sentence in rng.sample(noise, len(noise)):
        if (len("".join(said)) if chinese else len(" ".join(said).split())) >= aim:
            break
        said.insert(rng.randrange(len(said) + 1), _upper(sentence))
    return "。".join(said) + "。" if chinese else ". ".join(said) + "."


def _title(topic: _Topic, number: int, rng: Random) -> str:
    style = rng.randrange(3)
    if topic.lang == "zh":
        return (f"{topic.component}{topic.aspect}", f"{topic.aspect}备忘", f"笔记{number}")[style]
    return (f"{topic.component} {topic.aspect}", f"{topic.project} {topic.aspect}", f"note {number}")[style]


def _path(topic: _Topic, number: int, rng: Random) -> str:
    """Where the memory lies: most of the first ones in the directory itself, the others in nested folders."""
    styles = ("note", _snake(topic.aspect), _snake(f"{topic.project}_{topic.component}"))
    chunk = number // FOLDER
    area = f"{_AREAS[chunk % len(_AREAS)]}/{chunk:02}" if chunk else ""
    folder = {3: "services", 6: "services/ops"}.get(number % 10, "")
    return "/".join(filter(None, (area, folder, f"{rng.choice(styles)}_{number:05}.md")))


def _slots(topic: _Topic) -> dict[str, str]:
    return {
        key: getattr(topic, key) for key in ("project", "component", "aspect", "question", "ident", "ticket")
    }


def _is_bare(number: int) -> bool:
    """Whether this memory is a Chinese one without a Latin word for its project."""
    return number % 10 == 9


def _snake(name: str) -> str:
    return name.lower().replace(" ", "_").replace("-", "_")


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _said(text: str, lang: str) -> str:
    """A line of a body."""
    return f"- {_upper(text)}{'。' if lang == 'zh' else '.'}"


def _scalar(value: str) -> str:
    """The value as YAML takes it on one line."""
    return f'"{value}"' if ": " in value or "：" in value else value


def _write(path: str, file: File) -> int:
    data = file.text.encode()
    with open(path, "wb", buffering=0) as to:  # noqa: PTH123
        to.write(data)
    os.utime(path, ns=(file.mtime_ns, file.mtime_ns))
    return len(data)
