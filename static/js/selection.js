// Tells what of the page's text is selected.

/** selected tells whether selected text is in or around a node. @param {Node} node */
export function selected(node) {
  const s = getSelection();
  return Boolean(s && !s.isCollapsed && s.containsNode(node, true));
}
