package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"shardboard/internal/topology"
)

const (
	labPosition = `document.getElementById("lab-position").textContent`
	labHands    = `document.getElementById("lab-hands").innerText.replace(/\s+/g, " ")`
	labTurn     = `document.getElementById("lab-turn").textContent`
)

// The script moves the cards itself; after each of its steps the table has to be the one that the server draws.
func TestBrowserPlaysTheCardGameByKeyboard(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	game := "lab/game?key=deck,hash(order)&decks=2&players=3&step="
	if err := inPage(ctx, setScreen(1280, "light"), chromedp.Navigate(d.app.URL()+game+"0"), chromedp.WaitVisible("#lab-game")); err != nil {
		t.Fatal(err)
	}
	focus := func() { eval[bool](t, ctx, `(document.getElementById("lab-game").focus(), true)`) }
	focus()
	for n := 1; n <= 9; n++ {
		want := fmt.Sprintf(`%s.startsWith("Card %d of 104")`, labPosition, n)
		if err := inPage(ctx, pressKey("ArrowRight", "ArrowRight"), waitUntil(want)); err != nil {
			t.Fatalf("the arrow key does not deal card %d: %s", n, eval[string](t, ctx, labPosition))
		}
	}
	byScript := [2]string{eval[string](t, ctx, labHands), eval[string](t, ctx, labTurn)}
	if err := inPage(ctx, chromedp.Navigate(d.app.URL()+game+"9"), chromedp.WaitVisible("#lab-game")); err != nil {
		t.Fatal(err)
	}
	if byServer := [2]string{eval[string](t, ctx, labHands), eval[string](t, ctx, labTurn)}; byServer != byScript {
		t.Errorf("after nine cards the script shows %q, the server %q", byScript, byServer)
	}

	// The space bar plays, and pauses.
	focus()
	if err := inPage(ctx, pressKey(" ", "Space"), waitUntil(`!`+labPosition+`.startsWith("Card 9 ")`), pressKey(" ", "Space")); err != nil {
		t.Fatalf("the space bar does not play: %v", err)
	}
	paused := eval[string](t, ctx, labPosition)
	if err := inPage(ctx, pressKey("ArrowLeft", "ArrowLeft"), waitUntil(labPosition+fmt.Sprintf(` !== %q`, paused))); err != nil {
		t.Errorf("the card before %q is not shown", paused)
	}
	if address := eval[string](t, ctx, "location.search"); !strings.Contains(address, "step=") {
		t.Errorf("the address %q does not keep the card", address)
	}
	bad.check(t)
}
