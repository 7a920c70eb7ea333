package app

import (
	"fmt"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
)

// TestBrowserFindsThingsByAFewKeys goes to things by the palette and the locate boxes, by keys alone.
func TestBrowserFindsThingsByAFewKeys(t *testing.T) {
	d := sharedDemo(t)
	o := newTab(t, d, 1280)
	var projects struct{ Items []struct{ ID, Name string } }
	d.getJSON(t, "api/v1/projects?limit=1", &projects)
	name := projects.Items[0].Name

	// The palette, and Enter right after the last key, before its matches are there.
	openPalette := func() {
		o.run(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true})); window.leaving_ = true`)
		o.until(`document.getElementById("palette").open && document.activeElement.id === "palette-text"`)
	}
	o.open("zones")
	openPalette()
	o.fill("#palette-text", strings.ToUpper(name))
	o.press("Enter")
	o.arrive("/projects/" + projects.Items[0].ID)
	openPalette()
	o.fill("#palette-text", "nothing-is-called-so")
	o.until(`document.getElementById("palette-note").textContent.includes("nothing-is-called-so")`)
	o.accessibleAtBothWidths("the palette without matches")
	o.is("/locate?q=nothing-is-called-so", `document.querySelector("#palette-list li:last-child a").getAttribute("href")`)
	o.press("Escape")
	o.until(`!document.getElementById("palette").open`)

	// What was found before leads its list. The keys of a list work, and the button that opened it gets the focus back.
	const chosen = `[...document.querySelectorAll("#palette-list [role=option]")].findIndex((x) => x.getAttribute("aria-selected") === "true")`
	const last = `document.querySelectorAll("#palette-list [role=option]").length - 1`
	o.open("zones")
	o.run(`localStorage.setItem("recent finds", JSON.stringify({ by: document.querySelector("header .you bdi").textContent, finds: ["found before"]}))`)
	o.focus("#go")
	o.click("#go")
	o.until(`document.querySelector("#palette-list li bdi")?.textContent === "found before" && document.activeElement.id === "palette-text"`)
	o.accessibleAtBothWidths("the palette")
	for _, step := range []struct{ key, is string }{{"End", chosen + " === " + last}, {"Home", chosen + " === 0"},
		{"ArrowDown", chosen + " === 1"}, {"ArrowUp", chosen + " === 0"}, {"ArrowUp", chosen + " === " + last}} {
		o.press(step.key)
		o.until(step.is)
	}
	o.fill("#palette-text", "shard-rs")
	o.until(chosen + ` === 0 && document.querySelector("#palette-list li span").textContent === "shard"`)
	o.accessibleAtBothWidths("the palette with matches")
	o.is("true", `document.getElementById(document.getElementById("palette-text").getAttribute("aria-activedescendant")).getAttribute("aria-selected")`)
	o.press("Escape")
	o.until(`!document.getElementById("palette").open && document.activeElement.id === "go"`)
	o.run(`localStorage.clear()`)
	o.press("?")
	o.until(`document.getElementById("keys").open`)
	o.accessibleAtBothWidths("the help about keys")

	// Suggestions of the locate box; what was found is offered again elsewhere.
	o.open("locate")
	o.until(`document.querySelector("#q[role=combobox]")`)
	o.fill("#q", strings.ToUpper(name[:4]))
	o.until(`[...document.querySelectorAll("#q-list li bdi")].some((x) => x.textContent === %q)`, name)
	o.accessibleAtBothWidths("suggestions")
	o.run("window.leaving_ = true")
	o.press("ArrowDown", "Enter")
	o.arrive("/locate")
	o.until(`document.querySelector("#ticket-text")?.checkVisibility() && localStorage.getItem("recent finds") !== null`)
	found := eval[string](o, `document.getElementById("q").value`)
	expect.That(t, strings.EqualFold(found[:4], name[:4]), "the choice led to %q", found)
	o.open("zones")
	o.until(`document.querySelector("#find[role=combobox]")`)
	o.run(`document.getElementById("find").blur()`)
	o.click("#find")
	o.focus("#find")
	o.until(`document.querySelector("#find-list li bdi")?.textContent === %q`, found)

	// A paste outside fields goes into the box and is not sent. Enter without a choice sends what is typed.
	o.run(`document.activeElement.blur();
		const data = new DataTransfer(); data.setData("text/plain", " some\n key ");
		document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}))`)
	o.until(`document.getElementById("find").value === "some key" && document.activeElement.id === "find"`)
	o.is("/zones", "location.pathname")
	o.expect("/locate?q=some") // what finds nothing is answered by 404
	o.run("window.leaving_ = true")
	o.press("Enter")
	o.arrive("/locate")
	o.until(`document.querySelector("#locate [role=alert]")?.checkVisibility()`)
	o.is("some key", `document.getElementById("q").value`)
	o.click("#q")
	o.focus("#q")
	o.until(`document.querySelectorAll("#q-list li").length >= 2`)
	o.click("#q-list li:last-child") // forget them
	o.until(`localStorage.getItem("recent finds") === null && document.getElementById("q-list").hidden`)
}

// focusedCell is the text of the cell of the matrix that has the focus.
const focusedCell = `(document.activeElement.closest("td, th")?.innerText ?? "").split("\n")[0].trim()`

// TestBrowserReadsTheMatrix moves in it by keys and sorts it, scrolls it inside itself, and lists a row's shards on a
// phone.
func TestBrowserReadsTheMatrix(t *testing.T) {
	needBrowser(t)
	options := quietCluster()
	options.Shards, options.Projects, options.Documents = 16, 80, 400
	o := newTab(t, startWithActions(t, options), 1280)
	o.open("matrix?sort=name&columns=each")
	o.until(`document.querySelectorAll('table[role="grid"] [tabindex="0"]').length === 1`)
	o.focus(`tr[data-key="yorkie-meta.changes"] th a`)
	o.accessibleAtBothWidths("a cell of the matrix")
	for _, step := range []struct{ key, row, column string }{
		{"ArrowRight", "2", "1"}, {"ArrowDown", "3", "1"}, {"End", "3", "r[0].cells.length - 1"}, {"ArrowRight", "3", "r[0].cells.length - 1"},
		{"Home", "3", "0"}, {"ArrowUp", "2", "0"}, {"Control+Home", "0", "0"}, {"Control+End", "r.length - 1", "r[0].cells.length - 1"},
		{"PageUp", "r.length - 11", "r[0].cells.length - 1"},
	} {
		o.press(step.key)
		o.until(`(() => { const r = document.querySelector("[data-grid]").rows;
			return `+focusedCell+` === r[Math.max(0, %s)].cells[%s].innerText.split("\n")[0].trim() })()`, step.row, step.column)
	}
	// A sort link changes the table in place and keeps the focus; Enter follows the cell's own link.
	o.run("window.stayed = true")
	o.focus("[data-grid] thead tr:last-child th:nth-child(3) a")
	o.press("Enter")
	o.until(`document.querySelector('[data-grid] th[aria-sort="descending"]') && window.stayed &&
		document.activeElement.closest("th")?.getAttribute("aria-sort") === "descending"`)
	o.focus(`tr[data-key="yorkie-meta.changes"] td:nth-child(3) a`)
	o.run("window.leaving_ = true")
	o.press("Enter")
	o.arrive("/collections/")
	o.is("?shard=", `location.search.slice(0, 7)`)

	for _, width := range []int64{1280, 390} {
		o.do(screen(width, "dark"))
		o.open("matrix?by=projects&columns=each")
		o.until(`document.querySelectorAll("[data-grid] tbody tr").length > 20`)
		o.until(`(() => {
			const box = document.querySelector(".gridbox"), head = box.querySelector("thead"), name = box.querySelector("tbody tr:nth-child(20) th");
			box.scrollTo(600, 400);
			const b = box.getBoundingClientRect();
			return box.scrollLeft > 100 && box.scrollTop > 100 && head.getBoundingClientRect().top - b.top <= 2 &&
				name.getBoundingClientRect().left - b.left <= 2;
		})()`)
	}
	o.open("matrix")
	o.run("window.stayed = true")
	o.click(`tr[data-key="yorkie-meta.changes"] .shardlist`)
	o.until(`window.stayed && document.querySelectorAll("tr.listed li").length > 0 &&
		Math.max(...[...document.querySelectorAll("tr.listed li")].map((li) => li.getBoundingClientRect().right)) <=
		document.querySelector(".gridbox").getBoundingClientRect().right`)
}

const (
	labPosition = `document.getElementById("lab-position").textContent`
	labTable    = `document.getElementById("lab-hands").innerText.replace(/\s+/g, " ") + document.getElementById("lab-turn").textContent`
)

// After steps in place the table has to be the one of the page after that card.
func TestBrowserPlaysTheCardGameByKeyboard(t *testing.T) {
	o := newTab(t, sharedDemo(t), 1280)
	game := "lab/game?key=deck,hash(order)&decks=2&players=3&step="
	o.open(game + "0")
	o.focus("#lab-game")
	for n := 1; n <= 9; n++ {
		o.press("ArrowRight")
		o.until(`%s.startsWith("Card %d of 104")`, labPosition, n)
	}
	byScript := eval[string](o, labTable)
	o.open(game + "9")
	o.is(byScript, labTable)

	// The space bar plays, and pauses.
	o.focus("#lab-game")
	o.press(" ")
	o.until(`!` + labPosition + `.startsWith("Card 9 ")`)
	o.press(" ")
	paused := eval[string](o, labPosition)
	o.press("ArrowLeft")
	o.until(fmt.Sprintf(`%s !== %q && location.search.includes("step=")`, labPosition, paused))
}
