package store

import (
	"context"
	"time"
)

// HeatColumn is one span of time of a picture of writes. What Body holds is the
// business of who wrote it.
type HeatColumn struct {
	Picture string
	At      time.Time
	Step    time.Duration
	Axis    int64 // 0: none
	Body    []byte
}

// HeatAxis is what the rows of a picture's columns are.
type HeatAxis struct {
	Picture string
	ID      int64
	Body    []byte
}

// HeatChange is what is new and what is gone; of what is gone only picture, time
// and step, or picture and id, are read.
type HeatChange struct {
	Axes         []HeatAxis
	Columns      []HeatColumn // replace one of the same picture, time and step
	GoneColumns  []HeatColumn
	GoneAxes     []HeatAxis
	GonePictures []string
}

// HeatPictures keeps where writes went, over time.
type HeatPictures interface {
	// SaveHeat applies a change, all or nothing; what is gone goes first.
	SaveHeat(ctx context.Context, cluster string, c HeatChange) error
	// LoadHeat gives all that is kept of a cluster: columns by picture, oldest first.
	LoadHeat(ctx context.Context, cluster string) ([]HeatAxis, []HeatColumn, error)
}

// Heat keeps what was measured of the load.
type Heat interface {
	HeatPictures
}
