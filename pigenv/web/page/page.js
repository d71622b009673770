"use strict";

// One page for playing, for watching records, and for a record exported as a file. The server (or the file) says what
// lies where; everything here is drawn from that.

const $ = (id) => document.getElementById(id);
const PACES = [0, 250, 700, 1400, 2600]; // milliseconds between two moves of others
const RETRY = [500, 1000, 2000, 4000];

let setup = null; // what can be chosen: games, presets, agents
let cards = {}; // picture and name of each card of this game
let state = null; // the game being played, as its seat sees it
let film = null; // the record being watched: {document, frame, view, playing}
let reel = null; // the record last watched, for the way back to it
let busy = false; // a request of ours is under way
let timer = 0;

// --- small things ----------------------------------------------------------------------------------------------------

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick" || name === "onchange" || name === "oninput" || name === "onsubmit") made[name] = value;
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const button = (text, onclick, attributes = {}) => element("button", { type: "button", onclick, ...attributes }, text);
const words = (name) => name.replaceAll("_", " ");
const counted = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
const percent = (share) => (share > 0 && share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`);

function say(text) {
  $("live").textContent = "";
  // A live region speaks only what changes.
  setTimeout(() => ($("live").textContent = text), 30);
}

function notice(text) {
  $("notice").textContent = text || "";
  $("notice").hidden = !text;
}

function remembered(key, fallback) {
  try {
    return localStorage.getItem(`pigenv.${key}`) ?? fallback;
  } catch {
    return fallback; // a page opened as a file may have no storage
  }
}

function remember(key, value) {
  try {
    localStorage.setItem(`pigenv.${key}`, value);
  } catch {
    /* it is only forgotten */
  }
}

const pace = () => PACES[Number(remembered("pace", 2))] ?? 700;
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// --- the server ------------------------------------------------------------------------------------------------------

class Refused extends Error {
  constructor(status, document) {
    super(document.error || `the server answered ${status}`);
    this.status = status;
    this.document = document;
  }
}

// Asks until there is an answer: a server that is started again goes on where it was.
async function ask(path, body) {
  for (let attempt = 0; ; attempt++) {
    let answer;
    try {
      const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
      answer = await fetch(path, options);
    } catch {
      notice("The connection is lost; trying again …");
      await sleep(RETRY[Math.min(attempt, RETRY.length - 1)]);
      continue;
    }
    if (attempt > 0) notice("");
    const document = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Refused(answer.status, document);
    return document;
  }
}

const tabs = typeof BroadcastChannel === "function" ? new BroadcastChannel("pigenv") : null;
if (tabs) {
  tabs.onmessage = (event) => {
    if (state && event.data.id === state.id && event.data.version > state.version && !busy) refresh();
  };
}

async function refresh() {
  if (!state || busy) return;
  try {
    take(await ask(`/api/games/${state.id}`));
  } catch (error) {
    lost(error);
  }
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refresh();
});

function lost(error) {
  if (!(error instanceof Refused)) throw error;
  notice(capital(error.message));
  say(error.message);
  if (error.status === 409 && error.document.view) take(error.document.view);
  if (error.status === 404 && state) {
    state = null;
    location.hash = "";
    showSetup();
  }
}

const capital = (text) => (text ? text[0].toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".") : text);

// Sends what the person did in this position; what was meant for another position comes back as a sentence.
async function send(what, more = {}) {
  if (busy || !state) return;
  busy = true;
  $("table").dataset.turn = "waiting";
  clearTimeout(timer);
  try {
    const view = await ask(`/api/games/${state.id}/${what}`, { step: state.step, ...more });
    busy = false;
    notice("");
    take(view);
  } catch (error) {
    busy = false;
    markTurn();
    lost(error);
    follow();
  }
}

// --- a game goes on --------------------------------------------------------------------------------------------------

function take(view) {
  const before = state;
  state = view;
  if (before && before.id === view.id && view.version < before.version) {
    state = before; // an answer that was overtaken
    return;
  }
  if (tabs && (!before || before.version !== view.version)) tabs.postMessage({ id: view.id, version: view.version });
  render();
  markTurn();
  if (view.over && before && !before.over) $("result").querySelector("h2").focus();
  announce(before, view);
  follow();
}

function markTurn() {
  if (state) $("table").dataset.turn = state.over ? "over" : state.my_turn ? "yours" : "others";
}

function follow() {
  clearTimeout(timer);
  if (!state || state.over || state.my_turn) return;
  timer = setTimeout(() => send("next"), pace());
}

// Spoken at once, when it is the person's turn again: sentences that follow each other quickly would cut each other off.
function announce(before, view) {
  const own = view.log.findLastIndex((each) => each.seat === view.seat);
  const ended = view.over && !(before && before.over);
  if (ended || (view.my_turn && !(before && before.version === view.version))) {
    const heard = view.log.slice(Math.max(own, view.log.length - 2 * view.agents.length)).map((each) => sentence(each, view));
    say([...heard, ended ? ending(view) : `Your turn. ${middleInWords(view.scene)}`].join(" "));
  }
}

function sentence(each, view) {
  const who = each.seat === view.seat ? "You" : `Seat ${each.seat}`;
  const call = each.called ? `: “${each.called}”` : "";
  if (each.action === null) return `${who} chose in secret.`;
  return `${who} ${each.seat === view.seat ? "played" : "plays"} ${each.action}${call}.`;
}

function middleInWords(scene) {
  return scene.zones
    .filter((zone) => zone.seat === null)
    .map((zone) => {
      const top = zone.cards.length && zone.cards.at(-1) !== null ? `, top ${nameOf(zone.cards.at(-1))}` : "";
      return `${capital(words(zone.name)).replace(/\.$/, "")} ${counted(zone.cards.length, "card")}${top}${zone.note ? `, ${zone.note}` : ""}.`;
    })
    .join(" ");
}

function ending(view) {
  const place = view.result.places[view.seat];
  const shared = view.result.places.filter((each) => each === place).length > 1;
  const best = place === 1 ? (shared ? "You share the win" : "You win") : `You are ${ordinal(place)} of ${view.agents.length}`;
  return `${best}, with ${counted(view.result.scores[view.seat], "point")}.`;
}

const ordinal = (n) => `${n}${{ 1: "st", 2: "nd", 3: "rd" }[n % 10 - (n % 100 - (n % 10) === 10 ? 10 : 0)] || "th"}`;

async function start(choice) {
  notice("");
  try {
    const view = await ask("/api/games", choice);
    open(view);
  } catch (error) {
    lost(error);
  }
}

async function open(view) {
  cards = await ask(`/api/cards/${view.game}`);
  film = null;
  state = null;
  rings.clear();
  location.hash = `game=${view.id}`;
  remember("game", view.id);
  show("board");
  take(view);
  focusFirst();
}

// --- the table -------------------------------------------------------------------------------------------------------

const pictures = new Map();

function picture(card) {
  const key = card ?? "";
  const svg = (cards[key] || plain(key)).svg;
  if (!pictures.has(svg)) pictures.set(svg, `data:image/svg+xml,${encodeURIComponent(svg)}`);
  return element("img", { src: pictures.get(svg), alt: "", draggable: "false" });
}

const nameOf = (card) => (cards[card ?? ""] || plain(card)).name;

// A card that only a game of somebody's own has.
function plain(text) {
  const safe = text.replace(/[<>&"]/g, "");
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 140" font-family="sans-serif"><rect x="1" y="1" width="98" height="138" rx="10" fill="#fffdf6" stroke="#6d6a5f" stroke-width="2"/><text x="50" y="85" font-size="${Math.min(60, 150 / safe.length)}" text-anchor="middle" font-weight="bold" fill="#1b2a41">${safe}</text></svg>`;
  return { svg, name: text };
}

function still(card, extra = "") {
  return element("li", { class: `card ${extra}` }, picture(card), element("span", { class: "unseen" }, nameOf(card)));
}

// The cards that are touched to make moves; only one of a place is in the order of Tab, arrows lead to the others.
function touchable(zone, card, place, first) {
  const own = zone.seat !== null;
  const moves = state.moves.filter((move) => move.targets.some(([name, its, text]) => name === zone.name && its === own && (text === null || text === card)));
  const why = moves.length ? "" : reason(zone, card);
  const label = `${nameOf(card)}${zone.name === "hand" ? "" : `, ${words(zone.name)}`}${why ? `, cannot be played: ${why}` : ""}`;
  return element(
    "button",
    {
      type: "button",
      class: `card ${moves.length ? "playable" : ""}`,
      "aria-label": label,
      "aria-disabled": moves.length ? null : "true",
      "data-key": `${zone.name}-${place}`,
      "data-place": place,
      tabindex: first ? "0" : "-1",
      onclick: () => touch(moves, why, zone, place),
    },
    picture(card),
  );
}

function reason(zone, card) {
  if (!state.my_turn && !state.over) return `It is seat ${state.scene.to_move}'s turn.`;
  return state.reasons[`${zone.name} ${card ?? ""}`.trim()] || (state.over ? "The game is over." : "This cannot be played now.");
}

function touch(moves, why, zone, place) {
  if (!moves.length) {
    notice(why);
    say(why);
    return;
  }
  if (zone.name === "ring" || zone.cards[place] === null) chosenPlace = place;
  if (moves.length === 1) send("play", { action: moves[0].action });
  else choose(moves);
}

function choose(moves) {
  const dialog = $("choice");
  dialog.replaceChildren(
    element("h2", { id: "choice-title" }, "How do you play it?"),
    element(
      "div",
      { class: "choices" },
      ...moves.map((move) =>
        button("", () => {
          dialog.close();
          send("play", { action: move.action });
        }),
      ),
      button("Cancel", () => dialog.close()),
    ),
  );
  dialog.querySelectorAll(".choices button").forEach((each, place) => {
    if (moves[place]) each.append(...moveText(moves[place]));
  });
  dialog.showModal();
}

function moveText(move) {
  return [element("span", {}, move.label), move.call ? element("span", { class: "call" }, move.call) : null].filter(Boolean);
}

// Which places of the ring are empty is for the eye alone: the cards there are alike to everybody.
const rings = new Map();
let chosenPlace = null;

function ringPlaces(zone) {
  const id = film ? "film" : state.id;
  let ring = rings.get(id);
  const count = zone.cards.length;
  if (!ring || count > ring.places.length) {
    ring = { size: count, places: zone.cards.map((_, place) => place) };
    rings.set(id, ring);
  }
  while (ring.places.length > count) {
    let gone = ring.places.indexOf(chosenPlace);
    if (gone < 0) gone = (ring.places.length * 7 + 3) % ring.places.length;
    ring.places.splice(gone, 1);
    chosenPlace = null;
  }
  return ring;
}

// The angle at which so much of the ellipse's length is behind, from the top on.
const around = (() => {
  const steps = 720;
  const angle = (k) => (2 * Math.PI * k) / steps - Math.PI / 2;
  const run = [0];
  for (let k = 0; k < steps; k++) run.push(run[k] + Math.hypot(46 * 1.9 * (Math.cos(angle(k + 1)) - Math.cos(angle(k))), 42 * (Math.sin(angle(k + 1)) - Math.sin(angle(k)))));
  return (share) => angle(run.findIndex((length) => length >= share * run[steps]));
})();

function drawRing(zone, pile, interactive) {
  const ring = ringPlaces(zone);
  const box = element("div", { class: "ring", role: "group", "aria-label": `Ring of ${counted(zone.cards.length, "face-down card")}` });
  ring.places.forEach((place, index) => {
    const angle = around(place / ring.size);
    const card = interactive ? touchable(zone, zone.cards[index], place, index === 0) : element("span", { class: "card" }, picture(zone.cards[index]));
    card.style.left = `${47.4 + 46 * Math.cos(angle)}%`;
    card.style.top = `${43 + 42 * Math.sin(angle)}%`;
    card.style.rotate = `${(Math.atan2(Math.sin(angle) * 1.9, Math.cos(angle)) * 180) / Math.PI + 90}deg`;
    box.append(card);
  });
  if (pile) box.append(drawPile(pile, interactive));
  return box;
}

function drawPile(pile, interactive) {
  const shown = pile.cards.slice(-6);
  const under = pile.cards.length - shown.length;
  const box = element("div", { class: "pile" }, element("div", { class: "note" }, pile.note && pile.note !== "empty" ? pile.note : ""));
  if (!shown.length) box.append(element("div", { class: "empty" }, words(pile.name)));
  else {
    const list = element("ul", { class: "cards", "aria-label": `${words(pile.name)}, bottom to top` });
    shown.forEach((card, place) => list.append(still(card, place === shown.length - 1 && fresh ? "landing" : "")));
    box.append(list);
  }
  const count = pile.cards.length ? `${words(pile.name)}, ${counted(pile.cards.length, "card")}${under ? `, ${under} of them below` : ""}` : "";
  box.append(element("div", { class: "name" }, count));
  const moves = interactive ? state.moves.filter((move) => move.targets.some(([name, own]) => name === pile.name && !own)) : [];
  if (moves.length) box.append(button(moves[0].label, () => (moves.length === 1 ? send("play", { action: moves[0].action }) : choose(moves)), { "data-key": "pile" }));
  return box;
}

function drawStack(zone) {
  const box = element("div", { class: "stack" });
  if (zone.cards.length) box.append(element("div", { class: "card" }, picture(zone.cards.at(-1))));
  else box.append(element("div", { class: "empty" }, "none"));
  box.append(element("div", { class: "name" }, `${words(zone.name)}, ${zone.cards.length}`));
  if (zone.note) box.append(element("div", { class: "name" }, zone.note));
  return box;
}

function drawZone(zone, interactive, named) {
  const box = element("div", { class: "zone" });
  const hidden = zone.cards.length && zone.cards.every((card) => card === null);
  const label = `${words(zone.name)}, ${counted(zone.cards.length, "card")}`;
  const short = `${words(zone.name)} ${zone.cards.length}${zone.note ? `, ${zone.note}` : ""}`;
  if (named || zone.cards.length > 5 || zone.note) box.append(element("p", { class: "name", "aria-hidden": "true" }, short));
  if (interactive) {
    const list = element("div", { class: "cards", role: "group", "aria-label": label });
    zone.cards.forEach((card, place) => list.append(touchable(zone, card, place, place === 0)));
    box.append(list);
  } else if (hidden) {
    const list = element("div", { class: `cards ${zone.cards.length > 4 ? "many" : ""}`, role: "img", "aria-label": `${counted(zone.cards.length, "face-down card")}` });
    zone.cards.slice(0, 12).forEach(() => list.append(element("span", { class: "card" }, picture(null))));
    box.append(list);
  } else {
    const list = element("ul", { class: `cards ${zone.cards.length > 8 ? "many" : ""}`, "aria-label": label });
    zone.cards.forEach((card) => list.append(still(card)));
    box.append(list);
  }
  return box;
}

let fresh = false; // a card has just been laid on the pile

// Draws a position. What is had of a game being played and of a frame of a record is brought into one form first.
function drawTable(at) {
  const { scene, agents, bottom, interactive, last } = at;
  const held = document.activeElement?.dataset?.key;
  const others = [];
  for (let k = 1; k < scene.num_players; k++) others.push((bottom + k) % scene.num_players);
  $("others").replaceChildren(
    ...others.map((seat) => {
      const zones = scene.zones.filter((zone) => zone.seat === seat);
      return element(
        "section",
        { class: `seat ${scene.to_move === seat ? "moves" : ""}`, "aria-label": `Seat ${seat}`, "data-seat": seat },
        seatHead(seat, scene),
        element("p", { class: "who" }, agents[seat]),
        element("div", { class: "zones" }, ...zones.map((zone) => drawZone(zone, false, zones.length > 1))),
        last && last.seat === seat && last.called ? element("div", { class: "bubble", "aria-hidden": "true" }, last.called) : null,
      );
    }),
  );
  const middle = scene.zones.filter((zone) => zone.seat === null);
  const ring = middle.find((zone) => zone.name === "ring");
  const pile = middle.find((zone) => zone.name === "pile") || middle.find((zone) => zone !== ring && zone.cards.length && zone.cards.at(-1) !== null);
  const rest = middle.filter((zone) => zone !== ring && zone !== pile);
  $("middle").replaceChildren(
    ...rest.slice(0, 1).map(drawStack),
    ...(ring ? [drawRing(ring, pile, interactive)] : pile ? [drawPile(pile, interactive)] : []),
    ...rest.slice(1).map(drawStack),
  );
  const zones = scene.zones.filter((zone) => zone.seat === bottom);
  $("own").className = scene.to_move === bottom ? "moves" : "";
  $("own").setAttribute("role", "group");
  $("own").setAttribute("aria-label", interactive ? "Your cards" : `Seat ${bottom}`);
  $("own").replaceChildren(
    element("div", { class: "seat-head" }, seatHead(bottom, scene, interactive ? "you" : agents[bottom])),
    element("div", { class: "zones" }, ...zones.map((zone) => drawZone(zone, interactive, zones.length > 1))),
    ...(last && last.seat === bottom && last.called ? [element("div", { class: "bubble", "aria-hidden": "true" }, last.called)] : []),
  );
  if (held) (document.querySelector(`[data-key="${CSS.escape(held)}"]`) || document.querySelector("#own .card"))?.focus();
}

function seatHead(seat, scene, who = "") {
  const turn = scene.to_move === seat;
  return element(
    "h2",
    {},
    turn ? element("span", { class: "turn", "aria-hidden": "true" }, "▶") : null,
    element("span", {}, `Seat ${seat}${who ? ` · ${who}` : ""}`, turn ? element("span", { class: "unseen" }, ", to move") : ""),
    element("span", { class: "points" }, counted(scene.scores[seat], "point")),
  );
}

function focusFirst() {
  (document.querySelector("#own .card.playable") || document.querySelector("#own .card") || document.querySelector("#tools button"))?.focus();
}

// --- playing ---------------------------------------------------------------------------------------------------------

let shownStep = -1;

function render() {
  const last = state.log.at(-1);
  fresh = state.step > shownStep;
  shownStep = state.step;
  $("title").textContent = state.title;
  const changed = Object.entries(state.rules).map(([name, value]) => `${words(name)} ${JSON.stringify(value)}`);
  $("subtitle").textContent = [counted(state.agents.length, "player"), ...changed].join(" · ");
  document.title = state.my_turn ? `Your turn · ${state.title}` : state.title;
  drawTools();
  drawTable({ scene: state.scene, agents: state.agents, bottom: state.seat, interactive: true, last });
  drawMoves();
  drawSheet(state.agents, state.sheet, state.scene.scores, state.seat, state.result);
  drawCalls();
  drawResult();
  $("controls").hidden = true;
  if (!state.my_turn || $("advice").dataset.step !== String(state.step)) $("advice").hidden = true;
  drawHelp([
    ["Tab, arrows", "go from card to card"],
    ["Enter", "play the card"],
    ["1 … 9", "make the first … ninth move"],
    ["H", "hint"],
    ["U", "take back"],
    ["S", "hear the table"],
  ]);
}

function drawTools() {
  if ($("tools").dataset.for !== "play") {
    const slider = element("input", { type: "range", min: 0, max: PACES.length - 1, step: 1, id: "pace", value: PACES.length - 1 - Number(remembered("pace", 2)), oninput: (event) => { remember("pace", PACES.length - 1 - Number(event.target.value)); follow(); } });
    $("tools").replaceChildren(
      button("New game", showSetup, { id: "new" }),
      button("Take back", () => send("undo"), { id: "undo" }),
      button("Hint", hint, { id: "hint" }),
      element("label", { class: "pace" }, "Speed", slider),
    );
    if (setup?.mode === "watch") $("tools").prepend(button("Back to the record", backToFilm, { id: "back" }));
    $("tools").dataset.for = "play";
  }
  $("undo").disabled = !state.can_undo;
  $("hint").disabled = !state.my_turn;
}

function drawMoves() {
  const held = document.activeElement?.dataset?.move;
  if (state.over) {
    $("moves").replaceChildren();
    return;
  }
  if (state.reflex) {
    drawReflex();
    return;
  }
  $("moves").replaceChildren(
    ...state.moves.map((move, place) => {
      const made = button("", () => send("play", { action: move.action }), { "data-move": place, "data-action": move.action });
      made.append(...moveText(move));
      if (place < 9) made.append(element("kbd", { "aria-hidden": "true" }, String(place + 1)));
      return made;
    }),
  );
  if (!state.moves.length) $("moves").append(element("span", {}, `Seat ${state.scene.to_move} is thinking …`));
  if (held !== undefined) ($("moves").querySelector(`[data-move="${held}"]`) || $("moves").querySelector("button"))?.focus();
}

// A card is about to be shown, and whoever sees that it matches brings a hand down on the pile.
function drawReflex() {
  const go = button("Ready", async () => {
    const step = state.step;
    busy = true;
    go.textContent = "Slap here (space) when the card matches";
    await sleep(900 + Math.random() * 1800);
    let card;
    try {
      card = (await ask(`/api/games/${state.id}/reveal`, { step })).card;
    } catch (error) {
      busy = false;
      lost(error);
      return;
    }
    ($("middle").querySelector(".pile") || $("middle")).append(element("div", { class: "card revealed" }, picture(card)));
    say(nameOf(card));
    const shown = await new Promise((painted) => requestAnimationFrame(painted));
    const slapped = await new Promise((done) => {
      const over = new AbortController();
      const finish = (time) => {
        over.abort();
        done(time);
      };
      const late = setTimeout(() => finish(null), 1500);
      const hand = (event) => {
        if (event.type === "keydown" && (event.key !== " " || event.repeat)) return;
        event.preventDefault();
        clearTimeout(late);
        finish(Math.max(1, Math.round(event.timeStamp - shown)));
      };
      go.addEventListener("pointerdown", hand, { signal: over.signal });
      document.addEventListener("keydown", hand, { signal: over.signal });
    });
    busy = false;
    send("react", { milliseconds: slapped });
  }, { class: "reflex", "data-key": "reflex" });
  $("moves").replaceChildren(go);
}

function drawSheet(agents, rounds, now, me, result) {
  const heads = ["Seat", ...(rounds.length > 1 ? rounds.map((_, place) => String(place + 1)) : []), "Points", ...(result ? ["Place"] : [])];
  $("sheet").replaceChildren(
    element("h2", {}, "Score sheet"),
    element(
      "table",
      {},
      element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
      element(
        "tbody",
        {},
        ...agents.map((agent, seat) =>
          element(
            "tr",
            { class: seat === me ? "me" : "" },
            element("th", { scope: "row" }, `${seat} · ${seat === me && state ? "you" : agent}`),
            ...(rounds.length > 1 ? rounds.map((scores) => element("td", {}, String(scores[seat]))) : []),
            element("td", {}, String(result ? result.scores[seat] : now[seat])),
            result ? element("td", {}, String(result.places[seat])) : null,
          ),
        ),
      ),
    ),
  );
}

function drawCalls() {
  const list = element("ol", { "aria-label": "What was called, latest first" });
  for (const each of [...state.log].reverse()) {
    const who = each.seat === state.seat ? "you" : `seat ${each.seat}`;
    list.append(element("li", {}, `${who}: ${each.action ?? "(in secret)"} `, each.called ? element("b", {}, `“${each.called}”`) : ""));
  }
  $("calls").replaceChildren(...(state.log.length ? [element("h2", {}, "Calls"), list] : []));
  list.tabIndex = 0;
}

function drawResult() {
  $("result").hidden = !state.result;
  if (!state.result) return;
  const cut = state.result.outcome === "truncated" ? element("p", {}, "The game was cut short by its limit of turns.") : null;
  $("result").replaceChildren(
    element("h2", { tabindex: "-1" }, ending(state)),
    cut ?? "",
    element(
      "div",
      { class: "buttons" },
      button("Play again", showSetup, { class: "main" }),
      element("a", { href: `/api/games/${state.id}/record`, download: true, id: "download" }, "Download the record"),
    ),
  );
}

function drawHelp(keys) {
  $("help").replaceChildren(
    element("details", {}, element("summary", {}, "Keys"), element("dl", {}, ...keys.flatMap(([key, what]) => [element("dt", {}, key), element("dd", {}, what)]))),
  );
}

async function hint() {
  if (!state?.my_turn) return;
  const step = state.step;
  try {
    const chosen = $("adviser")?.value;
    const found = await ask(`/api/games/${state.id}/hint`, { step, ...(chosen ? { agent: chosen } : {}) });
    if (!state || state.step !== step) return;
    drawAdvice(found, null);
    $("advice").dataset.step = String(step);
  } catch (error) {
    lost(error);
  }
}

function drawAdvice(found, played) {
  const source = found.asked === 0 ? "its own numbers" : found.asked === 1 ? "its choice" : `asked ${found.asked} times`;
  const names = found.advisers;
  const who = film
    ? element("p", {}, `${found.agent}, ${source}`)
    : element("label", {}, element("span", { class: "unseen" }, "Whom to ask"), element("select", { id: "adviser", onchange: hint }, ...names.map((name) => element("option", { value: name, selected: name === found.agent }, name))), ` ${source}`);
  $("advice").hidden = false;
  $("advice").replaceChildren(
    element("h2", {}, "Ranking of the moves"),
    who,
    found.value === null ? "" : element("p", {}, `Expects ${found.value.toFixed(2)}.`),
    element(
      "ol",
      {},
      ...found.ranking.map((each) => {
        const fill = element("span", {});
        fill.style.width = `${100 * each.probability}%`;
        return element(
          "li",
          { class: each.action === played ? "played" : "" },
          element("div", { class: "row" }, element("span", {}, `${each.label}${each.action === played ? " (played)" : ""}`), element("span", {}, percent(each.probability))),
          element("span", { class: "bar", "aria-hidden": "true" }, fill),
        );
      }),
    ),
    ...(found.notes || []).map((note) => element("p", {}, note)),
  );
}

// --- before a game ---------------------------------------------------------------------------------------------------

function show(which) {
  for (const id of ["setup", "library", "board"]) $(id).hidden = id !== which;
  if (which !== "board") {
    $("tools").replaceChildren();
    $("tools").dataset.for = "";
    document.title = "pigenv";
    $("subtitle").textContent = "";
  }
}

const draft = {}; // what is chosen in the form

function showSetup() {
  clearTimeout(timer);
  state = null;
  location.hash = "";
  show("setup");
  if (!draft.game) {
    const start = setup.start;
    draft.game = start.game || setup.games[0].game;
    fill(start);
  }
  drawSetup();
  $("setup").querySelector("select")?.focus();
}

// Takes a game's own settings, then those given.
function fill(given = {}) {
  const offer = setup.games.find((each) => each.game === draft.game);
  draft.preset = given.preset || Object.keys(offer.presets)[0];
  const preset = offer.presets[draft.preset];
  draft.num_players = given.num_players || preset.num_players;
  draft.agents = given.agents || [];
  draft.seat = given.seat ?? null;
  draft.seed = given.seed ?? "";
  draft.rules = { ...(given.rules || {}) };
}

function field(label, control) {
  return element("label", {}, element("span", {}, label), control);
}

function select(values, chosen, onchange, attributes = {}) {
  return element("select", { onchange: (event) => onchange(event.target.value), ...attributes }, ...values.map(([value, text]) => element("option", { value, selected: String(value) === String(chosen) }, text)));
}

function drawSetup() {
  const offer = setup.games.find((each) => each.game === draft.game);
  const preset = offer.presets[draft.preset];
  const players = Object.keys(preset.agents).map((n) => [Number(n), n]);
  draft.num_players = Math.min(players.at(-1)[0], Math.max(players[0][0], draft.num_players));
  const seats = [["", "by chance"], ...Array.from({ length: draft.num_players }, (_, seat) => [seat, String(seat)])];
  const again = (change) => (value) => {
    change(value);
    const held = document.activeElement?.id;
    drawSetup();
    if (held) $(held)?.focus();
  };
  const changed = Object.keys(draft.rules).length;
  $("title").textContent = "pigenv";
  $("setup").replaceChildren(
    element(
      "form",
      { onsubmit: (event) => { event.preventDefault(); start(choice()); } },
      element("h2", { id: "setup-title" }, "A new game"),
      element(
        "div",
        { class: "fields" },
        field("Game", select(setup.games.map((each) => [each.game, each.name]), draft.game, again((value) => { draft.game = value; fill(); }), { id: "pick-game" })),
        field("Edition", select(Object.keys(offer.presets).map((name) => [name, words(name)]), draft.preset, again((value) => fill({ preset: value })), { id: "pick-preset" })),
        field("Players", select(players, draft.num_players, again((value) => (draft.num_players = Number(value))), { id: "pick-players" })),
        field("Your seat", select(seats, draft.seat ?? "", (value) => (draft.seat = value === "" ? null : Number(value)), { id: "pick-seat" })),
      ),
      element("p", {}, preset.meaning),
      element("fieldset", {}, element("legend", {}, "Opponents, clockwise"), element("div", { class: "fields", id: "opponents" })),
      element("details", { id: "rules", open: changed > 0 }, element("summary", {}, "Rules of the table"), ...offer.options.map((option) => ruleRow(option, preset))),
      element("details", {}, element("summary", {}, "Seed"), field("Seed of the deal; empty for chance", element("input", { type: "text", inputmode: "numeric", value: draft.seed, id: "pick-seed", oninput: (event) => (draft.seed = event.target.value.trim()) }))),
      element("details", {}, element("summary", {}, "How it is played"), element("pre", { tabindex: "0" }, offer.rulebook.trim())),
      element("div", { class: "buttons" }, element("button", { type: "submit", class: "main", id: "deal" }, "Deal"), resumeButton()),
    ),
  );
  draft.able = null;
  drawOpponents();
  if (changed) learnOpponents();
}

// Those who can play at the table as it is set in the form, weakest first. Who can play under rules that were changed
// is known when the server has said so.
function able() {
  const preset = setup.games.find((each) => each.game === draft.game).presets[draft.preset];
  return draft.able || preset.agents[draft.num_players];
}

// The opponents that were chosen, all round; the best where nobody was, or none who can play here.
function chosen() {
  const known = [...able(), ...(setup.start.agents || [])];
  const picked = draft.agents.length ? draft.agents : [null];
  return Array.from({ length: draft.num_players - 1 }, (_, place) => {
    const name = picked[place % picked.length];
    return known.includes(name) ? name : able().at(-1);
  });
}

function drawOpponents() {
  const agents = chosen();
  const names = [...new Set([...able(), ...agents])];
  const fields = agents.map((agent, place) =>
    field(
      place === 0 ? "On your left" : `Opponent ${place + 1}`,
      select(names.map((name) => [name, name]), agent, (value) => {
        draft.agents = chosen();
        draft.agents[place] = value;
      }, { id: `opponent-${place}` }),
    ),
  );
  $("opponents").replaceChildren(...fields);
}

let asked = 0; // how often the server was asked who can play; only its last answer counts

async function learnOpponents() {
  const own = ++asked;
  draft.able = null;
  if (Object.keys(draft.rules).length) {
    try {
      const found = await ask("/api/agents", { game: draft.game, preset: draft.preset, num_players: draft.num_players, rules: draft.rules });
      if (own !== asked) return;
      draft.able = found;
    } catch {
      // What is wrong with these rules is said when they are dealt.
      if (own !== asked) return;
    }
  }
  if ($("opponents")) drawOpponents();
}

function resumeButton() {
  const id = remembered("game", "");
  return id ? button("Go on with the last game", () => resume(id), { id: "resume" }) : null;
}

async function resume(id) {
  try {
    await open(await ask(`/api/games/${id}`));
    return true;
  } catch (error) {
    if (error instanceof Refused && error.status === 404) remember("game", "");
    lost(error);
    showSetup();
    return false;
  }
}

function ruleRow(option, preset) {
  const given = preset.rules[option.name];
  const value = option.name in draft.rules ? draft.rules[option.name] : given;
  const id = `rule-${option.name}`;
  const set = (next) => {
    if (JSON.stringify(next) === JSON.stringify(given)) delete draft.rules[option.name];
    else draft.rules[option.name] = next;
    learnOpponents();
  };
  const parsed = (text) => {
    if (text.trim() === "") return given;
    return option.low !== null && /^-?\d+$/.test(text.trim()) ? Number(text) : text.trim();
  };
  const list = (text) => (text.trim() === "" ? given : text.split(/[\s,]+/).filter(Boolean).map(parsed));
  const described = `${id}-meaning`;
  const about = { id, "aria-describedby": described };
  let control;
  if (option.kind === "bool") control = element("input", { type: "checkbox", checked: value, onchange: (event) => set(event.target.checked), ...about });
  else if (option.choices.length && option.free === false) control = select(option.choices.map((each) => [each, words(each)]), value, set, about);
  else if (option.kind === "tuple" || Array.isArray(given)) control = element("input", { type: "text", value: [].concat(value ?? []).join(", "), oninput: (event) => set(list(event.target.value)), ...about });
  else if (option.low !== null && !option.choices.length) control = element("input", { type: "number", value, min: option.low, max: option.high, step: 1, oninput: (event) => set(event.target.value === "" ? given : Number(event.target.value)), ...about });
  else {
    const offered = element("datalist", { id: `${id}-list` }, ...option.choices.map((each) => element("option", { value: each })));
    control = element("span", {}, element("input", { type: "text", value, list: `${id}-list`, oninput: (event) => set(parsed(event.target.value)), ...about }), offered);
  }
  return element("div", { class: "rule" }, element("label", { for: id }, words(option.name)), control, element("div", { class: "meaning", id: described }, `${option.meaning} ${capital(option.words)}`));
}

function choice() {
  return { game: draft.game, preset: draft.preset, num_players: draft.num_players, rules: draft.rules, agents: draft.agents.length ? chosen() : [], seat: draft.seat, seed: draft.seed };
}

// --- watching --------------------------------------------------------------------------------------------------------

async function showLibrary() {
  show("library");
  $("title").textContent = "Recorded games";
  let rows;
  try {
    rows = await ask("/api/records");
  } catch (error) {
    lost(error);
    return;
  }
  if (rows.length === 1) {
    watch(rows[0].line);
    return;
  }
  $("library").replaceChildren(
    element("h2", { id: "library-title" }, "Recorded games"),
    element(
      "table",
      {},
      element("thead", {}, element("tr", {}, ...["Line", "Steps", "Scores"].map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, element("td", {}, button(`${row.line}: ${row.game}, ${row.agents.join(", ")}`, () => watch(row.line))), element("td", {}, String(row.steps)), element("td", {}, row.scores.join(", "))))),
    ),
  );
}

async function watch(line) {
  try {
    const document = await ask(`/api/records/${line}`);
    cards = await ask(`/api/cards/${document.game}`);
    roll(document);
  } catch (error) {
    lost(error);
  }
}

function roll(document, frame = 0, view = 0) {
  state = null;
  film = { document, frame, view, playing: false, rankings: document.rankings || [], exported: Boolean(document.rankings) };
  rings.clear();
  show("board");
  location.hash = film.exported ? "" : `record=${document.line}`;
  drawFilm();
}

function backToFilm() {
  clearTimeout(timer);
  if (reel) roll(reel.document, reel.frame, reel.view);
  else showLibrary();
}

function seek(frame) {
  film.frame = Math.min(film.document.frames.length - 1, Math.max(0, frame));
  if (film.frame === film.document.frames.length - 1) film.playing = false;
  drawFilm();
  say(filmSentence());
}

function filmSentence() {
  const { document: game, frame } = film;
  const played = game.frames[frame].played;
  return played ? `Step ${frame} of ${game.frames.length - 1}. Seat ${played.seat}: ${played.label}${played.called ? `, “${played.called}”` : ""}.` : "The deal.";
}

function drawFilm() {
  clearTimeout(timer);
  const { document: game, frame, view } = film;
  const here = game.frames[frame];
  const seen = here.views[view];
  const final = frame === game.frames.length - 1;
  const scene = { num_players: game.num_players, to_move: seen.to_move, looking: view - 1, zones: seen.zones.map((at) => game.zones[at]), scores: seen.scores };
  fresh = frame > 0;
  $("title").textContent = game.title;
  $("subtitle").textContent = [`line ${game.line}`, game.seed === null ? "" : `seed ${game.seed}, episode ${game.episode}`, ...Object.entries(game.rules).map(([name, value]) => `${words(name)} ${JSON.stringify(value)}`)].filter(Boolean).join(" · ");
  document.title = `${game.title}, a recorded game`;
  drawTable({ scene, agents: game.agents, bottom: Math.max(0, view - 1), interactive: false, last: here.played });
  $("moves").replaceChildren(element("p", {}, filmSentence()));
  drawControls();
  drawSheet(game.agents, game.sheet.slice(0, final ? undefined : here.round), scene.scores, view - 1, final ? game.result : null);
  drawFilmCalls();
  $("result").hidden = !final;
  if (final) $("result").replaceChildren(element("h2", {}, "The game is over"), element("p", {}, game.result.places.map((place, seat) => `seat ${seat}: ${ordinal(place)}`).join(", ")));
  drawHelp([
    ["← →", "one step back, on"],
    ["Home, End", "to the deal, to the end"],
    ["Space", "play, pause"],
  ]);
  showRanking();
  if (film.playing) timer = setTimeout(() => seek(film.frame + 1), Math.max(200, pace()));
}

function drawControls() {
  const { document: game, frame, view } = film;
  const held = document.activeElement?.id;
  const last = game.frames.length - 1;
  const icon = (text, label, onclick, off, id) => button(text, onclick, { "aria-label": label, disabled: off, id });
  $("controls").hidden = false;
  $("controls").replaceChildren(
    element("h2", {}, "Record"),
    element(
      "div",
      { class: "row" },
      icon("First", "First: to the deal", () => seek(0), frame === 0, "first"),
      icon("Back", "Back one step", () => seek(frame - 1), frame === 0, "step-back"),
      icon(film.playing ? "Pause" : "Play", film.playing ? "Pause" : "Play", () => { film.playing = !film.playing; if (film.playing && frame === last) film.frame = -1; film.playing ? seek(film.frame + 1) : drawFilm(); }, false, "run"),
      icon("Next", "Next step", () => seek(frame + 1), frame === last, "step-on"),
      icon("Last", "Last step: to the end", () => seek(last), frame === last, "last"),
    ),
    element("label", { for: "seek" }, `Step ${frame} of ${last}`),
    element("input", { type: "range", id: "seek", min: 0, max: last, value: frame, oninput: (event) => seek(Number(event.target.value)) }),
    field("Seen by", select([[0, "everybody: open table"], ...game.agents.map((agent, seat) => [seat + 1, `seat ${seat}, ${agent}`])], view, (value) => { film.view = Number(value); drawFilm(); }, { id: "seen-by" })),
  );
  if (!film.exported) {
    $("controls").append(
      element(
        "div",
        { class: "buttons" },
        button("Play on from here", playOn, { disabled: frame === last, id: "branch" }),
        element("a", { href: `/api/records/${game.line}/export`, download: true }, "Export as a page"),
        button("All games", showLibrary),
      ),
    );
  }
  if (held) $(held)?.focus();
}

async function playOn() {
  const { document: game, frame, view } = film;
  const seat = view > 0 ? view - 1 : game.frames[frame].views[0].to_move;
  try {
    reel = film;
    const next = await ask(`/api/records/${game.line}/branch`, { step: frame, seat });
    await open(next);
  } catch (error) {
    lost(error);
  }
}

function drawFilmCalls() {
  const { document: game, frame } = film;
  const from = Math.max(1, Math.min(frame - 20, game.frames.length - 40));
  const list = element("ol", {});
  for (let k = from; k < Math.min(game.frames.length, from + 40); k++) {
    const played = game.frames[k].played;
    const row = button(`${k}. seat ${played.seat}: ${played.action} `, () => seek(k), { class: "jump", "aria-current": k === frame ? "true" : null, "data-key": `call-${k}` });
    if (played.called) row.append(element("b", {}, `“${played.called}”`));
    list.append(element("li", {}, row));
  }
  $("calls").replaceChildren(element("h2", {}, "Moves"), list);
  list.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
}

// How the agent that is to move ranks its moves, beside the one that was made.
async function showRanking() {
  const { document: game, frame } = film;
  if (frame >= game.frames.length - 1) {
    $("advice").hidden = true;
    return;
  }
  if (film.rankings[frame] === undefined && !film.exported) {
    const line = game.line;
    $("advice").hidden = true;
    await sleep(120);
    if (!film || film.frame !== frame || film.document.line !== line) return;
    try {
      film.rankings[frame] = await ask(`/api/records/${line}/ranking/${frame}`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (film) film.rankings[frame] = null; // whoever played is not to be had here
    }
    if (!film || film.frame !== frame) return;
  }
  if (film.rankings[frame]) drawAdvice(film.rankings[frame], game.frames[frame + 1].played.action);
  else $("advice").hidden = true;
}

// --- keys ------------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("choice").open) return;
  const target = event.target;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
  if (target.matches?.("button.card") && ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) {
    const all = [...target.parentElement.querySelectorAll("button.card")];
    const groups = [...document.querySelectorAll("#middle .ring, #own .cards")].filter((group) => group.querySelector("button.card"));
    let next = null;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") next = all[(all.indexOf(target) + (event.key === "ArrowRight" ? 1 : all.length - 1)) % all.length];
    else if (event.key === "Home") next = all[0];
    else if (event.key === "End") next = all.at(-1);
    else {
      const at = groups.findIndex((group) => group.contains(target)) + (event.key === "ArrowDown" ? 1 : -1);
      next = groups[(at + groups.length) % groups.length].querySelector("button.card");
    }
    all.forEach((each) => (each.tabIndex = -1));
    next.tabIndex = 0;
    next.focus();
    event.preventDefault();
    return;
  }
  if (typing) return;
  if (film && !$("board").hidden) {
    const frame = { ArrowLeft: film.frame - 1, ArrowRight: film.frame + 1, Home: 0, End: Infinity }[event.key];
    if (frame !== undefined) seek(frame);
    else if (event.key === " " && target.tagName !== "BUTTON") $("run").click();
    else return;
    event.preventDefault();
    return;
  }
  if (!state || $("board").hidden) return;
  const key = event.key.toLowerCase();
  if (/^[1-9]$/.test(key) && state.moves[Number(key) - 1] && !state.reflex) send("play", { action: state.moves[Number(key) - 1].action });
  else if (key === "h") hint();
  else if (key === "u" && state.can_undo) send("undo");
  else if (key === "s") say(`${middleInWords(state.scene)} ${state.my_turn ? "Your turn." : ""}`);
});

// --- the beginning ---------------------------------------------------------------------------------------------------

async function begin() {
  const data = $("data");
  if (data) {
    const found = JSON.parse(data.textContent);
    cards = found.cards;
    roll(found.record);
    return;
  }
  setup = await ask("/api/setup");
  const [, kind, value] = location.hash.match(/^#(game|record)=([\w-]+)$/) || [];
  if (kind === "game") {
    await resume(value);
    return;
  }
  if (setup.mode === "watch") {
    if (kind === "record") await watch(Number(value));
    else await showLibrary();
    return;
  }
  showSetup();
}

begin().catch((error) => notice(capital(error.message)));
