"""The command line. Every error is one sentence on standard error and an exit code; never a traceback.

What a command does not need is not imported: a valid message is judged in little more than the time
that Python and click take to start.
"""

from __future__ import annotations

import functools
import gc
import json
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from conformance import __version__, admission, completion, report_commands
from conformance.console import is_read, say, width
from conformance.guarding import guarded
from conformance.wording import printable

if TYPE_CHECKING:
    from conformance import validation
    from conformance.judgement import Judged
    from conformance.transports.access import Means

RARELY = 20_000
"""So many more objects may there be before it is looked for cycles among them."""

R = TypeVar("R")

_ADMITTING: dict[str, click.ParamType[Any]] = {
    "ca": click.Path(path_type=Path),
    "token-env": click.STRING,
    "token-file": click.Path(path_type=Path),
    "token-by": click.Choice(["header", "subprotocol"]),
}


def admitted(command: Callable[..., R]) -> Callable[..., R]:
    """Add the options that say how a server lets the kit in; the command is given them as `means`."""

    @functools.wraps(command)
    def run(ca: Path | None, token_env: str, token_file: Path | None, token_by: str, **others: Any) -> R:
        means = admission.means(Path(), ca=ca, token_env=token_env, token_file=token_file, token_by=token_by)
        return command(means=means, **others)

    for name, said in reversed(admission.OPTIONS.items()):
        metavar = "NAME" if name == "token-env" else None
        text = f"{said[0].upper()}{said[1:]}."
        click.option(f"--{name}", type=_ADMITTING[name], default=None, metavar=metavar, help=text)(run)
    return run


def _version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        place = find_spec("conformance.monitor")
        built = "" if place is None or str(place.origin).endswith(".py") else ", compiled"
        click.echo(f"conformance, version {__version__}{built}")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
              help="Show the version, and whether the kit is compiled.")  # fmt: skip
def main() -> None:
    """Test whether implementations of agent protocols conform, and whether messages are valid."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


@main.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, readable=False))
@click.option("-p", "--protocol", default="", help="PROTOCOL or PROTOCOL@REVISION; else it is recognised.")
@click.option("-k", "--kind", default="", help="The kind of every message; else it is recognised.")
@click.option("--form", type=click.Choice(["sender", "receiver"]), default="sender", show_default=True,
              help="Judge as what a sender may send, or as what a receiver must accept.")  # fmt: skip
@click.option("--stateless", is_flag=True, help="Judge each message alone.")
@click.option("--as-published", is_flag=True, help="Judge by the published schemas alone, defects included.")
@click.option("--format", "form_out", type=click.Choice(["text", "json", "sarif", "junit", "github"]),
              default="text", show_default=True)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 64), default=1, metavar="N",
              help="Judge N files, or parts of a large one, at a time, each in a process.")  # fmt: skip
@guarded
def validate(
    files: tuple[Path, ...],
    protocol: str,
    kind: str,
    form: str,
    stateless: bool,
    as_published: bool,
    form_out: str,
    jobs: int,
) -> int:
    """Judge messages, JSON Lines, transcripts or traces. `-`, or no FILE, is standard input."""
    from conformance import validation

    if not files and (sys.stdin is None or sys.stdin.isatty()):
        raise click.UsageError("name a FILE, or pipe messages to standard input")
    options = validation.Options(protocol, kind, form, stateless, as_published)
    return _validate(validation.expand(files or (Path("-"),)), options, form_out, jobs)


def _validate(paths: Iterable[Path], options: validation.Options, form: str, jobs: int) -> int:
    from conformance import judgement, writers

    # What is kept of a record has no cycles, and would be looked through for some again and again.
    gc.set_threshold(20_000, 50, 1_000)
    writer = writers.writer(form, say, width())
    judged = []
    with closing(_judging(paths, options, writer.told, jobs)) as judging:
        for one in judging:
            judged.append(one)
            writer.done(one)
            say(printable(one.summary()), err=True)
            if one.stopped:
                break
    writer.end()
    return judgement.exit_code(judged)


def _judging(
    paths: Iterable[Path], options: validation.Options, tell: validation.Tell, jobs: int
) -> Generator[Judged, None, None]:
    """How each came out, in their order."""
    if jobs == 1:
        from conformance import validation

        yield from (validation.judge_path(path, options, tell) for path in paths)
        return
    named = [*paths]
    if len(named) == 1:
        from conformance import parts

        yield parts.judge_path(named[0], options, tell, jobs)
    else:
        from conformance import workers

        yield from workers.judge_paths(named, options, tell, jobs)


def _protocol_option(value: str) -> Any:
    from conformance import packs

    return packs.find(value)


@main.command()
@click.argument("protocol")
@click.option("--target", default="", metavar="TARGET",
              help="A URL, stdio:COMMAND, another scheme of docs/run.md, or reference[:FAULT].")  # fmt: skip
@click.option("--beside", multiple=True, metavar="TARGET",
              help="Where the same runs too, for one more scenario at a time.")  # fmt: skip
@click.option("--role", default="", help="The implementation's role; else the one that the pack certifies.")
@click.option("-s", "--scenario", multiple=True, metavar="GLOB",
              help="Only scenarios of this name, or the scenario in a file: NAME.yaml.")  # fmt: skip
@click.option("-r", "--requirement", multiple=True, metavar="GLOB", help="Only scenarios that concern these.")
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="The ICS (conformance.toml).")
@admitted
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default="conformance-report",
              show_default=True, help="Where the report goes.")  # fmt: skip
@click.option("--patience", type=click.FloatRange(0.01, 1000), default=1.0, show_default=True,
              metavar="FACTOR", help="Multiply every time that the kit waits of its own accord.")  # fmt: skip
@click.option("--baseline", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Failures that are known; only others fail the run.")  # fmt: skip
@click.option("--rerun", type=click.IntRange(0, 100), default=0, metavar="N",
              help="Run a scenario that did not pass again, N times; what differs is flaky.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 64), default=1, metavar="N",
              help="Run N scenarios at a time, where the implementation bears it.")  # fmt: skip
@click.option("--certify", is_flag=True, help="Refuse all that leaves a MUST undecided.")
@click.option("--bundle", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write the report and all that belongs to it into one ZIP file too.")  # fmt: skip
@click.option("--mutate", multiple=True, metavar="NAME",
              help="Break its traffic on the wire, to prove that the kit notices: NAME or all.")  # fmt: skip
@click.option("--fuzz", is_flag=True, help="Send what breaks one constraint each, beside its valid twin.")
@click.option("--budget", default=None, metavar="N|Ns",
              help="So many messages with --fuzz, or for so many seconds; else 200.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=None, help="The order of --fuzz; else by chance.")
@guarded
def run(
    protocol: str,
    target: str,
    beside: tuple[str, ...],
    role: str,
    scenario: tuple[str, ...],
    requirement: tuple[str, ...],
    config: Path | None,
    means: Means,
    out: Path,
    patience: float,
    baseline: Path | None,
    certify: bool,
    rerun: int,
    jobs: int,
    bundle: Path | None,
    mutate: tuple[str, ...],
    fuzz: bool,
    budget: str | None,
    seed: int | None,
) -> int:
    """Drive an implementation through the scenarios of PROTOCOL and write a report."""
    from conformance import campaign, execution, fleet

    request = campaign.Request(
        *(_protocol_option(protocol), target, role, config, out, patience, scenario, requirement),
        means=means,
        baseline=baseline,
        today=datetime.now(UTC).date(),
        certify=certify,
        rerun=rerun,
        jobs=jobs,
        bundle=bundle,
    )
    if fuzz and (mutate or beside):
        raise click.UsageError("--fuzz goes with neither --mutate nor --beside")
    if mutate and (beside or bundle):
        raise click.UsageError("--mutate goes with neither --beside nor --bundle")
    if not fuzz and (budget is not None or seed is not None):
        raise click.UsageError("--budget and --seed say how to --fuzz, which was not asked for")
    if mutate:
        from conformance import proving

        return proving.requested(request, mutate)
    if fuzz:
        from conformance import fuzzing

        return fuzzing.requested(request, fuzzing.budget(fuzzing.USUAL if budget is None else budget, seed))
    return execution.execute(fleet.widened(campaign.prepare(request), beside))


@main.command()
@click.argument("protocol", default="")
@click.argument("kind", default="")
@click.option("--schema", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Values of the JSON Schema in FILE instead.")  # fmt: skip
@click.option("-n", "--number", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="So many.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, metavar="S", help="Others for another seed.")
@click.option("--form", type=click.Choice(["sender", "receiver"]), default="sender", show_default=True,
              help="What a sender may send, or what a receiver must accept.")  # fmt: skip
@click.option("--as-published", is_flag=True, help="By the published schemas alone, defects included.")
@click.option("--invalid", is_flag=True, help="A message for each constraint, which breaks just that.")
@click.option("--bare", is_flag=True, help="With --invalid: the messages alone, without what they break.")
@click.option("--coverage", is_flag=True, help="Which constraints can be broken, and why not the others.")
@click.option(
    "--walks", is_flag=True, help="Conversations through the lifecycles of PROTOCOL, as transcripts."
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="With --walks: a file for each.")  # fmt: skip
@guarded
def generate(walks: bool, out: Path | None, **wanted: Any) -> int:
    """Make messages of a KIND of PROTOCOL, one JSON text a line: valid ones, or with --invalid others."""
    if walks or out is not None:
        from conformance import walking

        return walking.requested(wanted, out, walks=walks)
    from conformance import making

    for line in making.lines(making.Request(**wanted)):
        if not is_read(line):
            break  # nobody reads on, and there may be millions to come
    return 0


@main.command("list")
@click.argument("what", type=click.Choice(["packs", "kinds", "requirements", "scenarios"]))
@click.argument("protocol", default="")
@click.option("-r", "--requirement", multiple=True, metavar="GLOB", help="Only what concerns these.")
@click.option("--format", "form_out", type=click.Choice(["text", "json"]), default="text", show_default=True)
@guarded
def list_(what: str, protocol: str, requirement: tuple[str, ...], form_out: str) -> int:
    """List the packs, or what is in PROTOCOL; in all of them without one."""
    from conformance import catalogue

    if requirement and not catalogue.LISTS[what].by_requirement:
        raise click.UsageError(f"no requirement selects {what}; -r is for requirements and scenarios")
    say(catalogue.FORMATS[form_out](what, catalogue.rows(what, protocol, requirement)), nl=False)
    return 0


@main.command()
@click.argument("identifier", metavar="ID")
@click.option("-p", "--protocol", default="", help="PROTOCOL or PROTOCOL@REVISION; else the newest.")
@click.option("--format", "form_out", type=click.Choice(["text", "json"]), default="text", show_default=True)
@guarded
def explain(identifier: str, protocol: str, form_out: str) -> int:
    """Explain the requirement ID: what it says, how it is judged, and what proves it."""
    from conformance import exposition

    say(exposition.FORMATS[form_out](exposition.of(identifier, protocol)), nl=False)
    return 0


@main.command()
@click.argument("protocol", default="")
@click.option("--target", default="", metavar="TARGET", help="Where the implementation is, as for run.")
@click.option("--role", default="", help="The implementation's role; else the one that the pack certifies.")
@admitted
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default="conformance.toml",
              show_default=True, help="The file that is written.")  # fmt: skip
@click.option("-y", "--yes", is_flag=True, help="Ask nothing: take what can be learnt, and defaults.")
@click.option("--force", is_flag=True, help="Write the file anew if it is there.")
@click.option("--schema", is_flag=True, help="Write nothing; print the JSON Schema of the file.")
@guarded
def init(
    protocol: str, target: str, role: str, means: Means, out: Path, yes: bool, force: bool, schema: bool
) -> int:
    """Write conformance.toml: ask for each fact of PROTOCOL, or learn it from a first connection."""
    from conformance import asking, configuration

    if schema:
        say(json.dumps(configuration.schema(_protocol_option(protocol)), indent=2, ensure_ascii=False))
        return 0
    asks = not yes and asking.on_terminal()
    return asking.execute(asking.Request(protocol, target, role, out, asks, force, means))


@main.command()
@click.argument("protocol", default="")
@click.option("--target", default="", metavar="TARGET", help="Where the implementation is, as for run.")
@click.option("--role", default="", help="The implementation's role; else the one that the pack certifies.")
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="The ICS (conformance.toml).")
@admitted
@click.option("--patience", type=click.FloatRange(0.01, 1000), default=1.0, show_default=True,
              metavar="FACTOR", help="Multiply every time that the kit waits of its own accord.")  # fmt: skip
@guarded
def doctor(protocol: str, target: str, role: str, config: Path | None, means: Means, patience: float) -> int:
    """Say what keeps an implementation from being tested, and what to do about it."""
    from conformance import campaign, configuration, diagnosis

    pack = _protocol_option(protocol or configuration.protocol(config))
    request = campaign.Request(pack, target, role, config, patience=patience, means=means)
    return diagnosis.execute(request, lambda line: say(printable(line)))


@main.command("selftest")
@click.argument("protocol", default="")
@click.option("--role", default="", help="Only the reference implementation of this role.")
@click.option("--fault", multiple=True, metavar="GLOB", help="Only faults of this name.")
@click.option("--jobs", type=click.IntRange(1, 64), default=8, show_default=True, metavar="N",
              help="So many scenarios at once.")  # fmt: skip
@click.option("--brief", is_flag=True, help="Try a fault only in scenarios that concern what it breaks.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False),
              help="Keep the report of each fault here.")  # fmt: skip
@click.option("--format", "form_out", type=click.Choice(["text", "json"]), default="text", show_default=True)
@guarded
def selftest_(
    protocol: str, role: str, fault: tuple[str, ...], jobs: int, brief: bool, out: Path | None, form_out: str
) -> int:
    """Try whether the kit notices each fault of the reference implementations of PROTOCOL, or of all."""
    from conformance import selftest

    request = selftest.Request(protocol, role, fault, jobs, brief, out)
    return selftest.execute(request, selftest.FORMATS[form_out])


@main.command("completion")
@click.argument("shell", type=click.Choice(completion.SHELLS))
@guarded
def completion_(shell: str) -> int:
    """Print what SHELL reads to complete this command: eval "$(conformance completion bash)"."""
    say(completion.script(shell, main), nl=False)
    return 0


def command() -> None:
    """`main` in a process of its own, which makes little that would have to be looked for to be freed."""
    gc.set_threshold(RARELY)
    try:
        main()
    finally:
        gc.freeze()  # or else Python, as it ends, looks several times through all that was imported


for made in report_commands.COMMANDS:
    main.add_command(made)
completion.enter(main)
