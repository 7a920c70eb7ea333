package app

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// What people do on a page. Each step finds its element and uses it in one task of the page, so that no update of the
// page comes between, and waits for a state, never for a time.

// opened is true of a page that is loaded and, if it is live, shows the first answer of the server. Without scripts no
// page is live.
const opened = `document.readyState === "complete" && document.querySelector("main h1")?.checkVisibility() &&
	(!document.body.dataset.topics || window.frames_ > 0 || matchMedia("(scripting: none)").matches)`

// open opens a page of the demo. Nothing of it may be wider than the window.
func (o *tab) open(path string) {
	o.Helper()
	o.openAt(o.d.app.URL() + path)
}

func (o *tab) openAt(address string) {
	o.Helper()
	o.do(chromedp.Navigate(address))
	o.until(opened)
	o.fits()
}

// fits fails if the page is wider than its window, and names the innermost elements that reach beyond it. What a
// scrolling or clipping ancestor holds does not make the page wider.
func (o *tab) fits() {
	o.Helper()
	const tooWide = `(() => {
		if (!document.body) return "the page is loading";
		const width = document.documentElement.clientWidth, page = document.scrollingElement.scrollWidth;
		if (page <= width) return "";
		const held = (e) => { for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
			if (getComputedStyle(p).overflowX !== "visible" && p.getBoundingClientRect().right <= width + 1) return true; return false };
		const out = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width + 1 && !held(e));
		return location.href + " is " + page + " px wide in a window of " + width + ": " + out.filter(e => !out.some(o => o !== e &&
			e.contains(o))).slice(0, 3).map(e => e.parentElement?.outerHTML.slice(0, 120) + " … " + e.outerHTML.slice(0, 160)).join(" | ");
	})()`
	text := eval[string](o, tooWide)
	for try := 0; text != "" && try < 40; try++ { // pictures follow the window's size in some later frame
		time.Sleep(50 * time.Millisecond)
		text = eval[string](o, tooWide)
	}
	expect.That(o, text == "", "%v", text)
}

// click clicks the first element of a selector that can be seen, when nothing lies over its middle.
func (o *tab) click(selector string) {
	o.Helper()
	o.acts++
	o.until(`(() => {
		const e = [...document.querySelectorAll(%q)].find(e => e.checkVisibility());
		if (!e) return false;
		e.scrollIntoView({block: "center"});
		const box = e.getClientRects()[0];
		const over = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
		if (!e.contains(over) && !e.closest("label")?.contains(over)) return false;
		e.click();
		return true;
	})()`, selector)
}

// follow clicks something that leads to another page, whose path begins with path.
func (o *tab) follow(selector, path string) {
	o.Helper()
	o.run(`window.leaving_ = true`) // tells the page that is left from the next one
	o.click(selector)
	o.arrive(path)
}

func (o *tab) arrive(path string) {
	o.Helper()
	o.until(`window.leaving_ === undefined && location.pathname.startsWith(%q) && `+opened, path)
	o.fits()
}

// fill puts text into a field as typing does.
func (o *tab) fill(selector, text string) {
	o.Helper()
	o.until(`(() => { const e = document.querySelector(%q); e.focus(); e.value = %q;
		for (const kind of ["input", "change"]) e.dispatchEvent(new Event(kind, { bubbles: true }));
		return document.activeElement === e })()`, selector, text)
}

func (o *tab) focus(selector string) {
	o.Helper()
	o.until(`(() => { const e = document.querySelector(%q); e.focus(); return document.activeElement === e })()`, selector)
}

// press presses keys as a keyboard does: "a", "Enter", "Shift+ArrowUp", "Control+Home".
func (o *tab) press(keys ...string) {
	o.Helper()
	for _, key := range keys {
		o.acts++
		p := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown}
		for name, bit := range map[string]int64{"Shift+": 8, "Control+": 2} {
			if rest, with := strings.CutPrefix(key, name); with {
				key, p.Modifiers = rest, bit
			}
		}
		p.Key, p.Code = key, key
		switch key {
		case "Enter":
			p.Text, p.WindowsVirtualKeyCode = "\r", 13
		case "Tab":
			p.WindowsVirtualKeyCode = 9
		case "Escape":
			p.WindowsVirtualKeyCode = 27
		case " ":
			p.Text, p.Code = " ", "Space"
		}
		o.do(call(input.DispatchKeyEvent, p))
		p.Type, p.Text = input.DispatchKeyEventTypeKeyUp, ""
		o.do(call(input.DispatchKeyEvent, p))
	}
}

// enter tabs to an element of a selector that says a text, and presses Enter.
func (o *tab) enter(selector, text string) {
	o.Helper()
	o.until(opened)
	for range 250 {
		o.press("Tab")
		if eval[bool](o, fmt.Sprintf(`document.activeElement.matches(%q) && document.activeElement.textContent.includes(%q)`, selector, text)) {
			o.press("Enter")
			return
		}
	}
	o.Fatalf("no Tab leads to %s %q on %s", selector, text, o.where())
}

func (o *tab) mouse(kind input.DispatchMouseEventType, at [2]float64) {
	o.Helper()
	p := input.DispatchMouseEventParams{Type: kind, X: at[0], Y: at[1]}
	if kind != input.DispatchMouseEventTypeMouseMoved {
		p.Button, p.ClickCount = input.MouseButtonLeft, 1
	}
	o.do(call(input.DispatchMouseEvent, p))
}

// drag presses the button at the first place, moves to each of the others and lets go at the last.
func (o *tab) drag(places ...[2]float64) {
	o.Helper()
	for i, at := range places {
		p := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: at[0], Y: at[1],
			Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}
		if i == 0 {
			p.Type = input.DispatchMouseEventTypeMousePressed
		}
		o.do(call(input.DispatchMouseEvent, p))
		if i == len(places)-1 {
			p.Type = input.DispatchMouseEventTypeMouseReleased
			o.do(call(input.DispatchMouseEvent, p))
		}
	}
}

// fingers lets the screen be touched.
func (o *tab) fingers() {
	o.Helper()
	o.do(call(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 2}))
}

// touch puts fingers on the screen, moves them from step to step and lifts them.
func (o *tab) touch(steps ...[][2]float64) {
	o.Helper()
	kind := input.DispatchTouchEventTypeTouchStart
	for _, step := range append(steps, nil) {
		p := input.DispatchTouchEventParams{Type: kind, TouchPoints: []*input.TouchPoint{}}
		for i, at := range step {
			id := float64(i)
			p.TouchPoints = append(p.TouchPoints, &input.TouchPoint{X: at[0], Y: at[1], ID: &id})
		}
		if step == nil {
			p.Type = input.DispatchTouchEventTypeTouchEnd
		}
		o.do(call(input.DispatchTouchEvent, p))
		kind = input.DispatchTouchEventTypeTouchMove
	}
}

// swipe moves one finger in ten steps.
func (o *tab) swipe(from, to [2]float64) {
	o.Helper()
	var steps [][][2]float64
	for i := range 11 {
		part := float64(i) / 10
		steps = append(steps, [][2]float64{{from[0] + (to[0]-from[0])*part, from[1] + (to[1]-from[1])*part}})
	}
	o.touch(steps...)
}

// sees waits until the page says all texts. Answers come from the cluster.
func (o *tab) sees(texts ...string) {
	o.Helper()
	for _, text := range texts {
		o.until(`document.querySelector("main").innerText.toLowerCase().includes(%q)`, strings.ToLower(text))
	}
	o.fits()
}

// keeps fails if a change of the page changes what JavaScript gives, too.
func (o *tab) keeps(js, what string, change func()) {
	o.Helper()
	before := eval[string](o, js)
	change()
	if after := eval[string](o, js); after != before || before == "" {
		o.Errorf("%s: it was %s and is %s, on %s", what, before, after, eval[string](o, "location.href"))
	}
}

const (
	// allRules are those of axe-core that are on by default, and the size of targets.
	allRules = `{resultTypes: ["violations"], rules: {"target-size": {enabled: true}, "link-in-text-block": {enabled: true}}}`
	// colourRules are those that depend on the theme.
	colourRules = `{resultTypes: ["violations"], runOnly: ["color-contrast", "link-in-text-block"]}`
)

// judged are the kinds of text whose colours were looked at. That takes longer than all other rules, and most text is
// of kinds that stand on every page. A kind is what text stands in, with all classes and states, the theme and about
// the width.
var judged struct {
	sync.Mutex
	kinds []int // digests
}

// accessible fails if axe-core finds something on the page by some of its rules: in colours, of text of a kind that no
// page had before. Colours that fade are at their end.
// The short form, which make test runs before development tools are installed, does without.
func (o *tab) accessible(what, rules string) {
	o.Helper()
	if testing.Short() {
		return
	}
	if !eval[bool](o, `"axe" in window`) {
		source, err := os.ReadFile("../../tools/node_modules/axe-core/axe.min.js")
		must.That(o, err == nil, "axe-core is not installed, scripts/setup-node does it: %v", err)
		o.do(chromedp.Evaluate[chromedp.Void](string(source)))
		o.run(`axe.configure({rules: [{id: "color-contrast", selector: "[data-unjudged]"}]})`)
	}
	judged.Lock()
	known := strings.Join(strings.Fields(fmt.Sprint(judged.kinds)), ",")
	judged.Unlock()
	found := eval[struct {
		Violations []string
		Kinds      []int
	}](o, `(() => {
		// What lies under something that stays in sight is not covered by it once one scrolls.
		const lying = [...document.querySelectorAll(".bar-nav, .runacts, .runacts *, .approve")];
		for (const e of lying) e.style.setProperty("position", "static");
		for (const a of document.getAnimations()) if (a.effect.getComputedTiming().endTime < Infinity) a.finish(); else a.cancel();
		const known = new Set(`+known+`), fresh = new Map();
		const states = /^(type|role|open|disabled|aria-(current|sort|expanded|pressed|selected|checked)|data-(level|theme|watched|past))$/;
		const digest = (n, text) => { for (let i = 0; i < text.length; i++) n = Math.imul(n ^ text.charCodeAt(i), 0x01000193); return n };
		const look = (e, above) => {
			const parts = [...e.classList].filter(c => !/[0-9]/.test(c)).sort(); // colours of shards have numbers, and their own test
			for (const a of e.attributes) if (states.test(a.name)) parts.push(a.name + "=" + a.value);
			const kind = digest(above, [e.localName, ...parts].join(" ") + ">");
			if (!known.has(kind) && e.checkVisibility()) fresh.set(kind, [...(fresh.get(kind) ?? []), e].slice(0, 2));
			for (const c of e.children) look(c, kind);
		};
		look(document.documentElement, digest(1, matchMedia("(prefers-color-scheme: dark)").matches + " " + (innerWidth < 700)));
		const marked = [...fresh.values()].flat();
		for (const e of marked) e.dataset.unjudged = "";
		const nothing = `+strconv.FormatBool(rules == colourRules)+` && !marked.length;
		return (nothing ? Promise.resolve({violations: []}) : axe.run(document, `+rules+`)).then(r => ({Kinds: [...fresh.keys()], Violations: r.violations.map(v =>
			v.id + ": " + v.help + " — " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | "))}))
			.finally(() => { for (const e of lying) e.style.removeProperty("position"); for (const e of marked) delete e.dataset.unjudged });
	})()`)
	judged.Lock()
	judged.kinds = append(judged.kinds, found.Kinds...)
	judged.Unlock()
	if len(found.Violations) > 0 {
		o.Errorf("%s, %s:\n%s", what, eval[string](o, "location.href + ' at ' + innerWidth"), strings.Join(found.Violations, "\n"))
	}
}

// accessibleInBothThemes checks by all rules in the light theme, and the colours, which are all that differs, in the
// dark.
func (o *tab) accessibleInBothThemes(what string) {
	o.Helper()
	o.accessible(what, allRules)
	o.run(`window.themed_ = document.documentElement.dataset.theme; document.documentElement.dataset.theme = "dark"`)
	o.accessible(what+" in the dark theme", colourRules)
	o.run(`if (themed_) document.documentElement.dataset.theme = themed_; else delete document.documentElement.dataset.theme`)
}

// accessibleAtBothWidths checks what somebody has opened, chosen or typed as a phone and a laptop show it.
func (o *tab) accessibleAtBothWidths(what string) {
	o.Helper()
	for _, width := range []int64{390, 1280} {
		o.do(screen(width, "light"))
		o.fits()
		o.accessibleInBothThemes(what)
	}
}

func (o *tab) signIn(name, password string) {
	o.Helper()
	o.fill("#name", name)
	o.fill("#password", password)
	o.run("window.leaving_ = true")
	o.click("form.stacked button")
	o.until("window.leaving_ === undefined && " + opened)
}
