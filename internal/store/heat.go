package store

import (
	"context"
	"time"
)

// HeatColumn is one time span of a heat map of writes. Only its writer interprets Body.
type HeatColumn struct {
	Picture string
	At      time.Time
	Step    time.Duration
	Axis    int64 // 0: none
	Body    []byte
}

// HeatAxis describes the rows of a heat map's columns.
type HeatAxis struct {
	Picture string
	ID      int64
	Body    []byte
}

// HeatChange lists what to save and what to delete. Of deleted columns only picture, time and step
// are used, of deleted axes only picture and id.
type HeatChange struct {
	Axes         []HeatAxis
	Columns      []HeatColumn // replace columns with the same picture, time and step
	GoneColumns  []HeatColumn
	GoneAxes     []HeatAxis
	GonePictures []string
}

// HeatPictures stores heat maps of writes over time.
type HeatPictures interface {
	// SaveHeat applies a change, all or nothing. Deletions come first.
	SaveHeat(ctx context.Context, cluster string, c HeatChange) error
	// LoadHeat returns everything stored about a cluster: columns by picture, oldest first.
	LoadHeat(ctx context.Context, cluster string) ([]HeatAxis, []HeatColumn, error)
}

// Heat stores measurements of the load.
type Heat interface {
	HeatPictures
}
