"""Positions of all three games as a page is sent them, put together by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pigenv.render.faces import card_name
from pigenv.scene import Scene
from pigenv.web.moves import described, why_not
from pigenv.web.session import scene_document
from tests.render import scenes


def view_of(scene: Scene, game: str, actions: Sequence[str], called: str = "") -> dict[str, Any]:
    """What a session would send of a scene in which the seat that looks may play these actions."""
    moves = [described(action, scene, game) for action in actions]
    touched = {target for move in moves for target in move.targets}
    reasons = {
        f"{zone.name} {card or ''}".strip(): why_not(scene, zone, card, game, moves)
        for zone in scene.zones
        if zone.seat == scene.looking
        for card in zone.cards
        if not {(zone.name, True, card), (zone.name, True, None)} & touched
    }
    agents = ["uniform"] * scene.num_players
    agents[scene.looking] = "person"
    return {
        "id": "made-by-hand-0001",
        "version": 1,
        "step": 1,
        "round": 0,
        "game": game,
        "title": game,
        "agents": agents,
        "seat": scene.looking,
        "my_turn": bool(actions),
        "reflex": False,
        "over": False,
        "scene": scene_document(scene),
        "moves": [{**asdict(move), "call": ""} for move in moves],
        "reasons": reasons,
        "log": [{"step": 0, "round": 0, "seat": 1, "action": "8x1", "called": called or card_name("8", game)}],
        "can_undo": True,
        "rules": {},
        "sheet": [],
        "lowest_wins": False,
        "result": None,
    }


def _to_move(scene: Scene) -> Scene:
    return Scene(scene.num_players, scene.looking, scene.looking, scene.zones, scene.scores, scene.called)


PILE = _to_move(scenes.pig_pile(4, 0, 7))
TAIL = _to_move(scenes.pigs_tail(4, 52, 6))
VIEWS = {
    "pig_pile": view_of(PILE, "pig_pile", ["4x1", "5x1", "5x2", "7x1", "pickup"], "Hog Wash"),
    "pigs_tail": view_of(TAIL, "pigs_tail", ["flip", TAIL.zones[2].cards[0] or "", TAIL.zones[2].cards[2] or ""]),
}
