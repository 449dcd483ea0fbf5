# ruff: noqa: B023, C408, E401, E501, E701, E731, E741, I001, ICN001, PTH123, SIM115
# fmt: off
# mypy: ignore-errors
"""Validate extraction.jsonl and score memory states against it (stdlib only).

    python extraction_check.py              # validate + two sanity baselines
    from extraction_check import load, score, report
"""
import collections, datetime, json, pathlib, re, sys

HERE = pathlib.Path(__file__).parent
TYPES = {"user", "feedback", "project", "reference"}
MARK = "\u27c2"  # splits secrets in the stored file


def load(path=HERE / "extraction.jsonl", join_secrets=True):
    rows = [json.loads(l) for l in open(path, encoding="utf-8") if l.strip()]
    if join_secrets:  # only the talk is joined; regexes hold an optional marker
        for r in rows:
            for t in r["turns"]:
                t["text"] = t["text"].replace(MARK, "")
    return rows


def hit(rx, text):
    return re.search(rx, re.sub(r"\s+", " ", text), re.I) is not None


def _fits(g, f):
    return (f["type"] in {g["type"], *g.get("also_ok", [])}
            and all(hit(r, f["text"]) for r in g["must"])
            and not any(hit(r, f["text"]) for r in g["must_not"]))


def score(case, after):
    """after: [{file, type, text}], the whole memory folder at the end
    (text = name + description + body). Returns a dict of counts."""
    before = {m["file"]: m for m in case["existing"]}
    full = lambda m: " ".join((m["name"], m["description"], m["body"]))
    now = {f["file"]: f for f in after}
    written = [f for f in after if f["file"] not in before
               or f["text"] != full(before[f["file"]]) or f["type"] != before[f["file"]]["type"]]
    gone = set(before) - set(now)
    found, good_del = 0, set()
    for g in case["gold"]:
        if g["action"] == "delete":
            ok = g["target"] in gone
            good_del |= {g["target"]} & gone
        elif g["action"] == "update":
            t = g["target"]
            inplace = t in now and now[t] in written and _fits(g, now[t])
            moved = t in gone and any(_fits(g, f) for f in written)
            ok = inplace or moved
            good_del |= {t} & gone if moved else set()
        else:
            ok = any(_fits(g, f) for f in written)
        found += ok
    pos = [g for g in case["gold"] if g["action"] != "delete"]
    right = [f for f in written if any(_fits(g, f) for g in pos)]
    spare = [f for f in written if f not in right and any(hit(a, f["text"]) for a in case.get("allowed", []))]
    leaks = [(f["file"], x["regex"]) for f in written for x in case["forbidden"] if hit(x["regex"], f["text"])]
    bad_del = gone - good_del
    return dict(gold=len(case["gold"]), found=found, written=len(written) - len(spare), right=len(right),
                wrong_deletes=len(bad_del), leaks=leaks,
                empty_right=(not written and not gone) if not case["gold"] else None)


def report(pairs, key):
    """pairs: [(case, score)]; key: 'lang' or 'category'."""
    acc = collections.defaultdict(collections.Counter)
    for c, s in pairs:
        for k in (c[key], "ALL"):
            a = acc[k]
            for n in ("gold", "found", "written", "right", "wrong_deletes"):
                a[n] += s[n]
            a["leaks"] += bool(s["leaks"])
            a["empty"] += s["empty_right"] is not None
            a["empty_right"] += bool(s["empty_right"])
    pc = lambda a, b: f"{a}/{b}" + (f" {100 * a / b:.0f}%" if b else "")
    for k, a in sorted(acc.items()):
        print(f"{k:24} recall {pc(a['found'], a['gold']):14} precision {pc(a['right'], a['written']):14} "
              f"empty {pc(a['empty_right'], a['empty']):12} leaks {a['leaks']} wrong deletes {a['wrong_deletes']}")


def validate(rows):
    bad = []
    for r in rows:
        files = {m["file"]: m for m in r["existing"]}
        e = lambda s: bad.append(f"{r['id']}: {s}")
        if set(r) - {"allowed"} != {"id", "lang", "today", "existing", "turns", "gold", "forbidden", "note", "category"}: e("keys")
        if r["lang"] not in {"en", "zh", "mixed", "es", "ja", "de"}: e("lang")
        datetime.date.fromisoformat(r["today"])
        if not 4 <= len(r["turns"]) <= 14: e("number of turns")
        if len(files) > 4 or len(files) != len(r["existing"]): e("existing")
        for t in r["turns"]:
            if t["role"] not in {"user", "assistant", "tool"} or not t["text"].strip(): e("turn")
            if (t["role"] == "tool") != ("tool" in t): e("tool field")
        for g in r["gold"]:
            if g["action"] not in {"create", "update", "delete"} or g["type"] not in TYPES: e("gold")
            if (g["action"] != "create") != ("target" in g): e("target")
            if "target" in g and g["target"] not in files: e("target not there")
            if not {*g.get("also_ok", [])} <= TYPES: e("also_ok")
        for rx in [x for g in r["gold"] for x in g["must"] + g["must_not"]] + [f["regex"] for f in r["forbidden"]] + r.get("allowed", []):
            re.compile(rx, re.I)
    if len({r["id"] for r in rows}) != len(rows): bad.append("double id")
    return bad


def _existing(r):
    return [dict(file=m["file"], type=m["type"], text=" ".join((m["name"], m["description"], m["body"]))) for m in r["existing"]]


def main():
    rows = load()
    bad = validate(rows)
    print(len(rows), "conversations,", len(bad), "format errors", *bad, sep=" ")
    dump = lambda r: _existing(r) + [dict(file=f"t{i}.md", type="feedback", text=t["text"]) for i, t in enumerate(r["turns"]) if t["role"] == "user"]
    runs = {"writes nothing": _existing, "dumps each user turn": dump}
    for name, f in runs.items():
        pairs = [(r, score(r, f(r))) for r in rows]
        print("\n##", name)
        report(pairs, "lang")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
