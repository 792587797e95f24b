// SPDX-License-Identifier: GPL-2.0-or-later
// Zoom, search and keys for the picture of svg.c. Boxes are read from the picture itself;
// without scripts it remains a static picture.
"use strict";
(function () {
	const CHAR = 7.23, PAD = 3;	// of 12 px monospace
	const svg = document.documentElement;
	const byId = function (id) { return document.getElementById(id); };
	const width = Number(svg.dataset.width), margin = Number(svg.dataset.margin);
	const status = byId("status"), box = byId("box"), input = byId("input");
	const normal = status.textContent, widths = byId("widths"), showBase = "Show the base";
	// What to sum up: 1234 of "main (1,234 samples, 5.00%)", 5 of "main (1.99s, 5.00%)".
	const numberOf = function (title) {
		const said = title.match(/\(([\d,]+) samples?, [^()]*\)$/) ||
			title.match(/, ([\d.]+)%[^()]*\)$/) || [0, "0"];
		return Number(said[1].replaceAll(",", ""));
	};
	const boxes = Array.from(svg.querySelectorAll("g.b")).map(function (g, i) {
		const rect = g.querySelector("rect"), title = g.querySelector("title").textContent;
		return {
			g: g, rect: rect, text: g.querySelector("text"), title: title, index: i,
			name: title.replace(/ \([^()]*\)$/, ""),
			samples: numberOf(title),
			x: Number(rect.getAttribute("x")), y: Number(rect.getAttribute("y")),
			w: Number(rect.getAttribute("width")), depth: Number(g.dataset.d),
			base: { x: Number(g.dataset.x), w: Number(g.dataset.w),
				samples: Number(g.dataset.n) },
		};
	});
	const rows = [], boxOf = new Map(boxes.map(function (b) { return [b.g, b]; }));
	const root = boxes.find(function (b) { return b.depth === 0; });
	let zoomed = root, selected = null;

	boxes.forEach(function (b) { (rows[b.depth] = rows[b.depth] || []).push(b); });

	function sortRows() {
		rows.forEach(function (row) { row.sort(function (a, b) { return a.x - b.x; }); });
	}

	function contains(outer, inner) {
		return outer.depth <= inner.depth && outer.x <= inner.x + 0.01 &&
			outer.x + outer.w >= inner.x + inner.w - 0.01;
	}

	function place(b, x, w) {
		const chars = Math.floor((w - 2 * PAD) / CHAR);
		let label = "";
		if (chars >= 3)
			label = b.name.length <= chars ? b.name : b.name.slice(0, chars - 2) + "..";
		b.rect.setAttribute("x", x.toFixed(1));
		b.rect.setAttribute("width", Math.max(w, 0.1).toFixed(1));
		if (!b.text && label) {
			b.text = document.createElementNS("http://www.w3.org/2000/svg", "text");
			b.text.setAttribute("y", b.y + 12);
			b.g.appendChild(b.text);
		}
		if (b.text) {
			b.text.setAttribute("x", (x + PAD).toFixed(1));
			b.text.textContent = label;
		}
	}

	function zoom(to) {
		const scale = width / (to.w || 1);
		zoomed = to;
		boxes.forEach(function (b) {
			const above = contains(b, to), below = contains(to, b);
			b.g.style.display = (above || below) && (b.w || b === root) ? "" : "none";
			b.g.classList.toggle("above", above && b !== to);
			if (above)
				place(b, margin, width);
			else if (below)
				place(b, margin + (b.x - to.x) * scale, b.w * scale);
		});
		byId("reset").classList.toggle("off", to === root);
		say(to === root ? null : to);
	}

	function say(b) {
		status.textContent = b ? b.title : normal;
	}

	function select(b) {
		if (!b || b.g.style.display === "none")
			return;
		if (selected)
			selected.g.classList.remove("selected");
		selected = b;
		b.g.classList.add("selected");
		b.g.scrollIntoView({ block: "nearest" });
		say(b);
	}

	// In a comparison: switch between the widths of the profile and of the base.
	function changeWidths() {
		boxes.forEach(function (b) {
			const profile = { x: b.x, w: b.w, samples: b.samples };
			Object.assign(b, b.base);
			b.base = profile;
			b.g.classList.remove("gone");
		});
		widths.textContent = widths.textContent === showBase ? "Show the profile" :
			showBase;
		sortRows();
		zoom(root);
		search(input.value);
	}

	// The part of the picture that matches; nested boxes count once.
	function search(text) {
		const matched = byId("matched");
		let sum = 0, end = -1, pattern = null;
		try {
			if (text)
				pattern = new RegExp(text, /[A-Z]/.test(text) ? "" : "i");
		} catch (error) {
			matched.textContent = "not a regular expression";
			return;
		}
		boxes.forEach(function (b) {
			b.hit = pattern !== null && pattern.test(b.name);
			b.g.classList.toggle("hit", b.hit);
		});
		boxes.filter(function (b) { return b.hit; }).sort(function (a, b) {
			return a.x - b.x || b.w - a.w;
		}).forEach(function (b) {
			if (b.x < end - 0.01)
				return;
			sum += b.samples;
			end = b.x + b.w;
		});
		matched.textContent = pattern ?
			"Matched: " + (100 * sum / (root.samples || 1)).toFixed(2) + "%" : "";
	}

	function ask(open) {
		box.style.display = open ? "" : "none";
		if (open) {
			input.focus();
			input.select();
		} else {
			input.blur();
		}
	}

	function beside(b, step) {
		const row = rows[b.depth].filter(function (other) {
			return other.g.style.display !== "none";
		});
		return row[row.indexOf(b) + step];
	}

	function under(b) {
		return (rows[b.depth + 1] || []).filter(function (other) {
			return contains(b, other) && other.g.style.display !== "none";
		}).sort(function (a, c) { return c.w - a.w; })[0];
	}

	function over(b) {
		return (rows[b.depth - 1] || []).find(function (other) {
			return contains(other, b);
		});
	}

	function move(key) {
		const b = selected || zoomed, up = svg.dataset.icicle ? over : under;
		const down = svg.dataset.icicle ? under : over;
		if (!selected)
			select(b);
		else if (key === "ArrowLeft" || key === "ArrowRight")
			select(beside(b, key === "ArrowLeft" ? -1 : 1));
		else
			select(key === "ArrowUp" ? up(b) : down(b));
	}

	svg.addEventListener("click", function (event) {
		const g = event.target.closest("g.b"), selection = String(getSelection());
		if (event.target.closest("#search"))
			ask(box.style.display === "none");
		else if (event.target.closest("#reset"))
			zoom(root);
		else if (event.target.closest("#widths"))
			changeWidths();
		else if (g && !selection)
			zoom(boxOf.get(g));
	});
	svg.addEventListener("mouseover", function (event) {
		const g = event.target.closest("g.b");
		say(g ? boxOf.get(g) : selected);
	});
	input.addEventListener("input", function () { search(input.value); });
	window.addEventListener("keydown", function (event) {
		const typing = document.activeElement === input;
		if (event.key === "Escape" && typing) {
			input.value = "";
			search("");
			ask(false);
		} else if (event.key === "Enter" && typing) {
			ask(false);
		} else if (typing) {
			return;
		} else if (event.key === "/" || (event.key === "f" && event.ctrlKey)) {
			ask(true);
		} else if (event.ctrlKey || event.altKey || event.metaKey) {
			return;
		} else if (event.key.startsWith("Arrow")) {
			move(event.key);
		} else if (event.key === "Enter" && selected) {
			zoom(selected);
			select(selected);
		} else if (event.key === "Escape" || event.key === "Backspace") {
			zoom(root);
		} else {
			return;
		}
		event.preventDefault();
	});
	// Keep title, buttons and status visible.
	function stay() {
		byId("head").setAttribute("transform", "translate(0," + Math.max(scrollY, 0) + ")");
	}

	sortRows();
	svg.classList.add("live");
	window.addEventListener("scroll", stay);
	if (!svg.dataset.icicle)
		scrollTo(0, svg.scrollHeight);
	stay();
})();
