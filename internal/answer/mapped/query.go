package mapped

import (
	"math"
	"net/url"
	"slices"
	"strconv"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// What the height of a mark on the map can mean.
const (
	MapByShard = "shard"
	MapBySize  = "size"
	MapByHeat  = "heat"
	MapByAge   = "age"
)

// MapMeasures are all of them, in the order of their links.
var MapMeasures = []string{MapByShard, MapBySize, MapByHeat, MapByAge}

// MapQuery is a view of the map: what marks show, and one collection or a part of it.
type MapQuery struct {
	By       string
	NS       topology.Namespace // "": all
	From, To float64            // of its chunks, 0 to 1
}

// ParseMapQuery reads a view of the map.
func ParseMapQuery(in url.Values) (MapQuery, error) {
	q := MapQuery{By: MapByShard, NS: topology.Namespace(in.Get("ns")), To: 1}
	if by := in.Get("by"); by != "" {
		if !slices.Contains(MapMeasures, by) {
			return q, fault.New(fault.Invalid, "by must be shard, size, heat or age, not %q.", sanitize.Truncate(by, 40))
		}
		q.By = by
	}
	var err error
	if q.From, err = fraction(in, "from", 0); err != nil {
		return q, err
	}
	if q.To, err = fraction(in, "to", 1); err != nil {
		return q, err
	}
	if q.From >= q.To {
		return q, fault.New(fault.Invalid, "from must be less than to.")
	}
	return q, nil
}

func fraction(in url.Values, name string, absent float64) (float64, error) {
	text := in.Get(name)
	if text == "" {
		return absent, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1 {
		return 0, fault.New(fault.Invalid, "%s must be a number from 0 to 1, not %q.", name, sanitize.Truncate(text, 40))
	}
	return f, nil
}

// positions are the chunks of n that the view shows, at least one.
func (q MapQuery) positions(n int) (from, to int) {
	from = min(int(q.From*float64(n)+1e-6), max(n-1, 0))
	to = min(int(math.Ceil(q.To*float64(n)-1e-6)), n)
	return from, max(to, min(from+1, n))
}

// URL is the address of the view.
func (q MapQuery) URL() string {
	in := url.Values{}
	if q.By != "" && q.By != MapByShard {
		in.Set("by", q.By)
	}
	if q.NS != "" {
		in.Set("ns", string(q.NS))
	}
	if q.From > 0 || q.To < 1 {
		in.Set("from", strconv.FormatFloat(q.From, 'f', -1, 64))
		in.Set("to", strconv.FormatFloat(q.To, 'f', -1, 64))
	}
	if len(in) == 0 {
		return "/map"
	}
	return "/map?" + in.Encode()
}
