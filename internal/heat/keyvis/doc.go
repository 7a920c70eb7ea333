// Package keyvis makes heat maps of writes: key range by time and project by time, for every
// collection whose writes are counted. Merging neighbouring rows and columns keeps their sums, so
// no write is lost. Times that were not counted have no column, and cells of projects that were not
// counted are unknown, never zero. A heat map has at most MaxRows rows and MaxColumns columns, for
// any collection and load, over up to five weeks. With a store it survives a restart.
package keyvis

import "time"

const (
	// MaxRows bounds the rows of a heat map.
	MaxRows = 1536
	// MaxColumns bounds the columns of all layers together.
	MaxColumns = 886
	// Finest is the shortest column.
	Finest = time.Minute
	// Reach is the age of the oldest column.
	Reach = 35 * 24 * time.Hour
	// maxNamed is how many projects a column lists.
	maxNamed = 300
)

// layer is columns of one length, kept up to an age; then they are merged into the next layer's.
type layer struct{ step, reach time.Duration }

// layers have 360 + 216 + 96 + 180 columns, and at most one incomplete period of the next layer
// each: 17 + 4.
var layers = [...]layer{
	{Finest, 6 * time.Hour},
	{5 * time.Minute, 24 * time.Hour},
	{time.Hour, 5 * 24 * time.Hour},
	{4 * time.Hour, Reach},
}
