/* Sorts and filters rows; shows inclusive or self values. The page's address keeps these choices. */
(function () {
	"use strict";
	var table = document.getElementById("regions");
	var filter = document.getElementById("filter");
	var state = { sort: "time", order: "descending", part: "inclusive", filter: "" };

	function each(list, action) {
		Array.prototype.forEach.call(list, action);
	}
	function value(row, column) {
		var cell = row.cells[column].dataset;
		return state.part === "self" && cell.s !== undefined ? cell.s : cell.i;
	}
	/* Rows without a value are last, in both orders. */
	function compare(a, b, sign) {
		var x = parseFloat(a), y = parseFloat(b);
		if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
		return sign * (x - y);
	}
	function sort() {
		var heads = table.tHead.rows[0].cells, column = -1;
		var sign = state.order === "ascending" ? 1 : -1;
		each(heads, function (head, i) {
			if (head.dataset.key === state.sort) column = i;
			if (head.dataset.key === state.sort) head.setAttribute("aria-sort", state.order);
			else head.removeAttribute("aria-sort");
		});
		if (column < 0) return;
		Array.prototype.slice.call(table.tBodies[0].rows).sort(function (a, b) {
			var x = value(a, column), y = value(b, column);
			return heads[column].dataset.text ? sign * x.localeCompare(y) : compare(x, y, sign);
		}).forEach(function (row) { table.tBodies[0].appendChild(row); });
	}
	function show() {
		var word = state.filter.toLowerCase();
		document.body.classList.toggle("self", state.part === "self");
		each(document.querySelectorAll("[data-part]"), function (button) {
			button.setAttribute("aria-pressed", String(button.dataset.part === state.part));
		});
		each(document.querySelectorAll("[data-name]"), function (item) {
			item.hidden = item.dataset.name.toLowerCase().indexOf(word) < 0;
		});
		filter.value = state.filter;
		sort();
	}
	function keep() {
		var parts = [];
		for (var key in state) parts.push(key + "=" + encodeURIComponent(state[key]));
		history.replaceState(null, "", "#" + parts.join("&"));
		show();
	}
	function restore() {
		location.hash.slice(1).split("&").forEach(function (part) {
			var at = part.indexOf("=");
			if (at <= 0 || !(part.slice(0, at) in state)) return;
			try {
				state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
			} catch (error) { /* ignore a malformed address */ }
		});
	}
	function theme() {
		var dark = matchMedia("(prefers-color-scheme: dark)").matches;
		var root = document.documentElement;
		root.dataset.theme = (root.dataset.theme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
	}

	/* If a table is wider than its card, the card shows a hint. */
	function hint(box) {
		var more = box.scrollWidth > box.clientWidth + 1, told = box.previousElementSibling;
		if (!told || told.className !== "hint") {
			told = document.createElement("p");
			told.className = "hint";
			told.textContent = "More columns to the right: scroll \u2192";
			box.parentNode.insertBefore(told, box);
		}
		box.classList.toggle("more", more);
		told.hidden = !more;
	}
	function hints() {
		each(document.querySelectorAll(".scroll"), hint);
	}

	addEventListener("resize", hints);
	hints();
	document.getElementById("theme").hidden = false;
	document.getElementById("theme").addEventListener("click", theme);
	if (!table) return;
	document.getElementById("tools").hidden = false;
	each(table.tHead.rows[0].cells, function (head) {
		head.firstChild.addEventListener("click", function () {
			var first = head.dataset.text ? "ascending" : "descending";
			var second = first === "ascending" ? "descending" : "ascending";
			state.order = state.sort === head.dataset.key && state.order === first ? second : first;
			state.sort = head.dataset.key;
			keep();
		});
	});
	each(document.querySelectorAll("[data-part]"), function (button) {
		button.addEventListener("click", function () {
			state.part = button.dataset.part;
			keep();
		});
	});
	filter.addEventListener("input", function () {
		state.filter = filter.value;
		keep();
	});
	addEventListener("hashchange", function () { restore(); show(); });
	restore();
	show();
})();
