"""The commands about reports that there are already: render, verify, diff."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.guarding import guarded


@click.command()
@click.argument("report", type=click.Path(path_type=Path))
@click.option("--format", "form_out", default="text", show_default=True, metavar="FORMAT",
              help="text, html, junit, sarif, ctrf, markdown, badge, badge-json or earl.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write it to FILE.")  # fmt: skip
@guarded
def render(report: Path, form_out: str, out: Path | None) -> int:
    """Render a REPORT (report.json, or the folder that holds it) in another format."""
    from conformance import rendering
    from conformance import report as reports

    if form_out not in reports.RENDERERS:
        raise click.UsageError(f"no format {form_out!r}; there is {', '.join(reports.RENDERERS)}")
    return rendering.execute(report, form_out, out)


@click.command()
@click.argument("report", type=click.Path(path_type=Path))
@click.option("--format", "form_out", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--bundle", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="If it agrees, write it and all that belongs to it into one ZIP file.")  # fmt: skip
@guarded
def verify(report: Path, form_out: str, bundle: Path | None) -> int:
    """Judge the transcripts of a REPORT (its folder, report.json or a bundle) again, and say what differs."""
    from conformance import appeal

    return appeal.verify(report, form_out, bundle)


@click.command()
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@click.option("--format", "form_out", type=click.Choice(["text", "json"]), default="text", show_default=True)
@guarded
def diff(before: Path, after: Path, form_out: str) -> int:
    """Compare two reports: what fails now, what was fixed, what is exercised or no longer is."""
    from conformance import appeal

    return appeal.diff(before, after, form_out)


COMMANDS = (render, verify, diff)
