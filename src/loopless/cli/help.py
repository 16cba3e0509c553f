"""``loopless help``."""

from __future__ import annotations

import click

from loopless.cli.app import ANSWERED, COMMANDS, no_command


@click.command("help", short_help="What a command does and takes; a page for man.")
@click.argument("name", metavar="[COMMAND]", required=False)
@click.option("--man", is_flag=True, help="A page for man, about all commands.")
@click.pass_context
def command(ctx: click.Context, /, name: str | None, *, man: bool) -> int:
    """What COMMAND does and takes, as COMMAND --help says it; without one, what commands there are.

    \b
    Examples:
      loopless help summarize
      loopless help --man
    """
    if man and name is not None:
        raise click.UsageError("--man is about all commands; leave out the name of one")
    if name is not None and name not in COMMANDS:
        raise click.UsageError(no_command(name))
    above = ctx.parent
    assert above is not None
    group = above.command
    assert isinstance(group, click.Group)
    if man:
        from loopless.cli.man import page

        click.echo(page(group, above), nl=False)
    elif name is None:
        click.echo(group.get_help(above))
    else:
        found = group.get_command(above, name)
        assert found is not None
        click.echo(found.get_help(click.Context(found, above, name)))
    return ANSWERED
