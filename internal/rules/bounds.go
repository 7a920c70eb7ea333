package rules

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/fault"
)

// Bound is the name of a figure from which on something is a problem, or a warning.
type Bound string

// The bounds that can be set.
const (
	BoundHotRate    Bound = "hot-rate"        // writes per second from which on problems of writes are found
	BoundWarnRate   Bound = "hot-warn-rate"   // from which on they are warnings
	BoundWarnShare  Bound = "hot-warn-share"  // share of all writes from which on a shard's is a warning at any rate
	BoundImbalances Bound = "imbalance-share" // share of what a shard holds from which on a collection's imbalance is a warning
)

// Bounds are the bounds that differ from the defaults; nil: none.
type Bounds map[Bound]float64

var defaultBounds = Bounds{BoundHotRate: 5, BoundWarnRate: 100, BoundWarnShare: 0.8, BoundImbalances: 0.1}

// bound is a bound as it is set, or its default.
func (s Situation) bound(b Bound) float64 {
	if v, ok := s.Bounds[b]; ok {
		return v
	}
	return defaultBounds[b]
}

// ParseBounds reads bounds such as "hot-rate=10". Shares are from 0 to 1, rates not negative. Errors are fault.Invalid.
func ParseBounds(texts []string) (Bounds, error) {
	out := Bounds{}
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		b := Bound(strings.TrimSpace(name))
		if _, ok := defaultBounds[b]; !ok {
			var names []string
			for _, known := range slices.Sorted(maps.Keys(defaultBounds)) {
				names = append(names, string(known))
			}
			return nil, fault.New(fault.Invalid, "There is no bound %q; there are %s.", string(b), strings.Join(names, ", "))
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if share := strings.HasSuffix(string(b), "-share"); err != nil || !(v >= 0) || share && v > 1 || v > 1e9 {
			form := "a number of writes per second, not negative"
			if share {
				form = "a share from 0 to 1"
			}
			return nil, fault.New(fault.Invalid, "The bound %s is %q; write %s, such as %s=%v.", string(b), value, form, string(b), defaultBounds[b])
		}
		out[b] = v
	}
	return out, nil
}
