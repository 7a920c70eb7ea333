package idplacement

import (
	"reflect"
	"testing"
)

func TestFormsGoWhereTheyAreKnownToGo(t *testing.T) {
	o := Options{Shards: 8, Machines: 4, Windows: 48, Each: 50, Seed: 1}
	for form, want := range map[string]struct{ busiestFrom, busiestTo, windowFrom, windowTo float64 }{
		"objectId":           {1, 1, 1, 1},             // always the last range
		"uuid7":              {1, 1, 1, 1},             // likewise
		"uuid4":              {0.12, 0.15, 0.12, 0.25}, // even
		"localityDefault":    {0.12, 0.16, 0.12, 0.25}, // even
		"localitySequential": {0.12, 0.5, 0.95, 1.001}, // all of ten minutes together, then elsewhere
	} {
		p := Place(form, o)
		if p.BusiestShare < want.busiestFrom || p.BusiestShare > want.busiestTo || p.WindowShare < want.windowFrom ||
			p.WindowShare > want.windowTo {
			t.Errorf("%s: the busiest shard takes %.2f of all and %.2f of ten minutes", form, p.BusiestShare, p.WindowShare)
		}
		if len(p.Windows) != 24 || !reflect.DeepEqual(p, Place(form, o)) {
			t.Errorf("%s: %d windows, or not the same again", form, len(p.Windows))
		}
	}
	if len(Forms()) != 5 {
		t.Errorf("forms: %v", Forms())
	}
}
