package mapped

import (
	"math"
	"net/url"
	"strconv"

	"shardboard/internal/answer/param"
	"shardboard/internal/fault"
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

// Parameters are those of an address of the map.
func (q *MapQuery) Parameters() param.List {
	q.By, q.To = MapByShard, 1
	return param.List{
		param.OneOf(&q.By, "by", "what the height of a mark shows", MapMeasures...),
		param.Text(&q.NS, "ns", "one collection"),
		param.Real(&q.From, "from", 0, 1, "begin of the part that is shown"),
		param.Real(&q.To, "to", 0, 1, "its end"),
		param.Check(func() error {
			if q.From >= q.To {
				return fault.New(fault.Invalid, "from must be less than to.")
			}
			return nil
		}),
	}
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
