package app

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// smallTargets lists what can be tapped and is smaller than a fingertip: less than 44 px high or wide. Everything
// folded on the page is opened first. A link inside a sentence may be as small as its words (WCAG 2.5.8); a list
// of links may not. A control counts with its label. Pictures are left out: each has a table or a list beside it.
const smallTargets = `(() => {
	for (const d of document.querySelectorAll("details")) d.open = true;
	const block = (e) => { let p = e.parentElement; while (getComputedStyle(p).display === "inline") p = p.parentElement; return p };
	const inSentence = (e) => {
		const words = document.createTreeWalker(block(e), NodeFilter.SHOW_TEXT);
		let out = "";
		for (let n = words.nextNode(); n; n = words.nextNode())
			if (!n.parentElement.closest("a, button, summary, select, option") && n.parentElement.checkVisibility()) out += " " + n.data;
		return (out.match(/\p{L}{2,}/gu) ?? []).length >= 2;
	};
	const unseen = (e) => { for (; e; e = e.parentElement) if (getComputedStyle(e).clipPath !== "none") return true; return false };
	const out = [];
	for (const e of document.querySelectorAll("a[href], button, summary, select, textarea, input:not([type=hidden])")) {
		if (e.closest("svg, .skip") || !e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) || unseen(e)) continue;
		const target = e.matches("input, select, textarea") ? e.closest("label") ?? e : e;
		const box = target.getBoundingClientRect();
		if (box.width === 0 || box.height >= 43.5 && box.width >= 43.5) continue;
		if (e.localName === "a" && getComputedStyle(e).display === "inline" && inSentence(e)) continue;
		const where = e.closest("[class], [id]");
		out.push(Math.round(box.width) + "x" + Math.round(box.height) + " " + e.localName + "." + e.className + " “" +
			(e.innerText || e.getAttribute("aria-label") || e.name || "").trim().slice(0, 30) + "” in " +
			e.parentElement.localName + "." + e.parentElement.className + " of " + (e.parentElement.closest("table, ul, form, section, nav, p")?.className ?? ""));
	}
	const seen = {};
	for (const line of out) { const k = line.replace(/“.*”/, "").replace(/^\d+x/, ""); (seen[k] ??= [line, 0])[1]++ }
	return Object.values(seen).map(([line, n]) => n + " × " + line).slice(0, 20);
})()`

// TestBrowserShowsNoTargetTooSmallForAFingerOnAPhone measures what can be tapped on every page of the route table,
// its forms and folded details included, with scripts and without.
func TestBrowserShowsNoTargetTooSmallForAFingerOnAPhone(t *testing.T) {
	ctx := newBrowser(t)
	d, names := startHostileDemo(t, 24)
	addresses := addressesOf(t, d, names)
	for _, scripts := range []string{"with scripts", "without scripts"} {
		t.Run(scripts, func(t *testing.T) {
			if err := inPage(ctx, setScreen(390, "light")); err != nil {
				t.Fatal(err)
			}
			if scripts == "without scripts" {
				if err := inPage(ctx, withoutScripts); err != nil {
					t.Fatal(err)
				}
			}
			for _, path := range addresses {
				if err := inPage(ctx, chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("main h1")); err != nil {
					t.Fatalf("/%s: unexpected error: %v", path, err)
				}
				if small := eval[[]string](t, ctx, smallTargets); len(small) > 0 {
					t.Errorf("/%s has targets under 44 px:\n%s", path, strings.Join(small, "\n"))
				}
			}
			// The menu is open over the page.
			if err := inPage(ctx, chromedp.Click(".bar-nav button"), chromedp.WaitVisible("#menu")); err != nil {
				t.Fatal(err)
			}
			if small := eval[[]string](t, ctx, smallTargets); len(small) > 0 {
				t.Errorf("the menu has targets under 44 px:\n%s", strings.Join(small, "\n"))
			}
		})
	}
}
