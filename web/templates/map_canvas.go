package templates

import (
	"strconv"

	"shardboard/internal/answer/mapped"
)

// MapCanvasView is what the part of the cluster map that only scripts use needs.
type MapCanvasView struct {
	Shards     []ShardRef // all, in their order
	Whole      string     // the address of the map's own page; empty on that page
	LastWrites string     // the time that writes are of
}

// mapMeasure is a choice of what a mark of the map shows.
type mapMeasure struct{ code, text string }

var mapMeasures = [...]mapMeasure{{"shard", "Shard"}, {"size", "Size"}, {"heat", "Writes"}, {"age", "Age"}}

const (
	mapHelp = "Point at the map, or use the arrow keys. Ctrl and wheel, a double click, two fingers or + and − zoom; drag to move; " +
		"Enter opens a chunk; 0 shows all."
	mapLabel = "Cluster map: the chunks of each collection from MinKey to MaxKey, coloured by shard. Arrow keys choose chunks and " +
		"collections, plus and minus zoom, Enter opens a chunk, 0 shows all."
)

// mapSpans are the hours that a replay can span.
var mapSpans = [...]struct{ value, text string }{{"1", "1 hour"}, {"6", "6 hours"}, {"24", "24 hours"}}

// mapSpeeds are how long a replay shows each step, in ms.
var mapSpeeds = [...]struct{ value, text string }{{"1000", "slow"}, {"400", "normal"}, {"120", "fast"}}

// mapRows is how many collections the map shows at most: beside other things fewer.
func mapRows(m MapCanvasView) string {
	if m.Whole != "" {
		return strconv.Itoa(mapped.MapBrief)
	}
	return strconv.Itoa(mapped.MostBands)
}
