"""``loopless explain``."""

from __future__ import annotations

from typing import Any

import click

from loopless.cli.app import ANSWERED, Request
from loopless.cli.colour import show
from loopless.cli.options import format_option


@click.command("explain", short_help="What a refusal means, and what to do about it.")
@click.argument("code", metavar="[CODE]", required=False)
@format_option("text", "json")
@click.pass_obj
def command(request: Request, /, code: str | None, format_: str, color: str) -> int:
    """What the refusal CODE means, with an example, and what to do about it; without CODE, all there are.

    \b
    Examples:
      loopless explain
      loopless explain L204
      loopless explain floating-point
    """
    from loopless.report.explanations import explain, explanation_list, explanation_text, explanations

    if code is None:
        if format_ == "json":
            from loopless.report.document import document, dump

            pages = [{"code": reason.code, "reason": reason.label} for reason in explanations()]
            click.echo(dump(document("explain", refusals=pages, time_ms=request.elapsed_ms)))
        else:
            show(explanation_list(), color)
        return ANSWERED
    page = explain(code)
    if format_ == "json":
        from loopless.report.document import document, dump

        found: dict[str, Any] = {
            "code": page.reason.code,
            "reason": page.reason.label,
            "meaning": page.meaning,
            "example": page.example,
            "what_to_do": page.what_to_do,
        }
        click.echo(dump(document("explain", **found, time_ms=request.elapsed_ms)))
    else:
        show(explanation_text(page), color)
    return ANSWERED
