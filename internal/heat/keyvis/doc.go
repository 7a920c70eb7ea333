// Package keyvis keeps a picture of where writes went: for every collection
// whose writes are counted, key range by time and project by time. It promises
// that no write is lost by keeping less: neighbouring rows and columns are
// merged, sums stay; that a time which was not counted is no column and never a
// zero, nor is a row of which only the hottest projects' changes are counted; and that a picture has at most MaxRows rows and MaxColumns columns,
// whatever the collection and the load, from the last minutes to five weeks
// ago. What is kept survives a restart where there is a store.
package keyvis

import "time"

const (
	// MaxRows bounds the rows of a picture.
	MaxRows = 1536
	// MaxColumns bounds its columns, of all layers together.
	MaxColumns = 886
	// Finest is the shortest column.
	Finest = time.Minute
	// Reach is how long ago the oldest column begins.
	Reach = 35 * 24 * time.Hour
	// named is how many projects a column keeps by name.
	named = 300
)

// layer is columns of one length, kept until they are so old; then they are
// merged into the next layer's.
type layer struct{ step, reach time.Duration }

// layers make 360 + 216 + 96 + 180 columns, and at most one more period of
// each next layer that is not whole yet: 17 + 4.
var layers = [...]layer{
	{Finest, 6 * time.Hour},
	{5 * time.Minute, 24 * time.Hour},
	{time.Hour, 5 * 24 * time.Hour},
	{4 * time.Hour, Reach},
}
