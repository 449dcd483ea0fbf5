"""`memdir probe`: does recall bring what it must?"""

from __future__ import annotations

import click

from memdir import app
from memdir.cli.opening import memory_of, open_project
from memdir.cli.output import columns, emit_json, json_option, line, talk
from memdir.dream import probes
from memdir.dream.probes import Result
from memdir.memory.manifest import harmless


@click.command(short_help="Check that recall still brings what it must.")
@json_option
@click.pass_obj
def probe(opened: app.Opening, as_json: bool) -> int:
    """Check that recall still brings what it must, and nothing that it must not.

    The probes are yours: a file probes.yaml in the memory directory (`memdir path` says where that is). A
    dream that would break one is not carried out, but waits for you.

    \b
        - ask: which package manager do we use?
          must: tools.md
        - ask: how do we deploy?
          must: [deploy.md, servers.md]
          must_not: old_deploy.md

    Memories are looked for by their words alone, as they are where no model chooses. Exit code 1: a probe is
    broken; 2: the file can't be read.
    """
    from memdir.recall.public import Asking

    project = open_project(opened)
    memory = memory_of(project)
    wanted = probes.load(memory.directory)
    absent = probes.absent(wanted, {header.path for header in memory.list()} if wanted else ())
    with Asking(memory.directory, now=project.now()) as ask:
        results = probes.run(wanted, ask)
    broken = sum(not result.ok for result in results)
    if as_json:
        path = str(memory.directory / probes.NAME)
        emit_json(path=path, broken=broken, absent=absent, probes=[_as_json(result) for result in results])
    elif results:
        click.echo(columns((_row(result) for result in results), wrap=True))
        talk(_summary(broken, len(results)))
        if absent:
            talk(line(f"probes name what is no memory here: {_names(absent)}"))
    else:
        talk(line(f"no probes: write them into {memory.directory / probes.NAME}, such as"))
        talk(f"\n{probes.EXAMPLE}", end="")
    return 1 if broken else 0


def _summary(broken: int, count: int) -> str:
    if not broken:
        return "1 probe, and it is answered" if count == 1 else f"{count:,} probes, and all are answered"
    return f"{broken:,} of {count:,} {'probe is' if count == 1 else 'probes are'} broken"


def _row(result: Result) -> tuple[str, ...]:
    brought = f"brought {_names(result.brought)}" if result.brought else "brought nothing"
    wrong = [f"did not bring {_names(result.missing)}"] if result.missing else []
    wrong += [f"must not bring {_names(result.unwanted)}"] if result.unwanted else []
    return ("ok" if result.ok else "broken", line(result.probe.ask), "; ".join((*wrong, brought)))


def _names(files: tuple[str, ...]) -> str:
    return ", ".join(map(harmless, files))


def _as_json(result: Result) -> dict[str, object]:
    return {
        "ask": result.probe.ask,
        "ok": result.ok,
        "must": list(result.probe.must),
        "must_not": list(result.probe.must_not),
        "brought": list(result.brought),
        "missing": list(result.missing),
        "unwanted": list(result.unwanted),
    }
