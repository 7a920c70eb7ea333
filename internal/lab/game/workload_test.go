package game

import (
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestRowsOfAFileAreCards(t *testing.T) {
	w, err := OfCSV("project,size\na,10\nb,9\na,-1\n")
	if err != nil || !slices.Equal(w.Fields, []string{"order", "deck", "project", "size"}) || len(w.Cards) != 3 {
		t.Fatalf("%v: %+v", err, w)
	}
	order := func(key string) (out []string) {
		k, err := ParseKey(key, w)
		must.Do(t, err)
		var bounds []bound
		for i := range w.Cards {
			bounds = append(bounds, k.of(&w.Cards[i]))
		}
		slices.SortStableFunc(bounds, func(a, b bound) int { return strings.Compare(a.key, b.key) })
		for _, b := range bounds {
			out = append(out, b.text)
		}
		return out
	}
	expect.EqualSlices(t, order("size"), []string{"-1", "9", "10"}, "numbers are in the order")
	expect.EqualSlices(t, order("project, size"), []string{"a, -1", "a, 10", "b, 9"}, "keys are in the order")
}

func TestProjectsAreAsSkewedAsAskedFor(t *testing.T) {
	largest := func(skew float64) float64 {
		n := map[string]int{}
		w := Projects(20, 50, skew, 3)
		for _, c := range w.Cards {
			n[c.values[2].text]++
		}
		return float64(n["p001"]) / float64(len(w.Cards))
	}
	if even, skewed := largest(0), largest(1); even > 0.05 || skewed < 0.15 {
		t.Errorf("the first of 50 projects has %.2f of all without skew, and %.2f with it", even, skewed)
	}
}

func TestWrongKeysAndFilesAreRefusedWithTheFieldAndTheLimit(t *testing.T) {
	for text, says := range map[string]string{
		"":                          "key must be fields with commas between them",
		"colour":                    "key must be made of the fields order, deck, suit, rank, not of \"colour\".",
		"hash(order":                "key must be fields with commas between them",
		"order)":                    "key must be fields with commas between them",
		"hash(hash(order))":         "key must be fields with commas between them",
		"order,deck,suit,rank,suit": "key must have at most 4 fields, not 5.",
	} {
		if _, err := ParseKey(text, Decks(1)); err == nil || fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), says) {
			t.Errorf("key %q: %v", text, err)
		}
	}
	for text, says := range map[string]string{
		"":                               "at least one line below it",
		"a,b\n":                          "at least one line below it",
		"a,b\n1\n":                       "csv cannot be read",
		"order\n1\n":                     "csv must name each field once",
		"a,a\n1,2\n":                     "csv must name each field once",
		"a b\n1\n":                       "csv must name each field in its first line",
		"a\n" + strings.Repeat("x", 101): "csv must have cells of at most 100 bytes",
		"a\n\x00\n":                      "csv must have cells",
		"a\n" + strings.Repeat("1\n", MaxCards+1): "csv must have at most 10400 lines below the first, not 10401.",
	} {
		if _, err := OfCSV(text); err == nil || fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), says) {
			t.Errorf("file %.20q: %v", text, err)
		}
	}
}
