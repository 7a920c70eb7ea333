package rules

import (
	"fmt"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/heat"
)

// visibleText returns all text of a problem that people see, except the arguments of
// plans, which are hidden where they are written.
func visibleText(p Problem) string {
	for i := range p.Remedy.Plans {
		p.Remedy.Plans[i].Args = nil
	}
	return fmt.Sprintf("%s %s %v %v %v %+v %+v", p.ID, p.Subject, p.Why, p.Text, p.Because, p.Evidence, p.Remedy)
}

func TestHiddenBoundsAppearInNoProblem(t *testing.T) {
	divides := heat.Splitting{Can: true, Code: "divides", Share: 0.3, DocumentText: oid(9).Hex()}
	s := healthy(withCollection("y.documents", "{project_id: 1}", "abCabc"), addZone(pin3, "b", 3, 4),
		addZone("eu", "", 1, 2), assignZone("left", "c"), addZone("pin-"+oid(99).Hex(), "b", 4, 5),
		withCollection("y.changes", "{doc_id: hashed}", "abcAbcabcabc"), withHotChunk(4, 300, 0.5, divides))
	var bounds []string
	for _, c := range s.Table.Collections {
		for _, ch := range c.Chunks.All() {
			if !ch.Min.IsZero() && ch.Min.Compare(c.Key.Min()) != 0 {
				bounds = append(bounds, c.Key.ExtJSON(ch.Min), strings.ReplaceAll(c.Key.ExtJSON(ch.Min), `"`, `\"`), c.Key.Display(ch.Min))
			}
		}
	}
	hold := func(text string) bool {
		for _, b := range bounds {
			if strings.Contains(text, b) {
				return true
			}
		}
		return false
	}
	with := map[Rule]bool{}
	for _, p := range Evaluate(s).Items {
		hidden := p.HideBounds("hidden", func(string) string { return "name" })
		if text := visibleText(hidden); hold(text) {
			t.Errorf("%s: %s", p.Rule, text)
		}
		if hidden.ID == p.ID || !strings.HasPrefix(hidden.ID, string(p.Rule)+".") {
			t.Errorf("%s has the id %s", p.Rule, hidden.ID)
		}
		with[p.Rule] = with[p.Rule] || hold(visibleText(p))
	}
	if !with[HotChunk] || !with[Jumbo] {
		t.Errorf("bounds are in problems of %v, want [HotChunk] true, [Jumbo] true", with)
	}
}

func TestHiddenTextsKeepTheKindOfAFailure(t *testing.T) {
	const text = "ChunkTooBig :: the range {_id: 17} is too large for host-3"
	for _, p := range Evaluate(healthy(migrations(6, 2, 10, text))).Items {
		if p.Rule != MigrationsFailing {
			continue
		}
		if !strings.Contains(visibleText(p), "host-3") {
			t.Fatalf("the problem has no text to hide: %s", visibleText(p))
		}
		if hidden := visibleText(p.HideTexts(func(string) string { return "ChunkTooBig" })); strings.Contains(hidden, "host-3") ||
			!strings.Contains(hidden, "ChunkTooBig") {
			t.Error(hidden)
		}
		expect.Contains(t, visibleText(p), "host-3", "the problem itself was changed")
		return
	}
	t.Fatal("no problem with a server text was found")
}
