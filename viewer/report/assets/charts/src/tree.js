// SPDX-License-Identifier: Apache-2.0
// Flame graphs of the data block as trees, and a walk through them by keys. Pure.

// Nodes in preorder become { name, value, children, frame index, cls }: cls is the class a node is
// below, which gives it its colour.
export function treeOf(graph, frames) {
	const nodes = graph.parent.map((back, i) => ({
		name: i ? frames[graph.frame[i]] : 'all', value: graph.ns_below[i], children: [], cls: '',
		parent: null,
	}));

	graph.parent.forEach((back, i) => {
		if (!i)
			return;
		const n = nodes[i], parent = nodes[i - back];
		n.parent = parent;
		n.cls = parent === nodes[0] ? n.name : parent.cls;
		parent.children.push(n);
	});
	for (const n of nodes)
		n.children.sort((a, b) => b.value - a.value);
	return nodes[0];
}

// 'Step.body train.py:192' of 'Step.body /srv/job/train.py:192', and a package's file from the package on.
export function brief(name) {
	const at = name.indexOf(' /');

	if (at < 0)
		return name;
	const path = name.slice(at), own = path.split(/\/(?:site|dist)-packages\//);
	return `${name.slice(0, at)} ${own.length > 1 ? own.at(-1) : path.slice(path.lastIndexOf('/') + 1)}`;
}

// Whole frames whose name holds the words, case aside; what is below a found one is not counted twice.
export function found(root, words) {
	const want = words.toLowerCase();
	let hits = 0, ns = 0;

	(function walk(n, inside) {
		const hit = n.name.toLowerCase().includes(want);
		if (hit) {
			hits++;
			if (!inside)
				ns += n.value;
		}
		for (const c of n.children)
			walk(c, inside || hit);
	})(root, false);
	return { hits, ns };
}

// Where an arrow key leads from a node of a graph whose root is on top.
export function neighbour(node, key) {
	const siblings = node.parent?.children ?? [node];
	const at = siblings.indexOf(node);

	switch (key) {
	case 'ArrowDown':
		return node.children[0] ?? node;
	case 'ArrowUp':
		return node.parent ?? node;
	case 'ArrowLeft':
		return siblings[at - 1] ?? node;
	case 'ArrowRight':
		return siblings[at + 1] ?? node;
	}
	return null;
}
