"""A game in the terminal."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pigenv.errors import PigenvError
from pigenv.game import Game
from pigenv.records import write_records
from pigenv.render.text import draw_text
from pigenv.web.session import PERSON, Session

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["play_in_terminal"]

HELP: Final = "Type a move as it stands on the left; h asks for a hint, u takes back, t shows the table, q ends."


def play_in_terminal(
    game: Game, opponents: Sequence[str], seat: int | None, seed: int | None, out: str | None, console: Console
) -> None:
    """Play a game to its end, or until the person has had enough.

    Args:
        game: The game.
        opponents: Who plays the other seats, clockwise from the person's left, repeated.
        seat: The person's seat; by chance where None.
        seed: Of the deal; by chance where None.
        out: The file to write the record to.
        console: Where to print, and to read from.

    Raises:
        OptionError: The file cannot be written.
        AgentError: An agent failed.
    """
    own = secrets.randbelow(game.num_players) if seat is None else seat
    line_up = [PERSON] * game.num_players
    for place in range(1, game.num_players):
        line_up[(own + place) % game.num_players] = opponents[(place - 1) % len(opponents)]
    session = Session(game, line_up, secrets.randbits(64) if seed is None else seed)
    console.rule(game.definition.name)
    for place, name in enumerate(line_up):
        console.print(f"  seat {place}  {'you' if place == own else name}")
    console.print(HELP, style="dim")
    told = 0
    while not session.over:
        told = _tell(session, told, console)
        if not session.my_turn:
            session.advance()
            continue
        if not _turn(session, console):
            console.print("The game ends here; nothing is kept.")
            return
        told = min(told, len(session.log))
    _tell(session, told, console)
    _end(session, console)
    if out is not None:
        write_records(out, [session.record()])
        console.print(f"record written to {out}")


def _tell(session: Session, told: int, console: Console) -> int:
    """Print what was called since."""
    for each in session.log[told:]:
        who = "you   " if each["seat"] == session.seat else f"seat {each['seat']}"
        action = each["action"] if each["action"] is not None else "(in secret)"
        call = f'  "{each["called"]}"' if each["called"] else ""
        console.print(f"  {who}  {action}{call}", style="bold" if each["seat"] == session.seat else None)
    return len(session.log)


def _turn(session: Session, console: Console) -> bool:
    """Ask until the person has moved; returns whether it goes on."""
    _show(session, console)
    while True:
        try:
            answer = console.input("your move> ").strip()
        except EOFError:
            return False
        word = answer.lower()
        try:
            if word in ("q", "quit", "exit"):
                return False
            if word in ("", "t", "table"):
                _show(session, console)
            elif word in ("h", "hint"):
                _hint(session, console)
            elif word in ("u", "undo"):
                session.undo()
                return True
            else:
                session.play(answer)
                return True
        except PigenvError as error:
            console.print(f"  {error}", style="yellow")
            console.print(HELP, style="dim")


def _show(session: Session, console: Console) -> None:
    console.print()
    console.print(draw_text(session.scene(), max(40, min(console.width, 100))))
    _list(session, console)


def _list(session: Session, console: Console) -> None:
    from rich import box
    from rich.table import Table

    calls = session.view()["moves"]
    table = Table("type", "move", "called", box=box.SIMPLE, pad_edge=False, show_edge=False)
    for each in calls:
        table.add_row(each["action"], each["label"], each["call"])
    console.print(table)


def _hint(session: Session, console: Console) -> None:
    found = session.hint(next(each for each in session.agents if each != PERSON))
    console.print(f"  {found['agent']} would play:")
    for each in found["ranking"]:
        bar = "█" * round(20 * each["probability"])
        console.print(f"  {each['probability']:6.1%}  {each['action']:<8} {each['label']}  {bar}")
    for note in found["notes"]:
        console.print(f"  {note}")


def _end(session: Session, console: Console) -> None:
    from rich import box
    from rich.table import Table

    console.print()
    console.print(draw_text(session.scene(), max(40, min(console.width, 100))))
    result = session.view()["result"]
    table = Table("place", "seat", "player", "points", box=box.SIMPLE, pad_edge=False, title="The end")
    for place, own in sorted(zip(result["places"], range(len(session.agents)), strict=True)):
        name = "you" if own == session.seat else session.agents[own]
        table.add_row(str(place), str(own), name, f"{result['scores'][own]:g}", style="bold" if name == "you" else None)
    console.print(table)
