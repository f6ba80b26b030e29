/* Graphs, zoom, filter, and two commits compared; the address keeps all of it. */
(function () {
	"use strict";
	var data = JSON.parse(document.getElementById("data").textContent);
	var state = { filter: "", changed: "", zero: "", from: "", to: "", a: "", b: "" };
	var graphs = document.getElementById("graphs"), cards = [], tools;
	var last = data.commits.length - 1, NS = "http://www.w3.org/2000/svg", HEIGHT = 190;

	function make(name, parent, text, attributes) {
		var e = document.createElement(name);
		if (text !== undefined && text !== null) e.textContent = text;
		for (var key in attributes || {}) e.setAttribute(key, attributes[key]);
		if (parent) parent.appendChild(e);
		return e;
	}
	function draw(name, parent, attributes, text) {
		var e = document.createElementNS(NS, name);
		for (var key in attributes) e.setAttribute(key, attributes[key]);
		if (text !== undefined) e.textContent = text;
		parent.appendChild(e);
		return e;
	}
	function short(commit) { return commit.slice(0, 10); }
	function group(line) { return data.groups[line.group].counted + "; " + data.groups[line.group].machine; }
	function percent(share) { return (share > 0 ? "+" : "") + (100 * share).toFixed(Math.abs(share) < 0.001 ? 4 : 2) + " %"; }
	function scaled(v, units, step) {
		var k = 0;
		while (Math.abs(v) >= step && k < units.length - 1) { v /= step; k++; }
		return (Math.abs(v) < 100 && v !== Math.round(v) ? v.toPrecision(4) : String(Math.round(v * 10) / 10)) + units[k];
	}
	function show(line, v) {
		if (v === null || v === undefined) return "-";
		if (line.kind === "time") return scaled(v, [" ns", " \u00b5s", " ms", " s"], 1000);
		if (line.kind === "metric") return v.toPrecision(4);
		return scaled(v, ["", " k", " M", " G", " T"], 1000);
	}
	/* Exact counts differ in their last digits. */
	function exactly(line, v) {
		return line.kind === "time" || line.kind === "metric" ? show(line, v) : v.toLocaleString("en");
	}
	function commitNumber(name) {
		if (name) for (var i = 0; i <= last; i++) if (data.commits[i].commit.indexOf(name) === 0) return i;
		return -1;
	}
	function range() {
		var from = commitNumber(state.from), to = commitNumber(state.to);
		from = from < 0 ? 0 : from;
		to = to < 0 ? last : to;
		return from < to ? [from, to] : [Math.max(0, Math.min(to, last - 1)), Math.max(from, Math.min(last, 1))];
	}
	function commitLink(parent, i) {
		var c = data.commits[i];
		if (data.url) make("a", parent, short(c.commit), { href: data.url + "/commit/" + encodeURIComponent(c.commit) });
		else make("b", parent, short(c.commit));
	}

	/* ---- one graph: all lines of a region and quantity ---- */

	function scale(card, width) {
		var r = range(), low = Infinity, high = -Infinity;
		card.lines.forEach(function (line) {
			line.values.forEach(function (v) {
				if (v[0] < r[0] || v[0] > r[1]) return;
				low = Math.min(low, v[2] === null ? v[1] : v[2]);
				high = Math.max(high, v[3] === null ? v[1] : v[3]);
			});
		});
		if (low > high) low = high = 0;
		if (state.zero) { low = Math.min(low, 0); high = Math.max(high, 0); }
		var room = high - low || Math.abs(high) * 0.02 || 1;
		if (!state.zero) low -= room * 0.08;
		high += room * 0.16;
		var left = 66, right = width - 12, top = 16, bottom = HEIGHT - 22;
		return {
			r: r, low: low, high: high, left: left, right: right, top: top, bottom: bottom,
			x: function (c) { return r[1] > r[0] ? left + (right - left) * (c - r[0]) / (r[1] - r[0]) : (left + right) / 2; },
			y: function (v) { return bottom - (bottom - top) * (v - low) / (high - low); },
			commit: function (x) { return Math.round(r[0] + (x - left) / (right - left) * (r[1] - r[0])); }
		};
	}
	function axes(card, s) {
		for (var k = 0; k < 4; k++) {
			var v = s.low + (s.high - s.low) * k / 3, y = s.y(v);
			draw("line", card.svg, { x1: s.left, x2: s.right, y1: y, y2: y, "class": "axis" });
			var text = s.high - s.low < 0.02 * Math.abs(s.high) && Math.abs(s.high) < 1e7 ? exactly(card.lines[0], Math.round(v)) : show(card.lines[0], v);
			draw("text", card.svg, { x: s.left - 6, y: y + 4, "text-anchor": "end" }, text);
		}
		draw("text", card.svg, { x: s.left, y: HEIGHT - 5 }, data.commits[s.r[0]].date.slice(0, 10));
		if (s.r[1] > s.r[0])
			draw("text", card.svg, { x: s.right, y: HEIGHT - 5, "text-anchor": "end" }, data.commits[s.r[1]].date.slice(0, 10));
	}
	function drawLine(card, line, s, colour) {
		var inside = line.values.filter(function (v) { return v[0] >= s.r[0] - 1 && v[0] <= s.r[1] + 1; });
		var g = draw("g", card.svg, { style: "--c:var(--c" + colour + ")", "clip-path": "inset(0)" });
		function points(k) { return inside.map(function (v) { return s.x(v[0]).toFixed(1) + "," + s.y(v[k] === null ? v[1] : v[k]).toFixed(1); }); }
		if (!inside.length) return;
		draw("polygon", g, { "class": "band", points: points(2).concat(points(3).reverse()).join(" ") });
		draw("polyline", g, { "class": "path", points: points(1).join(" ") });
		if (inside.length <= 120) inside.forEach(function (v) {
			if (v[0] < s.r[0] || v[0] > s.r[1]) return;
			draw("line", g, { "class": "path", x1: s.x(v[0]), x2: s.x(v[0]), y1: s.y(v[2] === null ? v[1] : v[2]), y2: s.y(v[3] === null ? v[1] : v[3]) });
			draw("circle", g, { "class": "dot", cx: s.x(v[0]), cy: s.y(v[1]), r: 2.6 });
		});
	}
	/* A label that has no room is left out: the table above has all of them. */
	function marks(card, s) {
		var free = s.left - 1e9;
		card.changes.forEach(function (c) {
			if (c.commit < s.r[0] || c.commit > s.r[1]) return;
			var x = s.x(c.commit), text = short(data.commits[c.commit].commit).slice(0, 7) + " " + percent(c.change);
			var atEnd = x + 6.4 * text.length > s.right, from = atEnd ? x - 6.4 * text.length : x;
			draw("line", card.svg, { "class": "step " + c.verdict, x1: x, x2: x, y1: s.top - 4, y2: s.bottom });
			if (from < free) return;
			draw("text", card.svg, { "class": c.verdict, x: atEnd ? x - 3 : x + 3, y: s.top - 5, "text-anchor": atEnd ? "end" : "start" }, text);
			free = from + 6.4 * text.length + 4;
		});
	}
	function redraw(card) {
		var width = Math.max(card.svg.clientWidth, 200), s = scale(card, width);
		card.scale = s;
		card.svg.textContent = "";
		card.svg.setAttribute("viewBox", "0 0 " + width + " " + HEIGHT);
		axes(card, s);
		card.lines.forEach(function (line, i) { drawLine(card, line, s, i % 8); });
		marks(card, s);
		say(card, card.at === undefined ? s.r[1] : card.at);
	}
	function choose(key, i) {
		state[key] = data.commits[i].commit;
		keep();
	}
	function say(card, c) {
		var s = card.scale, x;
		card.at = c = Math.max(s.r[0], Math.min(s.r[1], c));
		x = s.x(c);
		if (card.cursor) card.cursor.remove();
		card.cursor = draw("line", card.svg, { "class": "cursor", x1: x, x2: x, y1: s.top, y2: s.bottom });
		card.said.textContent = "";
		commitLink(card.said, c);
		make("span", card.said, " " + data.commits[c].date.slice(0, 10) + " " + data.commits[c].subject + " ");
		card.lines.forEach(function (line) {
			line.values.forEach(function (v) {
				if (v[0] !== c) return;
				var spread = v[2] !== null && v[2] !== v[3] ? " (" + exactly(line, v[2]) + " to " + exactly(line, v[3]) + ", " + v[4] + " runs)" : "";
				make("b", card.said, exactly(line, v[1]));
				make("span", card.said, spread + (card.lines.length > 1 ? " [" + group(line) + "] " : " "));
			});
		});
		["a", "b"].forEach(function (key) {
			make("button", card.said, key === "a" ? "compare from" : "to", { "class": "quiet", type: "button" })
				.addEventListener("click", function () { choose(key, c); });
		});
	}
	/* Drag across commits to see these alone; a tap or the arrow keys show one. */
	function listen(card) {
		var begun = null, chosen;
		function place(e) { return e.clientX - card.svg.getBoundingClientRect().left; }
		card.svg.addEventListener("pointerdown", function (e) { begun = place(e); });
		card.svg.addEventListener("pointermove", function (e) {
			if (chosen) chosen.remove();
			chosen = null;
			if (begun !== null && Math.abs(place(e) - begun) > 6)
				chosen = draw("rect", card.svg, { "class": "chosen", x: Math.min(begun, place(e)), y: 0, width: Math.abs(place(e) - begun), height: HEIGHT });
			else if (e.pointerType === "mouse") say(card, card.scale.commit(place(e)));
		});
		card.svg.addEventListener("pointerup", function (e) {
			var from = begun, s = card.scale;
			begun = null;
			if (from === null) return;
			if (Math.abs(place(e) - from) <= 6) { say(card, s.commit(place(e))); return; }
			var ends = [s.commit(from), s.commit(place(e))].sort(function (x, y) { return x - y; });
			zoom(Math.max(ends[0], s.r[0]), Math.min(ends[1], s.r[1]));
		});
		card.svg.addEventListener("pointerleave", function () { begun = null; });
		card.svg.addEventListener("dblclick", function () { zoom(0, last); });
		card.svg.addEventListener("keydown", function (e) {
			var by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
			if (!by) return;
			e.preventDefault();
			say(card, card.at + by);
		});
	}
	function zoom(from, to) {
		state.from = from > 0 ? data.commits[from].commit : "";
		state.to = to < last ? data.commits[to].commit : "";
		keep();
	}

	/* ---- two commits compared ---- */

	function valueAt(line, c) {
		for (var i = line.values.length - 1; i >= 0; i--) if (line.values[i][0] === c) return line.values[i][1];
		return null;
	}
	function compareRow(body, card, a, b) {
		var rows = 0, sides = [false, false];
		card.lines.forEach(function (line) {
			var old = valueAt(line, a), now = valueAt(line, b), change;
			sides = [sides[0] || old !== null, sides[1] || now !== null];
			if (old === null || now === null) return;
			change = now / old - 1;
			var row = make("tr", body);
			make("th", row, card.region, { scope: "row" });
			[["quantity", card.quantity], ["counted", group(line)], ["old", exactly(line, old)], ["new", exactly(line, now)],
				["change", old ? percent(change) : "-"]].forEach(function (cell) { make("td", row, cell[1], { "data-k": cell[0] }); });
			rows++;
		});
		if (rows || !(sides[0] || sides[1])) return;
		var row = make("tr", body);
		make("th", row, card.region, { scope: "row" });
		make("td", row, card.quantity, { "data-k": "quantity" });
		make("td", row, sides[0] && sides[1] ? "counted in another way or on another machine: does not compare" : sides[0] ? "only the old commit has it" : "only the new commit has it", { colspan: 4 });
	}
	function compare() {
		var a = commitNumber(state.a), b = commitNumber(state.b), box = document.getElementById("compare"), body, line;
		box.textContent = "";
		box.hidden = a < 0 && b < 0;
		if (box.hidden) return;
		make("h2", box, "Two commits compared");
		line = make("p", box, a < 0 ? "Choose the old commit in a graph. " : "", { "class": "said" });
		if (a >= 0) commitLink(line, a);
		make("span", line, " \u2192 ");
		if (b >= 0) commitLink(line, b);
		else make("span", line, "choose the new commit in a graph");
		if (a >= 0 && b >= 0 && data.url)
			make("a", make("span", line, " "), "difference of their code", { href: data.url + "/compare/" + encodeURIComponent(data.commits[a].commit) + "..." + encodeURIComponent(data.commits[b].commit) });
		make("button", make("span", line, " "), "close", { "class": "quiet", type: "button" }).addEventListener("click", function () { state.a = state.b = ""; keep(); });
		if (a < 0 || b < 0) return;
		var table = make("table", make("div", box, null, { "class": "card scroll" }), null, { id: "compared" }), head = make("tr", make("thead", table));
		["region", "quantity", "counted", "old", "new", "change"].forEach(function (name) { make("th", head, name, { scope: "col" }); });
		body = make("tbody", table);
		cards.forEach(function (card) { compareRow(body, card, a, b); });
	}

	/* ---- the page ---- */

	function update() {
		var word = state.filter.toLowerCase();
		tools.filter.value = state.filter;
		tools.changed.checked = !!state.changed;
		tools.zero.checked = !!state.zero;
		cards.forEach(function (card) {
			card.box.hidden = (card.region + " " + card.quantity).toLowerCase().indexOf(word) < 0 || (state.changed && !card.changes.length);
			if (!card.box.hidden) redraw(card);
		});
		tools.none.hidden = cards.some(function (card) { return !card.box.hidden; });
		Array.prototype.forEach.call(document.querySelectorAll("[data-change]"), function (row) {
			row.hidden = row.textContent.toLowerCase().indexOf(word) < 0;
		});
		compare();
	}
	function keep() {
		var parts = [];
		for (var key in state) if (state[key]) parts.push(key + "=" + encodeURIComponent(state[key]));
		history.replaceState(null, "", "#" + parts.join("&"));
		update();
	}
	function restore() {
		var key;
		for (key in state) state[key] = "";
		location.hash.slice(1).split("&").forEach(function (part) {
			var at = part.indexOf("=");
			if (at <= 0 || !(part.slice(0, at) in state)) return;
			try { state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1)); } catch (error) { /* malformed: as if it were not there */ }
		});
	}
	function button(text, action) {
		make("button", tools.box, text, { "class": "quiet", type: "button" }).addEventListener("click", action);
	}
	function check(text, key) {
		var label = make("label", tools.box), box = make("input", label, null, { type: "checkbox" });
		label.appendChild(document.createTextNode(" " + text));
		box.addEventListener("change", function () { state[key] = box.checked ? "1" : ""; keep(); });
		return box;
	}
	function makeTools() {
		tools = { box: make("div", null, null, { "class": "tools", id: "tools" }) };
		graphs.parentNode.insertBefore(tools.box, graphs);
		tools.filter = make("input", tools.box, null, { type: "search", placeholder: "Filter regions and quantities", "aria-label": "Filter regions and quantities" });
		tools.filter.addEventListener("input", function () { state.filter = tools.filter.value; keep(); });
		tools.changed = check("only with change points", "changed");
		tools.zero = check("from zero", "zero");
		button("All commits", function () { zoom(0, last); });
		[100, 20].forEach(function (n) { if (last >= n) button("Last " + n, function () { zoom(last - n + 1, last); }); });
		make("p", tools.box, "Drag across a graph to zoom; tap it, or use the arrow keys, to read a value.", { "class": "hint" });
		tools.none = make("p", tools.box, "No graph fits the filter.");
	}
	function makeCards() {
		data.lines.forEach(function (line) {
			var card = cards[cards.length - 1];
			if (!card || card.region !== line.region || card.quantity !== line.quantity) {
				card = { region: line.region, quantity: line.quantity, lines: [], changes: [] };
				cards.push(card);
			}
			card.lines.push(line);
			card.changes = card.changes.concat(line.changes);
		});
		cards.forEach(function (card) {
			card.changes.sort(function (x, y) { return x.commit - y.commit; });
			card.box = make("section", graphs, null, { "class": "card graph" });
			make("small", make("h3", card.box, card.region + " "), card.quantity);
			card.svg = draw("svg", card.box, { tabindex: "0", role: "img", "aria-label": card.region + ", " + card.quantity + ": " + card.changes.length + " change points" });
			card.said = make("p", card.box, null, { "class": "said", "aria-live": "polite" });
			var keys = make("p", card.box, null, { "class": "keys" });
			card.lines.forEach(function (line, i) {
				make("span", keys, group(line), { "class": "key", style: "--c:var(--c" + i % 8 + ")" });
			});
			listen(card);
		});
	}
	function theme() {
		var dark = matchMedia("(prefers-color-scheme: dark)").matches, root = document.documentElement;
		root.dataset.theme = (root.dataset.theme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
	}

	document.getElementById("theme").hidden = false;
	document.getElementById("theme").addEventListener("click", theme);
	makeTools();
	makeCards();
	addEventListener("hashchange", function () { restore(); update(); });
	addEventListener("resize", update);
	restore();
	if (last >= 0) update();
})();
