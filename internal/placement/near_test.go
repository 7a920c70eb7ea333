package placement

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
)

func TestExactNameWinsOverNamesNearToIt(t *testing.T) {
	l := locator(t, &fakeSource{}, project(1, "app", ""), project(2, "APP", ""), project(3, "apple", ""))
	for typed, want := range map[string]byte{"app": 1, "APP": 2} {
		a, err := l.Ask(t.Context(), Query{Text: typed, Near: true})
		if err != nil || len(a.Items) != 1 || a.Items[0].ID != oid(want).Hex() || len(a.Items[0].Notes) > 0 || a.Near != nil {
			t.Errorf("%s: %+v, %v, want project %d without a note", typed, a.Items, err, want)
		}
	}
}

func TestOnlyNearNameAnswersWithANote(t *testing.T) {
	src := &fakeSource{docs: []DocumentRow{{ID: oid(9), Project: oid(1), Key: "k"}}}
	l := locator(t, src, project(1, "Wiki-Pages", ""), project(2, "shop", ""))
	for _, typed := range []string{"wiki-pages", "WIKI", "wiki/k"} {
		a, err := l.Ask(t.Context(), Query{Text: typed, Near: true})
		if err != nil || len(a.Items) != 1 || a.Items[0].Project.Name != "Wiki-Pages" {
			t.Errorf("%s: %+v, %v, want Wiki-Pages", typed, a.Items, err)
			continue
		}
		name, _, _ := strings.Cut(typed, "/")
		if n := a.Items[0].Notes; len(n) != 1 || n[0].Code != NoteNearName ||
			n[0].String() != "You typed "+name+". No project has exactly this name; this is Wiki-Pages." {
			t.Errorf("%s: notes %v", typed, n)
		}
	}
	if _, err := l.Ask(t.Context(), Query{Text: "wiki/none", Near: true}); fault.Of(err) != fault.NotFound ||
		!strings.Contains(fault.Text(err), "No project has exactly this name") {
		t.Errorf("a document of a near project: %v", err)
	}
	// A program that did not ask for near names never gets another project's shard.
	if a, err := l.Ask(t.Context(), Query{Text: "wiki"}); fault.Of(err) != fault.NotFound || len(a.Items) > 0 ||
		!strings.HasSuffix(fault.Text(err), `Did you mean "Wiki-Pages"?`) {
		t.Errorf("without near names: %+v, %v", a.Items, err)
	}
}

func TestSeveralNearNamesAreListedAndNoneIsTaken(t *testing.T) {
	l := locator(t, &fakeSource{}, project(1, "app-1", ""), project(2, "APP-2", ""), project(3, "orders", ""), project(4, "Orders", ""))
	for typed, want := range map[string]struct {
		how   Nearness
		names []string
	}{
		"app": {NearBeginning, []string{"APP-2", "app-1"}}, "ORDERS": {NearCase, []string{"Orders", "orders"}},
		"odrers": {NearSpelling, []string{"Orders", "orders"}}, "app-12": {NearSpelling, []string{"APP-2", "app-1"}},
	} {
		a, err := l.Ask(t.Context(), Query{Text: typed, Near: true})
		if fault.Of(err) != fault.NotFound || len(a.Items) > 0 || a.Near == nil || a.Near.How != want.how {
			t.Errorf("%s: %+v, %+v, %v", typed, a.Items, a.Near, err)
			continue
		}
		var names []string
		for _, p := range a.Near.Projects {
			names = append(names, p.Name)
		}
		slices.Sort(names)
		expect.EqualSlices(t, names, want.names, "%s: near", typed)
	}
	one := locator(t, &fakeSource{}, project(1, "orders", ""))
	a, err := one.Ask(t.Context(), Query{Text: "odrers", Near: true})
	if fault.Of(err) != fault.NotFound || len(a.Items) > 0 ||
		a.Near == nil {
		t.Errorf("a spelling is a guess, it is never taken: %+v, %v", a.Items, err)
	}
	for _, typed := range []string{"zz", "nothing-like-it", strings.Repeat("o", 4096), "\x01\x02\x03", "ör"} {
		if a, err := l.Ask(t.Context(), Query{Text: typed, Near: true}); fault.Of(err) != fault.NotFound || a.Near != nil {
			t.Errorf("%.20q: near %+v, %v", typed, a.Near, err)
		}
	}
}

func TestKeyShapedTextIsComparedWithNoName(t *testing.T) {
	l := locator(t, &fakeSource{}, project(1, apiKey+"-copy", ""), project(2, apiKey[:21]+"x", ""))
	for _, typed := range []string{apiKey, apiKey + "/doc"} {
		a, err := l.Ask(t.Context(), Query{Text: typed, Near: true})
		if fault.Of(err) != fault.NotFound || a.Near != nil || len(a.Items) > 0 {
			t.Errorf("%s: %+v, near %+v, %v", typed, a.Items, a.Near, err)
		}
	}
}

func TestBoundedDistanceIsTheWholeOne(t *testing.T) {
	letters := rapid.SliceOfN(rapid.SampledFrom([]byte("abc")), 0, 9)
	var s speller
	rapid.Check(t, func(t *rapid.T) {
		a, b := string(letters.Draw(t, "a")), string(letters.Draw(t, "b"))
		most := rapid.IntRange(0, 4).Draw(t, "most")
		if got, want := s.distance(a, b, most), min(wholeDistance(a, b), most+1); got != want {
			t.Fatalf("%q %q: %d of at most %d, want %d", a, b, got, most, want)
		}
	})
}

// wholeDistance fills the whole table, as textbooks do.
func wholeDistance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
