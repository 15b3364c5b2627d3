"use strict";
// The page only shows what the server tells and sends what the person chooses; it knows no rule of any game.
// Every text enters the document as text (`h`), never as markup.

const RANKS = "23456789TJQKA", LETTERS = "CDHS", SYMBOLS = "♣♦♥♠";
const RANK_WORDS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king", "ace"];
const SUIT_WORDS = ["clubs", "diamonds", "hearts", "spades"];
const STRAINS = ["♣", "♦", "♥", "♠", "NT"];
const PLACES = ["bottom", "left", "top", "right"];
const PAUSE = { act: 550, trick: 1300, think: 1600, slow: 3000 }; // milliseconds before an agent acts; slow: before we say that it is slow
const SLOW = "An agent that acts for the first time compiles its code or solves its game: this can take a minute.";
const ICONS = {
  first: "M2 2h2v12H2zM14 2v12L5 8z", back: "M12 2v12L3 8z", forward: "M4 2v12l9-6z", last: "M12 2h2v12h-2zM2 2v12l9-6z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
};

const $ = (id) => document.getElementById(id);
let menu = [], suits = [], state = null;
let running = true, timer = 0, queue = Promise.resolve(), pending = 0, changes = 0, thinking = false, loadingThoughts = 0, typed = "", thought = null, thoughtKey = "", hintAgent = "";
const filled = {}; // by panel (double dummy, total): the key of what it shows

// ---- building -----------------------------------------------------------------------------

function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

const note = (...words) => h("p", { class: "note" }, ...words);

function svg(tag, props, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props || {})) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function suit(number) {
  const path = svg("path", { d: suits[number].path, fill: suits[number].color });
  return svg("svg", { class: "suit", viewBox: "-0.52 -0.52 1.04 1.04", role: "img", "aria-label": SUIT_WORDS[number] }, path);
}

// Text in which suit symbols become drawn suits; a word is not broken at its suits.
function suited(text) {
  return text.split(/(\s+)/).flatMap((word) => /[♣♦♥♠]/.test(word) && word.length > 1 ? [h("span", { class: "whole" }, ...drawn(word))] : drawn(word));
}

function drawn(text) {
  const parts = [];
  let run = "";
  for (const letter of text) {
    const number = SYMBOLS.indexOf(letter);
    if (number < 0) { run += letter; continue; }
    if (run) parts.push(run);
    parts.push(suit(number));
    run = "";
  }
  if (run) parts.push(run);
  return parts;
}

const callText = (call) => call < 3 ? ["Pass", "X", "XX"][call] : `${Math.floor((call - 3) / 5) + 1}${STRAINS[(call - 3) % 5]}`;
const isBridge = () => state.game.startsWith("bridge");
const legalCards = () => new Map(state.legal.filter((step) => step.card !== null).map((step) => [step.card, step.action]));
const suitOf = (card) => state.table.suits ? state.table.suits[card] : card % 4;
const joker = (card) => state.table.texts && /^[BL]J$/.test(state.table.texts[card] || "");
const faceOf = (card) => joker(card) ? suitOf(card) : card % 4; // a deuce of diamonds that counts as a spade looks as it is
const cardText = (card) => joker(card) ? state.table.texts[card] : RANKS[card >> 2].replace("T", "10");
const cardWords = (card) => joker(card) ? (cardText(card) === "BJ" ? "big joker" : "little joker") : `${RANK_WORDS[card >> 2]} of ${SUIT_WORDS[card % 4]}`;

// An action as players see it, as nodes.
function actionNodes(step) {
  if (step.card !== null && step.card !== undefined) {
    return joker(step.card) ? [cardText(step.card)] : [suit(step.card % 4), cardText(step.card)];
  }
  if (isBridge()) return suited(callText(step.action));
  return state.game === "minibridge_v0" ? suited(step.text.replace("H", "♥").replace("S", "♠")) : [step.text];
}

function actionWords(step) {
  if (step.card !== null && step.card !== undefined) return cardWords(step.card);
  if (!isBridge() || step.action < 3) return isBridge() ? ["pass", "double", "redouble"][step.action] : step.text;
  const strain = (step.action - 3) % 5;
  return `${Math.floor((step.action - 3) / 5) + 1} ${strain < 4 ? SUIT_WORDS[strain] : "no trumps"}`;
}

function cardNode(card, props = {}) {
  const tag = props.onclick ? "button" : "div";
  const node = h(tag, { "aria-label": cardWords(card), role: tag === "div" ? "img" : null, ...props, class: `card ${props.class || ""}` }, h("span", {}, cardText(card)), suit(faceOf(card)));
  node.style.color = suits[faceOf(card)].color;
  return node;
}

// ---- talking to the server ------------------------------------------------------------------

const tableNumber = new URLSearchParams(location.search).get("table"); // every table is a game of its own

async function call(route, body) {
  const path = tableNumber ? `${route}?table=${encodeURIComponent(tableNumber)}` : route;
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Error("The server does not answer: is `bidzoo play` still running?");
  }
  const data = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(data.error || `status ${answer.status}`), { status: answer.status });
  return data;
}

function complain(problem) {
  const toast = $("toast");
  toast.textContent = problem.message;
  toast.hidden = false;
  clearTimeout(complain.timer);
  complain.timer = setTimeout(() => { toast.hidden = true; }, 7000);
}

// Ask for something that changes the table, then show the table; requests of the person take turns.
function change(path, body) {
  changes += 1;
  pending += 1;
  clearTimeout(timer);
  queue = queue.then(() => request(path, body)).finally(() => { pending -= 1; schedule(); });
  return queue;
}

async function request(path, body) {
  try {
    adopt(await call(path, body));
    return true;
  } catch (problem) {
    if (problem.status === 409) adopt(await call("/api/state"));
    complain(problem);
    return false;
  }
}

// The agent to act does so. It may think for long: the person goes on meanwhile, and a late answer is not shown.
async function agentActs() {
  const before = changes;
  const patience = setTimeout(() => { $("actions").append(h("p", { class: "prompt" }, SLOW)); }, PAUSE.slow);
  thinking = true;
  try {
    const data = await call("/api/agent", { at: state.cursor });
    if (before === changes) adopt(data); else change("/api/state");
  } catch (problem) {
    if (before === changes && problem.status === 409) change("/api/state"); // another page of this table was faster
    else if (before === changes) { running = false; complain(problem); render(); }
  } finally {
    clearTimeout(patience);
    thinking = false;
    schedule();
  }
}

function adopt(data) {
  const before = state;
  state = data;
  if (!before || before.dealt !== data.dealt || before.length > data.length) { thought = null; thoughtKey = ""; }
  render();
  if (before && data.cursor > 0 && data.cursor !== before.cursor) {
    const last = data.record[data.cursor - 1];
    if (last) $("said").textContent = `${data.seats[last.seat].name}: ${actionWords(last)}${data.over ? `. ${data.table.result}` : ""}`;
  }
}

// What is fetched for a board is fetched again only when this changes.
const boardKey = (...more) => [state.dealt, state.file && state.file.at, ...more].join("/");
const atEnd = () => state.cursor === state.length;
const agentTurn = () => !state.over && state.player >= 0 && !state.seats[state.player].human;

// Let the agent to act do so after a while, unless stopped or in the middle of a record.
function schedule() {
  clearTimeout(timer);
  if (!state || !running || pending || thinking || loadingThoughts || !agentTurn() || !atEnd() || document.querySelector("dialog[open]")) return;
  const trick = state.table.trick;
  let pause = trick && trick.winner >= 0 ? PAUSE.trick : PAUSE.act;
  if ($("switch-think").checked) pause = Math.max(pause, PAUSE.think);
  timer = setTimeout(agentActs, pause);
}

function act(action) { running = true; thought = null; change("/api/act", { action, at: state.cursor }); }
function go(cursor) { running = false; change("/api/go", { cursor: Math.max(0, Math.min(cursor, state.length)) }); }

// ---- showing --------------------------------------------------------------------------------

function render() {
  const focus = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : null;
  document.title = `${state.title}, board ${state.board + 1} · bidzoo`;
  $("title").textContent = `${state.title} · board ${state.board + 1}${state.file && state.file.at >= 0 ? ` · ${state.file.name}` : ""}`;
  $("switch-all").checked = state.reveal;
  renderFelt();
  renderHand();
  renderActions();
  renderSteps();
  renderAuction();
  renderRecord();
  renderBoards();
  renderAsk();
  renderThinking();
  refreshThoughts();
  refreshTricks();
  refreshTotal();
  if (focus) {
    const again = document.querySelector(`[data-key="${CSS.escape(focus)}"]`);
    if (again && !again.disabled) again.focus({ preventScroll: true });
    else if (/^(card|call|plain)/.test(focus)) $("actions").focus({ preventScroll: true });
  }
}

const bottomSeat = () => state.viewer >= 0 ? state.viewer : state.seats.length === 4 ? 2 : 0;
const placeOf = (seat) => state.seats.length === 4 ? PLACES[(seat - bottomSeat() + 4) % 4] : seat === bottomSeat() ? "bottom" : "top";
const actingSeat = () => state.table.turn;

function renderFelt() {
  const felt = $("felt"), table = state.table;
  felt.className = `felt ${state.seats.length === 2 ? "two" : ""} ${table.kind} ${table.phase === "auction" ? "bidding" : ""}`;
  const corners = [];
  if (table.kind === "bridge") corners.push(...bridgeCorners(table));
  if (table.kind === "spades") corners.push(...spadesCorners(table));
  felt.replaceChildren(...corners, ...state.seats.map((_, seat) => seatNode(seat)), centreNode());
}

function bridgeCorners(table) {
  const left = h("div", { class: "badge ne" });
  if (table.contract) left.append(h("div", { class: "contract" }, ...suited(table.contract)));
  left.append(h("div", {}, `Vulnerable: ${["nobody", "N/S", "E/W", "everybody"][table.vulnerable]}`));
  if (!table.tricks) return [left];
  return [left, h("div", { class: "badge nw" }, "Tricks", h("br"), h("b", {}, `N/S ${table.won[0]} · E/W ${table.won[1]}`))];
}

function spadesCorners(table) {
  const rows = table.scores.map((side) => h("div", {}, `${side.side} `, h("b", {}, String(side.score)), ` · ${side.bags} bag${side.bags === 1 ? "" : "s"}`));
  const right = h("div", { class: "badge nw" }, `Round ${table.round}`, h("br"), table.phase === "play" ? (table.broken ? "spades are broken" : "spades not broken") : "");
  return [h("div", { class: "badge ne" }, ...rows), right];
}

function seatNode(seat) {
  const player = state.seats[seat], table = state.table, place = placeOf(seat);
  const turn = !state.over && actingSeat() === seat;
  const vulnerable = table.kind === "bridge" && (table.vulnerable >> (seat % 2)) & 1;
  const node = h("div", { class: `seat ${place}${turn ? " turn" : ""}${vulnerable ? " vulnerable" : ""}` });
  const label = state.seats.length === 4 ? player.name[0] : player.name.slice(-1);
  node.append(h("div", { class: "who" },
    h("span", { class: "compass", title: vulnerable ? `${player.name}, vulnerable` : player.name }, label),
    h("span", { class: "agent" }, player.human ? "you" : player.agent),
    table.dealer === seat ? h("span", { class: "dealer", title: "dealer" }, "D") : null,
    table.dummy === seat ? h("span", { class: "dealer" }, "dummy") : null,
    turn && !player.human && running && atEnd() ? h("span", { class: "dots", "aria-label": "is thinking" }, "•••") : null));
  if (table.kind === "spades") node.append(h("div", { class: "told" }, "bid ", h("b", {}, table.bids[seat] || "–"), " · won ", h("b", {}, String(table.won[seat]))));
  if (table.kind === "signals") {
    const type = table.types[seat];
    if (table.sizes[seat] > 1) node.append(h("div", { class: "type" }, table.word, " ", h("b", {}, type === null ? "?" : String(type))));
    return node;
  }
  const cards = table.hands[seat];
  if (cards === null) node.append(h("div", { class: "backs", role: "img", "aria-label": `${table.counts[seat]} cards` }, ...Array.from({ length: table.counts[seat] }, () => h("i"))));
  else if (!(place === "bottom" && showsHand())) node.append(rowsNode(cards, turn));
  return node;
}

// The rank, and the suit where it is not that of the row.
const rankNodes = (card) => faceOf(card) === suitOf(card) ? [cardText(card)] : [cardText(card), suit(faceOf(card))];

// A hand as four rows; cards that may be chosen are buttons.
function rowsNode(cards, turn) {
  const legal = legalCards();
  const rows = [3, 2, 1, 0].map((number) => {
    const held = cards.filter((card) => suitOf(card) === number).reverse();
    const ranks = held.map((card) => turn && legal.has(card) && state.seats[state.player].human
      ? h("button", { "data-key": `card-${card}`, "aria-label": cardWords(card), onclick: () => act(legal.get(card)) }, ...rankNodes(card))
      : h("span", { "aria-label": cardWords(card), role: "img" }, ...rankNodes(card)));
    return h("div", {}, suit(number), ...(ranks.length ? ranks : [h("span", { class: "void" }, "–")]));
  });
  return h("div", { class: "rows" }, ...rows);
}

function centreNode() {
  const table = state.table, node = h("div", { class: "centre" });
  if (table.kind === "signals") node.append(storyNode(table));
  if (state.over) node.append(resultNode());
  else if (table.trick) node.append(trickNode(table.trick));
  else if (table.kind === "bridge") node.append(auctionNode(table));
  return node;
}

function auctionNode(table) {
  const order = [3, 0, 1, 2];
  const head = h("tr", {}, ...order.map((seat) => h("th", { scope: "col", class: (table.vulnerable >> (seat % 2)) & 1 ? "vulnerable" : "" }, state.seats[seat].name)));
  const cells = Array(order.indexOf(table.dealer)).fill(null).concat(table.calls.map((call, step) => ({ call, step })));
  if (table.phase === "auction") cells.push("?");
  while (cells.length % 4 || cells.length < 12) cells.push(null);
  const rows = [];
  for (let start = 0; start < cells.length; start += 4) rows.push(h("tr", {}, ...cells.slice(start, start + 4).map((cell) => {
    if (cell === null) return h("td");
    if (cell === "?") return h("td", { class: "asking" }, "?");
    const kind = cell.call === 0 ? "pass" : cell.call < 3 ? "x" : "";
    return h("td", { class: kind }, h("button", { tabindex: "-1", title: "Step to before this call", onclick: () => go(cell.step) }, ...suited(callText(cell.call))));
  })));
  const grid = h("table", { class: "auction", "aria-label": "Auction" }, h("thead", {}, head), h("tbody", {}, ...rows));
  const scroll = h("div", { class: "auction-scroll" }, grid);
  requestAnimationFrame(() => { scroll.scrollTop = scroll.scrollHeight; });
  return scroll;
}

function trickNode(trick) {
  const node = h("div", { class: "trick", role: "group", "aria-label": "Trick" });
  trick.cards.forEach((card, seat) => {
    if (card < 0) return;
    node.append(cardNode(card, { class: `${placeOf(seat)} ${trick.winner === seat ? "winner" : ""}`, "aria-label": `${state.seats[seat].name}: ${cardWords(card)}${trick.winner === seat ? ", wins" : ""}` }));
  });
  return node;
}

function storyNode(table) {
  const chips = table.history.map((step) => h("div", { class: `chip p${step.player}` }, h("span", {}, ...suited(step.text)), h("small", {}, state.seats[step.player].human ? "you" : state.seats[step.player].name)));
  return h("div", { class: "story" }, ...(chips.length ? chips : [h("p", { class: "none" }, "Nothing has been said yet.")]));
}

function resultNode() {
  const table = state.table, gains = (table.scores || []).filter((side) => side.gain !== null).map((side) => `${side.side} ${side.gain >= 0 ? "+" : ""}${side.gain}`);
  const head = table.kind === "bridge" ? table.contract || "passed out" : table.result;
  const below = table.kind === "bridge" ? (table.contract === table.result ? "" : table.result) : gains.join(" · ");
  return h("div", { class: "result", id: "result" }, h("h2", {}, ...suited(head)), below ? h("p", {}, below) : h("p"),
    h("div", { class: "row" },
      h("button", { class: "primary", "data-key": "next", onclick: next }, "Next board"),
      h("button", { "data-key": "again", onclick: () => { running = true; change("/api/go", { cursor: 0 }); } }, "From the start")));
}

// ---- hand and actions -----------------------------------------------------------------------

const showsHand = () => state.viewer >= 0 && state.table.hands && state.table.hands[state.viewer] !== null && !state.over;

function renderHand() {
  const node = $("hand");
  const shown = showsHand();
  node.hidden = !shown;
  if (!shown) return;
  const mine = actingSeat() === state.viewer && state.player === state.viewer;
  const legal = legalCards();
  const choosing = mine && legal.size > 0;
  node.classList.toggle("choosing", choosing);
  const order = [3, 2, 0, 1]; // black, red, black, red
  const cards = order.flatMap((number) => [...state.table.hands[state.viewer]].filter((card) => suitOf(card) === number).reverse());
  node.replaceChildren(...cards.map((card) => choosing
    ? cardNode(card, { "data-key": `card-${card}`, disabled: !legal.has(card), onclick: () => act(legal.get(card)) })
    : cardNode(card)));
}

function renderActions() {
  const node = $("actions"), human = state.player >= 0 && state.seats[state.player].human;
  if (state.over || state.player < 0) { node.replaceChildren(); return; }
  const acting = state.seats[actingSeat()] || state.seats[state.player];
  const agent = state.seats[state.player];
  if (!human) {
    const words = !atEnd() ? "In the record: step on, or undo to take another way." : running ? `${agent.name} (${agent.agent}) is thinking …` : `${agent.name} (${agent.agent}) is to act.`;
    node.replaceChildren(h("p", { class: "prompt" }, words), ...(isBridge() && state.table.phase === "auction" ? [biddingBox(false)] : []));
    return;
  }
  const verb = state.table.phase === "play" && state.table.kind !== "signals" ? "play a card" : state.table.kind === "signals" ? "choose" : "bid";
  const dummy = state.table.dummy === actingSeat() ? " from dummy" : "";
  const many = state.seats.filter((seat) => seat.human).length > 1;
  const prompt = h("p", { class: "prompt" }, h("b", {}, many ? `${acting.name}: ` : "Your turn: "), `${verb}${dummy}`);
  const plain = state.legal.filter((step) => step.card === null);
  if (isBridge() && state.table.phase === "auction") node.replaceChildren(prompt, biddingBox(true));
  else if (plain.length) node.replaceChildren(prompt, plainBox(plain));
  else node.replaceChildren(prompt);
}

// Seven levels by five strains; arrow keys move, Home and End go to the ends of a row.
function biddingBox(open) {
  const legal = new Set(state.legal.map((step) => step.action));
  const button = (action, kind, ...label) => h("button", {
    "data-key": `call-${action}`, class: kind, disabled: !open || !legal.has(action), tabindex: "-1",
    "aria-label": actionWords({ action, card: null }), onclick: () => act(action),
  }, ...label);
  const rows = [4, 3, 2, 1, 0].flatMap((strain) => [1, 2, 3, 4, 5, 6, 7].map((level) => button(3 + 5 * (level - 1) + strain, "", String(level), strain === 4 ? h("small", {}, "NT") : suit(strain))));
  const calls = h("div", { class: "calls" }, button(0, "pass", "Pass"), button(1, "double", "Double"), button(2, "redouble", "Redouble"));
  const box = h("div", { class: "box", role: "group", "aria-label": "Bidding box; arrow keys move", onkeydown: boxKeys }, ...rows, calls);
  const first = box.querySelector("[data-key='call-0']");
  if (first) first.tabIndex = 0;
  return box;
}

function boxKeys(event) {
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  const here = document.activeElement.dataset.key;
  if (!steps || !here || !here.startsWith("call-")) return;
  event.preventDefault();
  event.stopPropagation();
  const lines = [4, 3, 2, 1, 0].map((strain) => [1, 2, 3, 4, 5, 6, 7].map((level) => 3 + 5 * (level - 1) + strain)).concat([[0, 0, 0, 1, 1, 2, 2]]);
  const number = Number(here.slice(5));
  let line = lines.findIndex((row) => row.includes(number)), column = lines[line].indexOf(number);
  for (let tries = 0; tries < 12; tries += 1) {
    line = (line + steps[0] + 6) % 6;
    column = (column + steps[1] + 7) % 7;
    const next = document.querySelector(`[data-key="call-${lines[line][column]}"]`);
    if (next && !next.disabled && next !== document.activeElement) { rove(next); return; }
  }
}

function rove(button) {
  for (const other of button.closest(".box, .hand").querySelectorAll("button")) other.tabIndex = -1;
  button.tabIndex = 0;
  button.focus();
}

function plainBox(steps) {
  return h("div", { class: "plain", role: "group", "aria-label": "Actions" }, ...steps.map((step) => h("button", {
    "data-key": `plain-${step.action}`, class: /nil|look/.test(step.text) ? "nil" : "", onclick: () => act(step.action),
  }, ...actionNodes(step.text === "P" ? { ...step, text: "Pass" } : step))));
}

// Once the play has begun the auction stands at the side.
function renderAuction() {
  const panel = $("panel-auction"), shown = state.table.kind === "bridge" && (state.over || Boolean(state.table.trick));
  panel.hidden = !shown;
  if (shown) $("auction").replaceChildren(auctionNode(state.table));
}

// ---- steps and record -----------------------------------------------------------------------

function renderSteps() {
  const range = $("step-range");
  range.max = state.length;
  range.value = state.cursor;
  range.setAttribute("aria-valuetext", `step ${state.cursor} of ${state.length}`);
  $("step-first").disabled = $("step-back").disabled = $("step-undo").disabled = state.cursor === 0;
  $("step-last").disabled = $("step-forward").disabled = atEnd();
  const play = $("step-play");
  play.className = running ? "" : "on";
  play.disabled = state.over && atEnd();
  play.replaceChildren(icon(running && atEnd() ? "pause" : "forward"), h("span", {}, running && atEnd() ? "Pause" : "Go on"));
  play.setAttribute("aria-label", running && atEnd() ? "Stop the agents" : "Let the agents go on");
}

function icon(name) { return svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: ICONS[name] })); }

function renderRecord() {
  const list = $("record");
  list.replaceChildren(...state.record.map((step, at) => h("li", { class: at === state.cursor - 1 ? "here" : at >= state.cursor ? "later" : "" },
    h("button", { "data-key": `record-${at}`, tabindex: at === state.cursor - 1 ? "0" : "-1", title: `Step ${at + 1}`, onclick: () => go(at + 1) },
      h("small", {}, state.seats.length === 4 ? state.seats[step.seat].name[0] : String(step.player + 1)), ...actionNodes(step)))));
  if (!state.record.length) list.replaceChildren(h("li", { class: "note" }, "Every call and card will stand here; choose one to step there."));
  const here = list.querySelector(".here");
  if (here) list.scrollTop = here.offsetTop - list.offsetTop - 60;
}

function renderBoards() {
  $("panel-file").hidden = !state.file;
  if (!state.file) return;
  $("boards").replaceChildren(note(state.file.name), ...state.file.boards.map((board, index) => {
    const by = board.declarer === null ? "" : ` by ${"NESW"[board.declarer]}`;
    const parts = [`Board ${board.number === null ? index + 1 : board.number}`];
    if (board.contract) parts.push(`${board.contract}${by}${board.result === null ? "" : `, ${board.result} tricks`}`);
    const names = board.names.filter(Boolean).join(" · ");
    const way = (name, label, off) => h("button", { "data-key": `board-${index}-${name}`, disabled: off || !board.complete, onclick: () => { running = name !== "replay"; thought = null; change("/api/open", { index, way: name }); } }, label);
    return h("div", { class: `board ${index === state.file.at ? "here" : ""}` }, h("div", {}, parts.join(": ")), names ? h("div", { class: "names" }, names) : null,
      h("div", { class: "row" }, way("replay", "Replay", !board.calls), way("rebid", "Bid again"), way("play", "Bid and play")));
  }));
}

// ---- thinking -------------------------------------------------------------------------------

function offerOf(id) { return menu.find((offer) => offer.id === id); }

function renderAsk() {
  const node = $("ask"), human = state.player >= 0 && state.seats[state.player].human && !state.over;
  node.hidden = !human;
  if (!human) return;
  const names = offerOf(state.game).agents.map((agent) => agent.name);
  if (!names.includes(hintAgent)) hintAgent = offerOf(state.game).usual.find((name) => name !== "human") || names[0];
  const select = h("select", { "aria-label": "Agent to ask", "data-key": "ask-agent", onchange: (event) => { hintAgent = event.target.value; } }, ...names.map((name) => h("option", { value: name, selected: name === hintAgent }, name)));
  select.value = hintAgent;
  node.replaceChildren(h("span", { class: "note" }, "What would"), select, h("button", { "data-key": "hint", onclick: hint, title: "Ask it (i)" }, "do here?"));
}

async function hint() {
  if (state.over || state.player < 0 || !state.seats[state.player].human) return;
  await fetchThoughts({ agent: hintAgent }, `hint ${hintAgent} ${state.cursor}`);
}

function refreshThoughts() {
  if (!$("switch-think").checked || !agentTurn()) return;
  const key = boardKey(state.cursor, state.seats[state.player].agent, state.record.map((s) => s.action).slice(0, state.cursor).join());
  if (key !== thoughtKey) fetchThoughts({}, key);
}

async function fetchThoughts(body, key) {
  thoughtKey = key;
  loadingThoughts += 1; // no agent acts before the thoughts are there to read
  const patience = setTimeout(() => { $("thinking").replaceChildren(note(`Thinking … ${SLOW}`)); }, PAUSE.slow);
  try {
    const answer = await call("/api/think", body);
    if (thoughtKey !== key) return;
    thought = { ...answer, cursor: state.cursor };
    renderThinking();
  } catch (problem) {
    if (problem.status !== 409) complain(problem);
    renderThinking();
  } finally {
    clearTimeout(patience);
    loadingThoughts -= 1;
    schedule();
  }
}

function renderThinking() {
  const node = $("thinking");
  if (!thought) {
    const quiet = $("switch-think").checked ? "The next agent to act will show what it knows and thinks." : "Agents keep their thoughts to themselves; the switch above shows them.";
    node.replaceChildren(note(quiet));
    return;
  }
  const parts = [h("p", { class: "lead" }, `${state.seats[thought.player].name} as ${thought.agent}`)];
  if (thought.text) parts.push(h("p", { class: "says" }, ...suited(thought.text)));
  const values = [...thought.values].sort((a, b) => b.value - a.value);
  if (values.length) parts.push(h("h3", {}, `Decision: mean of each after the search, in ${thought.unit || "points"}, ± standard error`), valuesNode(values));
  const chances = [...thought.chances].sort((a, b) => b.value - a.value).filter((row) => row.value >= 0.001);
  if (chances.length) parts.push(h("h3", {}, values.length ? "Prior: how likely each was before the search" : "How likely each action is"), barsNode(chances.slice(0, 8).map((row) => [actionNodes(row), row.value, percent(row.value)]), 1));
  if (chances.length > 8) parts.push(note(`and ${chances.length - 8} more`));
  if (thought.facts.length) parts.push(h("dl", { class: "facts" }, ...thought.facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
  for (const bars of thought.bars) parts.push(h("h3", {}, bars.title), barsNode(bars.rows.map(([label, value]) => [[label], value, bars.kind === "chance" ? percent(value) : `${value} ${bars.kind}`]), Math.max(bars.kind === "chance" ? 1 : 0, ...bars.rows.map((row) => row[1]))));
  if (thought.curve) parts.push(h("h3", {}, thought.curve.title), curveNode(thought.curve));
  if (thought.belief.length) parts.push(h("h3", {}, "Where it places the cards, in percent"), ...thought.belief.map(heatNode));
  if (thought.beliefSource) parts.push(note(thought.beliefSource));
  if (thought.samples.length) parts.push(h("h3", {}, thought.beliefSource ? "Deals that fit" : "Deals it looked at"), h("div", { class: "samples" }, ...thought.samples.map(sampleNode)));
  node.replaceChildren(...parts);
}

const percent = (x) => x === null ? "" : x > 0 && x < 0.01 ? "<1 %" : `${Math.round(100 * x)} %`;

function barsNode(rows, most) {
  const best = Math.max(...rows.map((row) => row[1]));
  return h("div", { class: "bars" }, ...rows.flatMap(([label, value, words]) => {
    const fill = h("i");
    fill.style.width = `${Math.max(0, Math.min(100, 100 * value / (most || 1)))}%`;
    return [h("span", { class: "label" }, ...label), h("span", { class: `bar ${value === best ? "best" : ""}` }, fill), h("span", { class: "number" }, words)];
  }));
}

function valuesNode(values) {
  const low = Math.min(...values.map((row) => row.value)), high = Math.max(...values.map((row) => row.value));
  const floor = low - 0.25 * (high - low || 1);
  return barsNode(values.slice(0, 13).map((row) => [actionNodes(row), row.value - floor, `${row.value.toFixed(2)}${row.error === null ? "" : ` ± ${row.error.toFixed(2)}`}`]), high - floor);
}

// Chance of each card with one seat: 4 suits by 13 ranks, white to deep blue.
function heatNode(belief) {
  const name = state.seats[belief.seat].name;
  const cells = [h("i"), ...[...RANKS].reverse().map((rank) => h("i", { class: "rank" }, rank.replace("T", "10")))];
  for (const number of [3, 2, 1, 0]) {
    cells.push(suit(number));
    for (let rank = 12; rank >= 0; rank -= 1) {
      const chance = belief.chances[4 * rank + number];
      const cell = h("i", { title: `${cardWords(4 * rank + number)}: ${percent(chance)}` }, chance >= 0.005 ? String(Math.round(100 * chance)) : "");
      const light = [238, 240, 243], deep = [11, 61, 107], mix = Math.min(1, Math.max(0, chance));
      cell.style.background = `rgb(${light.map((x, k) => Math.round(x + (deep[k] - x) * mix)).join(",")})`;
      cell.style.color = mix > 0.45 ? "#fff" : "#1d2430";
      cells.push(cell);
    }
  }
  const certain = belief.chances.map((chance, card) => [chance, card]).filter(([chance]) => chance > 0.6).map(([, card]) => cardWords(card));
  return h("div", {}, note(name), h("div", { class: "heat", role: "img", "aria-label": `${name} holds, more likely than not: ${certain.join(", ") || "no card in particular"}` }, ...cells));
}

function sampleNode(deal) {
  return h("div", {}, ...deal.map(({ seat, cards }) => h("p", {}, h("b", {}, state.seats[seat].name[0]), ...[3, 2, 1, 0].map((number) => {
    const held = cards.filter((card) => suitOf(card) === number).sort((a, b) => b - a);
    return h("span", {}, suit(number), ...(held.length ? held.flatMap((card) => [...rankNodes(card), "\u2009"]) : ["–"]));
  }))));
}

function curveNode(curve) {
  const x = (value) => 46 + 278 * value, y = (value) => 128 - 112 * value;
  const points = curve.points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ");
  const [a, b] = curve.here;
  const label = (at, words, more) => { const node = svg("text", { ...at, ...more }); node.textContent = words; return node; };
  return svg("svg", { class: "curve", viewBox: "0 0 336 156", role: "img", "aria-label": `${curve.title}: ${curve.up} ${percent(b)} at ${curve.across} ${a.toFixed(2)}` },
    ...[0, 0.5, 1].flatMap((tick) => [svg("line", { class: "axis", x1: x(0), x2: x(1), y1: y(tick), y2: y(tick) }), label({ x: 40, y: y(tick) + 4 }, percent(tick), { "text-anchor": "end" }), label({ x: x(tick), y: 143 }, tick.toFixed(1), { "text-anchor": "middle" })]),
    label({ x: x(0.5), y: 154 }, curve.across, { "text-anchor": "middle" }),
    svg("polyline", { class: "line", points }), svg("line", { class: "drop", x1: x(a), x2: x(a), y1: y(0), y2: y(b) }), svg("circle", { class: "here", cx: x(a), cy: y(b), r: 5 }));
}

// ---- double dummy ---------------------------------------------------------------------------

// Fill the panel `name` with what `ask` fetches, once for each `key`; an answer that comes too late is not shown.
async function fill(name, key, waiting, ask, draw) {
  if (filled[name] === key) return;
  filled[name] = key;
  $(name).replaceChildren(note(waiting));
  try {
    const answer = await ask();
    if (filled[name] === key) $(name).replaceChildren(draw(answer));
  } catch (problem) {
    if (filled[name] === key) $(name).replaceChildren(note(problem.message));
  }
}

function refreshTricks() {
  const shown = isBridge() && (state.open || state.over);
  $("panel-tricks").hidden = !shown;
  if (shown) fill("tricks", boardKey(), "Solving …", () => call("/api/tricks"), tricksNode);
  else filled.tricks = "";
}

function tricksNode(answer) {
  const table = state.table, head = h("tr", {}, h("th", { scope: "col" }, "by"), ...[0, 1, 2, 3].map((number) => h("th", { scope: "col" }, suit(number))), h("th", { scope: "col" }, "NT"));
  const rows = state.seats.map((seat, s) => h("tr", {}, h("th", { scope: "row" }, seat.name), ...[0, 1, 2, 3, 4].map((strain) => h("td", { class: table.declarer === s && table.strain === strain ? "mine" : "" }, String(answer.tricks[5 * s + strain])))));
  return h("div", {}, h("table", { class: "grid", "aria-label": "Double-dummy tricks" }, h("thead", {}, head), h("tbody", {}, ...rows)), h("p", { class: "par" }, "Par: ", h("b", {}, answer.words)));
}

// ---- the running total ----------------------------------------------------------------------

const signed = (x) => x === null ? "–" : x > 0 ? `+${x}` : x < 0 ? `−${-x}` : "0";

function refreshTotal() {
  const panel = $("panel-total");
  if (!isBridge() || !state.seats.some((seat) => seat.human)) {
    panel.hidden = true;
    filled.total = "";
  } else if (state.over && !state.replaying) {
    panel.hidden = false;
    fill("total", boardKey(state.length), "The agents play this board at the other table …", () => call("/api/compare", {}), totalNode);
  }
}

function totalNode(total) {
  const head = ["board", "you", "par", "other table", "IMPs to par", "IMPs to other"];
  const row = (board) => h("tr", {}, h("th", { scope: "row" }, String(board.board + 1)), ...[board.points, board.par, board.other].map((x) => h("td", {}, signed(x))), ...[board.imps_par, board.imps_other].map((x) => h("td", { class: "mine" }, signed(x))));
  const sum = h("tr", {}, h("th", { scope: "row", colspan: 4 }, `${total.boards.length} board${total.boards.length === 1 ? "" : "s"}`), h("td", { class: "mine" }, signed(total.imps_par)), h("td", { class: "mine" }, signed(total.imps_other)));
  const grid = h("table", { class: "grid", "aria-label": "Running total" }, h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, ...total.boards.slice(-8).map(row), sum));
  return h("div", {}, grid, note(`Points and IMPs are those of your side. At the other table ${total.agents}.`));
}

// ---- setting up -----------------------------------------------------------------------------

let choice = "";

function openSetup() {
  clearTimeout(timer);
  choice = state.game;
  $("setup-error").textContent = "";
  $("setup-cancel").hidden = state.fresh;
  $("setup-games").replaceChildren(...menu.map((offer) => h("label", { class: "tile" },
    h("input", { type: "radio", name: "game", value: offer.id, checked: offer.id === choice, onchange: () => { choice = offer.id; renderSetup(); } }),
    h("b", {}, offer.title), h("span", {}, offer.summary))));
  renderSetup();
  $("setup").showModal();
}

function renderSetup() {
  const offer = offerOf(choice), same = choice === state.game, seats = same ? state.seats.map((seat) => seat.agent) : offer.usual;
  const agents = [{ name: "human", summary: "a person at this page" }, ...offer.agents];
  $("setup-keep").hidden = !same || state.fresh;
  $("setup-seats").replaceChildren(...offer.seats.map((name, p) => field([h("span", { class: "compass", "aria-hidden": "true" }, offer.seats.length === 4 ? name[0] : name.slice(-1)), name],
    choose(`seat-${p}`, agents.map((agent) => [agent.name, agent.name === "human" ? "you (a person)" : agent.name]), seats[p], renderAbout))));
  const options = offer.options.map((option) => field([option.label], choose(`option-${option.name}`, option.values.map((value, k) => [String(k), option.words[k]]), String(Math.max(0, same ? option.values.indexOf(state.options[option.name]) : 0)))));
  const number = (id, value) => h("input", { id, type: "number", min: id === "setup-board" ? 1 : 0, max: Number.MAX_SAFE_INTEGER, step: 1, value, inputmode: "numeric" });
  const fresh = state.fresh ? Math.floor(Math.random() * 1000000) : state.seed;
  $("setup-options").replaceChildren(...options, field(["Board"], number("setup-board", same && !state.fresh ? state.board + 1 : 1)), field(["Seed of the deals"], number("setup-seed", fresh)));
  renderAbout();
}

// The summaries of the chosen agents, under the seats.
function renderAbout() {
  const offer = offerOf(choice), chosen = new Set(offer.seats.map((_, p) => $(`seat-${p}`).value));
  const agents = offer.agents.filter((agent) => chosen.has(agent.name));
  $("setup-about").replaceChildren(...agents.map((agent) => h("span", {}, h("b", {}, agent.name), ` – ${agent.summary}. `)));
}

function field(label, control) { return h("label", { class: "field" }, h("span", {}, ...label), control); }

function choose(id, values, chosen, onchange) {
  const select = h("select", { id, onchange }, ...values.map(([value, words]) => h("option", { value, selected: value === chosen }, words)));
  select.value = chosen;
  return select;
}

async function deal(event) {
  event.preventDefault();
  const offer = offerOf(choice), options = {};
  for (const option of offer.options) options[option.name] = option.values[Number($(`option-${option.name}`).value)];
  const body = { game: choice, options, seats: offer.seats.map((_, p) => $(`seat-${p}`).value), seed: $("setup-seed").valueAsNumber, board: $("setup-board").valueAsNumber - 1 };
  await fromSetup("/api/new", body);
}

async function fromSetup(path, body) {
  try {
    const data = await call(path, body);
    $("setup").close();
    running = true;
    thought = null;
    adopt(data);
    schedule();
  } catch (problem) {
    $("setup-error").textContent = problem.message;
  }
}

function next() { running = true; thought = null; change("/api/next", {}); }

// ---- files ----------------------------------------------------------------------------------

async function openFile(file) {
  if (!file) return;
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text;
  try { text = new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { text = new TextDecoder("windows-1252").decode(bytes); }
  if ($("setup").open) $("setup").close();
  if (!await change("/api/load", { name: file.name, text })) return;
  const first = state.file.boards.findIndex((board) => board.complete);
  if (first >= 0) { running = false; await change("/api/open", { index: first, way: state.file.boards[first].calls ? "replay" : "play" }); }
}

async function save() {
  try {
    const file = await call("/api/save");
    const link = h("a", { download: file.name, href: URL.createObjectURL(new Blob([file.text], { type: "text/plain" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  } catch (problem) {
    complain(problem);
  }
}

// ---- keys -----------------------------------------------------------------------------------

const KEYS = [
  ["1 … 7 then c d h s n", "bid"], ["p  x  r", "pass, double, redouble"], ["s h d c then a k q j t 9 …", "play that card"],
  [",  .", "one step back, forward"], ["Home  End", "first, last step"], ["u", "undo to your last turn"], ["space", "agents go on, or stop"],
  ["i", "ask for a hint"], ["t", "agents' thinking"], ["a", "show all hands"], ["b", "next board, once this one is over"], ["g", "new game"], ["o", "open a file"], ["?", "this list"],
];
const KEY_ACTIONS = {
  p: () => tryCall(0), x: () => tryCall(1), r: () => tryCall(2), ",": () => go(state.cursor - 1), ".": () => go(state.cursor + 1), Home: () => go(0), End: () => go(state.length),
  u: () => { running = true; change("/api/undo", {}); }, " ": toggleRunning, i: hint, t: () => $("switch-think").click(), a: () => $("switch-all").click(), b: () => { if (state.over) next(); else complain(new Error("This board is not over; New game (g) leaves it.")); }, g: openSetup, o: () => $("file").click(), "?": () => $("help").showModal(),
};

function tryCall(action) {
  const step = state.legal.find((step) => step.card === null && (isBridge() ? step.action === action : action === 0 && step.text === "P"));
  if (step && state.seats[state.player].human) act(step.action);
}

function setTyped(words) { typed = words; $("typed").hidden = !words; $("typed").textContent = words; clearTimeout(setTyped.timer); if (words) setTyped.timer = setTimeout(() => setTyped(""), 2500); }

// A number bids at once, unless it begins a longer one: then Enter does, or the next digit.
function typeNumber(text) {
  const bids = state.legal.filter((step) => step.card === null && step.text.startsWith(text)), whole = bids.find((step) => step.text === text);
  if (whole && bids.length === 1) act(whole.action);
  else if (bids.length && /^\d+$/.test(text)) setTyped(text);
  else return false;
  return true;
}

function endNumber(text, key) {
  const step = state.legal.find((legal) => legal.card === null && legal.text === text);
  if (key === "enter" && step) act(step.action);
  return key === "enter" || key.length === 1;
}

// A level then a strain bids; a suit then a rank plays. Returns whether the key was used.
function typeAction(key) {
  if (state.player < 0 || !state.seats[state.player].human) return false;
  const lower = key.toLowerCase(), auction = isBridge() && state.table.phase === "auction";
  if (!typed) {
    const starts = auction ? "1234567".includes(lower) : state.legal.some((step) => step.card !== null) && "shdc".includes(lower);
    if (!auction && typeNumber(lower)) return true;
    if (starts) setTyped(auction ? lower : SYMBOLS[LETTERS.indexOf(lower.toUpperCase())]);
    return starts;
  }
  const first = typed;
  setTyped("");
  if (/^\d+$/.test(first) && !auction) return typeNumber(first + lower) || endNumber(first, lower);
  if (auction) {
    const strain = "cdhsn".indexOf(lower);
    if (strain >= 0) { const action = 3 + 5 * (Number(first) - 1) + strain; if (state.legal.some((step) => step.action === action)) act(action); else complain(new Error(`${first}${STRAINS[strain]} is not legal here.`)); }
    return key.length === 1; // a bid that was begun is not the key of another action
  }
  const rank = RANKS.indexOf(lower === "1" || lower === "0" ? "T" : key.toUpperCase());
  if (rank < 0) return key.length === 1;
  const card = 4 * rank + SYMBOLS.indexOf(first), step = state.legal.find((legal) => legal.card === card);
  if (step) act(step.action); else complain(new Error(`The ${cardWords(card)} cannot be played here.`));
  return true;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !state || document.querySelector("dialog[open]")) return;
  const target = event.target;
  if (target.matches("select, textarea, input:not([type=checkbox])") && !(target.type === "range" && event.key.length === 1 && event.key !== " ")) return;
  if (event.key === "Escape") { setTyped(""); return; }
  if ((event.key === " " || event.key === "Enter") && target.matches("button, input, a, summary")) return;
  if (event.key.startsWith("Arrow") && target.closest(".hand")) { moveInHand(event); return; }
  if (typeAction(event.key)) { event.preventDefault(); return; }
  if (KEY_ACTIONS[event.key]) { event.preventDefault(); KEY_ACTIONS[event.key](); }
}

function moveInHand(event) {
  const cards = [...$("hand").querySelectorAll("button:not(:disabled)")], at = cards.indexOf(document.activeElement);
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (at < 0 || !step) return;
  event.preventDefault();
  cards[(at + step + cards.length) % cards.length].focus();
}

function toggleRunning() {
  if (!atEnd()) { go(state.length); running = true; } else running = !running;
  renderSteps();
  renderActions();
  renderFelt();
  schedule();
}

// ---- start ----------------------------------------------------------------------------------

function addListeners() {
  for (const [id, name] of [["step-first", "first"], ["step-back", "back"], ["step-forward", "forward"], ["step-last", "last"]]) $(id).append(icon(name));
  for (const [id, key] of [["step-first", "Home"], ["step-back", ","], ["step-forward", "."], ["step-last", "End"], ["step-undo", "u"], ["step-play", " "], ["button-new", "g"], ["button-open", "o"], ["button-help", "?"]]) $(id).addEventListener("click", () => KEY_ACTIONS[key]());
  $("step-range").addEventListener("change", (event) => go(Number(event.target.value)));
  $("button-save").addEventListener("click", save);
  $("file").addEventListener("change", (event) => { openFile(event.target.files[0]); event.target.value = ""; });
  $("switch-all").addEventListener("change", (event) => change("/api/reveal", { on: event.target.checked }));
  $("switch-think").addEventListener("change", (event) => { if (!event.target.checked) { thought = null; thoughtKey = ""; } renderThinking(); refreshThoughts(); schedule(); });
  $("setup-form").addEventListener("submit", deal);
  $("setup-keep").addEventListener("click", () => fromSetup("/api/sit", { seats: offerOf(choice).seats.map((_, p) => $(`seat-${p}`).value) }));
  $("setup-cancel").addEventListener("click", () => $("setup").close());
  $("setup").addEventListener("close", schedule);
  $("help").addEventListener("close", schedule);
  $("help-close").addEventListener("click", () => $("help").close());
  $("keys").append(...KEYS.flatMap(([key, words]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)]));
  $("logo").append(...[3, 2, 1, 0].map(suit));
  document.addEventListener("keydown", onKey);
}

async function start() {
  try {
    const answer = await call("/api/games");
    menu = answer.games;
    suits = answer.suits;
    addListeners();
    adopt(await call("/api/state"));
    if (state.fresh) openSetup(); else schedule();
  } catch (problem) {
    complain(problem);
  }
}

start();
